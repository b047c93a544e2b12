// While a thread waits, what is open is faded, and its names are drawn in the colour of text.

import { themeColor } from "./look/colors";

const OPACITY = 0.72;

// Areas by the part of the time in which the thread ran there, 0 to 1.
export type Veils = Map<number, Path2D>;

const LEGIBLE = 0.4; // with less of it, names need another colour

export function fillVeils(context: CanvasRenderingContext2D, veils: Veils): void {
  context.fillStyle = themeColor("--wait");
  for (const [share, area] of veils) {
    context.globalAlpha = OPACITY * (1 - Math.sqrt(share)); // a little activity can be seen
    context.fill(area);
  }
  context.globalAlpha = 1;
}

export function drawVeils(
  context: CanvasRenderingContext2D,
  veils: Veils,
  drawNames: (ink: string) => void,
): void {
  fillVeils(context, veils);
  const dim = new Path2D();
  for (const [share, area] of veils) if (share < LEGIBLE) dim.addPath(area);
  context.save();
  context.clip(dim);
  drawNames(themeColor("--ink"));
  context.restore();
}
