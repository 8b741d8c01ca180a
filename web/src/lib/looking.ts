// Search without a server: words as they are written lead to words of the corpus, those to documents.
// `form` and `shard` are those of src/strod/explorer/postings.py.

import { Nonsense, type Query } from "./query";

const UNSPACED = "\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}";
const SIGN = new RegExp(`[${UNSPACED}][\\p{M}ー々]*`, "gu");
const WORD = new RegExp(`(?:[${UNSPACED}][\\p{M}ー々]*)+|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}]|(?<=\\p{L})['’＇](?=\\p{L}))+`, "gu");
const UNSPACED_SIGN = new RegExp(`[${UNSPACED}]`, "u");
const DIGITS = "0123456789abcdefghijklmnopqrstuv";
const [SATURATION, LENGTHS] = [1.2, 0.75]; // k1 and b of BM25

export interface Shard {
  forms: Record<string, string[]>;
  words: Record<string, number[]>; // how far the next document is, how often it has the word, …
}

export interface Columns {
  number: number[];
  leaf: number[];
  length: number[];
  shards: string[]; // files of words that there are
}

/** Documents by their row, with a score. */
export type Hits = Map<number, number>;

export function form(word: string): string {
  const apart = word.replace(/[’＇]/g, "'").normalize("NFKD");
  return apart.replace(/\p{M}/gu, "").toLowerCase().normalize("NFC");
}

export function shard(text: string): string {
  const signs = [...text].slice(0, 2);
  return signs.map((sign) => (/[a-z0-9]/.test(sign) ? sign : `_${DIGITS[sign.codePointAt(0)! % DIGITS.length]}`)).join("");
}

/** Words of a text; of scripts without spaces pairs of signs. */
export function words(text: string): string[] {
  return [...text.matchAll(WORD)].flatMap(([run]) => {
    const signs = run.match(SIGN);
    if (!signs || signs.length < 2) return [form(run)];
    return signs.slice(1).map((sign, place) => form(signs[place]! + sign));
  });
}

type Load = (name: string) => Promise<Shard>;

/** Documents that a query finds, and all forms of its words. */
export async function look(query: Query, columns: Columns, load: Load): Promise<[Hits, Set<string>]> {
  const search = new Search(columns, load);
  return [await search.hits(query), search.forms];
}

class Search {
  readonly forms = new Set<string>();
  private readonly mean: number;

  constructor(
    private readonly columns: Columns,
    private readonly load: Load,
  ) {
    const { length } = columns;
    this.mean = length.reduce((sum, one) => sum + one, 0) / (length.length || 1) || 1;
  }

  async hits(query: Query, seen = this.forms): Promise<Hits> {
    const each = (parts: Query[]) => Promise.all(parts.map((one) => this.hits(one, seen)));
    if ("any" in query) return either(await each(query.any));
    if ("not" in query) return this.hits(query.not, new Set());
    if ("words" in query) return both(await Promise.all(query.words.map((one) => this.found(one, query.prefix, seen))));
    const there = both(await each(query.all.filter((one) => !("not" in one))));
    for (const one of query.all) if ("not" in one) for (const row of (await this.hits(one)).keys()) there.delete(row);
    return there;
  }

  private async found(text: string, prefix: boolean, seen: Set<string>): Promise<Hits> {
    const single = [...text].length < 2;
    if (single && !prefix && UNSPACED_SIGN.test(text)) throw new Nonsense(`${text} alone is not looked up without a server; write two signs, or ${text}*`);
    const name = shard(text);
    const shards = await Promise.all((single && prefix ? this.columns.shards.filter((one) => one.startsWith(name)) : [name]).map(this.load));
    return either(shards.flatMap(({ forms, words }) => this.meant(text, prefix, forms, seen).map((one) => this.weighed(words[one]!))));
  }

  /** Words of the corpus that are meant; all of their forms are seen. */
  private meant(text: string, prefix: boolean, forms: Shard["forms"], seen: Set<string>): string[] {
    const meant = prefix ? Object.keys(forms).filter((one) => one.startsWith(text)) : Object.hasOwn(forms, text) ? [text] : [];
    const known = new Set(meant.flatMap((one) => forms[one]!));
    for (const [one, its] of Object.entries(forms)) if (its.some((word) => known.has(word))) seen.add(one);
    return [...known];
  }

  private weighed(row: number[]): Hits {
    return weighed(row, this.columns.length, this.mean);
  }
}

function weighed(row: number[], lengths: number[], mean: number): Hits {
  const hits: Hits = new Map();
  const rare = Math.log(1 + (lengths.length - row.length / 2 + 0.5) / (row.length / 2 + 0.5));
  for (let at = 0, place = 0; place < row.length; place += 2) {
    at += row[place]!;
    const often = row[place + 1]!;
    hits.set(at, (rare * often * (SATURATION + 1)) / (often + SATURATION * (1 - LENGTHS + (LENGTHS * lengths[at]!) / mean)));
  }
  return hits;
}

function either(some: Hits[]): Hits {
  const sum: Hits = new Map();
  for (const hits of some) for (const [row, score] of hits) sum.set(row, (sum.get(row) ?? 0) + score);
  return sum;
}

function both(some: Hits[]): Hits {
  const [first = new Map<number, number>(), ...rest] = some;
  return new Map([...first].filter(([row]) => rest.every((hits) => hits.has(row))).map(([row, score]) => [row, rest.reduce((sum, hits) => sum + hits.get(row)!, score)]));
}

/** A passage of a text around the first word that is meant, in pieces. */
export function passage(text: string, forms: ReadonlySet<string>, width = 220): [string, number][] {
  const places = [...text.matchAll(WORD)].filter(([run]) => words(run).some((one) => forms.has(one))).map((one) => [one.index, one.index + one[0].length] as const);
  const start = Math.max(0, (places[0]?.[0] ?? 0) - width / 4);
  const from = start ? text.indexOf(" ", start) + 1 || start : 0;
  const to = Math.min(text.length, from + width);
  const pieces: [string, number][] = from ? [["… ", 0]] : [];
  let at = from;
  for (const [begin, end] of places) {
    if (begin < at || end > to) continue;
    if (begin > at) pieces.push([text.slice(at, begin), 0]);
    pieces.push([text.slice(begin, end), 1]);
    at = end;
  }
  pieces.push([text.slice(at, to) + (to < text.length ? "…" : ""), 0]);
  return pieces;
}
