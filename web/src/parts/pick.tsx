// Picking topics and documents: a topic by typing, documents by what their metadata say.
import { useEffect, useId, useMemo, useState } from "preact/hooks";
import { useAnswer } from "../lib/api";
import { changed, go, route } from "../lib/route";
import { isSite } from "../lib/site";
import { useStore } from "../lib/store";
import { line, shown } from "../lib/text";
import { mentioned, type Tree } from "../lib/tree";
import { useTyped } from "../lib/typed";
import type { Field } from "../lib/types";
import { expression, type Filter, filters, missing, signs } from "../lib/where";
import { Choice, Icon } from "./basic";

const OFFERED = 200;

export function TopicPicker({ tree, label, value, onPick, optional }: { tree: Tree; label: string; value: string; onPick: (path: string) => void; optional?: string }) {
  const id = useId();
  const topic = tree.find(value);
  const written = topic ? mentioned(topic) : value;
  const [text, setText] = useTyped(written);
  const options = useMemo(() => {
    const wanted = text.toLowerCase();
    const all = text === written ? tree.topics : tree.topics.filter((one) => mentioned(one).toLowerCase().includes(wanted));
    return all.slice(0, OFFERED);
  }, [tree, text, written]);
  const settle = (typed: string) => {
    const name = typed.trim();
    const found = tree.find(name) ?? tree.find(name.split(/\s/)[0]) ?? tree.topics.find((one) => one.label.toLowerCase() === name.toLowerCase());
    if (found) onPick(found.path);
    else if (!name && optional !== undefined) onPick("");
    else setText(written);
  };
  return (
    <label class="choice wide">
      <span>{label}</span>
      <input
        list={id}
        value={text}
        placeholder={optional ?? "path or name"}
        autocomplete="off"
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={(event) => settle(event.currentTarget.value)}
        onFocus={(event) => event.currentTarget.select()}
      />
      <datalist id={id}>
        {options.map((one) => (
          <option key={one.id} value={mentioned(one)} />
        ))}
      </datalist>
    </label>
  );
}

const NEW: Filter = { field: "", sign: "=", value: null };

/** Rows of field, operator and value, which compose `where`. */
export function Filters() {
  return isSite ? <p class="soft">Filters on metadata need a server, which this site has not.</p> : <Editor />;
}

function Editor() {
  const { value: answer } = useAnswer<{ fields: Field[] }>("/api/fields");
  const where = useStore(route).query.get("where") ?? "";
  const [rows, setRows] = useState<Filter[]>(() => filters(where) ?? []);
  const [asText, setAsText] = useState(() => filters(where) === null);
  useEffect(() => {
    if (where === expression(rows)) return;
    const found = filters(where);
    if (found) setRows(found);
    else setAsText(true);
  }, [where]);
  const fields = answer?.fields ?? [];
  const commit = (next: Filter[]) => {
    setRows(next);
    go(changed({ where: expression(next), offset: null }));
  };
  if (answer && !fields.length) return <p class="soft">No metadata was kept. Build with <code>--meta FIELD</code> to slice by it.</p>;
  if (asText) return <AsText where={where} rows={() => setAsText(false)} simple={filters(where) !== null} />;
  return (
    <fieldset class="filters" aria-busy={answer ? undefined : "true"}>
      <legend>Documents where</legend>
      {rows.map((row, place) => (
        <Line
          key={place}
          row={row}
          fields={fields}
          change={(next) => commit(rows.map((one, other) => (other === place ? next : one)))}
          drop={() => commit(rows.filter((_, other) => other !== place))}
        />
      ))}
      <div class="buttons">
        <button type="button" disabled={!answer} onClick={() => setRows([...rows, { ...NEW, field: fields[0]!.name, sign: signs(fields[0]!.kind)[0]! }])}>
          Add a filter
        </button>
        {rows.length > 0 && (
          <button type="button" class="quiet" onClick={() => commit([])}>
            Clear
          </button>
        )}
        <button type="button" class="quiet" onClick={() => setAsText(true)}>
          As text
        </button>
      </div>
    </fieldset>
  );
}

function Line({ row, fields, change, drop }: { row: Filter; fields: Field[]; change: (row: Filter) => void; drop: () => void }) {
  const id = useId();
  const field = fields.find((one) => one.name === row.field);
  const kind = field?.kind ?? "";
  const names: [string, string][] = fields.map((one) => [one.name, one.name]);
  if (!field && row.field) names.unshift([row.field, row.field]);
  const [text, setText] = useTyped(row.value ?? "", true);
  return (
    <div class="filter">
      <Choice label="Field" value={row.field} options={names} onPick={(name) => change({ ...NEW, field: name, sign: signs(fields.find((one) => one.name === name)?.kind ?? "")[0]! })} />
      <Choice label="is" value={row.sign} options={[...new Set([...signs(kind), row.sign])].map((one) => [one, WORDS[one] ?? one])} onPick={(sign) => change({ ...row, sign })} />
      {!missing(row.sign) && (
        <label class="choice wide">
          <span>Value</span>
          <input list={id} value={text} placeholder={kind === "date" ? "2015 or 2015-03" : ""} onInput={(event) => setText(event.currentTarget.value)} onChange={(event) => change({ ...row, value: event.currentTarget.value || null })} />
          <datalist id={id}>
            {field?.values.slice(0, 50).map(([value]) => (
              <option key={shown(value)} value={value === null ? "" : shown(value)} />
            ))}
          </datalist>
        </label>
      )}
      <button type="button" class="quiet" onClick={drop} aria-label={`Remove the filter on ${line(row.field, 40)}`}>
        <Icon name="close" />
      </button>
    </div>
  );
}

const WORDS: Record<string, string> = { ">=": "≥", "<=": "≤", "!=": "≠", "IS NULL": "is missing", "IS NOT NULL": "is there" };

function AsText({ where, rows, simple }: { where: string; rows: () => void; simple: boolean }) {
  const [text, setText] = useTyped(where);
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        go(changed({ where: text.trim(), offset: null }));
      }}
    >
      <label class="choice wide">
        <span>Documents where</span>
        <input value={text} placeholder="year >= 2015 AND (label = 'cs.LG' OR label = 'stat.ML')" spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <div class="buttons">
        <button type="submit">Use it</button>
        {simple && (
          <button type="button" class="quiet" onClick={rows}>
            As filters
          </button>
        )}
      </div>
    </form>
  );
}
