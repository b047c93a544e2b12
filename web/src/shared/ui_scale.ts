// How much larger things are drawn than on a usual screen: as the style sheet has it.

const USUAL_PX = 14;

export function uiScale(): number {
  return (parseFloat(getComputedStyle(document.documentElement).fontSize) || USUAL_PX) / USUAL_PX;
}
