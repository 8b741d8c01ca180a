// Changing the tree: a plan first, then its application.
import { news, post, refresh, Refusal, work } from "./api";
import { Store } from "./store";
import { counted } from "./text";
import type { Applied, Change, Job, Plan } from "./types";

export interface Order {
  verb: string;
  topics: string[];
  children?: number | "auto";
  height?: number;
  fresh?: boolean;
  force?: boolean;
  target?: string;
  into?: string;
  label?: string;
}

export type Told = (job: Job<unknown>) => void;

export const last = new Store<Applied | null>(null); // what was done last, by this page

export function plan(order: Order, told: Told, signal: AbortSignal): Promise<Plan> {
  return work<Plan>("/api/preview", order, told, signal);
}

/** Do what was planned. The views are drawn anew before it returns. */
export async function apply(id: string, note: string, told: Told, signal: AbortSignal): Promise<Applied> {
  try {
    const done = await work<Applied>("/api/apply", { plan: id, note }, told, signal);
    last.set(done);
    return done;
  } finally {
    await refresh().catch(() => undefined);
  }
}

let queue: Promise<void> = Promise.resolve();

/** What needs no look before: it is undone as easily. One after the other, however fast the clicks. */
export function instead(verb: string, topics: string[] = []): Promise<void> {
  queue = queue.then(() => directly(verb, topics));
  return queue;
}

async function directly(verb: string, topics: string[]): Promise<void> {
  try {
    const planned = await post<Plan>("/api/preview", { verb, topics });
    const done = await post<Applied>("/api/apply", { plan: planned.plan, note: "" });
    last.set(done);
    await refresh();
    news.set(`${done.change.what}: done. ${keptText(done.change)}`);
  } catch (error) {
    await refresh().catch(() => undefined);
    const conflict = error instanceof Refusal && error.status === 409;
    news.set(conflict ? `Not done: the workspace was changed elsewhere meanwhile. Look, and try again.` : `Not done: ${(error as Error).message}`);
  }
}

export function keptText(change: Change, future = false): string {
  if (change.kept === 0) return "There is no other topic to compare.";
  const one = change.kept === 1;
  const same = future ? (one ? "it stays as it is" : "all stay as they are") : one ? "it is as it was" : "all as they were";
  return `${counted(change.kept, "other topic")} compared: ${same}.`;
}
