// The same name has the same colour everywhere.

export function hash(text: string): number {
  let value = 2166136261;
  for (let i = 0; i < text.length; i++) {
    value ^= text.charCodeAt(i);
    value = Math.imul(value, 16777619);
  }
  return value >>> 0;
}

export function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// Hues that readers with any kind of colour vision tell apart, each in three brightnesses on which
// text is legible. Yellow and green look brighter than others.
const HUES: [hue: number, saturation: number, darker: number][] = [
  [210, 60, 0],
  [196, 62, 4],
  [164, 45, 5],
  [48, 75, 6],
  [32, 80, 3],
  [14, 70, 0],
  [328, 45, 0],
  [265, 40, 0],
];

export function colorOf(name: string): string {
  const value = hash(name);
  const [hue, saturation, darker] = HUES[(value >>> 4) % HUES.length] ?? [0, 0, 0];
  const step = (value >>> 16) % 3;
  return isDark()
    ? `hsl(${hue} ${saturation * 0.7}% ${26 + step * 5 - darker}%)`
    : `hsl(${hue} ${saturation}% ${68 + step * 7}%)`;
}

// A colour of the style sheet, for canvases.
export function themeColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
