// Search without a server: words as they are written lead to words of the corpus, those to documents.
// `form` and `shard` are those of src/strod/explorer/postings.py.

const UNSPACED = "\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}";
const SIGN = new RegExp(`[${UNSPACED}][\\p{M}ー々]*`, "gu");
const WORD = new RegExp(`(?:[${UNSPACED}][\\p{M}ー々]*)+|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}]|(?<=\\p{L})['’＇](?=\\p{L}))+`, "gu");
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

interface Term {
  text: string;
  prefix: boolean;
}

interface Clause {
  any: Term[][]; // one of these must be there, with all of its terms
  not: boolean;
}

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

/** What a query asks for: words, beginnings*, "phrases", OR, NOT and -. */
export function parsed(query: string): Clause[] {
  const clauses: Clause[] = [];
  let [or, not] = [false, false];
  for (const [whole, minus, quoted, bare] of query.matchAll(/(-?)(?:"([^"]*)"?|([^\s"]+))/g)) {
    if (whole === "AND") continue;
    if (whole === "OR") or = true;
    else if (whole === "NOT") not = true;
    else {
      const terms = words(quoted ?? bare ?? "").map((text) => ({ text, prefix: false }));
      const last = terms.at(-1);
      if (!last) continue;
      last.prefix = quoted === undefined && bare!.endsWith("*");
      const before = clauses.at(-1);
      if (or && before && !before.not) before.any.push(terms);
      else clauses.push({ any: [terms], not: not || Boolean(minus) });
      [or, not] = [false, false];
    }
  }
  return clauses;
}

type Load = (name: string) => Promise<Shard>;

/** Documents that a query finds, and all forms of its words. */
export async function look(query: string, columns: Columns, load: Load): Promise<[Hits, Set<string>]> {
  const mean = columns.length.reduce((sum, one) => sum + one, 0) / (columns.length.length || 1) || 1;
  const weigh = (row: number[]) => weighed(row, columns.length, mean);
  const forms = new Set<string>();
  const positive: Hits[] = [];
  const negative: Hits[] = [];
  for (const clause of parsed(query)) {
    const some = await Promise.all(clause.any.map(async (terms) => both(await Promise.all(terms.map((one) => found(one, load, weigh, clause.not ? new Set() : forms))))));
    (clause.not ? negative : positive).push(either(some));
  }
  if (!positive.length) return [new Map(), forms];
  const hits = both(positive);
  for (const one of negative) for (const row of one.keys()) hits.delete(row);
  return [hits, forms];
}

async function found(term: Term, load: Load, weigh: (row: number[]) => Hits, seen: Set<string>): Promise<Hits> {
  if ([...term.text].length < 2 && term.prefix) return new Map();
  const { forms, words: rows } = await load(shard(term.text));
  const meant = term.prefix ? Object.keys(forms).filter((one) => one.startsWith(term.text)) : Object.hasOwn(forms, term.text) ? [term.text] : [];
  const known = new Set(meant.flatMap((one) => forms[one]!));
  for (const [one, its] of Object.entries(forms)) if (its.some((word) => known.has(word))) seen.add(one);
  return either([...known].map((word) => weigh(rows[word]!)));
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
