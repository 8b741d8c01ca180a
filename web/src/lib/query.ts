// The language of queries, as src/strod/query/parse.py reads it: what a site cannot answer is refused.
//
//   query = side { OR side }
//   side  = part { [AND] part }
//   part  = [NOT | -] ( "(" query ")" | "words in a row" | word | begin* )
import { words } from "./looking";

const QUOTES = '"\u201c\u201d\u201e';
const PIECE = new RegExp(`(?:\\\\[${QUOTES}](?=[A-Za-z{])|[^\\s(){}${QUOTES}]|[{}])+`, "uy"); // \" is an accent of LaTeX
const FIELD = /^[^:]+:/;
const [LONGEST, DEEPEST] = [2000, 50]; // characters of a query, parentheses in parentheses

export interface Term {
  words: string[]; // each of them must be there
  prefix: boolean;
}

export type Query = Term | { all: Query[] } | { any: Query[] } | { not: Query };

/** A query that makes no sense, or asks for what files cannot answer. */
export class Nonsense extends Error {}

type Token = [kind: string, text: string];

function isAccent(text: string, place: number): boolean {
  return text[place - 1] === "\\" && /^\p{L}/u.test(text.slice(place + 1, place + 3));
}

/** Where the quotation that begins at a place ends, and what is in it. */
function quoted(text: string, place: number): [number, string] {
  let end = place + 1;
  while (end < text.length && (!QUOTES.includes(text[end]!) || isAccent(text, end))) end++;
  if (end === text.length) throw new Nonsense(`the query has a quotation mark without a second one: ${text.slice(place)}`);
  return [end + 1, text.slice(place + 1, end)];
}

function piece(text: string, place: number): [number, Token] {
  PIECE.lastIndex = place;
  const found = PIECE.exec(text)?.[0] ?? text[place]!;
  const end = place + found.length;
  if (found === "AND" || found === "OR" || found === "NOT") return [end, [found, ""]];
  return [end, [FIELD.test(found) ? "field" : "word", found]];
}

function tokens(text: string): Token[] {
  const found: Token[] = [];
  for (let place = 0; place < text.length; ) {
    const sign = text[place]!;
    if (/\s/.test(sign)) place++;
    else if (sign === "(" || sign === ")") {
      found.push([sign, ""]);
      place++;
    } else if (QUOTES.includes(sign)) {
      const [end, inside] = quoted(text, place);
      found.push(["phrase", inside]);
      place = end;
    } else if (sign === "-" && /^\S/.test(text.slice(place + 1))) {
      found.push(["NOT", ""]);
      place++;
    } else {
      const [end, token] = piece(text, place);
      found.push(token);
      place = end;
    }
  }
  return [...found, ["end", ""]];
}

function hasLetters(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

class Parser {
  private readonly tokens: Token[];
  private place = 0;
  private depth = 0;

  constructor(text: string) {
    this.tokens = tokens(text);
  }

  private get kind(): string {
    return this.tokens[this.place]![0];
  }

  run(): Query {
    const found = this.any();
    if (this.kind === ")") throw new Nonsense("the query has a closing parenthesis without an opening one");
    if (!found) throw new Nonsense("the query has no word to look for");
    if ("not" in found) throw new Nonsense("the query only says what documents must not have; give a word, too");
    return found;
  }

  private any(): Query | null {
    const sides = [this.all()];
    while (this.kind === "OR") {
      this.operator();
      sides.push(this.all());
    }
    const parts = sides.filter((side) => side !== null);
    if (parts.length > 1 && parts.some((part) => "not" in part)) throw new Nonsense("NOT takes away from what stands beside it, not from the sides of OR");
    return parts.length > 1 ? { any: parts } : (parts[0] ?? null);
  }

  private all(): Query | null {
    const found = [this.part()];
    while (!["OR", ")", "end"].includes(this.kind)) {
      if (this.kind === "AND") this.operator();
      found.push(this.part());
    }
    const parts = found.filter((part) => part !== null);
    const nots = parts.flatMap((part) => ("not" in part ? [part.not] : []));
    if (parts.length > 1 && nots.length === parts.length) return { not: { any: nots } };
    return parts.length > 1 ? { all: parts } : (parts[0] ?? null);
  }

  /** Step over AND or OR; something must stand on both sides. */
  private operator(): void {
    const [name] = this.tokens[this.place++]!;
    const before = this.place > 1 ? this.tokens[this.place - 2]![0] : "(";
    if (["(", "AND", "OR", "NOT"].includes(before) || [")", "AND", "OR", "end"].includes(this.kind)) {
      throw new Nonsense(`${name} needs something on both sides; for the word put it in quotes`);
    }
  }

  private part(): Query | null {
    const kind = this.kind;
    if (kind === "NOT") return this.not();
    if (kind === "(") return this.group();
    if (kind === "AND" || kind === "OR") this.operator();
    if (kind === ")" || kind === "end") throw new Nonsense(this.nothing(kind));
    const [, text] = this.tokens[this.place++]!;
    if (kind === "field") throw new Nonsense(`${text}: values of metadata are looked up by a server alone (strod explore); to look for : use quotes`);
    return kind === "phrase" ? phrase(text) : word(text);
  }

  private nothing(kind: string): string {
    if (kind === "end") return "the query ends where a word should be";
    return this.tokens[this.place - 1]?.[0] === "(" ? "there is nothing between the parentheses of the query" : "the query has a closing parenthesis without an opening one";
  }

  private not(): Query | null {
    this.deeper();
    this.place++;
    if ([")", "AND", "OR", "end"].includes(this.kind)) throw new Nonsense("NOT needs something after it; for the word put it in quotes");
    const part = this.part();
    this.depth--;
    if (!part) return null;
    return "not" in part ? part.not : { not: part };
  }

  private group(): Query | null {
    this.deeper();
    this.place++;
    const found = this.any();
    if (this.kind !== ")") throw new Nonsense("the query has an opening parenthesis without a closing one");
    this.place++;
    this.depth--;
    return found;
  }

  private deeper(): void {
    if (++this.depth > DEEPEST) throw new Nonsense(`the query has more than ${DEEPEST} parentheses in parentheses`);
  }
}

function phrase(text: string): Term | null {
  const found = words(text);
  if (!found.length && hasLetters(text)) throw new Nonsense(`${text} is no word`);
  return found.length ? { words: found, prefix: false } : null;
}

function word(text: string): Term | null {
  if (!text.endsWith("*") || !hasLetters(text)) return phrase(text);
  const whole = phrase(text.replace(/\*+$/, ""));
  if (whole?.words.length !== 1) throw new Nonsense(`${text}: * may follow the beginning of one word only`);
  return { words: whole.words, prefix: true };
}

export function parsed(text: string): Query {
  if (text.length > LONGEST) throw new Nonsense(`the query is longer than ${LONGEST} characters`);
  return new Parser(text).run();
}

/** The words that documents are found by. */
export function sought(query: Query): string[] {
  if ("words" in query) return query.words;
  if ("not" in query) return [];
  return ("all" in query ? query.all : query.any).flatMap(sought);
}
