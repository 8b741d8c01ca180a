// What the server answers (see docs/explore.md and /api/openapi.json).

export type Value = string | number | boolean | null | Value[];

export interface Workspace {
  name: string;
  revision: number;
  etag: string;
  documents: number;
  words: number;
  topics: number;
  meta: Record<string, string>;
  date_field: string | null;
  read_only: boolean;
  can_search: boolean;
  undo: boolean;
  redo: boolean;
  version: string;
  shown?: number; // documents of a site
}

export interface Skeleton {
  revision: number;
  topics: {
    id: string[];
    path: string[];
    parent: number[];
    label: (string | null)[];
    weight: number[];
    documents: number[];
    pinned: number[];
    named: number[];
    trend: number[][] | null;
    phrases?: string[][];
  };
  phrases?: string[][];
  buckets: Value[] | null;
  slice?: { documents: number[]; share: number[]; lift: number[] };
  command: string;
}

export interface Brief {
  path: string;
  label: string | null;
  weight: number;
  documents: number;
  phrases: string[];
}

export interface Trend {
  field: string;
  slope: number;
  low: number;
  high: number;
  series: [Value, number, number][];
}

export interface Details {
  id: string;
  path: string;
  parent: string | null;
  level: number;
  label: string | null;
  named: boolean;
  pinned: boolean;
  weight: number;
  alpha: number;
  alpha0: number;
  documents: number;
  rest: number;
  reason: string;
  sha256: string;
  phrases: [string, number][];
  words: [string, number, number | null][];
  children: Brief[];
  siblings: Brief[];
  entities: Record<string, [string, number, number][]>;
  trend: Trend | null;
  command: string;
}

export interface Listed {
  number: number;
  id: string;
  share?: number;
  score?: number;
  leaf: string | null; // null: no word of it is known
  leaf_label: string | null;
  meta: Record<string, Value>;
  text?: string;
  snippet?: [string, number | boolean][];
}

export interface Documents {
  total: number;
  whole?: number; // in a site: how many there are, of which it has some
  documents: Listed[];
  command: string;
}

export interface Document {
  number: number;
  id: string;
  leaf: string | null; // null: no word of it is known
  topics: Record<string, number>;
  meta: Record<string, Value>;
  text: string;
  length?: number; // of the whole text, if that is more
  words: [number, number, string][];
  command: string;
}

export interface Found {
  query: string;
  total: number;
  topics: { path: string; label: string | null; hits: number; lift: number }[];
  named: { path: string; label: string | null; phrases: string[] }[];
  documents: Listed[];
  command: string;
}

export interface Field {
  name: string;
  kind: string;
  values: [Value, number][];
}

export interface Slice {
  by: string[];
  measure: string;
  rows: Record<string, Value>[];
  command: string;
}

export interface Entry {
  revision: number;
  what: string;
  when: string;
  note: string;
  undone: boolean;
}

interface Named {
  id: string;
  path: string;
  name: string;
}

export interface Change {
  what: string;
  documents: number;
  kept: number;
  new: (Named & { weight: number; effective_documents: number | null; phrases?: string[]; parent?: string | null })[];
  changed: Named[];
  joined: (Named & { weight: number; of: (Named & { weight: number })[] })[];
  moved: { id: string; name: string; before: string; after: string }[];
  lost: (Named & { weight: number })[];
  weights: (Named & { before: number; after: number })[];
  rests: (Named & { before: number; after: number })[];
  pinned: Named[];
  warnings: { kind: string; topic: string; text: string }[];
}

export interface Plan {
  plan: string;
  revision: number;
  change: Change;
  command: string;
}

export interface Applied {
  revision: number;
  change: Change;
}

export interface Job<T> {
  id: string;
  state: "running" | "done" | "failed" | "cancelled";
  stage: string;
  done: number;
  total: number | null;
  result?: T;
  error?: string;
}

/** A topic that only one revision has, or a phrase that only one topic has. */
export interface Item {
  id?: string;
  path?: string;
  label?: string | null;
  weight?: number;
  phrase?: string;
}

export interface Comparison {
  kind: string;
  a: Record<string, Value>;
  b: Record<string, Value>;
  only_a: Item[];
  only_b: Item[];
  changed: { path: string; label: string | null; before: number; after: number; was?: { path: string; label: string | null } }[];
  words: [string, number, number][];
  command?: string;
}
