// Answers without a server: files that `strod export --to site` wrote, and what follows from them.
import { type Columns, form, type Hits, look, passage, type Shard, words } from "./looking";
import { parsed, sought } from "./query";
import type { Document, Documents, Found, Listed, Skeleton, Workspace } from "./types";

/** Whether this page is a site of files; then nothing can be changed, and not everything asked. */
export const isSite = document.querySelector('meta[name="strod-site"]') !== null;

export class Absent extends Error {}

const NAMED = 10; // topics whose names or phrases match
const files = new Map<string, Promise<unknown>>();

/** A file, read once; null if there is none. */
function file<T>(name: string): Promise<T | null> {
  let found = files.get(name) as Promise<T | null> | undefined;
  if (!found) {
    found = fetch(`data/${name}.json`).then(async (answer) => {
      if (answer.ok) return (await answer.json()) as T;
      if (answer.status === 404) return null;
      throw new Absent(`data/${name}.json: the server answered ${answer.status}`);
    });
    files.set(name, found);
    found.catch(() => files.delete(name));
  }
  return found;
}

async function needed<T>(name: string, missing = `data/${name}.json is missing; export the site again`): Promise<T> {
  const found = await file<T>(name);
  if (found === null) throw new Absent(missing);
  return found;
}

/** The answer to what a server would be asked. */
export async function answered(address: string): Promise<unknown> {
  const { pathname, searchParams: query } = new URL(address, "http://site");
  const [name = "", ...rest] = pathname.slice("/api/".length).split("/");
  if (query.get("where")) throw new Absent("Filters on metadata need a server: strod explore shows this workspace with one.");
  switch (name) {
    case "workspace":
    case "history":
    case "report":
      return needed(name);
    case "tree":
      return painted(await needed<Skeleton>("tree"), query.get("query") ?? "");
    case "topic":
      return needed(`topic/${topicFile(rest.join("/"))}`);
    case "documents":
      return listed(query);
    case "document":
      return needed(`document/${digits(rest[0] ?? "")}`, "This site has only the documents with most of each topic, and this is none of them.");
    case "search":
      return searched(query);
    default:
      throw new Absent("This needs a server: strod explore shows this workspace with one.");
  }
}

function topicFile(path: string): string {
  if (!/^o(\/\d+)*$/.test(path)) throw new Absent(`There is no topic ${path.slice(0, 60)}.`);
  return path.replaceAll("/", "-");
}

function digits(text: string): string {
  if (!/^\d{1,15}$/.test(text)) throw new Absent("A document has a number.");
  return text;
}

function page<V>(rows: V[], query: URLSearchParams): V[] {
  const offset = Number(query.get("offset") ?? 0);
  return rows.slice(offset, offset + Number(query.get("limit") ?? 20));
}

async function listed(query: URLSearchParams): Promise<Documents> {
  const found = await needed<Documents>(`documents/${topicFile(query.get("topic") || "o")}`);
  return { ...found, total: found.documents.length, whole: found.total, documents: page(found.documents, query) };
}

async function hitsOf(q: string): Promise<[Columns, Hits, Set<string>]> {
  const columns = await needed<Columns>("search/documents");
  const load = async (name: string) => (columns.shards.includes(name) ? needed<Shard>(`search/words/${name}`) : { forms: {}, words: {} });
  return [columns, ...(await look(parsed(q), columns, load))];
}

/** How many of some documents are under each topic. */
function counted(leaves: Iterable<number>, parents: number[]): number[] {
  const counts = parents.map(() => 0);
  for (const leaf of leaves) for (let row = leaf; row >= 0; row = parents[row]!) counts[row]!++;
  return counts;
}

/** The tree with what a search finds, against the documents of the site. */
async function painted(skeleton: Skeleton, q: string): Promise<Skeleton> {
  if (!q) return skeleton;
  const [columns, hits] = await hitsOf(q);
  const usual = counted(columns.leaf, skeleton.topics.parent);
  const here = counted([...hits.keys()].map((row) => columns.leaf[row]!), skeleton.topics.parent);
  const share = here.map((one) => one / Math.max(hits.size, 1));
  const lift = share.map((one, row) => (usual[row] ? (one * columns.leaf.length) / usual[row]! : 0));
  return { ...skeleton, slice: { documents: here, share, lift } };
}

async function searched(query: URLSearchParams): Promise<Found> {
  const q = query.get("q") ?? "";
  const within = query.get("topic") ?? "";
  const { topics } = await needed<Skeleton>("tree");
  const [columns, all, forms] = await hitsOf(q);
  const under = (path: string) => !within || `${path}/`.startsWith(`${within}/`);
  const hits = [...all].filter(([row]) => under(topics.path[columns.leaf[row]!]!)).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const here = counted(hits.map(([row]) => columns.leaf[row]!), topics.parent);
  const usual = counted(columns.leaf, topics.parent);
  const places = topics.path
    .map((path, row) => ({ path, label: topics.label[row]!, hits: here[row]!, lift: usual[row] ? (here[row]! / Math.max(hits.length, 1)) * (columns.leaf.length / usual[row]!) : 0 }))
    .filter((one) => one.hits)
    .sort((a, b) => b.hits - a.hits);
  const { name } = await needed<Workspace>("workspace");
  const documents = await Promise.all(page(hits, query).map(([row, score]) => shownHit(columns.number[row]!, score, forms, topics)));
  return { query: q, total: hits.length, topics: places, named: await named(q, topics), documents, command: `strod search ${quoted(name)} ${quoted(q)}` };
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\"'\"'")}'`;
}

async function shownHit(number: number, score: number, forms: ReadonlySet<string>, topics: Skeleton["topics"]): Promise<Listed> {
  const found = await needed<Document>(`document/${number}`);
  return { number, id: found.id, score, leaf: found.leaf, leaf_label: topics.label[topics.path.indexOf(found.leaf ?? "")] ?? null, meta: found.meta, snippet: passage(found.text, forms) };
}

/** Topics whose names or phrases have words that begin as all words of the query do. */
async function named(q: string, topics: Skeleton["topics"]): Promise<Found["named"]> {
  const wanted = sought(parsed(q));
  if (!wanted.length) return [];
  const phrases = await needed<string[][]>("search/phrases");
  const fits = (text: string) => {
    const there = words(text);
    return wanted.every((one) => there.some((word) => word.startsWith(one)));
  };
  return topics.path
    .map((path, row) => ({ path, label: topics.label[row] ?? null, phrases: (phrases[row] ?? []).filter(fits) }))
    .filter((one) => one.phrases.length || (one.label && fits(form(one.label))))
    .slice(0, NAMED);
}
