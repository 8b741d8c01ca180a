// Asking the server. Answers are kept until the workspace changes.
import { useEffect, useReducer, useRef } from "preact/hooks";
import { Nonsense } from "./query";
import { Absent, answered, isSite } from "./site";
import { Store, useStore } from "./store";
import type { Job, Workspace } from "./types";

export type Connection = "fine" | "lost" | "locked";

export const connection = new Store<Connection>("fine");
export const workspace = new Store<Workspace | null>(null);
export const news = new Store(""); // told to everybody, screen readers too
export const said = new Store(""); // told to screen readers alone: others see it

const KEPT = 200;
const EVERY = 5000; // milliseconds between looks at the revision
const SOON = 1000; // the same while the server does not answer

export class Refusal extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly revision?: number,
  ) {
    super(message);
  }
}

/** The same of a site, which has files instead of a server. */
async function askFiles<T>(path: string): Promise<T> {
  try {
    const found = (await answered(path)) as T;
    connection.set("fine");
    return found;
  } catch (error) {
    if (!(error instanceof Absent || error instanceof Nonsense)) connection.set("lost");
    throw error;
  }
}

export async function ask<T>(path: string, options: RequestInit = {}): Promise<T> {
  if (isSite) return askFiles<T>(path);
  let answer: Response;
  try {
    answer = await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if ((error as Error).name !== "AbortError") connection.set("lost");
    throw error;
  }
  if (answer.status === 401) connection.set("locked");
  else connection.set("fine");
  const content = await answer.json().catch(() => ({ error: `the server answered ${answer.status}` }));
  if (!answer.ok) throw new Refusal(content.error ?? answer.statusText, answer.status, content.revision);
  return content as T;
}

export function post<T>(path: string, body: unknown): Promise<T> {
  return ask<T>(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

/** Work that was called off before it did anything. */
export class Cancelled extends Error {}

export type Told<T> = (job: Job<T>) => void;

/**
 * Post something that may take a while: `told` hears how far it is. Aborting asks the server to call
 * it off; how it ended is what the server says then. The post itself is never broken off: what it
 * began would go on, and nobody would know.
 */
export async function work<T>(path: string, body: unknown, told: Told<T> = () => undefined, signal?: AbortSignal): Promise<T> {
  const first = await post<T & { job?: string }>(`${path}?wait=0`, body);
  if (!first.job) return first;
  const address = `/api/jobs/${encodeURIComponent(first.job)}`;
  const cancel = () => void ask(address, { method: "DELETE" }).catch(() => undefined);
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel);
  try {
    return await ended(address, told);
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

async function ended<T>(address: string, told: Told<T>): Promise<T> {
  for (let pause = 40; ; pause = Math.min(pause * 1.5, 400)) {
    const job = await ask<Job<T>>(address);
    told(job);
    if (job.state === "done") return job.result as T;
    if (job.state === "cancelled") throw new Cancelled("cancelled");
    if (job.state === "failed") throw new Refusal(job.error ?? "it failed", 400);
    await new Promise((done) => setTimeout(done, pause));
  }
}

const answers = new Map<string, Promise<unknown>>();
const arrived = new Map<string, unknown>();

function remember<T>(path: string): Promise<T> {
  let found = answers.get(path) as Promise<T> | undefined;
  if (!found) {
    found = ask<T>(path);
    answers.set(path, found);
    found.then(
      (value) => arrived.set(path, value),
      () => answers.delete(path),
    );
    const oldest = answers.keys().next().value;
    if (answers.size > KEPT && oldest !== undefined) {
      answers.delete(oldest);
      arrived.delete(oldest);
    }
  }
  return found;
}

export interface Answer<T> {
  value: T | null;
  error: string;
  stale: boolean; // what is shown is the answer to what was asked before
}

/** The answer to a GET, asked again when the address or the workspace changes; null asks nothing. */
export function useAnswer<T>(path: string | null): Answer<T> {
  const [, again] = useReducer((n: number) => n + 1, 0);
  const etag = useStore(workspace)?.etag ?? "";
  const state = useRef<{ key: string; answer: Answer<T> }>({ key: "", answer: { value: null, error: "", stale: false } });
  const key = `${etag} ${path}`;
  if (state.current.key !== key) {
    const ready = path === null ? undefined : (arrived.get(path) as T | undefined);
    const before = path === null ? null : state.current.answer.value;
    const answer = ready === undefined ? { value: before, error: "", stale: path !== null } : { value: ready, error: "", stale: false };
    state.current = { key, answer };
  }
  useEffect(() => {
    if (path === null || !state.current.answer.stale) return undefined;
    let left = false;
    const show = (answer: Answer<T>) => {
      if (left || state.current.key !== key) return;
      state.current.answer = answer;
      again(0);
    };
    let timer = 0;
    const look = () =>
      remember<T>(path).then(
        (value) => show({ value, error: "", stale: false }),
        (error: Error) => {
          show({ value: null, error: error.message, stale: false });
          const later = error instanceof Refusal && error.status === 503; // an index is being made
          if (later && !left) timer = setTimeout(look, 2 * SOON);
        },
      );
    void look();
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [key]);
  return state.current.answer;
}

/** Look at the workspace; if it is not as it was, everything is asked anew. */
export async function refresh(): Promise<void> {
  const now = await ask<Workspace>("/api/workspace");
  const before = workspace.value;
  if (before?.etag === now.etag) return;
  answers.clear();
  arrived.clear();
  workspace.set(now);
}

/** Notice what others change, and when the server comes back. */
export function watchOthers(): void {
  const look = async () => {
    if (document.hidden) return;
    const before = workspace.value;
    await refresh().catch(() => undefined);
    const now = workspace.value;
    if (before && now && now.etag !== before.etag) news.set(`The workspace was changed elsewhere: this is revision ${now.revision}.`);
  };
  const again = () => setTimeout(() => void look().finally(again), connection.value === "lost" ? SOON : EVERY);
  again();
  document.addEventListener("visibilitychange", () => void look());
}
