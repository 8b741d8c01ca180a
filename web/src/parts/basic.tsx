// Small parts that all views share.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Answer } from "../lib/api";
import { changed, href } from "../lib/route";
import { count, harmless, line } from "../lib/text";
import { above, type Topic } from "../lib/tree";

/** Text that came from a corpus: one line, its direction its own. */
export function T({ text, longest }: { text: string | null | undefined; longest?: number }) {
  return <bdi>{line(text ?? "", longest)}</bdi>;
}

/** Text of several lines. */
export function Prose({ text }: { text: string }) {
  return <bdi class="prose">{harmless(text)}</bdi>;
}

export function Icon({ name }: { name: keyof typeof ICONS }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={ICONS[name]} />
    </svg>
  );
}

const ICONS = {
  open: "M6 3.5 10.5 8 6 12.5",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.3 10.3l3.4 3.4",
  pin: "M8 9.5V14M4.5 9.5h7M5.5 2.5h5l-.7 3.6 1.7 3.4h-7l1.7-3.4z",
  undo: "M5.5 3 2.5 6l3 3M2.5 6h7a4 4 0 0 1 0 7.5H6",
  redo: "m10.5 3 3 3-3 3M13.5 6h-7a4 4 0 0 0 0 7.5H10",
  copy: "M5.5 5.5h8v8h-8zM3 10.5h-.5v-8h8V3",
  close: "m4 4 8 8M12 4l-8 8",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  theme: "M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11",
  help: "M6 6.2a2 2 0 1 1 2.9 1.8c-.6.3-.9.7-.9 1.4M8 11.6v.6",
  left: "M10 3.5 5.5 8l4.5 4.5",
  up: "M3.5 10 8 5.5l4.5 4.5",
  warn: "M8 2.5 14.5 13.5h-13zM8 6.5v3.2M8 11.4v.6",
  done: "m3 8.5 3.2 3.2L13 4.8",
  down: "M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10",
};

/** A bar of a share, with a mark where it would be usual. */
export function Bar({ share, usual, tone = "" }: { share: number; usual?: number | undefined; tone?: string }) {
  const clip = (value: number) => Math.max(0, Math.min(100, 100 * value));
  return (
    <svg class={`bar ${tone}`} width="100%" height="8" aria-hidden="true">
      <rect class="track" width="100%" height="8" rx="2" />
      <rect class="fill" width={`${clip(share)}%`} height="8" rx="2" />
      {usual !== undefined && <rect class="usual" x={`${clip(usual)}%`} width="2" height="8" />}
    </svg>
  );
}

export function Crumbs({ topic, to = (path: string) => href(`topic/${path}`) }: { topic: Topic; to?: (path: string) => string }) {
  return (
    <nav class="crumbs" aria-label="Topics above">
      <ol>
        {above(topic).map((one) => (
          <li key={one.id}>
            <a href={to(one.path)}>
              <T text={one.label} longest={40} />
            </a>
          </li>
        ))}
        <li aria-current="page">
          <T text={topic.label} longest={60} />
        </li>
      </ol>
    </nav>
  );
}

/** The command, or the line of Python, that gives the same. */
export function Command({ text }: { text: string | undefined }) {
  const [copied, setCopied] = useState(false);
  if (!text) return null;
  const copy = () =>
    void navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => undefined,
    );
  return (
    <div class="command">
      <span class="soft">{text.startsWith("strod ") ? "On the command line" : "In Python"}</span>
      <code>
        <T text={text} longest={2000} />
      </code>
      <button type="button" class="quiet" onClick={copy} aria-label="Copy the command">
        <Icon name={copied ? "done" : "copy"} />
      </button>
    </div>
  );
}

export function Failure({ text }: { text: string }) {
  return (
    <div class="notice bad" role="alert">
      <Icon name="warn" />
      <p>
        <T text={text} longest={600} />
      </p>
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h1 class="big">{line(title, 200)}</h1>
      {children}
    </div>
  );
}

/** An answer of the server: as it is, while it is awaited, and when it is refused. */
export function Show<V>({ of, children, rows = 6 }: { of: Answer<V>; children: (value: V) => ComponentChildren; rows?: number }) {
  if (of.error) return <Failure text={of.error} />;
  if (of.value === null) return <Waiting rows={rows} />;
  return <div aria-busy={of.stale ? "true" : undefined}>{children(of.value)}</div>;
}

export function Waiting({ rows }: { rows: number }) {
  return (
    <div class="waiting" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} class="bone" />
      ))}
    </div>
  );
}

export function Pages({ total, limit, offset, noun, label = "Pages", of = "" }: { total: number; limit: number; offset: number; noun: string; label?: string; of?: string }) {
  const last = Math.min(offset + limit, total);
  return (
    <nav class="pages" aria-label={label}>
      <span class="soft">
        {total ? `${count(offset + 1)}–${count(last)} of ${of}${count(total)} ${noun}` : `no ${noun}`}
      </span>
      <Turn when={offset > 0} to={Math.max(0, offset - limit)} text="Previous" />
      <Turn when={last < total} to={offset + limit} text="Next" />
    </nav>
  );
}

function Turn({ when, to, text }: { when: boolean; to: number; text: string }) {
  if (!when) return null;
  return (
    <a class="button" href={changed({ offset: to || null })}>
      {text}
    </a>
  );
}

/** Title of a view; it gets the focus when the view is opened, so that readers begin there. */
export function Title({ text, children }: { text: string; children?: ComponentChildren }) {
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${line(text, 60)} – strod`;
  }, [text]);
  return (
    <header class="title">
      <h1 ref={head} tabIndex={-1}>
        <T text={text} />
      </h1>
      {children}
    </header>
  );
}

export function Section({ title, children, extra, class: name = "" }: { title: string; children: ComponentChildren; extra?: ComponentChildren; class?: string }) {
  return (
    <section class={`card ${name}`}>
      <header>
        <h2>{title}</h2>
        {extra}
      </header>
      {children}
    </section>
  );
}

export function TopicLink({ topic, path, label }: { topic?: Topic | undefined; path: string; label?: string | null }) {
  return (
    <a class="topiclink" href={href(`topic/${path}`)}>
      <Dot hue={topic?.hue ?? -1} />
      <T text={label || topic?.label || path} longest={80} />
    </a>
  );
}

export function Dot({ hue }: { hue: number }) {
  return <span class={`dot h${hue}`} aria-hidden="true" />;
}

/** A select that is one element with its label. */
export function Choice(props: { label: string; value: string; options: [string, string][]; onPick: (value: string) => void }): JSX.Element {
  return (
    <label class="choice">
      <span>{props.label}</span>
      <select value={props.value} onChange={(event) => props.onPick(event.currentTarget.value)}>
        {props.options.map(([value, text]) => (
          <option key={value} value={value}>
            {line(text, 80)}
          </option>
        ))}
      </select>
    </label>
  );
}
