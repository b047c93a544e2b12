// The canvas of the tracks. Tracks are drawn on a canvas of their own, and copied: the pointer moves
// over a copy, and where drawing takes long, movements shift and stretch the copy between drawings.

import { isDark } from "../shared/colors";
import type { Range } from "../shared/range";
import { drawOverlay, drawTracks, prepare, type Picture } from "./track_draw";

const SLOW_MS = 5; // of drawing
const PAUSE_MS = 70; // between drawings, at least
const REST = 4; // they take at most one part in so many of the time, and one more

interface Drawn {
  canvas: HTMLCanvasElement;
  picture: Picture;
  isDark: boolean;
  ms: number; // that drawing took
  at: number; // when it ended
  timer?: ReturnType<typeof setTimeout>;
}

// Where a drawing of one range lies on that of another: its left edge and width.
export function moved(
  from: Range,
  to: Range,
  left: number,
  width: number,
): { left: number; width: number } {
  const scale = width / (to.end - to.begin);
  return {
    left: left + (from.begin - to.begin) * scale,
    width: (from.end - from.begin) * scale,
  };
}

const isSameRange = (a: Range | null, b: Range | null): boolean =>
  a === b || (a !== null && b !== null && a.begin === b.begin && a.end === b.end);

// True if tracks are at the same heights of a window of the same size.
export const hasSameTracks = (a: Picture, b: Picture): boolean =>
  a.layout === b.layout &&
  a.scrolled === b.scrolled &&
  a.depth === b.depth &&
  a.width === b.width &&
  a.height === b.height &&
  a.sizes === b.sizes &&
  a.matches === b.matches &&
  a.selection?.threads === b.selection?.threads &&
  isSameRange(a.selection, b.selection);

const isSame = (a: Picture, b: Picture): boolean =>
  hasSameTracks(a, b) &&
  a.frame === b.frame &&
  a.flows === b.flows &&
  a.pointsOf === b.pointsOf &&
  isSameRange(a.range, b.range);

const drawings = new WeakMap<HTMLCanvasElement, Drawn>();

function draw(element: HTMLCanvasElement, picture: Picture): Drawn {
  const canvas = drawings.get(element)?.canvas ?? document.createElement("canvas");
  const begin = performance.now();
  drawTracks(canvas, picture);
  const at = performance.now();
  const drawn = { canvas, picture, isDark: isDark(), ms: at - begin, at };
  drawings.set(element, drawn);
  return drawn;
}

function copy(element: HTMLCanvasElement, drawn: Drawn, picture: Picture): void {
  const { width, height, sizes, range } = picture;
  const context = prepare(element, width + sizes.label, height);
  if (!context) return;
  const { canvas } = drawn;
  if (isSameRange(drawn.picture.range, range)) {
    context.drawImage(canvas, 0, 0, width + sizes.label, height);
  } else {
    const ratio = canvas.width / (width + sizes.label);
    const at = moved(drawn.picture.range, range, sizes.label, width);
    const label = sizes.label * ratio;
    context.save();
    context.beginPath();
    context.rect(sizes.label, 0, width, height);
    context.clip();
    context.drawImage(
      canvas,
      label,
      0,
      canvas.width - label,
      canvas.height,
      at.left,
      0,
      at.width,
      height,
    );
    context.restore();
  }
  drawOverlay(context, picture);
}

export function paintTracks(element: HTMLCanvasElement, picture: Picture): void {
  const before = drawings.get(element);
  clearTimeout(before?.timer);
  const isUsable = before !== undefined && before.isDark === isDark();
  if (isUsable && isSame(before.picture, picture)) return copy(element, before, picture);
  const wait = before ? before.at + Math.max(PAUSE_MS, REST * before.ms) - performance.now() : 0;
  if (isUsable && before.ms > SLOW_MS && wait > 0 && hasSameTracks(before.picture, picture)) {
    before.timer = setTimeout(() => copy(element, draw(element, picture), picture), wait);
    return copy(element, before, picture);
  }
  copy(element, draw(element, picture), picture);
}
