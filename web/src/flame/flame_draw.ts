// Draws a flame graph on a canvas.

import { themeColor, themeFont } from "../shared/look/colors";
import { fitName } from "../shared/names/names";
import { uiScale } from "../shared/look/ui_scale";
import { drawVeils } from "../shared/veil";
import type { Box, DrawnFlame, View, WaitBox } from "./flame_layout";

export interface Picture {
  flame: DrawnFlame;
  boxes: Box[];
  waits: WaitBox[];
  view: View;
  width: number;
  height: number;
  row: number; // pixels
  topOf: (box: { depth: number }) => number;
  colorOf: (box: Box) => string;
  matches: ((name: string) => boolean) | null;
  selected: number;
  hovered: number;
}

// Left edge and width; callers of the zoomed box fill the width.
export function extentOf(
  picture: Pick<Picture, "view" | "width">,
  box: { begin: number; value: number },
): [number, number] {
  const scale = picture.width / picture.view.span;
  const left = Math.max(0, (box.begin - picture.view.begin) * scale);
  const right = Math.min(picture.width, (box.begin + box.value - picture.view.begin) * scale);
  return [left, right - left];
}

export function prepare(
  element: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | null {
  const context = element.getContext("2d");
  if (!context) return null;
  const ratio = devicePixelRatio || 1;
  element.width = width * ratio;
  element.height = height * ratio;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = themeFont(12 * uiScale());
  context.textBaseline = "middle";
  return context;
}

export function drawFlame(element: HTMLCanvasElement, picture: Picture): void {
  const { boxes, waits, flame, row, matches } = picture;
  const context = prepare(element, picture.width, picture.height);
  if (!context) return;
  const visible = boxes
    .map((box) => ({ box, extent: extentOf(picture, box) }))
    .filter(({ extent }) => extent[1] >= 0.4);
  for (const { box, extent } of visible) drawBox(context, picture, box, extent);
  const drawNames = (plain: string) => {
    const inks = { plain, hit: themeColor("--accent-ink") };
    for (const { box, extent } of visible) drawName(context, picture, box, extent, inks);
  };
  drawNames(themeColor("--on-fill"));
  const waiting = pausesOf(picture);
  if (waiting) drawVeils(context, new Map([[0, waiting]]), drawNames);
  context.globalAlpha = matches ? 0.35 : 1;
  for (const wait of waits) {
    const [left, size] = extentOf(picture, wait);
    if (size >= 0.4)
      drawWait(
        context,
        { left, size, top: picture.topOf(wait), row },
        flame.waits?.[wait.state] ?? "",
      );
  }
  context.globalAlpha = 1;
  if (boxes.length === 0) {
    context.fillStyle = themeColor("--faint");
    context.fillText("no data", 8, 12);
  }
}

function drawBox(
  context: CanvasRenderingContext2D,
  picture: Picture,
  box: Box,
  [left, size]: [number, number],
): void {
  const { row, matches } = picture;
  const top = picture.topOf(box);
  const isHit = matches?.(box.name) ?? false;
  context.globalAlpha = matches && !isHit ? 0.35 : 1;
  context.fillStyle = isHit ? themeColor("--accent") : picture.colorOf(box);
  context.fillRect(left, top, Math.max(size - 0.6, 0.6), row - 1);
  context.globalAlpha = 1;
  if (box.index !== picture.selected && box.index !== picture.hovered) return;
  context.strokeStyle = themeColor("--ink");
  context.lineWidth = box.index === picture.selected ? 2 : 1;
  context.strokeRect(left + 1, top + 1, Math.max(size - 2.6, 1), row - 3);
}

function drawName(
  context: CanvasRenderingContext2D,
  picture: Picture,
  box: Box,
  [left, size]: [number, number],
  inks: { plain: string; hit: string },
): void {
  if (size <= 28) return;
  context.fillStyle = picture.matches?.(box.name) ? inks.hit : inks.plain;
  const text = fitName(context, box.name, size - 8);
  context.fillText(text, left + 4, picture.topOf(box) + picture.row / 2);
}

// The times in which a thread waits, as in the timeline.
function pausesOf(picture: Picture): Path2D | null {
  if (!picture.flame.pauses) return null;
  const path = new Path2D();
  for (const [begin, end] of picture.flame.pauses) {
    const [left, size] = extentOf(picture, { begin, value: end - begin });
    if (size > 0) path.rect(left, 0, size, picture.height);
  }
  return path;
}

// Waiting is a state, not a function: hatched, without a colour of its own.
function drawWait(
  context: CanvasRenderingContext2D,
  at: { left: number; size: number; top: number; row: number },
  state: string,
): void {
  const wide = Math.max(at.size - 0.6, 0.6);
  const high = at.row - 1;
  context.save();
  context.beginPath();
  context.rect(at.left, at.top, wide, high);
  context.clip();
  context.fillStyle = themeColor("--wait");
  context.fillRect(at.left, at.top, wide, high);
  context.strokeStyle = themeColor("--wait-line");
  context.lineWidth = 1;
  context.beginPath();
  for (let x = at.left - high; x < at.left + wide; x += 6) {
    context.moveTo(x, at.top + high);
    context.lineTo(x + high, at.top);
  }
  context.stroke();
  if (at.size > 28) {
    context.fillStyle = themeColor("--ink");
    context.fillText(state, at.left + 4, at.top + at.row / 2);
  }
  context.restore();
}

// The whole graph in a few pixels, and the part of it that is zoomed.
export function drawMinimap(element: HTMLCanvasElement, picture: Picture): void {
  const context = prepare(element, picture.width, picture.height);
  if (!context) return;
  const depths = picture.boxes.reduce((most, box) => Math.max(most, box.depth), 0) + 1;
  const row = picture.height / depths;
  const whole = { ...picture, view: { begin: 0, span: picture.flame.total, depth: -1 } };
  for (const box of picture.boxes) {
    const [left, size] = extentOf(whole, box);
    if (size < 0.5) continue;
    context.fillStyle = picture.matches?.(box.name) ? themeColor("--accent") : picture.colorOf(box);
    context.fillRect(left, box.depth * row, size, Math.max(1, row - 0.5));
  }
  const [left, size] = extentOf(whole, { begin: picture.view.begin, value: picture.view.span });
  context.fillStyle = themeColor("--paper");
  context.globalAlpha = 0.6;
  context.fillRect(0, 0, left, picture.height);
  context.fillRect(left + size, 0, picture.width - left - size, picture.height);
  context.globalAlpha = 1;
  context.strokeStyle = themeColor("--accent");
  context.lineWidth = 2;
  context.strokeRect(left + 1, 1, Math.max(2, size - 2), picture.height - 2);
}
