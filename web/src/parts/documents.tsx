// A document in a list.
import { href } from "../lib/route";
import { line, percent, shown } from "../lib/text";
import type { Listed } from "../lib/types";
import { T } from "./basic";

export function DocumentRow({ document, fields, topic, q }: { document: Listed; fields: Record<string, string>; topic?: string | null; q?: string }) {
  const to = href(`document/${document.number}`, { topic, ...(q ? { q } : {}) });
  return (
    <li class="document">
      <p class="docline">
        <a href={to}>
          <T text={document.id} longest={80} />
        </a>
        {document.share !== undefined && <span class="number">{percent(document.share)}</span>}
        {document.leaf !== null && (
          <a class="soft leaf" href={href(`topic/${document.leaf}`)}>
            <T text={document.leaf_label || document.leaf} longest={50} />
          </a>
        )}
        <Facts meta={document.meta} fields={fields} />
      </p>
      <p class="passage">
        {document.snippet
          ? document.snippet.map(([text, hit], place) => (hit ? <mark key={place}>{line(text, 400)}</mark> : <bdi key={place}>{line(text, 400)}</bdi>))
          : line(document.text ?? "", 300)}
      </p>
    </li>
  );
}

/** Metadata in a line. */
export function Facts({ meta, fields }: { meta: Listed["meta"]; fields: Record<string, string> }) {
  const there = Object.keys(fields).filter((name) => meta[name] !== null && meta[name] !== undefined && String(meta[name]) !== "");
  return (
    <span class="soft facts">
      {there.slice(0, 6).map((name) => (
        <span key={name} title={line(name, 60)}>
          <T text={shown(meta[name])} longest={60} />
        </span>
      ))}
    </span>
  );
}
