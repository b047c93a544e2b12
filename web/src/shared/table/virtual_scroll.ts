// Which rows of a long list are on the screen, and how to scroll to one. Browsers limit the height of
// an element: a longer list has the maximum height, and its scroll bar stands for all rows.

import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";

export const HEIGHT_MAX = 12_000_000; // pixels
const SPARE = 8; // rows in the page above and below the visible ones

export interface List {
  count: number;
  rowPx: number;
}

export interface Viewport {
  top: number; // scrolled so far, in pixels
  height: number; // pixels in which rows are visible
}

export interface Window {
  first: number;
  last: number; // one past
  top: number; // of the first row, in pixels
}

export function heightOf({ count, rowPx }: List): number {
  return Math.min(count * rowPx, HEIGHT_MAX);
}

function scale(list: List, view: Viewport): number {
  const full = list.count * list.rowPx;
  return full <= HEIGHT_MAX ? 1 : (full - view.height) / (HEIGHT_MAX - view.height);
}

// The row at the upper edge; a fraction of it may be hidden.
function firstRow(list: List, view: Viewport): number {
  const most = Math.max(0, list.count - view.height / list.rowPx);
  return Math.min(most, Math.max(0, (view.top * scale(list, view)) / list.rowPx));
}

export function windowOf(list: List, view: Viewport): Window {
  const at = firstRow(list, view);
  const first = Math.max(0, Math.floor(at) - SPARE);
  const last = Math.min(list.count, Math.ceil(at + view.height / list.rowPx) + SPARE);
  return { first, last, top: view.top + (first - at) * list.rowPx };
}

// Where to scroll so that a row is at the upper edge.
export function topOfRow(list: List, view: Viewport, row: number): number {
  return (row * list.rowPx) / scale(list, view);
}

// Where to scroll so that a row is in the middle.
export const topOfMiddle = (list: List, view: Viewport, row: number): number =>
  topOfRow(list, view, Math.max(0, row + 0.5 - view.height / list.rowPx / 2));

// Where to scroll so that a row is visible; as little as possible.
export function scrollTo(list: List, view: Viewport, row: number): number {
  const at = firstRow(list, view);
  const visible = view.height / list.rowPx;
  if (row < at) return topOfRow(list, view, row);
  return row + 1 > at + visible ? Math.ceil(topOfRow(list, view, row + 1 - visible)) : view.top;
}

// The viewport of an element that scrolls, below a head of `headPx` pixels that does not.
export function useViewport(headPx: number) {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<Viewport>({ top: 0, height: 600 });
  const current = (): Viewport => {
    const element = scroller.current;
    return element
      ? { top: element.scrollTop, height: Math.max(24, element.clientHeight - headPx) }
      : view;
  };
  // A printed list is as high as its rows: it must not get more of them for that.
  const measure = useCallback(() => {
    if (!matchMedia("print").matches) setView(current());
  }, [headPx]);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(measure);
    if (scroller.current) observer.observe(scroller.current);
    measure();
    return () => observer.disconnect();
  }, [measure]);
  return { scroller, view, measure, current };
}
