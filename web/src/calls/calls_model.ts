// The calls of a recording that are in the page: consecutive pages, extended at both ends, and their
// lines.

import type { Call, Calls } from "../../generated/answers";

const PAGES_MAX = 12;

export interface CallPages {
  pages: Calls[];
  shift: number; // lines added above since the first page
}

export const noPages: CallPages = { pages: [], shift: 0 };

const lineCount = (pages: Calls[]) =>
  pages.reduce((sum, page) => sum + callLines(page.calls).length, 0);

export function appendPage(before: CallPages, page: Calls): CallPages {
  const pages = [...before.pages, page];
  const gone = pages.slice(0, Math.max(0, pages.length - PAGES_MAX));
  return { pages: pages.slice(gone.length), shift: before.shift - lineCount(gone) };
}

export function prependPage(before: CallPages, page: Calls): CallPages {
  return {
    pages: [page, ...before.pages].slice(0, PAGES_MAX),
    shift: before.shift + lineCount([page]),
  };
}

export interface Line {
  call: Call;
  depth: number; // that of an event is where it happened
  isLeaf: boolean; // its exit is the next record, and has no line
}

// The lines of a page: a call without calls inside is one line.
export function callLines(calls: Call[]): Line[] {
  const lines: Line[] = [];
  const first = calls.find((call) => call.kind === "enter" || call.kind === "exit");
  // The depth of calls inside the last record.
  let inside = first ? first.depth + (first.kind === "exit" ? 1 : 0) : 0;
  calls.forEach((call, i) => {
    const next = calls[i + 1];
    const before = calls[i - 1];
    if (call.kind === "enter") inside = call.depth + 1;
    if (call.kind === "exit") inside = call.depth;
    if (call.kind === "exit" && before?.kind === "enter" && before.depth === call.depth) return;
    lines.push({
      call,
      depth: call.kind === "event" || call.kind === "lost" ? inside : call.depth,
      isLeaf: call.kind === "enter" && next?.kind === "exit" && next.depth === call.depth,
    });
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

export const linesOf = (pages: CallPages): Line[] =>
  pages.pages.flatMap((page) => callLines(page.calls));

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
