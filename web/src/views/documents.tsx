// Documents of a topic, those with most of it first; and one document, word by word.
import { useMemo, useState } from "preact/hooks";
import { useAnswer, workspace } from "../lib/api";
import { api } from "../lib/address";
import { changed, go, href, type Route } from "../lib/route";
import { useStore } from "../lib/store";
import { count, counted, harmless, line, percent, shown } from "../lib/text";
import type { Tree } from "../lib/tree";
import type { Document, Documents } from "../lib/types";
import { Bar, Command, Crumbs, Empty, Pages, Section, Show, T, Title } from "../parts/basic";
import { DocumentRow } from "../parts/documents";
import { Filters, TopicPicker } from "../parts/pick";

const LIMIT = 20;
const STYLES = 8; // colours with an underline each; topics beyond share the last, plain one

export function DocumentsView({ tree, route }: { tree: Tree; route: Route }) {
  const about = useStore(workspace)!;
  const path = route.query.get("topic") ?? "o";
  const topic = tree.find(path);
  const offset = Number(route.query.get("offset")) || 0;
  const answer = useAnswer<Documents>(api("documents", { topic: path, where: route.query.get("where"), limit: LIMIT, offset }));
  const some = (answer.value?.whole ?? 0) > (answer.value?.total ?? 0) ? (path === "o" ? "the first " : "the best ") : "";
  return (
    <div>
      {topic && <Crumbs topic={topic} to={(one) => changed({ topic: one, offset: null })} />}
      <Title text={topic?.parent ? `Documents: ${topic.label}` : "Documents"} />
      <div class="card controls">
        <TopicPicker tree={tree} label="Topic" value={path} onPick={(one) => go(changed({ topic: one, offset: null }))} />
        <Filters />
      </div>
      <Show of={answer} rows={12}>
        {(found) =>
          found.total ? (
            <>
              <Pages total={found.total} limit={LIMIT} offset={offset} noun="documents" of={some} />
              <ol class="documents card" start={offset + 1}>
                {found.documents.map((one) => (
                  <DocumentRow key={one.number} document={one} fields={about.meta} topic={path} />
                ))}
              </ol>
              <Pages total={found.total} limit={LIMIT} offset={offset} noun="documents" label="Pages, again" of={some} />
              {(found.whole ?? 0) > found.total && (
                <p class="soft">
                  {path === "o" ? "The first" : "Those with most of it"}: this site has {count(found.total)} of {counted(found.whole!, "document")}.
                </p>
              )}
              <Command text={found.command} />
            </>
          ) : (
            <Empty title="No document is meant.">
              <p>No document has a share of this topic and passes the filters.</p>
            </Empty>
          )
        }
      </Show>
    </div>
  );
}

export function DocumentView({ tree, route }: { tree: Tree; route: Route }) {
  const answer = useAnswer<Document>(`/api/document/${encodeURIComponent(route.rest)}`);
  const topic = tree.find(route.query.get("topic"));
  return (
    <div>
      {topic ? <Crumbs topic={topic} to={(path) => href("documents", { topic: path })} /> : null}
      <Show of={answer} rows={12}>
        {(document) => <Body key={document.number} tree={tree} document={document} />}
      </Show>
    </div>
  );
}

function Body({ tree, document }: { tree: Tree; document: Document }) {
  const [only, setOnly] = useState("");
  const leaves = useMemo(() => styled(tree, document), [document]);
  return (
    <article>
      <Title text={document.id}>
        <p class="facts soft">
          {document.leaf === null
            ? <span>no word of it is known</span>
            : <span>best in <a href={href(`topic/${document.leaf}`)}><T text={tree.label(document.leaf)} longest={60} /></a></span>}
        </p>
      </Title>
      <div class="reading">
        <section class={`card text ${only ? "only" : ""}`}>
          <Words document={document} styles={leaves} only={only} />
          {(document.length ?? 0) > document.text.length && <p class="soft">The first {count(document.text.length)} of {count(document.length!)} characters.</p>}
        </section>
        <div class="stack">
          <Section title="Its topics">
            <ul class="legend">
              {[...leaves].map(([path, style]) => (
                <li key={path}>
                  <button type="button" class="quiet" aria-pressed={only === path} onClick={() => setOnly(only === path ? "" : path)} title="Show the words of this topic alone">
                    <span class={`w s${style}`}>{line(tree.label(path), 50)}</span>
                  </button>
                  <span class="meter">
                    <Bar share={document.topics[path] ?? 0} />
                  </span>
                  <span class="number">{percent(document.topics[path] ?? 0)}</span>
                  <a href={href(`topic/${path}`)} aria-label={`${path}, open ${line(tree.label(path), 50)}`}>
                    {path}
                  </a>
                </li>
              ))}
            </ul>
            <Shares tree={tree} document={document} />
          </Section>
          <Section title="Metadata">
            <dl class="numbers">
              {Object.entries(document.meta).map(([name, value]) => (
                <div key={name}>
                  <dt>
                    <T text={name} longest={40} />
                  </dt>
                  <dd>
                    <T text={shown(value)} longest={400} />
                  </dd>
                </div>
              ))}
            </dl>
            {!Object.keys(document.meta).length && <p class="soft">None was kept.</p>}
          </Section>
        </div>
      </div>
      <Command text={document.command} />
    </article>
  );
}

/** The topics that words are from, by share, each with its own look. */
function styled(tree: Tree, document: Document): Map<string, number> {
  const used = new Set(document.words.map((one) => one[2]));
  for (const [path, share] of Object.entries(document.topics)) {
    if (share >= 0.01 && !tree.find(path)?.children.length) used.add(path);
  }
  const order = [...used].sort((a, b) => (document.topics[b] ?? 0) - (document.topics[a] ?? 0));
  return new Map(order.map((path, place) => [path, Math.min(place, STYLES)]));
}

/** Places in the text count characters as people do, not halves of them. */
function Words({ document, styles, only }: { document: Document; styles: Map<string, number>; only: string }) {
  const signs = useMemo(() => [...document.text], [document]);
  const pieces = [];
  let at = 0;
  for (const [start, end, path] of document.words) {
    if (start < at) continue;
    if (start > at) pieces.push(harmless(signs.slice(at, start).join("")));
    const style = styles.get(path) ?? STYLES;
    pieces.push(
      <span key={start} class={`w s${style}${only && only !== path ? " off" : ""}`} title={path}>
        {harmless(signs.slice(start, end).join(""))}
      </span>,
    );
    at = end;
  }
  pieces.push(harmless(signs.slice(at).join("")));
  return <p class="prose" dir="auto">{pieces}</p>;
}

/** All shares, level by level. */
function Shares({ tree, document }: { tree: Tree; document: Document }) {
  const rows = Object.entries(document.topics).filter(([path, share]) => share >= 0.005 && path !== "o");
  rows.sort(([a], [b]) => (tree.topics.indexOf(tree.find(a)!) || 0) - (tree.topics.indexOf(tree.find(b)!) || 0));
  return (
    <details class="twin">
      <summary>Shares on every level ({counted(rows.length, "topic")})</summary>
      <ul class="briefs">
        {rows.map(([path, share]) => (
          <li key={path}>
            <div>
              <a href={href(`topic/${path}`)}>
                <span class="path">{path}</span> <T text={tree.label(path)} longest={60} />
              </a>
              <span class="number">{percent(share)}</span>
            </div>
          </li>
        ))}
      </ul>
    </details>
  );
}
