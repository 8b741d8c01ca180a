// Changing the tree: a plan first, then its application.
import { Cancelled, news, refresh, Refusal, type Told, work } from "./api";
import { keepFocus } from "./focus";
import { keep } from "./session";
import { Store } from "./store";
import { counted } from "./text";
import type { Applied, Change, Plan } from "./types";

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

/** What this page did last; loading it again, and going back to it, show it again. */
export const last = new Store<Applied | null>(history.state?.outcome ?? null);
addEventListener("popstate", () => last.set(history.state?.outcome ?? last.value));

/** Whether it was done is not known. */
export class Unknown extends Error {}

export function plan(order: Order, told: Told<Plan>, signal: AbortSignal): Promise<Plan> {
  return work<Plan>("/api/preview", order, told, signal);
}

/** Do what was planned. The views are drawn anew before it returns. */
export async function apply(id: string, note: string, told: Told<Applied>, signal: AbortSignal): Promise<Applied> {
  try {
    return await work<Applied>("/api/apply", { plan: id, note }, told, signal);
  } catch (error) {
    throw settled(error as Error);
  } finally {
    await refresh().catch(() => undefined);
  }
}

/** Show what was done at the present address. */
export function remember(done: Applied): void {
  last.set(done);
  keep("outcome", done);
}

/** A refusal says that nothing was done, and so does what was called off; silence says nothing. */
function settled(error: Error): Error {
  const lost = error instanceof Refusal && (error.status === 404 || error.status >= 500);
  if (!lost && (error instanceof Refusal || error instanceof Cancelled)) return error;
  return new Unknown("The server did not say how it ended: the change may have been made or not. The history knows.");
}

let queue: Promise<void> = Promise.resolve();

/** What needs no look before: it is undone as easily. One after the other, however fast the clicks. */
export function instead(verb: string, topics: string[] = []): Promise<void> {
  queue = queue.then(() => directly(verb, topics));
  return queue;
}

async function directly(verb: string, topics: string[]): Promise<void> {
  const focused = document.activeElement;
  try {
    const planned = await work<Plan>("/api/preview", { verb, topics });
    const done = await work<Applied>("/api/apply", { plan: planned.plan, note: "" }).catch((error: Error) => Promise.reject(settled(error)));
    await refresh().catch(() => undefined);
    news.set(`${done.change.what}: done. ${keptText(done.change)}`);
  } catch (error) {
    await refresh().catch(() => undefined);
    news.set(refused(error as Error));
  }
  keepFocus(focused);
}

function refused(error: Error): string {
  if (error instanceof Unknown) return error.message;
  const conflict = error instanceof Refusal && error.status === 409;
  return conflict ? "Not done: the workspace was changed elsewhere meanwhile. Look, and try again." : `Not done: ${error.message}`;
}

export function keptText(change: Change, future = false): string {
  if (change.kept === 0) return "There is no other topic to compare.";
  const one = change.kept === 1;
  const same = future ? (one ? "it stays as it is" : "all stay as they are") : one ? "it is as it was" : "all as they were";
  return `${counted(change.kept, "other topic")} compared: ${same}.`;
}
