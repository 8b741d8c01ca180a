// Everything at a glance: the icicle, and what is picked.
import { useAnswer, workspace } from "../lib/api";
import { topicAddress } from "../lib/address";
import { changed, go, href, type Route } from "../lib/route";
import { isSite } from "../lib/site";
import { useStore } from "../lib/store";
import { count, counted, percent } from "../lib/text";
import type { Topic, Tree } from "../lib/tree";
import type { Details } from "../lib/types";
import { Command, Crumbs, Empty, Show, T, Title } from "../parts/basic";
import { Icicle } from "../parts/icicle";
import { Shades } from "../parts/shades";

/** What the icicle shows: the picked topic, or what is above a leaf. */
function zoomed(topic: Topic): Topic {
  return topic.children.length || !topic.parent ? topic : topic.parent;
}

export function Overview({ tree, route }: { tree: Tree; route: Route }) {
  const about = useStore(workspace)!;
  const topic = tree.find(route.query.get("topic")) ?? tree.root;
  const pick = (one: Topic) => {
    if (one === topic && !one.children.length) go(href(`topic/${one.path}`));
    else go(changed({ topic: one === tree.root ? null : one.path }));
  };
  if (!tree.root.children.length) return <OnlyRoot command={tree.command} />;
  return (
    <div class="overview">
      <Title text={about.name}>
        <p class="soft">
          {counted(about.documents, "document")}, {counted(about.words, "different word")}, {counted(about.topics, "topic")}, revision {about.revision}
        </p>
      </Title>
      {topic.parent && <Crumbs topic={topic} to={(path) => changed({ topic: path === "o" ? null : path })} />}
      <Icicle tree={tree} focus={zoomed(topic)} current={topic.parent ? topic : undefined} pick={pick} />
      {topic.slice && <Shades />}
      <Picked topic={topic} />
      {topic.parent ? <TopicCommand path={topic.path} /> : <Command text={tree.command} />}
    </div>
  );
}

function TopicCommand({ path }: { path: string }) {
  return <Command text={useAnswer<Details>(topicAddress(path)).value?.command} />;
}

function OnlyRoot({ command }: { command: string }) {
  return (
    <Empty title="This tree is a root alone.">
      {!isSite && (
        <p>
          <a class="button main" href={href("revise", { verb: "expand", topics: "o" })}>
            Split it into topics
          </a>
        </p>
      )}
      {!isSite && command.startsWith("strod show ") && <Command text={`${command.replace("show", "expand")} o --children auto`} />}
    </Empty>
  );
}

function Picked({ topic }: { topic: Topic }) {
  const answer = useAnswer<Details>(topic.parent ? topicAddress(topic.path) : null);
  if (!topic.parent) return <p class="soft hint">Pick a topic to look into it; every box is as high as its share of the corpus.</p>;
  return (
    <section class="card picked" aria-live="polite">
      <header>
        <h2>
          <a href={href(`topic/${topic.path}`)}>
            <T text={topic.label} />
          </a>
        </h2>
        <span class="soft">
          {topic.path} · {percent(topic.weight)} · {count(topic.documents)} documents
        </span>
      </header>
      <Show of={answer} rows={2}>
        {(details) => (
          <p class="phrases">
            {details.phrases.slice(0, 14).map(([text]) => (
              <span key={text}>
                <T text={text} longest={60} />
              </span>
            ))}
          </p>
        )}
      </Show>
      <p class="buttons">
        <a class="button" href={href(`topic/${topic.path}`)}>
          Open the topic
        </a>
        <a class="button" href={href("documents", { topic: topic.path })}>
          Documents
        </a>
      </p>
    </section>
  );
}
