// The calls of one trace as a tree that grows when calls are opened, as a flame graph, and its spans.

import type { DrawnFlame } from "../flame/flame_layout";
import { go } from "../shared/state";
import type {
  Chart,
  CriticalPath,
  LinkList,
  SpanRow,
  Trace,
  TraceNode,
  TraceRow,
  TraceSpan,
} from "../../generated/answers";

const UNNAMED = "unnamed service";

export interface CallNode {
  call: TraceNode;
  parent: CallNode | null;
  children: CallNode[] | null; // null: not loaded yet
  next: number | null; // the first child that is not loaded; null: all are
  isOpen: boolean;
}

// The number of a call in the address: none for the first one.
export const callInState = (node: number): string => (node === 0 ? "" : String(node));

export type CallLine = { node: CallNode } | { more: CallNode };

// The first call of an answer, with the calls below it.
export function growCalls(answer: Trace, parent: CallNode | null): CallNode | null {
  const path: CallNode[] = [];
  const base = answer.nodes[0]?.depth ?? 0;
  for (const call of answer.nodes) {
    const depth = call.depth - base;
    const above = depth > 0 ? (path[depth - 1] ?? null) : parent;
    const node: CallNode = {
      call,
      parent: above,
      children: call.below === 0 ? [] : null,
      next: null,
      isOpen: false,
    };
    if (depth > 0 && above) {
      (above.children ??= []).push(node);
      above.isOpen = true;
    }
    path.length = depth;
    path.push(node);
  }
  const first = path[0] ?? null;
  if (first) first.next = answer.next ?? null;
  return first;
}

// Add the calls of an answer to a call.
export function addCalls(node: CallNode, answer: Trace): void {
  const grown = growCalls(answer, node.parent);
  if (!grown) return;
  for (const child of grown.children ?? []) child.parent = node;
  node.children = [...(node.children ?? []), ...(grown.children ?? [])];
  node.next = grown.next;
  node.isOpen = true;
}

export function visibleCalls(root: CallNode): CallLine[] {
  const lines: CallLine[] = [];
  const todo: CallLine[] = [{ node: root }];
  for (let line = todo.pop(); line; line = todo.pop()) {
    lines.push(line);
    if ("more" in line || !line.node.isOpen) continue;
    if (line.node.next !== null) todo.push({ more: line.node });
    const children = line.node.children ?? [];
    for (let i = children.length - 1; i >= 0; i--) todo.push({ node: children[i] as CallNode });
  }
  return lines;
}

// A time that is taken, in a list of those that do not overlap, in order.
type Taken = [begin: number, end: number];

// The place of a time in a list; -1 if it overlaps another one.
function freePlace(taken: Taken[], begin: number, end: number): number {
  let low = 0;
  let high = taken.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((taken[middle]?.[1] ?? 0) <= begin) low = middle + 1;
    else high = middle;
  }
  const next = taken[low];
  return next && next[0] < end ? -1 : low;
}

function take(taken: Taken[], begin: number, end: number): boolean {
  const place = freePlace(taken, begin, end);
  if (place >= 0 && end > begin) taken.splice(place, 0, [begin, end]);
  return place >= 0;
}

interface TimedCall {
  depth: number;
  begin: number;
  end: number;
}

interface Lane {
  rows: Taken[][];
  taken: Taken[]; // by the calls in its first row, with everything below them
}

// A row for each call, in the order of calls: below its caller where that is free. A call at the same
// time as another one of its caller is not below that one but in a lane of its own, with the calls
// below it; a row without calls is above each lane.
function placeCalls(calls: TimedCall[]): { rows: number[]; parents: number[] } {
  const path: number[] = [];
  const parents = calls.map((call, i) => {
    path.length = Math.min(path.length, call.depth);
    path[call.depth] = i;
    return path[call.depth - 1] ?? -1;
  });
  const all = calls.map(({ begin, end }): Taken => [begin, end]); // with everything below a call
  for (let i = calls.length - 1; i >= 0; i--) {
    const below = all[i] as Taken;
    const above = all[parents[i] ?? -1];
    if (!above) continue;
    above[0] = Math.min(above[0], below[0]);
    above[1] = Math.max(above[1], below[1]);
  }
  const lanes: Lane[] = [];
  const places = calls.map(() => ({ lane: 0, row: 0 }));
  const takeRow = (lane: number, row: number, { begin, end }: TimedCall): boolean =>
    take(((lanes[lane] as Lane).rows[row] ??= []), begin, end);
  calls.forEach((call, i) => {
    const above = places[parents[i] ?? -1];
    if (above && takeRow(above.lane, above.row + 1, call)) {
      places[i] = { lane: above.lane, row: above.row + 1 };
      return;
    }
    // The first lane is that of the first call; a call without a caller may follow it there.
    const [begin, end] = all[i] as Taken;
    let lane = lanes.findIndex((one, k) => (k > 0 || !above) && take(one.taken, begin, end));
    if (lane < 0) lane = lanes.push({ rows: [], taken: [[begin, end]] }) - 1;
    takeRow(lane, 0, call);
    places[i] = { lane, row: 0 };
  });
  let top = 0;
  const tops = lanes.map((lane) => {
    top += lane.rows.length + 1;
    return top - lane.rows.length - 1;
  });
  return { rows: places.map(({ lane, row }) => (tops[lane] ?? 0) + row), parents };
}

// A flame graph whose boxes lie at the times of their calls.
export function traceFlame(nodes: TraceNode[]): DrawnFlame {
  const names = [...new Set(nodes.map((node) => node.method))];
  const numbers = new Map(names.map((name, i) => [name, i]));
  const base = nodes[0] ?? { depth: 0, start: 0, duration: 0 };
  const { rows, parents } = placeCalls(
    nodes.map(({ depth, start, duration }) => ({
      depth: depth - base.depth,
      begin: start,
      end: start + duration,
    })),
  );
  return {
    column: "time (s)",
    total: base.duration / 1e9,
    isCut: false,
    names,
    modules: [""],
    nodes: nodes.map((node, i) => [
      rows[i] ?? 0,
      numbers.get(node.method) ?? 0,
      0,
      node.duration / 1e9,
      node.self / 1e9,
      String(node.node),
    ]),
    starts: nodes.map((node) => (node.start - base.start) / 1e9),
    parents,
  };
}

// The flame chart of all services. The id of a box is "SPAN.NODE", where a span is an index.
export function chartFlame(chart: Chart): DrawnFlame {
  const { rows, parents } = placeCalls(
    chart.calls.map(([, , depth, start, duration]) => ({
      depth,
      begin: start,
      end: start + duration,
    })),
  );
  return {
    column: "time (s)",
    total: chart.duration / 1e9,
    isCut: false,
    names: chart.methods,
    modules: chart.services.map((service) => service || UNNAMED),
    nodes: chart.calls.map(([span, node, , , duration, self, method, service], i) => [
      rows[i] ?? 0,
      method,
      service,
      duration / 1e9,
      self / 1e9,
      `${span}.${node}`,
    ]),
    starts: chart.calls.map((call) => call[3] / 1e9),
    parents,
  };
}

export interface SpanLine {
  key: string | null; // of the stored trace that it begins; null: one inside this trace
  node: number; // in this trace, when it is inside it
  depth: number;
  start: number; // ns from the first
  isCall: boolean; // it is known to have no calls inside
  span: Pick<
    TraceSpan,
    "span" | "parent" | "time" | "duration" | "errors" | "type" | "service" | "method"
  >;
}

// All spans of a request on one axis: each below the one that caused it, then by time.
export function arrangeSpans(rows: SpanRow[], inside: TraceSpan[]): SpanLine[] {
  const known = new Set(rows.map((row) => row.span));
  const lines: SpanLine[] = [
    ...rows.map((row) => ({
      key: row.key,
      node: 0,
      depth: 0,
      start: 0,
      isCall: row.calls === 1,
      span: { ...row, method: row.method ?? "?" },
    })),
    ...inside
      .slice(1)
      .filter((span) => span.span === null || !known.has(span.span))
      .map((span) => ({ key: null, node: span.node, depth: 0, start: 0, isCall: false, span })),
  ];
  if (lines.length === 0) return [];
  const begin = lines.reduce(
    (least, line) => (BigInt(line.span.time) < least ? BigInt(line.span.time) : least),
    BigInt(lines[0]?.span.time ?? 0),
  );
  for (const line of lines) line.start = Number(BigInt(line.span.time) - begin);
  const ids = new Set(lines.map((line) => line.span.span));
  const below = new Map<string, SpanLine[]>();
  for (const line of [...lines].sort((a, b) => b.start - a.start)) {
    const parent =
      line.span.parent !== null && line.span.parent !== line.span.span && ids.has(line.span.parent)
        ? line.span.parent
        : "";
    below.set(parent, [...(below.get(parent) ?? []), line]);
  }
  const ordered: SpanLine[] = [];
  const todo = below.get("") ?? [];
  below.delete("");
  for (let line = todo.pop(); line; line = todo.pop()) {
    ordered.push(line);
    const children = line.span.span === null ? [] : (below.get(line.span.span) ?? []);
    if (line.span.span !== null) below.delete(line.span.span);
    for (const child of children) todo.push({ ...child, depth: line.depth + 1 });
  }
  // Spans that name each other as parents hang below nothing.
  for (const lost of below.values()) ordered.push(...lost);
  return ordered;
}

// The time of a span without the spans that it called, of any service; null if it is not known, because
// it also has calls inside that are no spans.
export function selfOfSpan(spans: SpanLine[], line: SpanLine, ofRecord: number): number | null {
  const at = spans.indexOf(line);
  const called: SpanLine[] = [];
  for (let i = at + 1; (spans[i]?.depth ?? 0) > line.depth; i++)
    if (spans[i]?.depth === line.depth + 1) called.push(spans[i] as SpanLine);
  if (called.length === 0) return ofRecord;
  if (!line.isCall) return null;
  const end = line.start + line.span.duration;
  let covered = line.start;
  let self = line.span.duration;
  for (const one of called.sort((a, b) => a.start - b.start)) {
    const from = Math.max(covered, one.start);
    const to = Math.min(end, one.start + one.span.duration);
    if (to <= from) continue;
    self -= to - from;
    covered = to;
  }
  return self;
}

// A row of the waterfall: a span, a call inside one that is open, or the number of calls that are not
// listed.
export interface WaterfallLine {
  of: SpanLine;
  call?: TraceNode;
  more?: number;
  depth: number;
  start: number; // ns from the first span
}

export const spanId = (line: SpanLine): string => `${line.key ?? ""} ${line.node}`;

// The spans, and below each that is open the calls inside it: `opened` has the answers to `trace`.
export function withCalls(spans: SpanLine[], opened: Map<string, Trace>): WaterfallLine[] {
  return spans.flatMap((of): WaterfallLine[] => {
    const line = { of, depth: of.depth, start: of.start };
    const inside = opened.get(spanId(of));
    const root = inside?.nodes[0];
    if (!inside || !root) return [line];
    const calls = inside.nodes.slice(1).map((call) => ({
      of,
      call,
      depth: of.depth + call.depth - root.depth,
      start: of.start + call.start - root.start,
    }));
    const rest = root.below - calls.length;
    return [
      line,
      ...calls,
      ...(rest > 0 ? [{ of, more: rest, depth: of.depth + 1, start: of.start }] : []),
    ];
  });
}

export const serviceOf = (line: SpanLine): string => line.span.service ?? line.span.type ?? UNNAMED;

// A call from one service to another: from the line of the caller to that of the callee.
export interface SpanFlow {
  from: number;
  to: number;
  at: number; // ns from the first
  isLink?: boolean;
}

// Links between spans of a trace.
export function linkFlows(trace: string, lines: SpanLine[], answer: LinkList | null): SpanFlow[] {
  const byId = new Map(lines.map((line, i) => [line.span.span, i]));
  return (answer?.spans ?? []).flatMap((one) => {
    const to = one.span === null ? undefined : byId.get(one.span);
    const start = to === undefined ? undefined : lines[to]?.start;
    if (to === undefined || start === undefined) return [];
    return one.links.flatMap((link) => {
      const from = link.trace === trace ? byId.get(link.span) : undefined;
      return from === undefined || from === to ? [] : [{ from, to, at: start, isLink: true }];
    });
  });
}

export function spanFlows(lines: SpanLine[]): SpanFlow[] {
  const byId = new Map(lines.map((line, i) => [line.span.span, i]));
  return lines.flatMap((line, to) => {
    const from = line.span.parent === null ? undefined : byId.get(line.span.parent);
    const caller = from === undefined ? undefined : lines[from];
    if (from === undefined || !caller || from >= to || serviceOf(caller) === serviceOf(line))
      return [];
    return [{ from, to, at: line.start }];
  });
}

// The share of each service in the critical path, the largest first.
export function pathShares(path: CriticalPath): [service: string, share: number][] {
  const sums = new Map<string, number>();
  for (const step of path.steps) {
    const name = step.span === undefined ? "no span" : (step.service ?? UNNAMED);
    sums.set(name, (sums.get(name) ?? 0) + step.duration);
  }
  return [...sums]
    .map(([name, sum]): [string, number] => [name, sum / path.duration])
    .sort((a, b) => b[1] - a[1]);
}

// The view that shows a trace best at first: its spans, where other services or nothing but spans are
// in it; otherwise the calls of its first span.
export function firstTab(row: TraceRow | SpanRow): string {
  if (!("services" in row)) return "";
  return row.services.length > 1 || (row.spans > 1 && row.calls <= row.spans) ? "spans" : "";
}

export function openTrace(row: TraceRow | SpanRow | undefined): void {
  if (row) go({ key: row.key, tab: firstTab(row) });
}
