// Values that several parts of the page look at.
import { useLayoutEffect, useReducer } from "preact/hooks";

export class Store<T> {
  private readonly watchers = new Set<() => void>();

  constructor(private now: T) {}

  get value(): T {
    return this.now;
  }

  set(value: T): void {
    if (value === this.now) return;
    this.now = value;
    for (const tell of [...this.watchers]) tell();
  }

  watch(tell: () => void): () => void {
    this.watchers.add(tell);
    return () => this.watchers.delete(tell);
  }
}

/** The value of a store; the component is drawn again when it changes. */
export function useStore<T>(store: Store<T>): T {
  const [, again] = useReducer((n: number) => n + 1, 0);
  const drawn = store.value;
  useLayoutEffect(() => {
    const stop = store.watch(() => again(0));
    if (store.value !== drawn) again(0); // it changed before anybody watched
    return stop;
  }, [store]);
  return drawn;
}
