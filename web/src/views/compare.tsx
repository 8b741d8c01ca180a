// Two revisions, or two topics, side by side.
import { useAnswer, workspace } from "../lib/api";
import { api } from "../lib/address";
import { changed, go, href, type Route } from "../lib/route";
import { useStore } from "../lib/store";
import { counted, line, percent } from "../lib/text";
import type { Tree } from "../lib/tree";
import type { Comparison, Entry, Item } from "../lib/types";
import { Choice, Command, Empty, Section, Show, T, Title, TopicLink } from "../parts/basic";
import { TopicPicker } from "../parts/pick";

export function CompareView({ tree, route }: { tree: Tree; route: Route }) {
  const [a, b] = [route.query.get("a") ?? "", route.query.get("b") ?? ""];
  const kind = route.query.get("kind") ?? (/^\d/.test(a) ? "revisions" : "topics");
  const answer = useAnswer<Comparison>(a && b ? api("compare", { a, b }) : null);
  const pick = (name: string) => (value: string) => go(changed({ [name]: value }));
  return (
    <div>
      <Title text="Compare" />
      <div class="card controls">
        <Choice
          label="Two"
          value={kind}
          options={[
            ["topics", "topics"],
            ["revisions", "revisions"],
          ]}
          onPick={(value) => go(changed({ kind: value, a: null, b: null }))}
        />
        {kind === "topics" ? (
          <>
            <TopicPicker tree={tree} label="First" value={a} onPick={pick("a")} />
            <TopicPicker tree={tree} label="Second" value={b} onPick={pick("b")} />
          </>
        ) : (
          <Revisions a={a} b={b} pick={pick} />
        )}
      </div>
      {a && b ? (
        <Show of={answer} rows={10}>
          {(found) => <Body tree={tree} found={found} a={a} b={b} kind={kind} />}
        </Show>
      ) : (
        <Empty title={`Pick two ${kind}.`} />
      )}
    </div>
  );
}

function Revisions({ a, b, pick }: { a: string; b: string; pick: (name: string) => (value: string) => void }) {
  const { value } = useAnswer<{ entries: Entry[] }>("/api/history");
  const now = useStore(workspace)!.revision;
  const there = value?.entries.filter((one) => !one.undone) ?? [];
  const options: [string, string][] = [["", "pick one"], ...there.map((one): [string, string] => [String(one.revision), `${one.revision}${one.revision === now ? " (now)" : ""}: ${one.what}`])];
  return (
    <>
      <Choice label="First" value={a} options={options} onPick={pick("a")} />
      <Choice label="Second" value={b} options={options} onPick={pick("b")} />
    </>
  );
}

function Body({ tree, found, a, b, kind }: { tree: Tree; found: Comparison; a: string; b: string; kind: string }) {
  const name = (key: string) => (kind === "topics" ? tree.label(key) : `revision ${key}`);
  return (
    <>
      <div class="columns">
        <Side title={`Only in ${line(name(a), 40)}`} items={found.only_a} tree={tree} />
        <Side title={`Only in ${line(name(b), 40)}`} items={found.only_b} tree={tree} />
        {found.words.length > 0 && <Words found={found} names={[name(a), name(b)]} />}
        {found.changed.length > 0 && (
          <Section title={`${counted(found.changed.length, "topic")} changed`}>
            <ul class="briefs">
              {found.changed.slice(0, 100).map((one) => (
                <li key={one.path}>
                  <div>
                    <TopicLink topic={tree.find(one.path)} path={one.path} label={one.label} />
                    <span class="number">
                      {percent(one.before)} → {percent(one.after)}
                    </span>
                  </div>
                </li>
              ))}
            </ul>
          </Section>
        )}
      </div>
      <Command text={found.command} />
    </>
  );
}

/** Topics or phrases that only one of the two has. */
function Side({ title, items, tree }: { title: string; items: Item[]; tree: Tree }) {
  return (
    <Section title={title}>
      {!items.length && <p class="soft">Nothing.</p>}
      <p class="phrases">
        {items.map((item) => item.phrase !== undefined && <span key={item.phrase}><T text={item.phrase} longest={60} /></span>)}
      </p>
      <ul class="briefs">
        {items
          .filter((item) => item.phrase === undefined)
          .slice(0, 40)
          .map((item) => (
            <li key={item.id}>
              <One item={item} tree={tree} />
            </li>
          ))}
      </ul>
    </Section>
  );
}

function One({ item, tree }: { item: Item; tree: Tree }) {
  const path = item.path ?? "";
  const there = tree.find(path);
  return (
    <div>
      {there && there.id === item.id ? <TopicLink topic={there} path={path} label={item.label ?? null} /> : <T text={item.label || path} longest={80} />}
      <span class="path">{path}</span>
      {item.weight !== undefined && <span class="number">{percent(item.weight)}</span>}
    </div>
  );
}

/** Words of both, from the one to the other. */
function Words({ found, names }: { found: Comparison; names: [string, string] }) {
  const most = Math.max(...found.words.map(([, a, b]) => Math.max(a, b)), 1e-9);
  return (
    <Section title="Words" class="wide">
      <table class="words butterfly">
        <thead>
          <tr>
            <th scope="col" class="number">
              <T text={names[0]} longest={30} />
            </th>
            <th scope="col">Word</th>
            <th scope="col">
              <T text={names[1]} longest={30} />
            </th>
          </tr>
        </thead>
        <tbody>
          {found.words.slice(0, 40).map(([word, a, b]) => (
            <tr key={word}>
              <td title={percent(a)}>
                <Half share={a / most} flip />
                <span class="hidden">{percent(a)}</span>
              </td>
              <th scope="row">
                <a href={href("search", { q: word })}>
                  <T text={word} longest={30} />
                </a>
              </th>
              <td title={percent(b)}>
                <Half share={b / most} />
                <span class="hidden">{percent(b)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

function Half({ share, flip = false }: { share: number; flip?: boolean }) {
  return (
    <svg class="bar" width="100%" height="8" aria-hidden="true">
      <rect class="fill" x={flip ? `${100 - 100 * share}%` : 0} width={`${100 * share}%`} height="8" rx="2" />
    </svg>
  );
}
