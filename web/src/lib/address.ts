// Addresses of answers.

/** `/api/NAME?…` with those parameters that say something. */
export function api(name: string, given: Record<string, string | number | string[] | null | undefined> = {}): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(given)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") query.append(key, String(one));
    }
  }
  const text = query.toString();
  return `/api/${name}${text ? `?${text}` : ""}`;
}

export function topicAddress(path: string): string {
  return `/api/topic/${path.split("/").map(encodeURIComponent).join("/")}`;
}
