// A trace as it is drawn: the calls of all its services in one order, rows that are open, and lanes of
// calls at the same time.

import { go } from "../shared/state";
import type { Range } from "../shared/range";
import type { Chart, ChartEvent, SpanRow, TraceRow } from "../../generated/answers";

export const UNNAMED = "unnamed service";

export interface TraceCall {
  index: number; // in the order of the answer: callers first, then by time
  id: string; // "KEY/NODE" in the address
  key: string; // of the record that it is stored in
  node: number; // in that record
  depth: number;
  parent: number; // index, or -1
  end: number; // index after the last call below it
  start: number; // ns from the start of the trace
  duration: number;
  self: number;
  method: string;
  service: string;
  isFailed: boolean;
  isSpan: boolean;
  isRunning: boolean;
  isCut: boolean; // it has shorter calls that are not listed
  events: ChartEvent[];
  path: Range[]; // on the critical path
}

const FAILED = 1;
const SPAN = 2;
const RUNNING = 4;
const CUT = 8;

export function callsOf(chart: Chart): TraceCall[] {
  const open: TraceCall[] = []; // by depth
  const calls = chart.calls.map(
    ([span, node, depth, start, duration, self, method, service, flags], index): TraceCall => {
      const key = chart.spans[span]?.key ?? "";
      for (const ended of open.splice(depth)) ended.end = index;
      const call = {
        index,
        id: `${key}/${node}`,
        key,
        node,
        depth,
        parent: open[depth - 1]?.index ?? -1,
        end: chart.calls.length,
        start,
        duration,
        self,
        method: chart.methods[method] ?? "?",
        service: chart.services[service] || UNNAMED,
        isFailed: (flags & FAILED) !== 0,
        isSpan: (flags & SPAN) !== 0,
        isRunning: (flags & RUNNING) !== 0,
        isCut: (flags & CUT) !== 0,
        events: [],
        path: [],
      };
      open[depth] = call;
      return call;
    },
  );
  for (const event of chart.events) calls[event.call]?.events.push(event);
  for (const [call, begin, duration] of chart.path)
    calls[call]?.path.push({ begin, end: begin + duration });
  return calls;
}

export const hasCallsBelow = (call: TraceCall): boolean => call.end > call.index + 1;

const ROWS_AT_FIRST = 300;

// Calls that are closed at first, where there are many: those at the depth up to which all have room.
export function closedAtFirst(calls: TraceCall[]): Set<number> {
  if (calls.length <= ROWS_AT_FIRST) return new Set();
  const counts: number[] = [];
  for (const { depth } of calls) counts[depth] = (counts[depth] ?? 0) + 1;
  let depth = 0;
  for (let sum = counts[0] ?? 0; depth < counts.length - 1; depth++) {
    sum += counts[depth + 1] ?? 0;
    if (sum > ROWS_AT_FIRST) break;
  }
  return new Set(
    calls.filter((call) => call.depth === depth && hasCallsBelow(call)).map(({ index }) => index),
  );
}

// "3.17" in the address; "-": none.
export function parseClosed(text: string | undefined, calls: TraceCall[]): Set<number> {
  if (text === undefined) return closedAtFirst(calls);
  return new Set(
    text
      .split(".")
      .map(Number)
      .filter((index) => Number.isInteger(index) && index >= 0),
  );
}

export const printClosed = (closed: Set<number>): string => [...closed].join(".") || "-";

// The calls in rows: without what is inside of closed ones.
export function openRows(calls: TraceCall[], closed: Set<number>): TraceCall[] {
  const rows: TraceCall[] = [];
  for (let i = 0; i < calls.length;) {
    const call = calls[i] as TraceCall;
    rows.push(call);
    i = closed.has(i) ? call.end : i + 1;
  }
  return rows;
}

// What must be open so that a call has a row.
export function revealCall(calls: TraceCall[], closed: Set<number>, index: number): Set<number> {
  const opened = new Set(closed);
  for (let at = calls[index]?.parent ?? -1; at >= 0; at = calls[at]?.parent ?? -1)
    opened.delete(at);
  return opened;
}

// The rows of the flame chart. A call is below its caller; one at the same time as another call of the
// same caller is below that one and everything in it, so that nothing overlaps.
export function laneRows(calls: TraceCall[]): number[] {
  // From the last call on: what is inside of a call has been placed when its caller is.
  const offsets = calls.map(() => 0); // rows below the caller
  const ends: number[][] = calls.map(() => []); // by row inside of a block: the last end so far
  const begins: number[][] = calls.map(() => []); // the first begin
  const children: number[][] = calls.map(() => []);
  for (const call of calls) if (call.parent >= 0) children[call.parent]?.push(call.index);
  for (let i = calls.length - 1; i >= 0; i--) {
    const call = calls[i] as TraceCall;
    const myEnds = [call.start + call.duration];
    const myBegins = [call.start];
    const inside = (children[i] ?? []).sort(
      (a, b) => (calls[a]?.start ?? 0) - (calls[b]?.start ?? 0) || a - b,
    );
    for (const child of inside) {
      const itsEnds = ends[child] ?? [];
      const itsBegins = begins[child] ?? [];
      let row = 1;
      const collides = (at: number) =>
        itsBegins.some((begin, k) => begin < (myEnds[at + k] ?? -Infinity));
      while (collides(row)) row++;
      offsets[child] = row;
      itsEnds.forEach((end, k) => {
        myEnds[row + k] = Math.max(myEnds[row + k] ?? -Infinity, end);
        myBegins[row + k] = Math.min(myBegins[row + k] ?? Infinity, itsBegins[k] ?? Infinity);
      });
      ends[child] = [];
      begins[child] = [];
    }
    ends[i] = myEnds;
    begins[i] = myBegins;
  }
  const rows: number[] = [];
  const taken: number[] = []; // by row, the last end of what has no caller
  for (const call of calls) {
    if (call.parent >= 0) rows.push((rows[call.parent] ?? 0) + (offsets[call.index] ?? 1));
    else {
      const itsBegins = begins[call.index] ?? [];
      let row = 0;
      while (itsBegins.some((begin, k) => begin < (taken[row + k] ?? -Infinity))) row++;
      (ends[call.index] ?? []).forEach((end, k) => (taken[row + k] = end));
      rows.push(row);
    }
  }
  return rows;
}

// A share of the whole, for people: "< 0.1 %" is not zero.
export function shareText(part: number, whole: number): string {
  if (part <= 0 || whole <= 0) return "0 %";
  const percent = (100 * part) / whole;
  return percent < 0.1 ? "< 0.1 %" : `${percent.toFixed(percent < 10 ? 1 : 0)} %`;
}

// Services with their share, the largest first.
export function serviceShares(
  chart: Chart,
  which: "selfTimes" | "pathTimes",
): { service: string; ns: number }[] {
  return chart.services
    .map((service, i) => ({ service: service || UNNAMED, ns: chart[which][i] ?? 0 }))
    .sort((a, b) => b.ns - a.ns);
}

export function openTrace(row: TraceRow | SpanRow | undefined): void {
  if (!row) return;
  go({ key: row.key, tab: "", sel: "services" in row ? "" : `${row.key}/0` });
}
