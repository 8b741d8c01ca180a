// Buckets of time on a line: years, quarters, months and days, as far apart as they are.
import { shown } from "./text";
import type { Value } from "./types";

/** Where a bucket is, in buckets: 2015, "2015-Q3", "2015-03" or "2015-03-07". */
function place(bucket: Value): number {
  if (typeof bucket === "number") return bucket;
  const [, year = "", quarter, month, day] = /^(\d{4})-(?:Q(\d)|(\d\d)(?:-(\d\d))?)$/.exec(shown(bucket)) ?? [];
  if (quarter) return 4 * Number(year) + Number(quarter);
  if (day) return Date.UTC(Number(year), Number(month) - 1, Number(day)) / 86_400_000;
  return month ? 12 * Number(year) + Number(month) : Number.NaN;
}

export interface Line {
  at: number[]; // from 0 to 1
  runs: number[][]; // places without a gap between them
}

/** Places of buckets in their order; between two that are not neighbours there is a gap. */
export function timeline(buckets: Value[]): Line {
  const there = buckets.map(place);
  const known = there.every((one, row) => Number.isFinite(one) && (row === 0 || one > there[row - 1]!));
  const places = known ? there : there.map((_, row) => row);
  const steps = places.slice(1).map((one, row) => one - places[row]!);
  const least = Math.min(...steps);
  const step = least < 1 || places.some((one) => !Number.isInteger(one)) ? least : 1; // of bins of numbers
  const [first = 0, last = 0] = [places[0], places.at(-1)];
  const at = places.map((one) => (last > first ? (one - first) / (last - first) : 0.5));
  const runs: number[][] = [];
  places.forEach((one, row) => {
    if (row && one - places[row - 1]! < 1.5 * step) runs.at(-1)!.push(row);
    else runs.push([row]);
  });
  return { at, runs };
}
