// The same name has the same colour everywhere.

export function hash(text: string): number {
  let value = 2166136261;
  for (let i = 0; i < text.length; i++) {
    value ^= text.charCodeAt(i);
    value = Math.imul(value, 16777619);
  }
  return value >>> 0;
}

let darkMedia: MediaQueryList | undefined; // asked for thousands of times

export function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  if (chosen) return chosen === "dark";
  darkMedia ??= matchMedia("(prefers-color-scheme: dark)");
  return darkMedia.matches;
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

const STEPS = 3; // of brightness

// Hue and brightness that the hash of a name gives.
const slotOf = (name: string): [hue: number, step: number] => {
  const value = hash(name);
  return [(value >>> 4) % HUES.length, (value >>> 16) % STEPS];
};

function slotColor(slot: [number, number]): string {
  const [hue, saturation, darker] = HUES[slot[0]] ?? [0, 0, 0];
  const step = slot[1];
  return isDark()
    ? `hsl(${hue} ${saturation * 0.7}% ${27 + step * 5 - darker}%)`
    : `hsl(${hue} ${saturation}% ${64 + step * 10}%)`;
}

export const colorOf = (name: string): string => slotColor(slotOf(name));

// Colours of a few names, of which no two are equal: a name whose colour another one has takes the
// next hue that is free, then another brightness. Neither order nor costs matter.
export function distinctColors(names: Iterable<string>): Map<string, string> {
  const taken = new Set<string>();
  const colors = new Map<string, string>();
  for (const name of [...new Set(names)].sort()) {
    const [hue, step] = slotOf(name);
    const slots = Array.from({ length: HUES.length * STEPS }, (_, i): [number, number] => [
      (hue + i) % HUES.length,
      (step + Math.floor(i / HUES.length)) % STEPS,
    ]);
    const isHueFree = ([other]: [number, number]) =>
      ![...taken].some((key) => key.startsWith(`${other} `));
    const isFree = (slot: [number, number]) => !taken.has(slot.join(" "));
    const slot = slots.find(isHueFree) ?? slots.find(isFree) ?? [hue, step];
    taken.add(slot.join(" "));
    colors.set(name, slotColor(slot));
  }
  return colors;
}

// A colour of the style sheet, for canvases.
export function themeColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
