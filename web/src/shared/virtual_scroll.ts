// Where rows are in a table that scrolls. Browsers cannot make an element of any height:
// a longer table has the longest one, and its scroll bar stands for all rows.

export const LONGEST_PX = 12_000_000;

export interface Window {
  count: number;
  rowPx: number;
  heightPx: number; // of the part that is seen
}

function scale(window: Window): number {
  const full = window.count * window.rowPx;
  if (full <= LONGEST_PX) return 1;
  return (full - window.heightPx) / (LONGEST_PX - window.heightPx);
}

// The row at the upper edge, with the part of it that is above.
export function firstRow(window: Window, scrollTop: number): number {
  const most = Math.max(0, window.count - window.heightPx / window.rowPx);
  return Math.min(most, Math.max(0, (scrollTop * scale(window)) / window.rowPx));
}

// How far to scroll so that a row is at the upper edge.
export function topOfRow(window: Window, row: number): number {
  return (row * window.rowPx) / scale(window);
}
