// Texts of drawings, which know no ellipsis of their own.
import { line } from "../lib/text";

const pen = document.createElement("canvas").getContext("2d");

function measured(text: string): number {
  return pen?.measureText(text).width ?? 7 * text.length;
}

/** As much of a text as fits, with an ellipsis. */
export function fitted(text: string, width: number, font: string): string {
  if (pen) pen.font = `${font} ${getComputedStyle(document.body).fontFamily}`;
  const signs = [...line(text, 80)];
  if (measured(signs.join("")) <= width) return signs.join("");
  let [fits, not] = [0, signs.length];
  while (not - fits > 1) {
    const middle = (fits + not) >> 1;
    if (measured(`${signs.slice(0, middle).join("")}…`) <= width) fits = middle;
    else not = middle;
  }
  return fits < 3 ? "" : `${signs.slice(0, fits).join("").trimEnd()}…`;
}
