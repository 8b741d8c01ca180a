import { useEffect, useMemo, useRef } from "preact/hooks";
import { api } from "./lib/address";
import { toTitle } from "./lib/focus";
import { connection, news, post, refresh, said, useAnswer, workspace } from "./lib/api";
import { instead } from "./lib/revise";
import { changed, go, href, ROOT, route, type Route } from "./lib/route";
import { keys, marked, type Theme, theme } from "./lib/session";
import { isSite } from "./lib/site";
import { Store, useStore } from "./lib/store";
import { count, counted, line } from "./lib/text";
import { type Topic, Tree } from "./lib/tree";
import { useTyped } from "./lib/typed";
import type { Skeleton, Workspace } from "./lib/types";
import { Empty, Failure, Icon, T, Waiting } from "./parts/basic";
import { TreeView } from "./parts/tree";
import { CompareView } from "./views/compare";
import { DocumentsView, DocumentView } from "./views/documents";
import { HistoryView } from "./views/history";
import { Overview } from "./views/overview";
import { ReportView } from "./views/report";
import { ReviseView } from "./views/revise";
import { SearchView } from "./views/search";
import { SlicesView } from "./views/slices";
import { TopicView } from "./views/topic";

const PLACES: [string, string][] = [
  ["", "Overview"],
  ["documents", "Documents"],
  ["slices", "Slices"],
  ["compare", "Compare"],
  ["history", "History"],
  ["report", "Report"],
];

const SERVED = new Set(["slices", "compare", "revise"]); // views that ask what files cannot answer

const NARROW = "(max-width: 56rem)"; // as in app.css: the tree is then above the view, or not there

const helping = new Store(false);

/** The tree with what is painted over it; if that is refused, the tree alone. */
function useTree(now: Route): { tree: Tree | null; error: string; refused: boolean; stale: boolean } {
  const [query, where] = [now.query.get("q"), now.query.get("where")];
  const painted = useAnswer<Skeleton>(query || where ? api("tree", { query, where }) : null);
  const alone = useAnswer<Skeleton>((query || where) && !painted.error ? null : "/api/tree");
  const skeleton = (query || where ? painted.value : null) ?? alone.value;
  const kept = useRef<Skeleton | null>(null);
  if (skeleton) kept.current = skeleton;
  const tree = useMemo(() => (kept.current ? new Tree(kept.current) : null), [kept.current]);
  return { tree, error: alone.error, refused: Boolean(painted.error), stale: painted.stale || alone.stale };
}

export function App() {
  const about = useStore(workspace);
  const state = useStore(connection);
  if (state === "locked") {
    return (
      <main>
        <Locked />
      </main>
    );
  }
  if (!about) return <main>{state === "lost" ? <Lost /> : <Waiting rows={10} />}</main>;
  return <Shell about={about} />;
}

function Shell({ about }: { about: Workspace }) {
  const now = useStore(route);
  const { tree, error, refused, stale } = useTree(now);
  const isHelping = useStore(helping);
  useShortcuts();
  useArrival(now);
  const current = tree ? shownTopic(tree, now) : undefined;
  const pick = (topic: Topic) => go(now.view === "" && !matchMedia(NARROW).matches ? changed({ topic: topic.parent ? topic.path : null }) : href(`topic/${topic.path}`));
  return (
    <div class="shell" data-view={now.view || "overview"}>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.getElementById("main")?.focus())}>
        Skip to the content
      </a>
      <Header about={about} now={now} />
      <Banner />
      <aside aria-label="Tree of topics" aria-busy={stale ? "true" : undefined}>
        {tree && <Lens now={now} tree={tree} refused={refused} />}
        {tree ? <TreeView tree={tree} current={current} pick={pick} writable={!about.read_only} /> : error ? null : <Waiting rows={16} />}
        {tree && <Marked tree={tree} />}
      </aside>
      <main id="main" tabIndex={-1}>
        {tree ? <View tree={tree} now={now} stale={stale} /> : error ? <Failure text={error} /> : <Waiting rows={12} />}
      </main>
      <News />
      {isHelping && <Help />}
    </div>
  );
}

function shownTopic(tree: Tree, now: Route): Topic | undefined {
  if (now.view === "topic") return tree.find(now.rest || "o");
  if (now.view === "document") return undefined;
  return tree.find(now.query.get("topic") ?? now.query.get("topics"));
}

function View({ tree, now, stale }: { tree: Tree; now: Route; stale: boolean }) {
  if (isSite && SERVED.has(now.view)) return <NeedsServer />;
  switch (now.view) {
    case "":
      return <Overview tree={tree} route={now} />;
    case "topic":
      return <TopicView tree={tree} route={now} />;
    case "documents":
      return <DocumentsView tree={tree} route={now} />;
    case "document":
      return <DocumentView tree={tree} route={now} />;
    case "search":
      return <SearchView tree={tree} route={now} />;
    case "slices":
      return <SlicesView tree={tree} route={now} stale={stale} />;
    case "revise":
      return <ReviseView tree={tree} route={now} />;
    case "history":
      return <HistoryView />;
    case "compare":
      return <CompareView tree={tree} route={now} />;
    case "report":
      return <ReportView />;
    default:
      return (
        <Empty title="There is no such page.">
          <p>
            <a href={ROOT}>The overview</a> has everything.
          </p>
        </Empty>
      );
  }
}

function NeedsServer() {
  return (
    <Empty title="This view needs a server.">
      <p>
        These are files, made to be read. <code>strod explore W.strod</code> shows the workspace that they are from, where it can be sliced, compared and revised, too.
      </p>
      <p>
        <a href={ROOT}>The overview</a>
      </p>
    </Empty>
  );
}

function Header({ about, now }: { about: Workspace; now: Route }) {
  return (
    <header class="top">
      <a class="brand" href={ROOT} title={`strod ${about.version}`}>
        <b>strod</b> <T text={about.name} longest={40} />
      </a>
      <SearchBox now={now} />
      <nav aria-label="Views">
        {PLACES.filter(([view]) => !isSite || !SERVED.has(view)).map(([view, name]) => (
          <a key={view} href={href(view)} aria-current={now.view === view ? "page" : undefined}>
            {name}
          </a>
        ))}
      </nav>
      <div class="tools">
        {about.read_only ? (
          <span class="tag" title={isSite ? "Files, made to be read: splitting, merging, slices and comparing need strod explore" : undefined}>read-only</span>
        ) : (
          <>
            <button type="button" class="quiet" disabled={!about.undo} aria-label="Undo" title="Undo" onClick={() => void instead("undo")}>
              <Icon name="undo" />
            </button>
            <button type="button" class="quiet" disabled={!about.redo} aria-label="Redo" title="Redo" onClick={() => void instead("redo")}>
              <Icon name="redo" />
            </button>
          </>
        )}
        <ThemeSwitch />
        <button type="button" class="quiet" aria-label="Keys and help" title="Keys and help (?)" onClick={() => helping.set(true)}>
          <Icon name="help" />
        </button>
      </div>
    </header>
  );
}

function SearchBox({ now }: { now: Route }) {
  const q = now.query.get("q") ?? "";
  const [text, setText] = useTyped(q);
  const waiting = useRef(0);
  const look = (query: string, replace: boolean) => {
    clearTimeout(waiting.current);
    if (now.view === "search") go(changed({ q: query, offset: null }), replace);
    else go(href("search", { q: query }));
  };
  const type = (query: string) => {
    setText(query);
    clearTimeout(waiting.current);
    if (now.view === "search") waiting.current = setTimeout(() => look(query.trim(), true), 250);
  };
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        look(text.trim(), false);
      }}
    >
      <Icon name="search" />
      <input id="search" type="search" value={text} aria-label="Search documents, topics and phrases" placeholder="Search documents, topics, phrases  ( / )" spellcheck={false} autocomplete="off" maxLength={1000} onInput={(event) => type(event.currentTarget.value)} />
    </form>
  );
}

function ThemeSwitch() {
  const now = useStore(theme);
  const next: Record<Theme, Theme> = { auto: "dark", dark: "light", light: "auto" };
  const name: Record<Theme, string> = { auto: "as the system", dark: "dark", light: "light" };
  return (
    <button type="button" class="quiet" aria-label={`Colours: ${name[now]}`} title={`Colours: ${name[now]}`} onClick={() => theme.set(next[now])}>
      <Icon name="theme" />
    </button>
  );
}

/** What is painted over the tree. */
function Lens({ now, tree, refused }: { now: Route; tree: Tree; refused: boolean }) {
  const [q, where] = [now.query.get("q"), now.query.get("where")];
  if (!q && !where) return <p class="lens soft">{counted(tree.topics.length - 1, "topic")} by share of the corpus</p>;
  return (
    <p class="lens painted">
      <span>
        {refused ? "Cannot be shown:" : tree.root.slice ? `${count(tree.root.slice.documents)} with` : "… with"}{" "}
        {q && (
          <b>
            <T text={q} longest={40} />
          </b>
        )}
        {q && where && ", "}
        {where && <T text={where} longest={80} />}
      </span>
      <a class="button quiet" href={changed({ q: null, where: null, offset: null })} aria-label="Show the whole tree again">
        <Icon name="close" />
      </a>
    </p>
  );
}

/** What can be done with topics that are marked. */
function Marked({ tree }: { tree: Tree }) {
  const ids = useStore(marked);
  const topics = ids.map((id) => tree.byId.get(id)).filter((one) => one !== undefined);
  if (!topics.length) return null;
  const paths = topics.map((one) => one.path);
  return (
    <div class="marked" role="region" aria-label="Marked topics">
      <span>{counted(topics.length, "topic")} marked</span>
      {topics.length > 1 && (
        <a class="button" href={href("revise", { verb: "merge", topics: paths })}>
          Merge
        </a>
      )}
      {topics.length === 2 && (
        <a class="button" href={href("compare", { a: paths[0], b: paths[1] })}>
          Compare
        </a>
      )}
      {topics.length === 1 && (
        <a class="button" href={href("revise", { topics: paths })}>
          Revise
        </a>
      )}
      <button type="button" class="quiet" onClick={() => marked.set([])}>
        Clear
      </button>
    </div>
  );
}

function Banner() {
  const state = useStore(connection);
  if (state !== "lost") return null;
  const text = isSite ? "A file of this site cannot be read." : "The server does not answer. What you see is what it said last; it is asked again every few seconds.";
  return (
    <div class="banner" role="alert">
      <Icon name="warn" /> {text}
      <button type="button" onClick={() => void refresh().catch(() => undefined)}>
        Try now
      </button>
    </div>
  );
}

function Lost() {
  if (isSite) {
    return (
      <Empty title="The files of this site cannot be read.">
        <p>
          Browsers read them from a web server only: <code>python -m http.server</code> in their folder is one.
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="The server does not answer.">
      <p>
        Start it again: <code>strod explore W.strod</code>, and open the link that it prints.
      </p>
      <p>
        <button type="button" onClick={() => void refresh().catch(() => undefined)}>
          Try again
        </button>
      </p>
    </Empty>
  );
}

/** Without a token nothing is shown; it comes with the link, or is pasted. */
function Locked() {
  return (
    <Empty title="This page needs its token.">
      <p>
        Open the link that <code>strod explore</code> printed, or paste the token from it.
      </p>
      <form class="controls" method="get" action="/">
        <label class="choice wide">
          <span>Token</span>
          <input name="token" autocomplete="off" spellcheck={false} required />
        </label>
        <button type="submit" class="main">
          Open
        </button>
      </form>
    </Empty>
  );
}

function News() {
  const text = useStore(news);
  const quiet = useStore(said);
  useEffect(() => {
    if (!text) return undefined;
    const timer = setTimeout(() => news.set(""), 9000);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="news" role="status" aria-live="polite">
      {quiet && <span class="hidden">{line(quiet, 400)}</span>}
      {text && (
        <p>
          {line(text, 400)}
          <button type="button" class="quiet" aria-label="Dismiss" onClick={() => news.set("")}>
            <Icon name="close" />
          </button>
        </p>
      )}
    </div>
  );
}

const KEYS: [string, string][] = [
  ["/", "search"],
  ["?", "this list"],
  ["↑ ↓", "the topic above or below in the tree"],
  ["→ ←", "open a topic, close it, or go to the one above"],
  ["Home End", "first and last topic"],
  ["*", "open all topics beside this one"],
  ["a … z", "the next topic with a name that begins so"],
  ["Enter", "look at the topic"],
  ["Space", "mark it, for merging or comparing"],
  ["Shift F10", "revise it"],
];

const CHANGING = new Set(["Space", "Shift F10"]); // keys that do nothing where nothing can be changed

function Help() {
  const on = useStore(keys);
  const reading = useStore(workspace)?.read_only;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="help" onClose={() => helping.set(false)}>
      <h2 id="help">Keys</h2>
      <dl class="numbers">
        {KEYS.filter(([key]) => !reading || !CHANGING.has(key)).map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input type="checkbox" checked={on} onChange={(event) => keys.set(event.currentTarget.checked)} />
        <span>
          <kbd>/</kbd> and <kbd>?</kbd> work everywhere
        </span>
      </label>
      {!reading && <p class="soft">Drag a topic onto one beside it to merge them, or onto another to move it there; you see a preview first.</p>}
      <form method="dialog" class="buttons">
        <button class="main">Close</button>
        {!reading && (
          <button type="button" onClick={end}>
            End the server
          </button>
        )}
      </form>
    </dialog>
  );
}

function end(): void {
  helping.set(false);
  post("/api/shutdown", {}).then(
    () => news.set("The server has ended. The workspace is as you left it; this page can be closed."),
    (error: Error) => news.set(error.message),
  );
}

function useShortcuts(): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target as Element;
      if (!keys.value || event.ctrlKey || event.metaKey || event.altKey || target.closest("input, select, textarea, dialog")) return;
      if (event.key === "/") {
        event.preventDefault();
        (document.getElementById("search") as HTMLInputElement).select();
        document.getElementById("search")?.focus();
      } else if (event.key === "?") {
        event.preventDefault();
        helping.set(true);
      }
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

/** On phones the views stand in a line that scrolls. */
function showPlace(): void {
  document.querySelector(".top nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** A new view begins at its top; who reads with a screen reader begins at its title. */
function useArrival(now: Route): void {
  const place = `${now.view}/${now.rest}`;
  const before = useRef(place);
  useEffect(showPlace, []);
  useEffect(() => {
    if (before.current === place) return;
    before.current = place;
    showPlace();
    document.getElementById("main")?.scrollTo(0, 0);
    const active = document.activeElement;
    if (active?.closest(".tree, form[role=search]")) return; // who walks the tree stays there
    toTitle();
  }, [place]);
}

