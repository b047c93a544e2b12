// TraceQL in the search box: suggestions, and conditions of cairn's own language written in it.

import { offer, tokenize, type Offer } from "./query_text";

const INTRINSICS = [
  "name",
  "status",
  "statusMessage",
  "kind",
  "duration",
  "rootName",
  "rootServiceName",
  "traceDuration",
  "event:name",
  "event:timeSinceStart",
  "instrumentation:name",
  "instrumentation:version",
  "link:spanID",
  "link:traceID",
  "span:childCount",
  "span:id",
  "trace:id",
];
const COMPARISONS = ["=", "!=", "=~", "!~", "<", "<=", ">", ">="];
const RELATIONS = ["&&", "||", ">>", ">", "<<", "<", "~", "|"];
const STAGES = [
  "rate()",
  "count_over_time()",
  "quantile_over_time(duration, .5, .99)",
  "histogram_over_time(duration)",
  "avg_over_time(duration)",
  "max_over_time(duration)",
  "compare({ status = error })",
  "by(resource.service.name)",
  "select(name)",
  "count() > 1",
  "avg(duration) > 100ms",
  "max(duration) > 1s",
];
const VALUES: Record<string, string[]> = {
  status: ["error", "ok", "unset"],
  kind: ["server", "client", "internal", "producer", "consumer"],
  duration: ["1ms", "10ms", "100ms", "1s", "10s"],
};
const TIMES = ["since", "until", "last"];

// A query that begins with a spanset.
export const isTraceQL = (query: string): boolean => /^[\s(]*\{/.test(query);

interface Token {
  begin: number;
  end: number;
  text: string; // without quotes
  kind: "word" | "quoted" | "operator" | "bracket";
}

function tokens(query: string): Token[] {
  const pattern =
    /"((?:\\.|[^"\\])*)"?|`([^`]*)`?|([{}(),])|(&&|\|\||!?>>|!?<<|&>>|&<<|=~|!~|!=|<=|>=|[=<>~!|+*/%^])|[^\s{}(),=<>~!|&+*/%^"`]+|&/g;
  return [...query.matchAll(pattern)].map((match) => {
    const quoted = match[1] ?? match[2];
    return {
      begin: match.index,
      end: match.index + match[0].length,
      text: quoted ?? match[0],
      kind: quoted !== undefined ? "quoted" : match[3] ? "bracket" : match[4] ? "operator" : "word",
    };
  });
}

// Whether the end of these tokens is between braces.
function isInside(list: Token[]): boolean {
  let depth = 0;
  for (const token of list)
    if (token.kind === "bracket" && token.text === "{") depth++;
    else if (token.kind === "bracket" && token.text === "}") depth--;
  return depth > 0;
}

// Names of the index as fields: those of a resource are not offered as attributes of spans, too.
function fieldsOf(names: string[]): string[] {
  const known = new Set(names);
  return names
    .filter(
      (name) => !known.has(`resource.${name}`) && !/^(links?\.(trace|span)|event)$/.test(name),
    )
    .map((name) =>
      /^(resource|event|link)\./.test(name)
        ? name
        : name.startsWith("scope.")
          ? name.replace("scope.", "instrumentation.")
          : `span.${name}`,
    );
}

// What cairn's own language calls a field, whose values are groups of the store.
function ownName(field: string): string {
  if (field === "name") return "method";
  if (field === "rootServiceName" || /^(resource)?\.service\.name$/.test(field)) return "service";
  return field.replace(/^(span|resource)?\./, "");
}

// What may stand where the cursor is.
export function completeTraceQL(text: string, cursor: number, names: string[]): Offer {
  const before = tokens(text.slice(0, cursor));
  const last = before[before.length - 1];
  const isOpen = last?.kind === "quoted" && !/^(["`]).*\1$/s.test(text.slice(last.begin, cursor));
  const isTouching = last !== undefined && last.end === cursor && (last.kind === "word" || isOpen);
  const typed = isTouching ? last.text : "";
  const begin = isTouching ? last.begin : cursor;
  const done = isTouching ? before.slice(0, -1) : before;
  const previous = done[done.length - 1];
  const field = done[done.length - 2]?.text ?? "";
  const isField = previous?.kind === "word" && !/^[-\d]/.test(previous.text);
  if (!isInside(done)) {
    if (isField && TIMES.includes(previous.text))
      return offer("value", previous.text, begin, typed, ["15m", "1h", "6h", "24h", "7d"]);
    if (previous?.text === "|") return offer("name", "", begin, typed, STAGES);
    const isAfter = previous?.text === "}" || previous?.text === ")";
    return offer(
      isAfter ? "operator" : "name",
      "",
      begin,
      typed,
      isAfter ? [...RELATIONS, ...TIMES] : ["{"],
    );
  }
  if (previous?.kind === "operator" && COMPARISONS.includes(previous.text)) {
    const fixed = VALUES[field] ?? (/[dD]uration$/.test(field) ? VALUES.duration : undefined);
    return offer("value", fixed ? "" : ownName(field), begin, typed, fixed ?? []);
  }
  if (isField && field !== "" && !COMPARISONS.includes(field) && previous.text !== "parent.")
    return offer("operator", previous.text, begin, typed, COMPARISONS);
  if (previous?.kind === "quoted" || (previous?.kind === "word" && !isField))
    return offer("operator", "", begin, typed, ["&&", "||", "}"]);
  if (isField && COMPARISONS.includes(field))
    return offer("operator", "", begin, typed, ["&&", "||", "}"]);
  return offer("name", "", begin, typed, [...INTRINSICS, ...fieldsOf(names)]);
}

export const quoteTraceQL = (value: string): string =>
  /^-?\d+(\.\d+)?$/.test(value) || /^(true|false)$/.test(value)
    ? value
    : `"${value.replace(/([\\"])/g, "\\$1")}"`;

const escapeRegex = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function fieldOf(name: string): string {
  const fields: Record<string, string> = {
    service: "resource.service.name",
    method: "name",
    type: "kind",
    root: "rootName",
    duration: "duration",
  };
  const plain = name.replace(/^@/, "");
  return (
    (name.startsWith("@") ? undefined : fields[name]) ??
    (/^[\w.-]+$/.test(plain) ? `.${plain}` : `."${plain.replace(/([\\"])/g, "\\$1")}"`)
  );
}

// A condition of cairn's own language as a spanset. What holds in no span of a trace cannot be said in
// TraceQL: NOT is about the span.
function spansetOf(condition: string): string {
  const words = tokenize(condition);
  const isNot = /^not$/i.test(words[0]?.text ?? "");
  const [field, operator, value] = isNot ? words.slice(1) : words;
  if (!operator) return `{ status ${isNot ? "!=" : "="} error }`;
  const name = fieldOf(field?.text ?? "");
  const text = value?.text ?? "";
  if (operator.text === "exists") return `{ ${name} ${isNot ? "=" : "!="} nil }`;
  const patterns: Record<string, string> = {
    contains: `.*${escapeRegex(text)}.*`,
    starts: `${escapeRegex(text)}.*`,
    ends: `.*${escapeRegex(text)}`,
    "~": `.*(${text}).*`,
  };
  const pattern = patterns[operator.text];
  if (pattern !== undefined)
    return `{ ${name} ${isNot ? "!~" : "=~"} "${pattern.replace(/([\\"])/g, "\\$1")}" }`;
  const sign = isNot && operator.text === "=" ? "!=" : operator.text;
  return `{ ${name} ${sign} ${name === "kind" || name === "duration" ? text : quoteTraceQL(text)} }`;
}

// The spansets of a query, and the stages and times after them.
function split(query: string): [string, string] {
  const list = tokens(query);
  const at = list.findIndex(
    (token, i) =>
      !isInside(list.slice(0, i)) &&
      (token.text === "|" || (token.kind === "word" && TIMES.includes(token.text))),
  );
  const begin = list[at]?.begin ?? query.length;
  return [query.slice(0, begin).trim(), query.slice(begin)];
}

export const hasTraceQL = (query: string, condition: string): boolean =>
  split(query)[0].includes(spansetOf(condition));

// Add a condition to a query, or remove it.
export function toggleTraceQL(query: string, condition: string): string {
  const spanset = spansetOf(condition);
  const [head, rest] = split(query);
  const at = head.indexOf(spanset);
  if (at < 0) {
    const needs = tokens(head).some((token) => /^(\|\||>|<|>>|<<|~)$/.test(token.text));
    return `${needs && !head.startsWith("(") ? `(${head})` : head} && ${spanset} ${rest}`.trim();
  }
  const before = head.slice(0, at).replace(/\s*&&\s*$/, "");
  const after = head.slice(at + spanset.length);
  const left = (before === "" ? after.replace(/^\s*&&\s*/, "") : before + after).trim();
  return left === ""
    ? `${rest.startsWith("|") ? "{ } " : ""}${rest}`.trim()
    : `${left} ${rest}`.trim();
}
