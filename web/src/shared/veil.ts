// While a thread waits, what is open is faded, and its names are drawn in the colour of text.

import { isDark, themeColor } from "./look/colors";

// Of the veil of a thread that does not run at all: what is under it keeps its hue. On dark ground, a heavier one
// would make all hues the same brown.
const opacity = (): number => (isDark() ? 0.56 : 0.72);

// Areas by the part of the time in which the thread ran there, 0 to 1.
export type Veils = Map<number, Path2D>;

// How much of what is below a veil is hidden, 0 to 1, by the part of the time in which the thread ran: a little activity
// can be seen.
export const dimOf = (share: number): number => 1 - Math.cbrt(share);

const DIM = 0.55; // of what is hidden: names need the colour of text

// The colour of a name on a box whose veil hides so much of it.
export const inkOver = (dim: number): string => themeColor(dim > DIM ? "--ink" : "--on-fill");

export function fillVeils(context: CanvasRenderingContext2D, veils: Veils): void {
  context.fillStyle = themeColor("--wait");
  for (const [share, area] of veils) {
    context.globalAlpha = opacity() * dimOf(share);
    context.fill(area);
  }
  context.globalAlpha = 1;
}

// Veils where the thread does not run at all, on which names are drawn once more.
export function drawVeils(
  context: CanvasRenderingContext2D,
  veils: Veils,
  drawNames: (ink: string) => void,
): void {
  fillVeils(context, veils);
  const dim = new Path2D();
  for (const area of veils.values()) dim.addPath(area);
  context.save();
  context.clip(dim);
  drawNames(inkOver(1));
  context.restore();
}
