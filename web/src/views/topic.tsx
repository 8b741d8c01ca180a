// One topic: what it says, what is below and beside it, when, who, and which documents.
import { useMemo } from "preact/hooks";
import { useAnswer, workspace } from "../lib/api";
import { api, topicAddress } from "../lib/address";
import { changed, go, href, type Route } from "../lib/route";
import { isSite } from "../lib/site";
import { useStore } from "../lib/store";
import { count, counted, figure, percent, times } from "../lib/text";
import type { Tree } from "../lib/tree";
import type { Brief, Details, Documents } from "../lib/types";
import { Bar, Command, Crumbs, Empty, Icon, Section, Show, T, Title, TopicLink } from "../parts/basic";
import { TrendPlot } from "../parts/charts";
import { DocumentRow } from "../parts/documents";
import { Verbs } from "../parts/verbs";

const REASONS: Record<string, string> = { height: "the tree was to be no deeper here" };

export function TopicView({ tree, route }: { tree: Tree; route: Route }) {
  const path = route.rest || "o";
  const answer = useAnswer<Details>(topicAddress(path));
  const topic = tree.find(path);
  if (!topic) {
    return (
      <Empty title={`There is no topic ${path.slice(0, 60)} in this revision.`}>
        <p>
          It may have been merged, moved or removed. <a href={href("history")}>The history</a> says what was done; <a href={href("")}>the overview</a> has all topics.
        </p>
      </Empty>
    );
  }
  return (
    <article class="topic">
      <Crumbs topic={topic} />
      <Title text={topic.label}>
        <p class="facts">
          <span class="path">{topic.path}</span>
          <span>{percent(topic.weight)} of the corpus</span>
          <span>{counted(topic.documents, "document")}</span>
          {topic.slice && (
            <span>
              {count(topic.slice.documents)} found here, {times(topic.slice.lift)}
            </span>
          )}
          {topic.named && <span>named by hand</span>}
          {topic.pinned && (
            <span>
              <Icon name="pin" /> pinned
            </span>
          )}
        </p>
      </Title>
      <Verbs topic={topic} />
      <Show of={answer} rows={14}>
        {(details) => <Body tree={tree} details={details} route={route} />}
      </Show>
    </article>
  );
}

function Body({ tree, details, route }: { tree: Tree; details: Details; route: Route }) {
  return (
    <>
      <div class="masonry">
        <Phrases details={details} />
        <Numbers details={details} />
        <Words details={details} route={route} />
        <Below tree={tree} details={details} />
        {details.trend && (
          <Section title="Over time">
            <TrendPlot trend={details.trend} />
          </Section>
        )}
        {Object.entries(details.entities).map(([field, rows]) => (
          <Entities key={field} field={field} rows={rows} top={details.parent === null} />
        ))}
        {details.siblings.length > 0 && (
          <Section title="Beside it" extra={!isSite && <CompareLink details={details} />}>
            <Briefs tree={tree} rows={details.siblings} whole={1} />
          </Section>
        )}
      </div>
      <Best path={details.path} where={route.query.get("where")} />
      <Command text={details.command} />
    </>
  );
}

function CompareLink({ details }: { details: Details }) {
  const other = details.siblings[0]!;
  return <a href={href("compare", { a: details.path, b: other.path })}>Compare</a>;
}

function Phrases({ details }: { details: Details }) {
  const most = details.phrases[0]?.[1] || 1;
  return (
    <Section title="Phrases">
      {details.phrases.length === 0 && <p class="soft">No phrase stands for this topic.</p>}
      <ol class="bars">
        {details.phrases.slice(0, 20).map(([text, score]) => (
          <li key={text}>
            <a href={href("search", { q: `"${text.replaceAll('"', "")}"` })}>
              <T text={text} longest={80} />
            </a>
            <Bar share={score / most} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** By p(w)^λ · (p(w) / p(w in parent))^(1 - λ), as Sievert and Shirley rank words. */
function relevance(p: number, above: number | null, part: number): number {
  return part * Math.log(p) + (1 - part) * Math.log(p / (above || p));
}

function Words({ details, route }: { details: Details; route: Route }) {
  const part = Math.max(0, Math.min(1, Number(route.query.get("lambda") ?? 1)));
  const words = useMemo(() => details.words.filter(([, p]) => p > 0).toSorted((a, b) => relevance(b[1], b[2], part) - relevance(a[1], a[2], part)), [details, part]);
  const most = Math.max(...words.map(([, p, above]) => Math.max(p, above ?? 0)), 1e-9);
  const hasParent = details.parent !== null;
  return (
    <Section
      title="Words"
      extra={
        hasParent && (
          <label class="slider">
            <span>typical</span>
            <input
              type="range"
              min="0"
              max="1"
              step="0.1"
              value={part}
              aria-label="Order of words: from typical of this topic to frequent in it"
              onInput={(event) => go(changed({ lambda: event.currentTarget.value === "1" ? null : event.currentTarget.value }), true)}
            />
            <span>frequent</span>
          </label>
        )
      }
    >
      <table class="words">
        <thead>
          <tr>
            <th scope="col">Word</th>
            <td />
            <th scope="col" class="number">
              Here
            </th>
            {hasParent && (
              <th scope="col" class="number">
                Above
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {words.slice(0, 20).map(([word, p, above]) => (
            <tr key={word}>
              <th scope="row">
                <a href={href("search", { q: word })}>
                  <T text={word} longest={40} />
                </a>
              </th>
              <td>
                <Bar share={p / most} usual={hasParent ? (above ?? 0) / most : undefined} />
              </td>
              <td class="number">{(100 * p).toFixed(2)}%</td>
              {hasParent && <td class="number soft">{above === null ? "" : `${(100 * above).toFixed(2)}%`}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      {hasParent && <p class="soft note">Bars are of this topic, marks of the one above.</p>}
    </Section>
  );
}

function Below({ tree, details }: { tree: Tree; details: Details }) {
  if (!details.children.length) {
    return (
      <Section title="A leaf">
        <p>
          Nothing is below it{details.reason ? `: ${REASONS[details.reason] ?? details.reason}` : ""}. {!isSite && <a href={href("revise", { verb: "expand", topics: details.path })}>See how it would split</a>}
        </p>
      </Section>
    );
  }
  return (
    <Section title={`Below it: ${counted(details.children.length, "topic")}`}>
      <Briefs tree={tree} rows={details.children} whole={details.weight} />
      {details.rest > 0.0005 * details.weight && <p class="soft">{percent(details.rest / details.weight)} of it is in none of them.</p>}
    </Section>
  );
}

function Briefs({ tree, rows, whole }: { tree: Tree; rows: Brief[]; whole: number }) {
  return (
    <ul class="briefs">
      {rows.map((one) => (
        <li key={one.path}>
          <div>
            <TopicLink topic={tree.find(one.path)} path={one.path} label={one.label} />
            <span class="meter">
              <Bar share={one.weight / whole} />
            </span>
            <span class="number">{percent(one.weight / whole)}</span>
          </div>
          <p class="soft clip">
            {one.phrases.map((text, place) => (
              <span key={text}>
                {place > 0 && ", "}
                <T text={text} longest={60} />
              </span>
            ))}
          </p>
        </li>
      ))}
    </ul>
  );
}

function Entities({ field, rows, top }: { field: string; rows: [string, number, number][]; top: boolean }) {
  const most = Math.max(...rows.map((one) => one[2]), 1);
  const quoted = (name: string) => `${field} = '${name.replaceAll("'", "''")}'`;
  if (!rows.length) return null;
  return (
    <Section title={`${top ? "Most frequent" : "Typical"}: ${field.slice(0, 40)}`}>
      <ol class="bars">
        {rows.map(([name, , documents]) => (
          <li key={name}>
            {isSite ? (
              <T text={name} longest={60} />
            ) : (
              <a href={href("slices", { where: quoted(name) })}>
                <T text={name} longest={60} />
              </a>
            )}
            <Bar share={documents / most} />
            <span class="number soft">{count(documents)}</span>
          </li>
        ))}
      </ol>
      <p class="soft note">{top ? "Bars are documents, the most first." : "In the order of how much more typical of this topic than of the one above; bars are documents."}</p>
    </Section>
  );
}

function Numbers({ details }: { details: Details }) {
  const rows: [string, string][] = [
    ["α among its siblings", figure(details.alpha)],
    ["α₀ of its children", details.children.length ? figure(details.alpha0) : "–"],
    ["Level", String(details.level)],
    ["Id", details.id],
    ["Checksum", details.sha256.slice(0, 12)],
  ];
  return (
    <Section title="Numbers">
      <dl class="numbers">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

function Best({ path, where }: { path: string; where: string | null }) {
  const about = useStore(workspace)!;
  const answer = useAnswer<Documents>(api("documents", { topic: path, where, limit: 5 }));
  return (
    <Section title="Documents with most of it" extra={<a href={href("documents", { topic: path })}>{isSite ? "More documents" : "All documents"}</a>}>
      <Show of={answer} rows={5}>
        {(found) => (
          <>
            {found.documents.length === 0 && <p class="soft">No document{where ? " of the slice" : ""} has a share of it.</p>}
            <ol class="documents">
              {found.documents.map((one) => (
                <DocumentRow key={one.number} document={one} fields={about.meta} topic={path} />
              ))}
            </ol>
          </>
        )}
      </Show>
    </Section>
  );
}
