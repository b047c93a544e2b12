// The scale of drawings: as large as the style sheet makes text.

import { useState } from "preact/hooks";
import { useListener } from "../use_listener";

const USUAL_PX = 16; // of 1 rem

const remPx = (): number =>
  parseFloat(getComputedStyle(document.documentElement).fontSize) || USUAL_PX;

export const uiScale = (): number => remPx() / USUAL_PX;

// A size of the style sheet in pixels. Not cached: it depends on the window, too.
function pixelsOf(token: string): number {
  const value = getComputedStyle(document.documentElement).getPropertyValue(token);
  return Math.round(parseFloat(value) * remPx());
}

// The same, whatever becomes of the window.
export function usePixels(token: string): number {
  const [pixels, setPixels] = useState(() => pixelsOf(token));
  useListener("resize", () => setPixels(pixelsOf(token)));
  return pixels;
}
