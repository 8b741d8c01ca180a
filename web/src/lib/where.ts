// Filters that a person picks, and the expression that they make: year >= 2015 AND label = 'cs.LG'.

export interface Filter {
  field: string;
  sign: string;
  value: string | null; // null: not given yet
}

const PLAIN = /^[^\s'"()<>=!,]+$/;
const WORD = new Set(["AND", "OR", "NOT", "IN", "IS", "NULL"]);
const ONE = /^\s*((?:"(?:[^"]|"")*")|[^\s'"()<>=!,]+)\s*(IS NOT NULL|IS NULL|<=|>=|!=|=|<|>)\s*((?:'(?:[^']|'')*')|(?:"(?:[^"]|"")*")|[^\s'"()<>=!,]*)\s*(?:AND\b|$)/i;

/** The comparisons that make sense for a kind of field. */
export function signs(kind: string): string[] {
  const always = ["=", "!=", "IS NULL", "IS NOT NULL"];
  return kind === "date" || kind === "number" ? [">=", "<=", ">", "<", ...always] : always;
}

export function missing(sign: string): boolean {
  return sign.startsWith("IS");
}

function quoted(text: string, mark: string): string {
  if (PLAIN.test(text) && !WORD.has(text.toUpperCase())) return text;
  return mark + text.replaceAll(mark, mark + mark) + mark;
}

export function expression(filters: Filter[]): string {
  return filters
    .filter((one) => one.field && (missing(one.sign) || one.value !== null))
    .map((one) => {
      const field = quoted(one.field, '"');
      if (missing(one.sign)) return `${field} ${one.sign}`;
      const number = /^-?\d+(\.\d+)?(-\d+)*$/.test(one.value!);
      return `${field} ${one.sign} ${number ? one.value : `'${one.value!.replaceAll("'", "''")}'`}`;
    })
    .join(" AND ");
}

function bare(text: string): string {
  const mark = text[0];
  return mark === "'" || mark === '"' ? text.slice(1, -1).replaceAll(mark + mark, mark) : text;
}

/** The filters that an expression is made of; null if it is more than a row of comparisons. */
export function filters(text: string): Filter[] | null {
  const found: Filter[] = [];
  let rest = text;
  while (rest.trim()) {
    const one = ONE.exec(rest);
    if (!one) return null;
    const sign = one[2]!.toUpperCase();
    if (!missing(sign) && !one[3]) return null;
    found.push({ field: bare(one[1]!), sign, value: missing(sign) ? null : bare(one[3]!) });
    rest = rest.slice(one[0].length);
  }
  return found;
}
