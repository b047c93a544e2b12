// While a thread waits, what is open is faded, and its names are drawn in the colour of text.

import { themeColor } from "./colors";

const OPACITY = 0.72;

export function drawVeil(
  context: CanvasRenderingContext2D,
  waiting: Path2D,
  drawNames: (ink: string) => void,
): void {
  context.globalAlpha = OPACITY;
  context.fillStyle = themeColor("--wait");
  context.fill(waiting);
  context.globalAlpha = 1;
  context.save();
  context.clip(waiting);
  drawNames(themeColor("--ink"));
  context.restore();
}
