// The tree as an icicle: levels from left to right, height is share. The tree beside it says the same
// to those who don't see it, so the drawing is hidden from them.
import { hierarchy, partition, type HierarchyRectangularNode } from "d3-hierarchy";
import { useMemo } from "preact/hooks";
import { line, percent, times } from "../lib/text";
import type { Topic, Tree } from "../lib/tree";
import { shade } from "./tree";
import { fitted } from "./fitted";
import { useSize } from "./size";

type Box = HierarchyRectangularNode<Topic>;

const LEAST = 2; // pixels that a box must have to be drawn
const UP = 28; // pixels of the column that leads up
const FIRST = 0.13; // of the width: the topic whose parts are shown, which has a title already

function layout(tree: Tree): Map<string, Box> {
  const top = hierarchy(tree.root, (topic) => topic.children);
  const found = new Map<string, Box>();
  // Weights are set, not summed: what is in no child stays empty.
  top.each((node) => Object.assign(node, { value: node.data.weight }));
  // Topics that were grown come on top of their parent's weight: then all of its parts share it.
  top.eachBefore((node) => {
    const parts = node.children ?? [];
    const sum = parts.reduce((total, part) => total + (part.value ?? 0), 0);
    const room = (node.value ?? 0) / Math.max(sum, node.value ?? 0, 1e-12);
    for (const part of parts) Object.assign(part, { value: (part.value ?? 0) * room });
  });
  for (const node of partition<Topic>()(top).descendants()) found.set(node.data.id, node);
  return found;
}

export function Icicle({ tree, focus, current, pick }: { tree: Tree; focus: Topic; current: Topic | undefined; pick: (topic: Topic) => void }) {
  const [frame, width, height] = useSize<HTMLDivElement>();
  const places = useMemo(() => layout(tree), [tree]);
  const top = places.get(focus.id)!;
  const levels = Math.min(top.height + 1, width < 520 ? 3 : 4);
  const left = focus.parent ? UP : 0;
  const first = levels > 1 ? Math.max(84, FIRST * width) : width - left;
  const column = (width - left - first) / Math.max(1, levels - 1);
  const scale = height / (top.x1 - top.x0 || 1);
  const shown: Box[] = [];
  const waiting = [top];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if ((node.x1 - node.x0) * scale < LEAST) continue;
    shown.push(node);
    if (node.depth - top.depth < levels - 1) waiting.push(...(node.children ?? []));
  }
  return (
    <div ref={frame} class="icicle">
      <svg width={width} height={height} aria-hidden="true" role="presentation">
        {focus.parent && <Up topic={focus.parent} height={height} pick={pick} />}
        {shown.map((node) => (
          <Cell
            key={node.data.id}
            topic={node.data}
            x={node === top ? left : left + first + (node.depth - top.depth - 1) * column}
            y={(node.x0 - top.x0) * scale}
            width={node === top ? first : column}
            height={(node.x1 - node.x0) * scale}
            isCurrent={node.data === current}
            more={node.depth - top.depth === levels - 1 && !!node.children}
            pick={pick}
          />
        ))}
      </svg>
    </div>
  );
}

function Up({ topic, height, pick }: { topic: Topic; height: number; pick: (topic: Topic) => void }) {
  return (
    <g class="cell up" onClick={() => pick(topic)}>
      <title>{`Up to ${line(topic.label)}`}</title>
      <rect width={UP - 2} height={Math.max(0, height - 1)} rx="3" />
      <path d="m16 12-5 5 5 5" />
      <text transform={`translate(17 ${height / 2}) rotate(-90)`} text-anchor="middle">
        {fitted(topic.label, height - 80, "13px")}
      </text>
    </g>
  );
}

interface CellGiven {
  topic: Topic;
  x: number;
  y: number;
  width: number;
  height: number;
  isCurrent: boolean;
  more: boolean;
  pick: (topic: Topic) => void;
}

function Cell({ topic, x, y, width, height, isCurrent, more, pick }: CellGiven) {
  const { slice } = topic;
  const tone = slice ? (slice.documents ? `d${shade(slice.lift)}` : "l0") : `h${topic.hue} l${Math.min(topic.level, 4)}`;
  const room = width - 16;
  const lines = Math.floor((height - 8) / 17);
  const small = lines < 1 && height >= 13;
  const phrases = topic.phrases.filter((one) => !topic.label.includes(one));
  const figures = slice ? `${percent(slice.share)} · ${times(slice.lift)}` : percent(topic.weight);
  return (
    <svg x={x} y={y} width={Math.max(0, width - 2)} height={Math.max(1, height - (height > 6 ? 2 : 0.5))} class={`cell ${tone} ${isCurrent ? "current" : ""}`} onClick={() => pick(topic)}>
      <title>{`${topic.path}  ${line(topic.label)}  ${figures}\n${topic.phrases.map((one) => line(one, 60)).join(", ")}`}</title>
      <rect width="100%" height="100%" rx={height > 12 ? 3 : 1} />
      {(lines >= 1 || small) && (
        <text class={small ? "small" : "head"} x="8" y={small || lines === 1 ? (height - 2) / 2 + 4 : 18}>
          {fitted(topic.label, room - (more ? 14 : 0), small ? "11px" : "600 13px")}
        </text>
      )}
      {more && height > 13 && <path class="more" d={`m${width - 16} ${Math.min((height - 2) / 2, 14) - 4} 4 4-4 4`} />}
      {lines >= 2 && (
        <text x="8" y="35">
          {fitted(figures, room, "13px")}
        </text>
      )}
      {phrases.slice(0, Math.max(0, lines - 2)).map((text, place) => (
        <text key={place} class="soft" x="8" y={52 + 17 * place}>
          {fitted(text, room, "12.5px")}
        </text>
      ))}
    </svg>
  );
}
