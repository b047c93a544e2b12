// The query language as the search box deals with it: completing words, adding conditions,
// pointing at mistakes.

const FIELDS = [
  "duration", "errors", "calls", "records", "time", "since", "until", "last", "type", "service",
  "root", "method", "class", "exception", "exception.class", "exception.message", "text", "id",
  "span", "parent", "AND", "OR", "NOT", "contains", "starts", "ends", "exists",
];

// The word that ends where the cursor is, and what it may become.
export function complete(text: string, cursor: number, names: string[]): { begin: number; words: string[] } {
  const word = /[\w.@-]*$/.exec(text.slice(0, cursor))?.[0] ?? "";
  if (word === "") return { begin: cursor, words: [] };
  const known = [...new Set([...FIELDS, ...names])];
  const words = known.filter((name) => name.toLowerCase().startsWith(word.toLowerCase()) && name !== word);
  return { begin: cursor - word.length, words: words.slice(0, 12) };
}

// A value as it stands in a query: in quotes when it needs them.
export function quote(value: string): string {
  return /^[\w.:/-]+$/.test(value) && !/^(and|or|not)$/i.test(value)
    ? value
    : `"${value.replace(/([\\"])/g, "\\$1")}"`;
}

// The query with one more condition; the same condition again takes it away.
export function toggleCondition(query: string, condition: string): string {
  if (query === condition) return "";
  const at = ` ${query} `.indexOf(` ${condition} `);
  if (at >= 0) return `${query.slice(0, at)}${query.slice(at + condition.length + 1)}`.trim();
  const rest = /\bor\b/i.test(query) ? `(${query})` : query;
  return `${rest} ${condition}`.trim();
}

// The query limited to a part of time; an earlier limit is replaced.
export function withTimes(query: string, fromMs: number, toMs: number): string {
  const rest = query.replace(/\s*\b(since|until)\s+("[^"]*"|\S+)/g, "").trim();
  const print = (ms: number) => `"${new Date(ms).toISOString().replace("T", " ").replace("Z", "")}"`;
  return `${rest} since ${print(fromMs)} until ${print(toMs)}`.trim();
}

// "query, column 10: a value is missing" -> 9, counted from 0; -1 when there is none.
export function errorColumn(text: string): number {
  const match = /column (\d+)/.exec(text);
  return match ? Number(match[1]) - 1 : -1;
}
