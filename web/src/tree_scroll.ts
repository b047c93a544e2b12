// Which lines of a long list are on the screen. Browsers cannot scroll further than some
// millions of pixels: beyond that, scrolling skips lines.

export const ROW = 24;
const HEIGHT_MAX = 8_000_000;
const SPARE = 8; // lines drawn above and below what can be seen

export interface Viewport {
  top: number; // scrolled so far, in pixels
  height: number;
}

export interface Window {
  first: number;
  last: number; // one past
  top: number; // where the first line is drawn, in pixels
}

export function heightOf(lines: number, row = ROW): number {
  return Math.min(lines * row, HEIGHT_MAX);
}

// Pixels of lines for one pixel of scrolling.
function scaleOf(lines: number, height: number, row: number): number {
  const room = heightOf(lines, row) - height;
  return room > 0 && lines * row > HEIGHT_MAX ? (lines * row - height) / room : 1;
}

export function windowOf(at: Viewport, lines: number, row = ROW): Window {
  const from = at.top * scaleOf(lines, at.height, row);
  const first = Math.max(0, Math.floor(from / row) - SPARE);
  const last = Math.min(lines, Math.ceil((from + at.height) / row) + SPARE);
  return { first, last, top: first * row - from + at.top };
}

// Where to scroll so that a line can be seen; as little as possible.
export function scrollTo(at: Viewport, lines: number, line: number, head: number): number {
  const scale = scaleOf(lines, at.height, ROW);
  const from = at.top * scale;
  const top = line * ROW;
  if (top < from) return top / scale;
  if (top + ROW > from + at.height - head) return Math.ceil((top + ROW + head - at.height) / scale);
  return at.top;
}
