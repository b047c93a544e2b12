// Draws a frame of the timeline.

import { colorOf, themeColor } from "../shared/colors";
import { axisStep, formatNs } from "../shared/format";
import type { Range } from "../shared/range";
import type { TimelineFrame } from "../shared/types";
import { uiScale } from "../shared/ui_scale";

// The width of labels, and the heights of rows and of the axis, scaled as text is.
export const labelPx = () => Math.round(150 * uiScale());
export const rowPx = () => Math.round(22 * uiScale());
export const axisPx = () => Math.round(22 * uiScale());

export function prepare(
  element: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio || 1;
  element.width = width * ratio;
  element.height = height * ratio;
  const context = element.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

interface RowBox {
  range: Range;
  top: number;
  width: number;
  height: number;
}

const FAINT = 0.15; // opacity of functions that a search does not match

// A frame is drawn at its time: while the next one is loading, the last one moves along.
export function drawRuns(
  context: CanvasRenderingContext2D,
  frame: TimelineFrame,
  row: number,
  box: RowBox,
  matches: ((name: string) => boolean) | null,
) {
  const names = new Map(frame.places.map(([id, name]) => [id, name]));
  const nsPerPixel = (box.range.end - box.range.begin) / box.width;
  const left = labelPx() + (frame.begin - box.range.begin) / nsPerPixel;
  const scale = (frame.end - frame.begin) / frame.columns / nsPerPixel;
  let at = 0;
  context.save();
  context.beginPath();
  context.rect(labelPx(), box.top, box.width, box.height);
  context.clip();
  for (const [count, place, share] of frame.rows[row]?.runs ?? []) {
    const name = place === null ? undefined : names.get(place);
    if (place === frame.idle) {
      context.fillStyle = themeColor("--wait");
      context.globalAlpha = 1;
      context.fillRect(left + at * scale, box.top, count * scale, box.height);
    } else if (name !== undefined) {
      context.fillStyle = colorOf(name);
      context.globalAlpha = matches && !matches(name) ? FAINT : 0.35 + (0.65 * share) / 100;
      context.fillRect(left + at * scale, box.top, Math.max(count * scale, 0.5), box.height);
    }
    at += count;
  }
  context.restore();
}

export interface Cursor {
  time: number;
  row: number; // of the frame
}

export interface Picture {
  frame: TimelineFrame;
  range: Range;
  width: number;
  height: number;
  selection: Range | null;
  isSelected: (profile: number) => boolean;
  cursor: Cursor | null;
  matches: ((name: string) => boolean) | null;
}

export function drawFrame(element: HTMLCanvasElement, picture: Picture): void {
  const { frame, range, width, height, selection, cursor } = picture;
  const context = prepare(element, width + labelPx(), height);
  if (!context) return;
  const ink = themeColor("--ink");
  const xOf = (time: number) =>
    labelPx() + ((time - range.begin) / (range.end - range.begin)) * width;
  context.clearRect(0, 0, width + labelPx(), height);
  context.font = `${12 * uiScale()}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  drawAxis(context, range, width, height);
  frame.rows.forEach((row, i) => {
    const top = axisPx() + i * rowPx();
    context.fillStyle = ink;
    context.fillText(
      fitted(context, row.label.replace(/^NODE \S+ /, ""), labelPx() - 8),
      4,
      top + rowPx() / 2,
    );
    drawRuns(
      context,
      frame,
      i,
      { range, top: top + 1, width, height: rowPx() - 2 },
      picture.matches,
    );
    if (!selection || !picture.isSelected(row.profile)) return;
    const left = Math.max(labelPx(), xOf(selection.begin));
    context.fillStyle = themeColor("--accent");
    context.globalAlpha = 0.28;
    context.fillRect(
      left,
      top,
      Math.max(1, Math.min(labelPx() + width, xOf(selection.end)) - left),
      rowPx(),
    );
    context.globalAlpha = 1;
  });
  if (cursor && cursor.time >= range.begin && cursor.time <= range.end) {
    context.fillStyle = ink;
    context.fillRect(xOf(cursor.time), axisPx(), 1, height);
    context.strokeStyle = ink;
    context.strokeRect(
      labelPx() + 0.5,
      axisPx() + cursor.row * rowPx() + 0.5,
      width - 1,
      rowPx() - 1,
    );
  }
}

// Threads differ in the numbers at the end of their labels: long labels are cut at the start.
function fitted(context: CanvasRenderingContext2D, label: string, width: number): string {
  let text = label;
  while (text.length > 1 && context.measureText(text).width > width) text = `…${text.slice(2)}`;
  return text;
}

function drawAxis(
  context: CanvasRenderingContext2D,
  range: Range,
  width: number,
  height: number,
): void {
  const span = range.end - range.begin;
  const step = axisStep(span, width / (110 * uiScale()));
  context.fillStyle = themeColor("--faint");
  for (let at = Math.ceil(range.begin / step) * step; at < range.end; at += step) {
    const x = labelPx() + ((at - range.begin) / span) * width;
    context.globalAlpha = 0.3;
    context.fillRect(x, axisPx(), 1, height);
    context.globalAlpha = 1;
    const text = formatTick(at, step);
    if (x + 3 + context.measureText(text).width <= labelPx() + width)
      context.fillText(text, x + 3, axisPx() / 2);
  }
}

// Marks whose leading digits are equal are printed relative to the unit before.
export function formatTick(at: number, step: number): string {
  const text = formatNs(at);
  if (formatNs(at - step) !== text) return text;
  const units = [1e9, 1e6, 1e3].filter((unit) => unit > step * 10);
  const unit = units[units.length - 1] ?? 1e3;
  return `+${formatNs(at % unit)}`;
}
