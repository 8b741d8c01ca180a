// Numbers and texts as they are shown. Texts of a corpus are never trusted.

// What tells a reader how to show text instead of being text: controls, marks of direction.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]/g;
const LONGEST = 160;

function picture(mark: string): string {
  const code = mark.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

/** Text of several lines with pictures in place of control characters; as long as it was. */
export function harmless(text: string): string {
  return text.replace(CONTROL, picture);
}

/** Text as one line, cut if it is endless. */
export function line(text: string, longest = LONGEST): string {
  const cut = text.length > 4 * longest ? text.slice(0, 4 * longest) : text;
  const signs = [...harmless(cut.replace(/[\t\n]/g, " "))];
  return signs.length > longest ? `${signs.slice(0, longest - 1).join("")}…` : signs.join("");
}

const whole = new Intl.NumberFormat("en");

export function count(value: number): string {
  return whole.format(value);
}

export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** 12.3%, but what is there is not 0.0%. */
export function percent(share: number): string {
  if (share > 0 && share < 0.0005) return "<0.1%";
  return `${(100 * share).toFixed(1)}%`;
}

export function times(lift: number): string {
  return `×${lift >= 10 ? lift.toFixed(0) : lift.toFixed(2)}`;
}

export function figure(value: number): string {
  if (value === 0) return "0";
  return Math.abs(value) >= 1000 ? count(Math.round(value)) : value.toPrecision(3);
}

/** Any value of JSON as a line. */
export function shown(value: unknown): string {
  if (value === null || value === undefined || value === "") return "(none)";
  if (Array.isArray(value)) return value.map(shown).join(", ");
  if (typeof value === "number") return String(value);
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}

export function moment(when: string): string {
  const date = new Date(when);
  if (!when || Number.isNaN(date.getTime())) return "";
  return date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

export function seconds(value: number): string {
  if (value < 60) return `${value.toFixed(1)} s`;
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

export function bytes(value: number): string {
  if (value < 1e6) return `${(value / 1e3).toFixed(0)} kB`;
  return value < 1e9 ? `${(value / 1e6).toFixed(0)} MB` : `${(value / 1e9).toFixed(2)} GB`;
}
