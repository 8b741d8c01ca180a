// The topics as the page needs them.
import { line } from "./text";
import { type Line, timeline } from "./time";
import type { Skeleton } from "./types";

export interface Topic {
  id: string;
  path: string;
  label: string; // never empty
  parent: Topic | null;
  children: Topic[];
  level: number;
  place: number; // among its siblings, from 0
  hue: number; // of the topic of the first level that it is under
  weight: number;
  documents: number;
  pinned: boolean;
  named: boolean;
  trend: number[];
  phrases: string[];
  slice: { documents: number; share: number; lift: number } | null;
}

export const HUES = 8;

export class Tree {
  readonly byPath = new Map<string, Topic>();
  readonly byId = new Map<string, Topic>();
  readonly topics: Topic[];
  readonly root: Topic;
  readonly deepest: number;
  readonly command: string; // gives the tree, or what is painted over it
  readonly times: Line; // of the buckets of trends

  constructor(skeleton: Skeleton) {
    const { topics: columns, slice } = skeleton;
    const phrases = columns.phrases ?? skeleton.phrases;
    this.command = skeleton.command;
    this.times = timeline(skeleton.buckets ?? []);
    this.topics = columns.id.map((id, row) => ({
      id,
      path: columns.path[row]!,
      label: columns.label[row] || (columns.parent[row]! < 0 ? "Everything" : phrases?.[row]?.[0] || columns.path[row]!),
      parent: null,
      children: [],
      level: 0,
      place: 0,
      hue: -1,
      weight: columns.weight[row]!,
      documents: columns.documents[row]!,
      pinned: Boolean(columns.pinned[row]),
      named: Boolean(columns.named[row]),
      trend: columns.trend?.[row] ?? [],
      phrases: phrases?.[row] ?? [],
      slice: slice ? { documents: slice.documents[row]!, share: slice.share[row]!, lift: slice.lift[row]! } : null,
    }));
    this.topics.forEach((topic, row) => {
      const above = this.topics[columns.parent[row]!];
      if (above) {
        topic.parent = above;
        topic.place = above.children.push(topic) - 1;
      }
      this.byPath.set(topic.path, topic);
      this.byId.set(topic.id, topic);
    });
    this.root = this.topics[columns.parent.indexOf(-1)]!;
    this.deepest = this.settle(this.root);
  }

  private settle(top: Topic): number {
    let deepest = 0;
    const waiting = [top];
    for (let topic = waiting.pop(); topic; topic = waiting.pop()) {
      topic.level = topic.parent ? topic.parent.level + 1 : 0;
      topic.hue = topic.level === 1 ? topic.place % HUES : (topic.parent?.hue ?? -1);
      deepest = Math.max(deepest, topic.level);
      waiting.push(...topic.children);
    }
    return deepest;
  }

  /** A topic by its path or its id. */
  find(name: string | null | undefined): Topic | undefined {
    return name ? (this.byPath.get(name) ?? this.byId.get(name)) : undefined;
  }

  label(path: string): string {
    return this.find(path)?.label ?? path;
  }
}

export function above(topic: Topic): Topic[] {
  const found: Topic[] = [];
  for (let one = topic.parent; one; one = one.parent) found.unshift(one);
  return found;
}

/** Rows of the tree as it is opened, from the top. */
export function rows(root: Topic, open: ReadonlySet<string>): Topic[] {
  const found: Topic[] = [];
  const waiting = [root];
  for (let topic = waiting.pop(); topic; topic = waiting.pop()) {
    found.push(topic);
    if (open.has(topic.id)) waiting.push(...topic.children.toReversed());
  }
  return found;
}

/** A topic as it is spoken of. */
export function mentioned(topic: Topic): string {
  return `${topic.path} ${line(topic.label, 80)}`;
}
