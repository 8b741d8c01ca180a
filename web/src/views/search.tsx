// Search: topics whose names or phrases match, where the hits live, and documents.
import { useAnswer, workspace } from "../lib/api";
import { api } from "../lib/address";
import { changed, go, href, type Route } from "../lib/route";
import { isSite } from "../lib/site";
import { useStore } from "../lib/store";
import { count, counted, percent, times } from "../lib/text";
import type { Tree } from "../lib/tree";
import type { Found } from "../lib/types";
import { Bar, Command, Empty, Pages, Section, Show, T, Title, TopicLink } from "../parts/basic";
import { DocumentRow } from "../parts/documents";
import { Filters, TopicPicker } from "../parts/pick";
import { shade } from "../parts/tree";

const LIMIT = 20;
const PLACES = 12;

export function SearchView({ tree, route }: { tree: Tree; route: Route }) {
  const about = useStore(workspace)!;
  const q = route.query.get("q") ?? "";
  const topic = route.query.get("topic") ?? "";
  const offset = Number(route.query.get("offset")) || 0;
  const answer = useAnswer<Found>(q || !about.can_search ? api("search", { q: q || "a", topic, where: route.query.get("where"), limit: LIMIT, offset }) : null);
  if (!about.can_search) {
    return (
      <Empty title="Search is not installed.">
        {answer.error && (
          <p>
            <T text={answer.error} longest={400} />
          </p>
        )}
      </Empty>
    );
  }
  return (
    <div>
      <Title text={q ? `Search: ${q}` : "Search"}>
        {isSite && (
          <p class="soft">
            In the {counted(about.shown ?? 0, "document")} of this site, of {count(about.documents)}; lift is against them. Words of a phrase are found wherever they stand, and values of metadata not at all.
          </p>
        )}
      </Title>
      <details class="card controls" open={Boolean(topic || route.query.get("where"))}>
        <summary>{isSite ? "Only in a topic" : "Only in a topic, or where metadata say so"}</summary>
        <TopicPicker tree={tree} label="In" value={topic} optional="the whole tree" onPick={(one) => go(changed({ topic: one, offset: null }))} />
        <Filters />
      </details>
      {q ? (
        <Show of={answer} rows={14}>
          {(found) => <Results tree={tree} found={found} offset={offset} fields={about.meta} q={q} />}
        </Show>
      ) : (
        <Help />
      )}
    </div>
  );
}

function Help() {
  const rows: [string, string][] = [
    ["topic model", "both words, anywhere"],
    ['"topic model"', isSite ? "both words, too: they stand anywhere" : "one after the other"],
    ["LDA OR PLSA", "one of them"],
    ["graph* -neural", "words that begin so, without the other"],
    ...(isSite ? [] : ([["label:cs.LG kernel", "a field with this value"]] as [string, string][])),
  ];
  return (
    <Empty title="Search documents, topics and phrases.">
      <dl class="numbers samples">
        {rows.map(([query, text]) => (
          <div key={query}>
            <dt>
              <code>{query}</code>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Empty>
  );
}

function Results({ tree, found, offset, fields, q }: { tree: Tree; found: Found; offset: number; fields: Record<string, string>; q: string }) {
  if (!found.total && !found.named.length) {
    return (
      <Empty title="Nothing is found.">
        <p>All words must be there: try fewer, or OR between them.</p>
        <Command text={found.command} />
      </Empty>
    );
  }
  return (
    <>
      <div class="columns">
        <Named tree={tree} found={found} />
        <Places tree={tree} found={found} />
      </div>
      <Section title={counted(found.total, "document")} extra={<Pages total={found.total} limit={LIMIT} offset={offset} noun="documents" />}>
        <ol class="documents" start={offset + 1}>
          {found.documents.map((one) => (
            <DocumentRow key={one.number} document={one} fields={fields} q={q} />
          ))}
        </ol>
      </Section>
      <Pages total={found.total} limit={LIMIT} offset={offset} noun="documents" label="Pages, again" />
      <Command text={found.command} />
    </>
  );
}

function Named({ tree, found }: { tree: Tree; found: Found }) {
  return (
    <Section title="Topics and phrases">
      {!found.named.length && <p class="soft">No topic is named so.</p>}
      <ul class="briefs">
        {found.named.map((one) => (
          <li key={one.path}>
            <div>
              <TopicLink topic={tree.find(one.path)} path={one.path} label={one.label} />
              <span class="path">{one.path}</span>
            </div>
            {one.phrases.length > 0 && (
              <p class="soft clip">
                {one.phrases.slice(0, 8).map((text, place) => (
                  <span key={text}>
                    {place > 0 && ", "}
                    <T text={text} longest={60} />
                  </span>
                ))}
              </p>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Places({ tree, found }: { tree: Tree; found: Found }) {
  const rows = found.topics.filter((one) => one.path !== "o").slice(0, PLACES);
  return (
    <Section title="Where they live" class="wide" extra={<a href={href("")}>On the tree</a>}>
      <table class="words places">
        <thead>
          <tr>
            <th scope="col">Topic</th>
            <td />
            <th scope="col" class="number">
              Hits
            </th>
            <th scope="col" class="number">
              Lift
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((one) => (
            <tr key={one.path}>
              <th scope="row">
                <TopicLink topic={tree.find(one.path)} path={one.path} label={one.label} />
              </th>
              <td title={percent(one.hits / found.total)}>
                <Bar share={one.hits / found.total} usual={tree.find(one.path)?.weight} tone="painted" />
              </td>
              <td class="number">{count(one.hits)}</td>
              <td class={`number lift d${shade(one.lift)}`}>{times(one.lift)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="soft note">Bars are shares of the hits, marks shares of the corpus.</p>
    </Section>
  );
}
