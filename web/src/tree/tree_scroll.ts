// Which lines of a long list are drawn, and how to scroll to one.

import { firstRow, LONGEST_PX, topOfRow } from "../shared/virtual_scroll";

export const ROW = 24;
const SPARE = 8; // lines drawn above and below what can be seen

export interface Viewport {
  top: number; // scrolled so far, in pixels
  height: number; // of what lines can be seen in
}

export interface Part {
  first: number;
  last: number; // one past
  top: number; // where the first line is drawn, in pixels
}

export function heightOf(lines: number, row = ROW): number {
  return Math.min(lines * row, LONGEST_PX);
}

export function windowOf(at: Viewport, lines: number, row = ROW): Part {
  const from = firstRow({ count: lines, rowPx: row, heightPx: at.height }, at.top);
  const first = Math.max(0, Math.floor(from) - SPARE);
  const last = Math.min(lines, Math.ceil(from + at.height / row) + SPARE);
  return { first, last, top: at.top + (first - from) * row };
}

// Where to scroll so that a line can be seen; as little as possible.
export function scrollTo(at: Viewport, lines: number, line: number): number {
  const window = { count: lines, rowPx: ROW, heightPx: at.height };
  const from = firstRow(window, at.top);
  const seen = at.height / ROW;
  if (line < from) return topOfRow(window, line);
  return line + 1 > from + seen ? Math.ceil(topOfRow(window, line + 1 - seen)) : at.top;
}
