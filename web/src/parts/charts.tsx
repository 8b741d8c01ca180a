// Plots. Each has a table that says the same.
import { useMemo } from "preact/hooks";
import { count, percent, shown } from "../lib/text";
import { type Line, timeline } from "../lib/time";
import type { Trend } from "../lib/types";
import { useSize } from "./size";

/** A small line; its numbers are in the topic's own view. */
export function Spark({ values, line }: { values: number[]; line: Line }) {
  const most = Math.max(...values) || 1;
  const point = (place: number) => `${(2 + 36 * line.at[place]!).toFixed(1)},${(14 - (12 * values[place]!) / most).toFixed(1)}`;
  return (
    <svg class="spark" width="40" height="16" aria-hidden="true">
      {line.runs.map((run) => (
        <polyline key={run[0]} points={joined(run, point)} />
      ))}
    </svg>
  );
}

/** Points of a run; one alone is a line without length, which round ends make a dot. */
function joined(run: number[], point: (place: number) => string): string {
  return (run.length > 1 ? run : [run[0]!, run[0]!]).map(point).join(" ");
}

/** A round number at or above the largest share. */
function ceiling(most: number): number {
  const unit = 10 ** Math.floor(Math.log10(most || 1));
  return [1, 2, 2.5, 5, 10].map((part) => part * unit).find((value) => value >= most) ?? most;
}

/** Share by time, and how fast the odds change. */
export function TrendPlot({ trend }: { trend: Trend }) {
  const [frame, width] = useSize<HTMLDivElement>();
  const height = 168;
  const edge = { left: 46, right: 12, top: 10, bottom: 24 };
  const most = ceiling(Math.max(...trend.series.map((one) => one[2])));
  const across = Math.max(0, width - edge.left - edge.right);
  const line = useMemo(() => timeline(trend.series.map((one) => one[0])), [trend]);
  const x = (place: number) => edge.left + line.at[place]! * across;
  const y = (share: number) => edge.top + (1 - share / most) * (height - edge.top - edge.bottom);
  const names = trend.series.map((one) => shown(one[0]).slice(0, 10));
  const point = (place: number) => `${x(place).toFixed(1)},${y(trend.series[place]![2]).toFixed(1)}`;
  return (
    <figure class="plot">
      <figcaption>{slopeText(trend)}</figcaption>
      <div ref={frame}>
        <svg width={width} height={height} aria-hidden="true">
          {[0, 0.5, 1].map((part) => (
            <g key={part}>
              <line class="grid" x1={edge.left} x2={width - edge.right} y1={y(part * most)} y2={y(part * most)} />
              <text class="tick" x={edge.left - 6} y={y(part * most) + 4} text-anchor="end">
                {percent(part * most)}
              </text>
            </g>
          ))}
          {labelled(names, x).map((place) => (
            <text key={place} class="tick" x={x(place)} y={height - 6} text-anchor={!place ? "start" : place === names.length - 1 ? "end" : "middle"}>
              {names[place]}
            </text>
          ))}
          {line.runs.map((run) => (
            <polyline key={run[0]} class="line" points={joined(run, point)} />
          ))}
          {names.length <= 60 && trend.series.map((one, place) => <circle key={place} class="point" cx={x(place)} cy={y(one[2])} r="2.5" />)}
        </svg>
      </div>
      <Twin head={[trend.field, "Documents", "Share of all documents then"]} rows={trend.series.map(([bucket, documents, share]) => [shown(bucket), count(documents), percent(share)])} />
    </figure>
  );
}

/** The first, the last, and of those between them some that are about as far apart and have room. */
function labelled(names: string[], x: (place: number) => number): number[] {
  const room = 7 * Math.max(...names.map((name) => name.length)) + 12;
  const last = names.length - 1;
  const width = x(last) - x(0);
  if (width < 2 * room) return [0];
  const parts = Math.max(1, Math.floor(width / (1.5 * room)));
  const found = [0];
  for (let part = 1; part < parts; part++) {
    const wanted = x(0) + (part * width) / parts;
    const place = names.reduce((best, _, one) => (Math.abs(x(one) - wanted) < Math.abs(x(best) - wanted) ? one : best), 0);
    const before = found.at(-1)!;
    if (x(place) - x(before) >= (before ? 1 : 1.5) * room && x(last) - x(place) >= 1.5 * room) found.push(place);
  }
  return [...found, last];
}

function slopeText({ slope, low, high, field }: Trend): string {
  const change = (value: number) => {
    const by = 100 * (Math.exp(Math.min(value, 50)) - 1);
    return by < 1000 ? `${by < 0 ? "−" : "+"}${Math.abs(by).toFixed(1)}%` : `×${(by / 100 + 1).toFixed(0)}`;
  };
  const unit = field.includes(":") ? field.slice(field.lastIndexOf(":") + 1) : field === "year" ? "year" : "step";
  const sure = low > 0 || high < 0 ? (slope > 0 ? "Grows" : "Shrinks") : "No certain trend";
  return `${sure}: odds ${change(slope)} a ${unit} (95%: ${change(low)} to ${change(high)})`;
}

/** The table of a plot, closed until asked for. */
export function Twin({ head, rows }: { head: string[]; rows: string[][] }) {
  return (
    <details class="twin">
      <summary>As a table</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of the plot">
        <table>
          <thead>
            <tr>
              {head.map((one, place) => (
                <th key={place} scope="col" class={place ? "number" : ""}>
                  {one}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, place) => (
              <tr key={place}>
                {row.map((one, column) => (
                  <td key={column} class={column ? "number" : ""}>
                    <bdi>{one}</bdi>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
