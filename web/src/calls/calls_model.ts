// The part of a recording's calls that is in the page: pages one after another, to which
// more are added at both ends, and the lines they make.

import type { Call, Calls } from "../shared/types";

const PAGES_KEPT = 12;

export interface CallPages {
  pages: Calls[];
  shift: number; // lines added before the first page that was asked for
}

export const noPages: CallPages = { pages: [], shift: 0 };

const lineCount = (pages: Calls[]) =>
  pages.reduce((sum, page) => sum + callLines(page.calls).length, 0);

export function appendPage(before: CallPages, page: Calls): CallPages {
  const pages = [...before.pages, page];
  const gone = pages.slice(0, Math.max(0, pages.length - PAGES_KEPT));
  return { pages: pages.slice(gone.length), shift: before.shift - lineCount(gone) };
}

export function prependPage(before: CallPages, page: Calls): CallPages {
  return {
    pages: [page, ...before.pages].slice(0, PAGES_KEPT),
    shift: before.shift + lineCount([page]),
  };
}

export interface Line {
  call: Call;
  isLeaf: boolean; // its end follows at once and has no line
}

// The lines of a page: a call that calls nothing is one line.
export function callLines(calls: Call[]): Line[] {
  const lines: Line[] = [];
  calls.forEach((call, i) => {
    const next = calls[i + 1];
    const before = calls[i - 1];
    if (call.kind === "exit" && before?.kind === "enter" && before.depth === call.depth) return;
    lines.push({
      call,
      isLeaf: call.kind === "enter" && next?.kind === "exit" && next.depth === call.depth,
    });
  });
  return lines;
}

export const linesOf = (pages: CallPages): Line[] =>
  pages.pages.flatMap((page) => callLines(page.calls));

// The line of a moment: the last one that is not after it.
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
