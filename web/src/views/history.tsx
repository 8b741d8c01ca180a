// What was done to the tree, when and why.
import { useAnswer, workspace } from "../lib/api";
import { instead } from "../lib/revise";
import { href } from "../lib/route";
import { isSite } from "../lib/site";
import { useStore } from "../lib/store";
import { moment } from "../lib/text";
import type { Entry } from "../lib/types";
import { Command, Icon, Show, T, Title } from "../parts/basic";

export function HistoryView() {
  const about = useStore(workspace)!;
  const answer = useAnswer<{ entries: Entry[]; command?: string }>("/api/history");
  return (
    <div>
      <Title text="History">
        <p class="soft">Revision {about.revision}.{!about.read_only && " Every change can be taken back, one after the other."}</p>
      </Title>
      {!about.read_only && (
        <p class="buttons">
          <button type="button" disabled={!about.undo} onClick={() => void instead("undo")}>
            <Icon name="undo" /> Undo
          </button>
          <button type="button" disabled={!about.redo} onClick={() => void instead("redo")}>
            <Icon name="redo" /> Redo
          </button>
        </p>
      )}
      <Show of={answer}>
        {({ entries }) => (
          <ol class="entries card">
            {entries.filter((one) => !(isSite && one.undone)).toReversed().map((one, place) => (
              <li key={`${one.revision} ${place}`} class={one.undone ? "undone" : ""} aria-current={one.revision === about.revision && !one.undone ? "true" : undefined}>
                <span class="number">{one.revision}</span>
                <div>
                  <p>
                    <b>
                      <T text={one.what} longest={200} />
                    </b>{" "}
                    {one.undone && <span class="tag">undone</span>}
                  </p>
                  {one.note && (
                    <p>
                      <T text={one.note} longest={400} />
                    </p>
                  )}
                  <p class="soft">
                    {moment(one.when)}
                    {one.revision !== about.revision && !one.undone && (
                      <>
                        {" · "}
                        <a href={href("compare", { a: one.revision, b: about.revision })}>compare with now</a>
                      </>
                    )}
                  </p>
                </div>
              </li>
            ))}
          </ol>
        )}
      </Show>
      <Command text={answer.value?.command} />
    </div>
  );
}
