// Changing the tree: say what, look at what would come of it, then do it.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Cancelled, news, said, useAnswer, workspace } from "../lib/api";
import { toTitle } from "../lib/focus";
import { apply, instead, keptText, last, type Order, plan, remember, Unknown } from "../lib/revise";
import { changed, go, href, type Route } from "../lib/route";
import { keep, marked } from "../lib/session";
import { useStore } from "../lib/store";
import { counted, line, moment, percent } from "../lib/text";
import type { Topic, Tree } from "../lib/tree";
import type { Change, Entry, Job, Plan } from "../lib/types";
import { Bar, Choice, Command, Empty, Failure, Icon, Section, T, Title, TopicLink, Waiting } from "../parts/basic";
import { TopicPicker } from "../parts/pick";

const VERBS: [string, string, string][] = [
  ["expand", "Split", "Into parts, as many as you say or as are clearly apart."],
  ["merge", "Merge", "Several topics become one, where the first is; what is below them is below it."],
  ["move", "Move", "Under another topic, with all that is below it."],
  ["remove", "Remove", "Every document's share goes where it fits, or into the topic that you name."],
  ["collapse", "Collapse", "Drops all that is below it."],
  ["rename", "Rename", "Gives it a name that stays."],
  ["pin", "Pin", "It survives when the topic above it is split again."],
  ["unpin", "Unpin", "It may go when the topic above it is split again."],
];

const WIDEST = 20; // parts that a topic may be split into here
const CARRIED = 10; // documents that a part needs (src/strod/workspace/expand.py)
const [SOME, MOST] = [8, 200]; // lines of a list that are seen at once, and at all

function ordered(query: URLSearchParams): Order {
  const number = (name: string) => Number(query.get(name)) || 0;
  const children = query.get("children") ?? "auto";
  const order: Order = { verb: query.get("verb") ?? "expand", topics: query.getAll("topics") };
  if (order.verb === "expand") {
    order.children = children === "auto" ? "auto" : Number(children);
    if (number("height")) order.height = number("height");
    if (query.get("fresh")) order.fresh = true;
    if (query.get("force")) order.force = true;
  }
  if (order.verb === "move") order.target = query.get("target") ?? "";
  if (order.verb === "remove" && query.get("into")) order.into = query.get("into")!;
  if (order.verb === "rename") order.label = query.get("label") ?? "";
  if (order.verb !== "merge") order.topics = order.topics.slice(0, 1);
  return order;
}

/** What is still to be said before there can be a preview. */
function lacking(order: Order): string {
  if (!order.topics.length) return "Pick a topic.";
  if (order.verb === "merge" && order.topics.length < 2) return "Pick another topic to merge with it.";
  if (order.verb === "move" && !order.target) return "Pick the topic to move it under.";
  if (order.verb === "rename" && !order.label) return "Give it a name.";
  return "";
}

export function ReviseView({ tree, route }: { tree: Tree; route: Route }) {
  const about = useStore(workspace)!;
  const order = ordered(route.query);
  const done = route.query.get("done");
  const about_ = VERBS.find(([verb]) => verb === order.verb) ?? VERBS[0]!;
  if (about.read_only) return <Empty title="This workspace is shown read-only." />;
  if (done) return <Done tree={tree} revision={Number(done)} />;
  const set = (changes: Parameters<typeof changed>[0]) => go(changed({ preview: null, ...changes }), true);
  return (
    <div class="revise">
      <Title text={`${about_[1]}${order.topics.length ? `: ${order.topics.map((path) => tree.label(path)).join(" + ")}` : " a topic"}`} />
      <div role="group" aria-label="What to do" class="verbs">
        {VERBS.map(([verb, name]) => (
          <button key={verb} type="button" aria-pressed={verb === order.verb} onClick={() => set({ verb })}>
            {name}
          </button>
        ))}
      </div>
      <p class="soft">{about_[2]}</p>
      <form
        class="card controls"
        onSubmit={(event) => {
          event.preventDefault();
          go(changed({ preview: 1 }));
        }}
      >
        <Form tree={tree} order={order} query={route.query} set={set} />
        <div class="buttons">
          <button type="submit" class="main" disabled={Boolean(lacking(order))}>
            Preview
          </button>
          <span class="soft">{lacking(order) || "Nothing is written yet."}</span>
        </div>
      </form>
      {route.query.get("preview") && !lacking(order) && <Preview key={JSON.stringify(order)} tree={tree} order={order} />}
    </div>
  );
}

interface FormGiven {
  tree: Tree;
  order: Order;
  query: URLSearchParams;
  set: (changes: Parameters<typeof changed>[0]) => void;
}

function Form({ tree, order, query, set }: FormGiven) {
  const about = useStore(workspace)!;
  const [first = "", ...others] = order.topics;
  return (
    <>
      <TopicPicker tree={tree} label="Topic" value={first} onPick={(path) => set({ topics: [path, ...others] })} />
      {order.verb === "merge" &&
        [...others, ""].map((path, place) => (
          <TopicPicker
            key={place}
            tree={tree}
            label={place ? "and" : "with"}
            value={path}
            optional={place < others.length ? "leave out" : "pick a topic"}
            onPick={(one) => set({ topics: [first, ...others.slice(0, place), one, ...others.slice(place + 1)].filter(Boolean) })}
          />
        ))}
      {order.verb === "expand" && <Shape query={query} set={set} most={splits(tree.find(first), about.documents, Boolean(query.get("force")))} />}
      {order.verb === "move" && <TopicPicker tree={tree} label="under" value={order.target ?? ""} onPick={(path) => set({ target: path })} />}
      {order.verb === "remove" && <TopicPicker tree={tree} label="into" value={order.into ?? ""} optional="where each document fits" onPick={(path) => set({ into: path })} />}
      {order.verb === "rename" && (
        <label class="choice wide">
          <span>Name</span>
          <input value={order.label ?? ""} placeholder={line(tree.label(first), 60)} maxLength={200} onInput={(event) => set({ label: event.currentTarget.value })} />
        </label>
      )}
    </>
  );
}

/** How many parts are offered: no more than there are documents for, unless that is to be so. */
function splits(topic: Topic | undefined, documents: number, force: boolean): number {
  if (!topic || force) return WIDEST;
  const carried = Math.floor(Math.max(topic.documents, topic.weight * documents) / CARRIED);
  return Math.max(2, Math.min(WIDEST, Math.max(carried, topic.children.length)));
}

/** An error of a split in the words of the form. */
function inWords(text: string, verb: string): string {
  if (verb !== "expand") return text;
  const tick = "tick “even where few documents carry it”";
  return text.replace(/; force splits it all the same$/, `; to split it all the same, ${tick}`).replace(/; give children (.*), or force$/, `; choose $1 at “Into”, or ${tick}`).replace(/: children must be /, ": “Into” must be ");
}

function Shape({ query, set, most }: Pick<FormGiven, "query" | "set"> & { most: number }) {
  const chosen = Number(query.get("children")) || 0;
  const offered = Array.from({ length: most - 1 }, (_, place) => place + 2);
  if (chosen > most) offered.push(chosen);
  const numbers = offered.map((one): [string, string] => [String(one), String(one)]);
  return (
    <>
      <Choice label="Into" value={query.get("children") ?? "auto"} options={[["auto", "as many as are clear"], ...numbers]} onPick={(value) => set({ children: value === "auto" ? null : value })} />
      <Choice label="Levels" value={query.get("height") ?? ""} options={[["", "as now"], ["1", "1"], ["2", "2"], ["3", "3"]]} onPick={(value) => set({ height: value })} />
      <label class="check">
        <input type="checkbox" checked={Boolean(query.get("fresh"))} onChange={(event) => set({ fresh: event.currentTarget.checked ? 1 : null })} />
        learn anew
      </label>
      <label class="check">
        <input type="checkbox" checked={Boolean(query.get("force"))} onChange={(event) => set({ force: event.currentTarget.checked ? 1 : null })} />
        even where few documents carry it
      </label>
    </>
  );
}

interface Progress {
  stage: string;
  done: number;
  total: number | null;
}

function Preview({ tree, order }: { tree: Tree; order: Order }) {
  const [found, setFound] = useState<Plan | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const about = useStore(workspace)!;
  const [progress, setProgress] = useState<Progress | null>(null);
  const [note, setNote] = useState(() => String(history.state?.note ?? ""));
  const [again, setAgain] = useState(0);
  const [applying, setApplying] = useState(false);
  const [stopping, setStopping] = useState(false);
  const seen = useRef(""); // the workspace that the plan is for, if this page had it then
  const control = useRef(new AbortController());
  const told = (job: Job<unknown>) => setProgress({ stage: job.stage, done: job.done, total: job.total });

  useEffect(() => {
    const own = new AbortController();
    control.current = own;
    setFound(null);
    setError(null);
    plan(order, told, own.signal).then(
      (value) => {
        seen.current = workspace.value?.revision === value.revision ? workspace.value.etag : "";
        setFound(value);
        setProgress(null);
        said.set(`Preview: ${value.change.new.length} new, ${value.change.lost.length} gone. ${keptText(value.change, true)}`);
      },
      (problem: Error) => own.signal.aborted || setError(problem),
    );
    return () => own.abort();
  }, [again]);

  const confirm = async () => {
    const own = new AbortController();
    control.current = own;
    setApplying(true);
    setStopping(false);
    setProgress({ stage: "", done: 0, total: null });
    try {
      const done = await apply(found!.plan, note, told, own.signal);
      marked.set([]);
      news.set(`Done: ${line(done.change.what)}. ${keptText(done.change)}`);
      go(href("revise", { done: done.revision }));
      remember(done);
    } catch (problem) {
      setApplying(false);
      setProgress(null);
      if (problem instanceof Cancelled) news.set("Cancelled: nothing was changed.");
      else setError(problem as Error);
    }
  };
  const cancel = () => {
    control.current.abort();
    if (applying) setStopping(true);
    else go(changed({ preview: null }));
  };

  if (error instanceof Unknown) return <Failure text={error.message} />;
  const old = found && (found.revision !== about.revision || (seen.current && seen.current !== about.etag));
  if (old && !applying) return <Conflict now={about.revision} again={() => setAgain(again + 1)} />;
  if (error) return <Failure text={inWords(error.message, order.verb)} />;
  if (!found) return <Running title="Looking at what would come of it" progress={progress} cancel={cancel} />;
  return (
    <section class="preview" aria-label="Preview">
      <Outcome tree={tree} change={found.change} future />
      <Command text={found.command} />
      {applying ? (
        <Running title={stopping ? "Cancelling: if it is too late for that, you see what was done" : "Applying"} progress={progress} cancel={stopping ? null : cancel} />
      ) : (
        <form
          class="card controls"
          onSubmit={(event) => {
            event.preventDefault();
            void confirm();
          }}
        >
          <label class="choice wide">
            <span>Note</span>
            <input value={note} maxLength={400} placeholder="why, for the history" onInput={(event) => (setNote(event.currentTarget.value), keep("note", event.currentTarget.value))} />
          </label>
          <div class="buttons">
            <button type="submit" class="main">
              Apply
            </button>
            <button type="button" onClick={cancel}>
              Don’t
            </button>
          </div>
        </form>
      )}
    </section>
  );
}

/** The plan is for a revision that is no longer the newest: somebody else, or another window, was there first. */
function Conflict({ now, again }: { now: number; again: () => void }) {
  return (
    <div class="notice bad" role="alert">
      <Icon name="warn" />
      <div>
        <p>
          <b>This workspace was changed elsewhere: it is at revision {now} now.</b> Nothing of yours was written, and nothing of theirs is lost. Look at the preview again before you apply it.
        </p>
        <p class="buttons">
          <button type="button" class="main" onClick={again}>
            Preview again
          </button>
          <a class="button" href={href("history")}>
            What they did
          </a>
        </p>
      </div>
    </div>
  );
}

function Running({ title, progress, cancel }: { title: string; progress: Progress | null; cancel: (() => void) | null }) {
  const known = progress?.total ? progress.done / progress.total : undefined;
  return (
    <div class="card running">
      <p role="status">
        {title}
        {progress?.stage && cancel ? `: ${progress.stage}` : "…"}
      </p>
      <progress aria-label={title} max={1} {...(known === undefined ? {} : { value: known })} />
      {cancel && (
        <button type="button" onClick={cancel}>
          Cancel
        </button>
      )}
    </div>
  );
}

/** What a change does, or would do. */
export function Outcome({ tree, change, future = false }: { tree: Tree; change: Change; future?: boolean }) {
  const most = Math.max(...change.new.map((one) => one.weight), 1e-9);
  const joined = new Set(change.joined.map((one) => one.id));
  const fresh = change.new.filter((one) => !joined.has(one.id)).toSorted((a, b) => compared(a.path, b.path));
  const shifts = change.weights.filter((one) => Math.abs(one.after - one.before) >= 0.0005);
  const nothing = !change.new.length && !change.changed.length && !change.moved.length && !change.lost.length;
  return (
    <div class="outcome">
      <p class="kept">
        <Icon name="done" />
        <b>{keptText(change, future)}</b>
        <span class="soft">
          {future ? "Would be" : "Was"}: <T text={change.what} />
        </span>
      </p>
      {change.warnings.length > 0 && (
        <ul class="notice warnings">
          {change.warnings.map((one, place) => (
            <li key={place}>
              <Icon name="warn" /> <T text={one.text} longest={300} />
            </li>
          ))}
        </ul>
      )}
      {nothing && <p class="soft">No topic {future ? "would differ" : "differs"}.</p>}
      <div class="columns">
        {change.joined.length > 0 && (
          <Section title="Joined" class="wide">
            <ul class="briefs">
              {change.joined.map((one) => (
                <li key={one.id} class="joined">
                  <div>
                    <b>
                      <T text={one.name || one.path} longest={80} />
                    </b>
                    <span class="number">{percent(one.weight)}</span>
                  </div>
                  <p class="soft">
                    of{" "}
                    {one.of.map((part, place) => (
                      <span key={part.id}>
                        {place > 0 && " and "}
                        <T text={part.name || part.path} longest={60} /> ({percent(part.weight)})
                      </span>
                    ))}
                  </p>
                  <Phrases list={change.new.find((other) => other.id === one.id)?.phrases} />
                </li>
              ))}
            </ul>
          </Section>
        )}
        {fresh.length > 0 && (
          <Section title={counted(fresh.length, "new topic")} class="wide">
            <ul class="briefs">
              {fresh.map((one) => (
                <li key={one.id} class="new">
                  <div>
                    <b>
                      <T text={one.name || one.path} longest={80} />
                    </b>
                    <span class="path">{one.path}</span>
                    <span class="meter">
                      <Bar share={one.weight / most} />
                    </span>
                    <span class="number">{percent(one.weight)}</span>
                  </div>
                  <Phrases list={one.phrases} />
                </li>
              ))}
            </ul>
          </Section>
        )}
        {change.lost.length > 0 && (
          <Gone title={future ? `${counted(change.lost.length, "topic")} would go` : `${counted(change.lost.length, "topic")} gone`}>
            {change.lost.map((one) => (
              <li key={one.id}>
                <div>
                  <T text={one.name || one.path} longest={80} />
                  <span class="path">{one.path}</span>
                  <span class="number">{percent(one.weight)}</span>
                </div>
              </li>
            ))}
          </Gone>
        )}
        {change.moved.length > 0 && (
          <Gone title={`${counted(change.moved.length, "topic")} ${future ? "would have" : "with"} another path`}>
            {change.moved.slice(0, MOST).map((one) => (
              <li key={one.id}>
                <div>
                  <T text={one.name || one.id} longest={60} />
                  <span class="path">
                    {one.before} → {one.after}
                  </span>
                </div>
              </li>
            ))}
          </Gone>
        )}
        {shifts.length > 0 && (
          <Gone title="Other weights">
            {shifts.slice(0, MOST).map((one) => (
              <li key={one.id}>
                <div>
                  <TopicLink topic={tree.byId.get(one.id)} path={one.path} label={one.name} />
                  <span class="number">
                    {percent(one.before)} → {percent(one.after)}
                  </span>
                </div>
              </li>
            ))}
          </Gone>
        )}
        {change.pinned.length > 0 && (
          <Gone title="Stay because they are pinned">
            {change.pinned.map((one) => (
              <li key={one.id}>
                <T text={one.name || one.path} longest={80} />
              </li>
            ))}
          </Gone>
        )}
      </div>
    </div>
  );
}

/** A list; what is beyond its first lines is there when asked for. */
function Gone({ title, children }: { title: string; children: ComponentChildren[] }) {
  const more = children.length - SOME;
  return (
    <Section title={title}>
      <ul class="briefs">{children.slice(0, SOME)}</ul>
      {more > 0 && (
        <details class="twin">
          <summary>{more} more</summary>
          <ul class="briefs">{children.slice(SOME)}</ul>
        </details>
      )}
    </Section>
  );
}

function Phrases({ list }: { list: string[] | undefined }) {
  if (!list?.length) return null;
  return (
    <p class="phrases">
      {list.map((text) => (
        <span key={text}>
          <T text={text} longest={60} />
        </span>
      ))}
    </p>
  );
}

function compared(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

/** After a change: what it did, as far as this page saw it; the history knows it for good. */
function Done({ tree, revision }: { tree: Tree; revision: number }) {
  const known = useStore(last);
  const { value, stale } = useAnswer<{ entries: Entry[] }>("/api/history");
  const entry = value?.entries.find((one) => one.revision === revision);
  useEffect(() => {
    if (value) toTitle();
  }, [Boolean(value)]);
  if (!value) return <Waiting rows={4} />;
  const mine = known?.revision === revision && known.change.what === entry?.what && !entry.undone ? known : null;
  const links = [...(mine?.change.new ?? []), ...(mine?.change.changed ?? [])].filter((one) => tree.byId.has(one.id)).slice(0, 12);
  return (
    <div aria-busy={stale ? "true" : undefined}>
      <Title text={`Revision ${revision}: ${entry?.what ?? "not in the history"}${entry?.undone ? " (undone)" : ""}`}>
        <p class="soft">
          {entry && moment(entry.when)} {entry?.note && <T text={`“${entry.note}”`} longest={400} />}
        </p>
      </Title>
      <Since entries={value.entries} revision={revision} undone={entry?.undone ?? true} />
      <p class="buttons">
        <Back revision={revision} entries={value.entries} />
        <a class="button" href={href("")}>
          See the tree
        </a>
        <a class="button" href={href("history")}>
          History
        </a>
        {links.map((one) => (
          <TopicLink key={one.id} topic={tree.byId.get(one.id)} path={tree.byId.get(one.id)!.path} />
        ))}
      </p>
      {mine && <Outcome tree={tree} change={mine.change} />}
    </div>
  );
}

/** What became of a change since it was made, and what is there now. */
function Since({ entries, revision, undone }: { entries: Entry[]; revision: number; undone: boolean }) {
  const now = useStore(workspace)!.revision;
  const what = entries.find((one) => one.revision === now && !one.undone)?.what;
  if (!undone && now === revision) return null;
  return (
    <p class="notice" role="status">
      <span>
        <b>{undone ? "This change was undone." : "There were other changes since."}</b> What you see now is revision {now}
        {what && (
          <>
            {": "}
            <T text={what} longest={200} />
          </>
        )}
        .
      </span>
    </p>
  );
}

/** Undo, while the change is the last one; redo, if it is all that was undone. */
function Back({ entries, revision }: { entries: Entry[]; revision: number }) {
  const about = useStore(workspace)!;
  const [verb, name] = about.revision === revision ? (["undo", "Undo"] as const) : (["redo", "Redo"] as const);
  const later = entries.slice(entries.findIndex((one) => one.revision === about.revision && !one.undone) + 1);
  const isNext = later.length === 1 && later[0]!.revision === revision;
  if (verb === "undo" ? !about.undo : !about.redo || !isNext) return null;
  return (
    <button key={verb} type="button" class={verb === "undo" ? "main" : ""} onClick={() => void instead(verb)}>
      <Icon name={verb} /> {name}
    </button>
  );
}
