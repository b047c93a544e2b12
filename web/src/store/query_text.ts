// The query language in the search box: suggestions, conditions, positions of mistakes.

const NUMBERS = ["duration", "errors", "calls", "records", "time"];
const TEXTS = [
  "type",
  "service",
  "root",
  "method",
  "class",
  "exception",
  "exception.class",
  "exception.message",
  "text",
  "id",
  "span",
  "parent",
];
const STARTS = ["since", "until", "last", "NOT"];
const JOINS = ["AND", "OR"];
const COMPARISONS = ["=", "!=", "<", "<=", ">", ">="];
const TEXT_OPERATORS = ["=", "!=", "contains", "starts", "ends", "exists", "~", "!~"];
const WORD_OPERATORS = ["contains", "starts", "ends"];
const DURATIONS = ["1ms", "10ms", "100ms", "1s", "10s"];
const SPANS = ["15m", "1h", "6h", "24h", "7d", "30d"];
const OFFERED_MAX = 12;

interface Token {
  begin: number;
  end: number;
  text: string; // without quotes
  kind: "word" | "quoted" | "operator" | "bracket";
}

// The words of a query; quotes may be left open.
export function tokenize(query: string): Token[] {
  const pattern =
    /"((?:\\.|[^"\\])*)"?|'((?:\\.|[^'\\])*)'?|([()])|(!=|<=|>=|!~|[=<>~])|[^\s()=<>~!"']+|!/g;
  return [...query.matchAll(pattern)].map((match) => {
    const quoted = match[1] ?? match[2];
    return {
      begin: match.index,
      end: match.index + match[0].length,
      text: quoted?.replace(/\\(["'\\])/g, "$1") ?? match[0],
      kind: quoted !== undefined ? "quoted" : match[3] ? "bracket" : match[4] ? "operator" : "word",
    };
  });
}

export interface Offer {
  kind: "name" | "operator" | "value";
  field: string; // that has the operators or values
  begin: number; // of the text that a suggestion replaces, up to the cursor
  typed: string; // so far
  words: string[];
}

export function offer(
  kind: Offer["kind"],
  field: string,
  begin: number,
  typed: string,
  known: string[],
): Offer {
  const low = typed.toLowerCase();
  const fitting = known.filter((word) => word.toLowerCase().startsWith(low) && word !== typed);
  return { kind, field, begin, typed, words: [...new Set(fitting)].slice(0, OFFERED_MAX) };
}

// What may stand where the cursor is. Of values only those are offered that need no look
// at the data.
export function complete(text: string, cursor: number, names: string[]): Offer {
  const before = tokenize(text.slice(0, cursor));
  const last = before[before.length - 1];
  const isTouching =
    last !== undefined &&
    last.end === cursor &&
    (last.kind === "word" || (last.kind === "quoted" && !isClosed(text.slice(last.begin, cursor))));
  const typed = isTouching ? last.text : "";
  const begin = isTouching ? last.begin : cursor;
  const done = isTouching ? before.slice(0, -1) : before;
  const previous = done[done.length - 1];
  const field = done[done.length - 2]?.text ?? "";
  if (
    previous?.kind === "operator" ||
    (previous?.kind === "word" && WORD_OPERATORS.includes(previous.text) && done.length > 1)
  )
    return offer("value", field, begin, typed, fixedValues(field));
  if (previous?.kind === "word" && ["since", "until", "last"].includes(previous.text))
    return offer("value", previous.text, begin, typed, fixedValues(previous.text));
  if (
    previous?.kind === "word" &&
    isName(previous.text, names) &&
    !isValue(done, done.length - 1)
  ) {
    const operators = NUMBERS.includes(previous.text)
      ? COMPARISONS
      : [...TEXT_OPERATORS, ...COMPARISONS.slice(2)];
    return offer(
      "operator",
      previous.text,
      begin,
      typed,
      previous.text === "errors" ? [...operators, ...JOINS] : operators,
    );
  }
  const joins = previous && !/^(and|or|not|\()$/i.test(previous.text) ? JOINS : [];
  return offer("name", "", begin, typed, [...joins, ...NUMBERS, ...TEXTS, ...STARTS, ...names]);
}

const isClosed = (quoted: string) => /^(["'])(?:\\.|(?!\1)[^\\])*\1$/.test(quoted);

const isName = (word: string, names: string[]) =>
  NUMBERS.includes(word) || TEXTS.includes(word) || names.includes(word.replace(/^(root\.|@)/, ""));

// Whether a token is what something is compared with.
function isValue(tokens: Token[], index: number): boolean {
  const before = tokens[index - 1];
  return (
    before !== undefined &&
    (before.kind === "operator" ||
      (index > 1 && WORD_OPERATORS.includes(before.text)) ||
      ["since", "until", "last"].includes(before.text))
  );
}

function fixedValues(field: string): string[] {
  if (field === "duration") return DURATIONS;
  if (field === "last") return SPANS;
  if (field === "since" || field === "until" || field === "time")
    return [new Date().toISOString().slice(0, 10)];
  return [];
}

// What groups of traces have the values of a field; null when there are none to list.
export function groupsOf(field: string): string | null {
  if (field === "root" || field === "method") return "method";
  return NUMBERS.includes(field) ||
    (TEXTS.includes(field) && field !== "type" && field !== "service") ||
    ["", "since", "until", "last"].includes(field)
    ? null
    : field;
}

// A value as it stands in a query: in quotes when it needs them.
export function quote(value: string): string {
  return /^[\w.:/-]+$/.test(value) && !/^(and|or|not)$/i.test(value)
    ? value
    : `"${value.replace(/([\\"])/g, "\\$1")}"`;
}

// The name of an attribute as it stands in a query.
export function fieldName(name: string): string {
  return NUMBERS.includes(name) || ["since", "until", "last", ...TEXTS].includes(name)
    ? `@${name}`
    : name;
}

// The position of a condition in a query, compared by words; null: none.
function findCondition(query: string, condition: string): { begin: number; end: number } | null {
  const wanted = tokenize(condition);
  const tokens = tokenize(query);
  for (let i = 0; i + wanted.length <= tokens.length; i++) {
    if (isValue(tokens, i) || !wanted.every((token, k) => tokens[i + k]?.text === token.text))
      continue;
    return { begin: tokens[i]?.begin ?? 0, end: tokens[i + wanted.length - 1]?.end ?? 0 };
  }
  return null;
}

export function hasCondition(query: string, condition: string): boolean {
  const at = findCondition(query, condition);
  return at !== null && !/\bnot\s*$/i.test(query.slice(0, at.begin));
}

// Add a condition to a query, or remove it.
export function toggleCondition(query: string, condition: string): string {
  const at = findCondition(query, condition);
  if (at === null || /\bnot\s*$/i.test(query.slice(0, at.begin))) {
    const rest = tokenize(query).some((token) => token.kind === "word" && /^or$/i.test(token.text))
      ? `(${query})`
      : query;
    return `${rest} ${condition}`.trim();
  }
  const before = query
    .slice(0, at.begin)
    .replace(/\s*\b(and|or)\s*$/i, "")
    .trimEnd();
  const after = query.slice(at.end).trimStart();
  const rest =
    `${before} ${before.endsWith("(") || before === "" ? after.replace(/^(and|or)\s+/i, "") : after}`.trim();
  return rest.replace(/\(\s*\)/g, "").trim();
}

const CLOCK_DIGITS = 19; // 2026-01-31 23:59:59

// Nanoseconds since the epoch as queries have them, UTC; no digits that are 0.
export function printClock(ns: bigint): string {
  const seconds = new Date(Number(ns / 1_000_000_000n) * 1000)
    .toISOString()
    .slice(0, CLOCK_DIGITS)
    .replace("T", " ");
  const fraction = (ns % 1_000_000_000n).toString().padStart(9, "0").replace(/0+$/, "");
  return fraction === "" ? seconds : `${seconds}.${fraction}`;
}

// To the millisecond.
export function printTime(ns: string): string {
  return printClock((BigInt(ns) / 1000000n) * 1000000n)
    .padEnd(20, ".")
    .padEnd(23, "0");
}

const SHORT_NS = 10_000_000_000n;

// `count` evenly distributed times as marks of an axis: the date where it is new, milliseconds of a
// short range.
export function clockMarks(first: bigint, last: bigint, count: number): string[] {
  const at = (i: number) => first + ((last - first) * BigInt(i)) / BigInt(count - 1);
  const digits = last - first < SHORT_NS ? 23 : 19;
  const isOneDay = printClock(first).slice(0, 10) === printClock(last).slice(0, 10);
  return Array.from({ length: count }, (_, i) => {
    const text = printClock(at(i)).slice(0, digits);
    return i > 0 && isOneDay ? text.slice(11) : `${text}${i === 0 ? " UTC" : ""}`;
  });
}

const TIMES = /\s*\b(since|until|last)\s+("[^"]*"|[^\s()]+)/g;

// The query without a time range.
export function withoutTimes(query: string): string {
  return query.replace(TIMES, "").trim();
}

// The times that a query is limited to, as they are written.
export interface Times {
  since: string | null;
  until: string | null;
  last: string | null;
}

export function timesOf(query: string): Times {
  const times: Times = { since: null, until: null, last: null };
  for (const [, word, value] of query.matchAll(TIMES))
    times[word as keyof Times] = (value ?? "").replace(/^"(.*)"$/, "$1");
  return times;
}

export function withLast(query: string, duration: string): string {
  return `${withoutTimes(query)} last ${duration}`.trim();
}

// The query limited to a time range, the end included; replaces an earlier one.
export function withTimes(query: string, from: bigint, to: bigint): string {
  return `${withoutTimes(query)} since "${printClock(from)}" until "${printClock(to)}"`.trim();
}

// "query, column 10: a value is missing" -> 9, the index of the character;
// -1 when there is none. Columns count bytes.
export function errorColumn(text: string, query: string): number {
  const match = /column (\d+)/.exec(text);
  if (!match) return -1;
  const bytes = new TextEncoder().encode(query).slice(0, Number(match[1]) - 1);
  return new TextDecoder().decode(bytes).length;
}

// A name in a query replaced by another one; `at` is its position in bytes.
export function replaceAt(query: string, at: number, name: string, by: string): string {
  const bytes = new TextEncoder().encode(query);
  const begin = new TextDecoder().decode(bytes.slice(0, at)).length;
  return query.slice(0, begin) + by + query.slice(begin + name.length);
}

// The recent queries, the last one first.
export function remember(history: string[], query: string): string[] {
  return query === "" ? history : [query, ...history.filter((old) => old !== query)].slice(0, 50);
}
