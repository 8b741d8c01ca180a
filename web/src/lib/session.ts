// What the page remembers beside its address: how it looks, which branches are open, what is marked.
import { Store } from "./store";

export type Theme = "auto" | "light" | "dark";

function stored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null; // storage is switched off: then it is for this page only
  }
}

function store(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // as above
  }
}

function asTheme(name: string | null): Theme {
  return name === "light" || name === "dark" ? name : "auto";
}

export const theme = new Store<Theme>(asTheme(stored("strod.theme")));
export const keys = new Store(stored("strod.keys") !== "off"); // shortcuts of a single key
export const open = new Store<ReadonlySet<string>>(new Set(remembered("open")));
export const marked = new Store<readonly string[]>(remembered("marked")); // ids of topics, in the order of marking

function remembered(name: string): string[] {
  const found: unknown = history.state?.[name];
  return Array.isArray(found) ? found.map(String) : [];
}

/** Keep something with the present address, for when the page is loaded again. */
export function keep(name: string, value: unknown): void {
  try {
    history.replaceState({ ...history.state, [name]: value }, "");
  } catch {
    // too large, or too often: then it is not kept
  }
}

function dress(): void {
  const root = document.documentElement;
  if (theme.value === "auto") root.removeAttribute("data-theme");
  else root.setAttribute("data-theme", theme.value);
}

export function start(): void {
  dress();
  theme.watch(() => {
    dress();
    store("strod.theme", theme.value);
  });
  keys.watch(() => store("strod.keys", keys.value ? "on" : "off"));
  open.watch(() => keep("open", [...open.value]));
  marked.watch(() => keep("marked", marked.value));
}

export function mark(id: string): void {
  const now = marked.value;
  marked.set(now.includes(id) ? now.filter((one) => one !== id) : [...now, id]);
}
