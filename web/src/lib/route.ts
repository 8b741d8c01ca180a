// The state of the page is its address: a view, and what it shows.
import { isSite } from "./site";
import { Store } from "./store";

export interface Route {
  view: string;
  rest: string; // what follows the view: a topic's path, a document's number
  query: URLSearchParams;
}

type Changes = Record<string, string | string[] | number | null | undefined>;

/** What is painted over the tree goes along from view to view. */
const CARRIED = ["q", "where"];
export const ROOT = isSite ? "#/" : "/"; // the address of the overview

/** Files have one address, wherever they are: in a site the state is what follows `#`. */
function here(): string {
  return isSite ? location.hash.replace(/^#(?!\/).*/, "") || "#/" : location.pathname + location.search;
}

function read(): Route {
  const [path = "", ...query] = here().replace(/^#/, "").split("?");
  const [view = "", ...rest] = path.split("/").slice(1).map(decode);
  return { view, rest: rest.join("/"), query: new URLSearchParams(query.join("?")) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = new Store<Route>(read());

addEventListener("popstate", () => route.set(read()));

/** An address: `href("topic/o/1")`, with what is painted over the tree unless told otherwise. */
export function href(path: string, changes: Changes = {}): string {
  const query = new URLSearchParams();
  for (const name of CARRIED) {
    if (name === "q" && path === "slices") continue; // slices go by metadata alone
    const value = route.value.query.get(name);
    if (value) query.set(name, value);
  }
  apply(query, changes);
  return written(path, query);
}

/** The address of this view with some changes. */
export function changed(changes: Changes): string {
  const { view, rest, query } = route.value;
  const copy = new URLSearchParams(query);
  apply(copy, changes);
  return written(rest ? `${view}/${rest}` : view, copy);
}

function apply(query: URLSearchParams, changes: Changes): void {
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") query.append(name, String(one));
    }
  }
}

function written(path: string, query: URLSearchParams): string {
  const text = query.toString().replaceAll("%2F", "/");
  return `${ROOT}${path.split("/").map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

export function go(address: string, replace = false): void {
  if (address === here()) return;
  const { open, marked } = history.state ?? {}; // the rest is of the present address alone
  if (replace) history.replaceState(history.state, "", address);
  else history.pushState({ open, marked }, "", address);
  route.set(read());
}

/** Follow links of the page without loading it again; others, and new tabs, are left alone. */
export function follow(event: MouseEvent): void {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element).closest?.("a");
  if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
  if (link.pathname.startsWith("/api/") || link.pathname.startsWith("/static/")) return;
  if (isSite && (link.pathname !== location.pathname || !link.hash.startsWith("#/"))) return;
  event.preventDefault();
  go(isSite ? link.hash : link.pathname + link.search);
}
