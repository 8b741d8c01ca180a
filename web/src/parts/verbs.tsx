// What can be done to a topic.
import { instead } from "../lib/revise";
import { workspace } from "../lib/api";
import { href } from "../lib/route";
import { useStore } from "../lib/store";
import type { Topic } from "../lib/tree";

export function Verbs({ topic }: { topic: Topic }) {
  const about = useStore(workspace)!;
  if (about.read_only) return null;
  const to = (verb: string) => href("revise", { verb, topics: topic.path });
  const inner = topic.children.length > 0;
  return (
    <nav class="verbs" aria-label="Revise this topic">
      <a class="button" href={to("expand")}>
        {inner ? "Split again" : "Split"}
      </a>
      {topic.parent && (
        <>
          <a class="button" href={to("merge")}>
            Merge
          </a>
          <a class="button" href={to("move")}>
            Move
          </a>
          <a class="button" href={to("rename")}>
            Rename
          </a>
          <button type="button" onClick={() => void instead(topic.pinned ? "unpin" : "pin", [topic.path])}>
            {topic.pinned ? "Unpin" : "Pin"}
          </button>
          {inner && (
            <a class="button" href={to("collapse")}>
              Collapse
            </a>
          )}
          <a class="button" href={to("remove")}>
            Remove
          </a>
        </>
      )}
    </nav>
  );
}
