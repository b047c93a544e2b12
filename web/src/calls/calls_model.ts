// The calls of a recording that are in the page: consecutive pages, extended at both ends, and their
// lines.

import { formatExact } from "../shared/format";
import type { Call, Calls } from "../../generated/answers";

const PAGES_MAX = 12;
const STOPS = "linux:sched-out";
const RUNS = "linux:sched-in";
const PREEMPTED = "(pre-empted)"; // in the name of the event, or its values

export interface CallPages {
  pages: Calls[];
  shift: number; // lines added above since the first page
}

export const noPages: CallPages = { pages: [], shift: 0 };

// The pages up to a folded call, then what follows its end.
export function foldPages({ pages, shift }: CallPages, call: Call, after: Calls): CallPages {
  const at = pages.findIndex((page) => page.calls.includes(call));
  const page = pages[at];
  if (!page) return { pages, shift };
  const calls = page.calls.slice(0, page.calls.indexOf(call) + 1);
  return { pages: [...pages.slice(0, at), { ...page, calls }, after], shift };
}

const lineCount = (pages: Calls[], folds: Folds): number =>
  linesOf({ pages, shift: 0 }, folds).length;

export function appendPage(before: CallPages, page: Calls, folds: Folds = new Set()): CallPages {
  const all = [...before.pages, page];
  const pages = all.slice(Math.max(0, all.length - PAGES_MAX));
  return { pages, shift: before.shift - lineCount(all, folds) + lineCount(pages, folds) };
}

export function prependPage(before: CallPages, page: Calls, folds: Folds = new Set()): CallPages {
  const all = [page, ...before.pages];
  const shift = before.shift + lineCount(all, folds) - lineCount(before.pages, folds);
  return { pages: all.slice(0, PAGES_MAX), shift };
}

export interface Line {
  call: Call;
  depth: number; // that of an event is where it happened
  isLeaf: boolean; // its exit is the next record, and has no line
  isFolded: boolean; // what is inside has no lines
  wait?: number; // ns, of an event in which the thread stopped, until it ran again: that event has no line
}

// Folded calls, each by its time and depth.
export type Folds = ReadonlySet<string>;

export const foldKey = ({ time, depth }: Call): string => `${time} ${depth}`;

// How long a thread waited that stops in one event and runs again in the next record.
function waitOf(call: Call, next: Call | undefined): number | null {
  const isStop = call.name === STOPS || call.name === `${STOPS} ${PREEMPTED}`;
  const isWait = call.kind === "event" && isStop && next?.name === RUNS;
  return isWait && next.kind === "event" && next.time >= call.time ? next.time - call.time : null;
}

// What a line of a wait says.
export const waitText = ({ name, values }: Call): string =>
  `${name} ${values}`.includes(PREEMPTED) ? "waiting (pre-empted)" : "waiting (blocked)";

// The lines of a page: a call without calls inside is one line, and so is a wait.
export function callLines(calls: Call[], folds: Folds = new Set()): Line[] {
  const lines: Line[] = [];
  let hidden = Infinity; // the depth of the folded call that these are inside of
  const first = calls.find((call) => call.kind === "enter" || call.kind === "exit");
  // The depth of calls inside the last record.
  let inside = first ? first.depth + (first.kind === "exit" ? 1 : 0) : 0;
  calls.forEach((call, i) => {
    const next = calls[i + 1];
    const before = calls[i - 1];
    if (call.kind === "enter") inside = call.depth + 1;
    if (call.kind === "exit") inside = call.depth;
    const depth = call.kind === "event" || call.kind === "lost" ? inside : call.depth;
    if (depth > hidden) return;
    // The exit of a folded call has no line either.
    if (depth === hidden && call.kind === "exit") {
      hidden = Infinity;
      return;
    }
    hidden = Infinity;
    if (call.kind === "exit" && before?.kind === "enter" && before.depth === call.depth) return;
    if (before && waitOf(before, call) !== null) return;
    const isLeaf = call.kind === "enter" && next?.kind === "exit" && next.depth === call.depth;
    const isFolded = call.kind === "enter" && !isLeaf && folds.has(foldKey(call));
    if (isFolded) hidden = call.depth;
    const wait = waitOf(call, next);
    lines.push({ call, depth, isLeaf, isFolded, ...(wait === null ? {} : { wait }) });
  });
  return lines;
}

const isEntry = (line: Line | undefined) => line?.call.kind === "enter";

// The line of the call around a line, or of the first call inside it; -1: it is not in the page.
export function callerOf(lines: Line[], at: number): number {
  const depth = lines[at]?.depth ?? 0;
  let i = at - 1;
  while (i >= 0 && !(isEntry(lines[i]) && (lines[i] as Line).depth < depth)) i--;
  return i;
}

export function calleeOf(lines: Line[], at: number): number {
  const next = lines[at + 1];
  return isEntry(lines[at]) && isEntry(next) && (next as Line).depth > (lines[at] as Line).depth
    ? at + 1
    : -1;
}

// The next call at the same depth, in a direction.
export function siblingOf(lines: Line[], at: number, by: 1 | -1): number {
  const depth = lines[at]?.depth ?? 0;
  let i = at + by;
  while (lines[i] && (lines[i] as Line).depth >= depth)
    if (isEntry(lines[i]) && (lines[i] as Line).depth === depth) return i;
    else i += by;
  return -1;
}

// Of consecutive pages, whose calls may reach from one to the next.
export const linesOf = (pages: CallPages, folds: Folds = new Set()): Line[] =>
  callLines(
    pages.pages.flatMap((page) => page.calls),
    folds,
  );

// The line of a time: the last one that is not later.
export function lineAt(lines: Line[], time: number): number {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle] as Line).call.time <= time) low = middle + 1;
    else high = middle;
  }
  // Of several at that time, the first.
  let at = Math.max(0, low - 1);
  while (at > 0 && (lines[at - 1] as Line).call.time === time) at--;
  return lines.length === 0 ? -1 : at;
}

// A call may take a nanosecond or an hour: each duration has a unit of its own.
export function printDuration(call: Call): { number: string; unit: string } {
  const { duration = call.atLeast } = call;
  if (duration === undefined) return { number: "", unit: "" };
  const { number, unit } = formatExact(duration);
  if (call.duration === undefined) return { number: `≥ ${number}`, unit };
  return { number: call.isOpen ? `open ${number}` : number, unit };
}

const SHORTEST = 10; // ns

// The length of a bar, 0 to 1: logarithmic, because durations differ by powers of ten.
export function barShare(ns: number | undefined, most: number): number {
  if (ns === undefined || ns <= SHORTEST || most <= SHORTEST) return 0;
  return Math.min(1, Math.log(ns / SHORTEST) / Math.log(most / SHORTEST));
}
