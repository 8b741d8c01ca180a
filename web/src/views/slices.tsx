// Slices: some documents against all of them, topic by topic; and topics by the values of a field.
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useAnswer, workspace } from "../lib/api";
import { api } from "../lib/address";
import { changed, go, href, type Route } from "../lib/route";
import { useStore } from "../lib/store";
import { count, counted, line, percent, shown, times } from "../lib/text";
import type { Topic, Tree } from "../lib/tree";
import type { Slice, Value } from "../lib/types";
import { Choice, Command, Dot, Empty, Section, Show, T, Title, TopicLink } from "../parts/basic";
import { Filters, TopicPicker } from "../parts/pick";
import { Shades } from "../parts/shades";
import { fitted } from "../parts/fitted";
import { useSize } from "../parts/size";
import { shade } from "../parts/tree";

const COLUMNS = 24; // values that the grid shows
const ROWS = 60;
const OWN = new Set(["topic", "documents", "share", "lift"]); // columns of an answer; a field of that name is meta.NAME

/** `stale`: what is painted over the tree is still the answer to what was asked before. */
export function SlicesView({ tree, route, stale }: { tree: Tree; route: Route; stale: boolean }) {
  const about = useStore(workspace)!;
  const where = route.query.get("where") ?? "";
  const top = tree.find(route.query.get("topic")) ?? tree.root;
  const level = Math.min(Number(route.query.get("level")) || top.level + 1, Math.max(tree.deepest, 1));
  const rows = useMemo(() => tree.topics.filter((one) => one.level === level && (one.path + "/").startsWith(top.path + "/")).slice(0, ROWS), [tree, level, top]);
  const levels: [string, string][] = Array.from({ length: tree.deepest }, (_, place) => [String(place + 1), `level ${place + 1}`]);
  if (!Object.keys(about.meta).length) {
    return (
      <Empty title="There is nothing to slice by.">
        <p>
          No metadata was kept. <code>strod build … --meta year --meta category</code> keeps some.
        </p>
      </Empty>
    );
  }
  return (
    <div>
      <Title text="Slices" />
      <div class="card controls">
        <Filters />
        <TopicPicker tree={tree} label="Under" value={top.path} onPick={(one) => go(changed({ topic: one === "o" ? null : one, level: null }))} />
        <Choice label="Topics of" value={String(level)} options={levels} onPick={(value) => go(changed({ level: value }))} />
      </div>
      <Against tree={tree} rows={rows} waiting={stale} />
      <By tree={tree} route={route} fields={about.meta} level={level} top={top} where={where} />
    </div>
  );
}

function Against({ tree, rows, waiting }: { tree: Tree; rows: Topic[]; waiting: boolean }) {
  const found = waiting ? null : tree.root.slice;
  if (!found) {
    return (
      <Section title="The slice against the whole">
        <p class="soft">{waiting ? "One moment…" : "Add a filter to see how a part of the documents differs from all of them; the tree shows it too."}</p>
      </Section>
    );
  }
  if (!found.documents) return <Empty title="No document passes the filters." />;
  return (
    <Section title="The slice against the whole" extra={<span class="soft">{counted(found.documents, "document")}, {percent(found.documents / tree.root.documents)} of all</span>}>
      <DotPlot rows={rows} whole={tree.root.documents} />
      <Shades />
      <div class="scroll" tabIndex={0} role="region" aria-label="The slice against the whole">
        <table class="against">
          <thead>
            <tr>
              <th scope="col">Topic</th>
              <th scope="col" class="number">Documents</th>
              <th scope="col" class="number">Share of the slice</th>
              <th scope="col" class="number">Share of the whole</th>
              <th scope="col" class="number">Lift</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((one) => (
              <tr key={one.id}>
                <th scope="row">
                  <TopicLink topic={one} path={one.path} />
                </th>
                <td class="number">{count(one.slice!.documents)}</td>
                <td class="number">{percent(one.slice!.share)}</td>
                <td class="number">{percent(one.documents / tree.root.documents)}</td>
                <td class={`number lift ${one.slice!.documents ? `d${shade(one.slice!.lift)}` : ""}`}>{one.slice!.documents ? times(one.slice!.lift) : "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

/** For each topic its share of the whole (ring) and of the slice (dot). The table below says the same. */
function DotPlot({ rows, whole }: { rows: Topic[]; whole: number }) {
  const [frame, width] = useSize<HTMLDivElement>();
  const names = Math.min(260, width * 0.4);
  const most = Math.max(...rows.map((one) => Math.max(one.slice!.share, one.documents / whole)), 0.001);
  const x = (share: number) => names + 8 + (share / most) * Math.max(0, width - names - 24);
  const tall = 24;
  return (
    <div ref={frame}>
      <svg class="dotplot" width={width} height={rows.length * tall + 20} aria-hidden="true">
        {rows.map((one, place) => {
          const y = place * tall + tall / 2;
          const [usual, now] = [x(one.documents / whole), x(one.slice!.share)];
          return (
            <g key={one.id}>
              <text x={names} y={y + 4} text-anchor="end">
                {fitted(one.label, names - 4, "12.5px")}
              </text>
              <line class="grid" x1={names + 8} x2={width - 16} y1={y} y2={y} />
              <line class="gap" x1={usual} x2={now} y1={y} y2={y} />
              <circle class="ring" cx={usual} cy={y} r="5" />
              <circle class="point" cx={now} cy={y} r="5" />
            </g>
          );
        })}
        <text class="tick" x={names + 8} y={rows.length * tall + 14}>
          0%
        </text>
        <text class="tick" x={width - 16} y={rows.length * tall + 14} text-anchor="end">
          {percent(most)}
        </text>
      </svg>
      <p class="soft key">
        <svg width="14" height="14" aria-hidden="true" class="dotplot"><circle class="ring" cx="7" cy="7" r="5" /></svg> the whole
        <svg width="14" height="14" aria-hidden="true" class="dotplot"><circle class="point" cx="7" cy="7" r="5" /></svg> the slice
      </p>
    </div>
  );
}

interface ByGiven {
  tree: Tree;
  route: Route;
  fields: Record<string, string>;
  level: number;
  top: Topic;
  where: string;
}

function By({ tree, route, fields, level, top, where }: ByGiven) {
  const by = route.query.get("by") ?? Object.keys(fields)[0]!;
  const measure = route.query.get("measure") ?? "share";
  const answer = useAnswer<Slice>(api("slice", { by, level, topic: top.path, where, measure }));
  const parts: [string, string][] = Object.entries(fields).flatMap(([name, kind]) =>
    kind === "date" ? ["year", "quarter", "month"].map((part): [string, string] => [part === "year" ? name : `${name}:${part}`, `${name} by ${part}`]) : [[name, name] as [string, string]],
  );
  if (!parts.some(([name]) => name === by)) parts.push([by, by]);
  return (
    <Section
      title="By the values of a field"
      extra={
        <span class="inline">
          <Choice label="Field" value={by} options={parts} onPick={(value) => go(changed({ by: value }))} />
          <Choice label="Show" value={measure} options={[["share", "share"], ["lift", "lift"], ["documents", "documents"]]} onPick={(value) => go(changed({ measure: value }))} />
        </span>
      }
    >
      <Show of={answer} rows={8}>
        {(found) => (
          <>
            <Grid tree={tree} found={found} by={by} measure={measure} />
            <Command text={found.command} />
          </>
        )}
      </Show>
    </Section>
  );
}

/** Topics by values: the most frequent values, dates and numbers in their order. */
function Grid({ tree, found, by, measure }: { tree: Tree; found: Slice; by: string; measure: string }) {
  const { values, cells, most, left, ordered } = useMemo(() => gridded(found, by, measure), [found, by, measure]);
  const frame = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (ordered && frame.current) frame.current.scrollLeft = frame.current.scrollWidth; // the most recent
  }, [values, ordered]);
  if (!found.rows.length) return <p class="soft">No document is meant.</p>;
  return (
    <>
      <div ref={frame} class="scroll" tabIndex={0} role="region" aria-label={`Topics by ${line(by, 40)}`}>
        <table class="heat">
          <thead>
            <tr>
              <th scope="col">Topic</th>
              {values.map((value) => (
                <th key={shown(value)} scope="col" class="number">
                  <T text={shown(value)} longest={14} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[...cells].map(([path, row]) => (
              <tr key={path}>
                <th scope="row">
                  <a href={href(`topic/${path}`)}>
                    <Dot hue={tree.find(path)?.hue ?? -1} />
                    <T text={tree.label(path)} longest={36} />
                  </a>
                </th>
                {values.map((value) => (
                  <Heat key={shown(value)} cell={row.get(shown(value))} measure={measure} most={most} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {left > 0 && <p class="soft">{counted(left, "more value")}; the command line has all of them.</p>}
    </>
  );
}

function Heat({ cell, measure, most }: { cell: number | undefined; measure: string; most: number }) {
  if (cell === undefined) return <td class="number soft">·</td>;
  const text = measure === "documents" ? count(cell) : measure === "lift" ? cell.toFixed(2) : percent(cell);
  const tone = measure === "lift" ? `d${shade(cell)}` : `q${Math.min(5, Math.floor((6 * cell) / (most || 1)))}`;
  return <td class={`number ${tone}`}>{text}</td>;
}

function gridded(found: Slice, by: string, measure: string) {
  const sizes = new Map<string, [Value, number]>();
  const cells = new Map<string, Map<string, number>>();
  let most = 0;
  const column = OWN.has(by) ? `meta.${by}` : by;
  for (const row of found.rows) {
    const [path, value, size] = [String(row["topic"]), row[column] ?? null, Number(row[measure])];
    const key = shown(value);
    sizes.set(key, [value, (sizes.get(key)?.[1] ?? 0) + Number(row["documents"])]);
    if (!cells.has(path)) cells.set(path, new Map());
    cells.get(path)!.set(key, size);
    most = Math.max(most, size);
  }
  const common = [...sizes.values()].sort((a, b) => b[1] - a[1]);
  const ordered = by.includes(":") || common.every(([value]) => value === null || typeof value === "number");
  const kept = ordered ? common.sort((a, b) => compared(a[0], b[0])).slice(-COLUMNS) : common.slice(0, COLUMNS);
  return { values: kept.map(([value]) => value), cells, most, left: common.length - kept.length, ordered };
}

function compared(a: Value, b: Value): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : 1;
}
