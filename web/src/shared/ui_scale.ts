// The scale of drawings: as large as the style sheet makes text.

const USUAL_PX = 14;

export function uiScale(): number {
  return (parseFloat(getComputedStyle(document.documentElement).fontSize) || USUAL_PX) / USUAL_PX;
}
