// The tree: the pattern of ARIA for trees, with only those rows in the document that can be seen.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { go, href } from "../lib/route";
import { mark, marked, open } from "../lib/session";
import { useStore } from "../lib/store";
import { count, counted, line, percent, times } from "../lib/text";
import type { Line } from "../lib/time";
import { above, rows, type Topic, type Tree } from "../lib/tree";
import { Bar, Dot, Icon } from "./basic";
import { Spark } from "./charts";
import { useSize } from "./size";

const AROUND = 8; // rows beyond the edges
const FEW = 40; // rows that are shown unasked
const PAUSE = 600; // milliseconds after which type-ahead begins anew

interface Given {
  tree: Tree;
  current: Topic | undefined;
  pick: (topic: Topic) => void;
  writable: boolean;
}

/** Height of a row: more where fingers point. */
function rowHeight(): number {
  return matchMedia("(pointer: coarse)").matches ? 40 : 30;
}

export function TreeView({ tree, current, pick, writable }: Given) {
  const opened = useStore(open);
  const marks = useStore(marked);
  const [box, , height] = useSize<HTMLDivElement>();
  const [top, setTop] = useState(0);
  const [at, setAt] = useState("");
  const [over, setOver] = useState("");
  const printing = usePrinting();
  const tall = useMemo(rowHeight, []);
  const effective = useMemo(() => withOpen(tree, opened), [tree, opened]);
  const list = useMemo(() => rows(tree.root, effective), [tree, effective]);
  const focused = list.find((one) => one.id === at) ?? (current && list.includes(current) ? current : list[0]!);
  const typed = useRef({ text: "", when: 0 });
  const moved = useRef(false);

  useEffect(() => {
    if (!current) return;
    const needed = above(current).filter((one) => !open.value.has(one.id));
    if (needed.length) open.set(new Set([...effective, ...needed.map((one) => one.id)]));
    setAt(current.id);
  }, [current?.id, tree]);

  useLayoutEffect(() => {
    const row = list.indexOf(focused);
    const element = box.current;
    if (!element || row < 0) return;
    if (row * tall < element.scrollTop) element.scrollTop = row * tall;
    else if ((row + 1) * tall > element.scrollTop + element.clientHeight) element.scrollTop = (row + 1) * tall - element.clientHeight;
    if (!moved.current) return;
    moved.current = false;
    document.getElementById(`row-${focused.id}`)?.focus({ preventScroll: true });
  }, [focused.id, height, list]);

  const walk = (topic: Topic | undefined) => {
    if (!topic) return;
    moved.current = true;
    setAt(topic.id);
  };
  const toggle = (topic: Topic, to: boolean) => {
    const now = new Set(effective);
    if (to) now.add(topic.id);
    else now.delete(topic.id);
    open.set(now);
  };

  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = list.indexOf(focused);
    const page = Math.max(1, Math.floor(height / tall) - 1);
    const steps: Record<string, () => void> = {
      ArrowDown: () => walk(list[row + 1]),
      ArrowUp: () => walk(list[row - 1]),
      Home: () => walk(list[0]),
      End: () => walk(list.at(-1)),
      PageDown: () => walk(list[Math.min(row + page, list.length - 1)]),
      PageUp: () => walk(list[Math.max(row - page, 0)]),
      ArrowRight: () => {
        if (!effective.has(focused.id) && focused.children.length) toggle(focused, true);
        else walk(focused.children[0]);
      },
      ArrowLeft: () => {
        if (effective.has(focused.id) && focused.children.length && focused.parent) toggle(focused, false);
        else walk(focused.parent ?? undefined);
      },
      Enter: () => pick(focused),
      " ": () => writable && focused.parent && mark(focused.id),
      "*": () => open.set(new Set([...effective, ...(focused.parent?.children ?? []).map((one) => one.id)])),
      ContextMenu: () => go(href("revise", { topics: focused.path })),
      F10: () => event.shiftKey && go(href("revise", { topics: focused.path })),
    };
    const step = steps[event.key];
    if (step) {
      event.preventDefault();
      step();
    } else if (event.key.length === 1 && event.key !== "/" && event.key !== "?") {
      event.preventDefault();
      ahead(event.key);
    }
  };

  const ahead = (sign: string) => {
    const now = performance.now();
    const known = typed.current;
    known.text = now - known.when > PAUSE ? sign : known.text + sign;
    known.when = now;
    const wanted = known.text.toLowerCase();
    const from = list.indexOf(focused) + (wanted.length === 1 ? 1 : 0);
    const order = [...list.slice(from), ...list.slice(0, from)];
    walk(order.find((one) => one.label.toLowerCase().startsWith(wanted) || one.path.startsWith(wanted)));
  };

  const drop = (source: string, target: Topic) => {
    const topic = tree.find(source);
    if (!topic?.parent || topic === target || above(target).includes(topic)) return;
    const merge = target.parent === topic.parent;
    go(href("revise", merge ? { verb: "merge", topics: [target.path, topic.path] } : { verb: "move", topics: topic.path, target: target.path }));
  };

  const first = printing ? 0 : Math.max(0, Math.floor(top / tall) - AROUND);
  const last = printing ? list.length : Math.min(list.length, Math.ceil((top + height) / tall) + AROUND);
  const there = list.slice(first, last).map((topic, i) => [topic, first + i] as const);
  const row = list.indexOf(focused);
  if (row < first || row >= last) there.push([focused, row]);

  return (
    <div ref={box} class="tree" onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
      <div role="tree" aria-label="Topics" aria-multiselectable={writable ? "true" : undefined} style={{ height: `${list.length * tall}px` }} onKeyDown={press}>
        {there.map(([topic, place]) => (
          <Row
            key={topic.id}
            topic={topic}
            times={tree.times}
            top={place * tall}
            tall={tall}
            isOpen={effective.has(topic.id)}
            isCurrent={topic === current}
            isFocused={topic === focused}
            isMarked={marks.includes(topic.id)}
            isTarget={over === topic.id}
            writable={writable}
            pick={(with_) => {
              setAt(topic.id);
              if (with_ && writable && topic.parent) mark(topic.id);
              else pick(topic);
            }}
            toggle={() => {
              setAt(topic.id);
              toggle(topic, !effective.has(topic.id));
            }}
            focus={() => setAt(topic.id)}
            hover={(on) => setOver(on ? topic.id : "")}
            drop={(source) => {
              setOver("");
              drop(source, topic);
            }}
          />
        ))}
      </div>
    </div>
  );
}

/** At first the root is open and, if there are not too many, the topics below it. */
function withOpen(tree: Tree, opened: ReadonlySet<string>): ReadonlySet<string> {
  if (opened.has(tree.root.id)) return opened;
  const first = tree.root.children;
  const few = first.length + first.reduce((sum, one) => sum + one.children.length, 0) <= FEW;
  return new Set([...opened, tree.root.id, ...(few ? first.map((one) => one.id) : [])]);
}

function usePrinting(): boolean {
  const [printing, set] = useState(false);
  useEffect(() => {
    const begin = () => set(true);
    const end = () => set(false);
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, []);
  return printing;
}

interface RowGiven {
  topic: Topic;
  times: Line;
  top: number;
  tall: number;
  isOpen: boolean;
  isCurrent: boolean;
  isFocused: boolean;
  isMarked: boolean;
  isTarget: boolean;
  writable: boolean;
  pick: (mark: boolean) => void;
  toggle: () => void;
  focus: () => void;
  hover: (on: boolean) => void;
  drop: (source: string) => void;
}

function Row(given: RowGiven) {
  const { topic, isOpen, writable } = given;
  const inner = topic.children.length > 0;
  const names = ["row", given.isCurrent && "current", given.isMarked && "marked", given.isTarget && "target", topic.slice && !topic.slice.documents && "none"];
  const movable = writable && topic.parent !== null;
  return (
    <div
      id={`row-${topic.id}`}
      role="treeitem"
      class={names.filter(Boolean).join(" ")}
      style={{ top: `${given.top}px`, height: `${given.tall}px`, "--level": topic.level }}
      tabIndex={given.isFocused ? 0 : -1}
      aria-level={topic.level + 1}
      aria-setsize={topic.parent?.children.length ?? 1}
      aria-posinset={topic.place + 1}
      aria-expanded={inner ? isOpen : undefined}
      aria-selected={writable ? given.isMarked : given.isCurrent}
      aria-current={given.isCurrent ? "true" : undefined}
      title={title(topic)}
      draggable={movable}
      onClick={(event) => given.pick(event.ctrlKey || event.metaKey)}
      onFocus={given.focus}
      onDragStart={(event) => event.dataTransfer?.setData("text/plain", topic.id)}
      onDragOver={(event) => {
        if (!writable) return;
        event.preventDefault();
        given.hover(true);
      }}
      onDragLeave={() => given.hover(false)}
      onDrop={(event) => {
        event.preventDefault();
        given.drop(event.dataTransfer?.getData("text/plain") ?? "");
      }}
    >
      <span
        class={`twist ${inner ? (isOpen ? "open" : "shut") : ""}`}
        onClick={(event) => {
          if (!inner) return;
          event.stopPropagation();
          given.toggle();
        }}
      >
        {inner && <Icon name="open" />}
      </span>
      <Dot hue={topic.hue} />
      <bdi class="name">{line(topic.label, 120)}</bdi>
      {topic.pinned && (
        <>
          <Icon name="pin" />
          <span class="hidden">pinned</span>
        </>
      )}
      {topic.slice ? <Painted topic={topic} /> : <Usual topic={topic} times={given.times} />}
    </div>
  );
}

function Usual({ topic, times }: { topic: Topic; times: Line }) {
  return (
    <>
      {topic.parent && topic.trend.length > 1 && <Spark values={topic.trend} line={times} />}
      <span class="meter">
        <Bar share={topic.weight} />
      </span>
      <span class="number">{percent(topic.weight)}</span>
    </>
  );
}

/** What a search or a slice finds, against the whole. */
function Painted({ topic }: { topic: Topic }) {
  const { share, lift, documents } = topic.slice!;
  return (
    <>
      <span class="number hits">
        {count(documents)}
        <span class="hidden"> found</span>
      </span>
      <span class="meter">
        <Bar share={share} usual={topic.weight} tone="painted" />
      </span>
      <span class={`number lift ${documents ? `d${shade(lift)}` : ""}`}>{documents ? times(lift) : "–"}</span>
    </>
  );
}

/** Seven shades from much less than usual to much more. */
export function shade(lift: number): number {
  return [0.25, 0.5, 0.8, 1.25, 2, 4].filter((edge) => lift >= edge).length;
}

function title(topic: Topic): string {
  return `${topic.path}  ${line(topic.label, 200)}\n${counted(topic.documents, "document")}${topic.phrases.length ? `\n${topic.phrases.map((one) => line(one, 60)).join(", ")}` : ""}`;
}
