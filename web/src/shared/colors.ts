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

// Colours of even brightness, so that text on them is legible.
export function colorOf(name: string): string {
  const value = hash(name);
  const hue = (value % 3600) / 10;
  const saturation = 42 + ((value >>> 12) % 22);
  const lightness = isDark() ? 36 + ((value >>> 20) % 9) : 70 + ((value >>> 20) % 10);
  return `hsl(${hue} ${saturation}% ${lightness}%)`;
}

// A colour of the style sheet, for canvases.
export function themeColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
