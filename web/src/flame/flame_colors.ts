// What the colour of a box means.

import { colorOf, distinctColors, mixTokens, themeColor } from "../shared/look/colors";
import { baseName } from "../shared/format";
import type { Box } from "./flame_layout";

export const COLOR_MODES = [
  "function",
  "module",
  "package",
  "language",
  "code",
  "self",
  "waiting",
] as const;
export type ColorMode = (typeof COLOR_MODES)[number];

export const colorMode = (text: string | undefined): ColorMode =>
  COLOR_MODES.find((mode) => mode === text) ?? "function";

// The next one of those that are known, for the address.
export function nextColor(text: string | undefined, hasWaits = false): string {
  const modes = modesOf(hasWaits);
  const next = modes[(modes.indexOf(colorMode(text)) + 1) % modes.length] ?? "function";
  return next === "function" ? "" : next;
}

// The namespace, package or folder that a function belongs to: "std" of "std::map<int>::at(int)",
// "com.example" of "com.example.Dao.query", else its module.
export function packageOf(box: Pick<Box, "name" | "module">): string {
  const name = box.name.replace(/\(.*$/s, "").replace(/<.*$/s, "");
  const parts = name.split("::");
  if (parts.length > 1) return parts[0] ?? "";
  const java = /^((?:[a-z_$][\w$]*\.)+)[\w$]+\.[\w$<>]+$/.exec(name);
  return java ? (java[1] ?? "").replace(/\.$/, "") : baseName(box.module);
}

// From pale to strong, of one hue: brightness alone tells them apart.
const scaleColor = (share: number, mode: "self" | "waiting"): string =>
  mixTokens("--same", mode === "self" ? "--worse" : "--better", share);

// The names of groups that have a colour each; other meanings of colours need no list.
const GROUPS: { [mode in ColorMode]?: (box: Box) => string } = {
  module: (box) => baseName(box.module),
  package: packageOf,
  language: (box) => box.language,
  code: (box) => box.code,
};

export function groupColors(boxes: Box[], mode: ColorMode): Map<string, string> {
  const nameOf = GROUPS[mode];
  return nameOf ? distinctColors(boxes.map(nameOf).filter((name) => name !== "")) : new Map();
}

export function boxColor(box: Box, mode: ColorMode, groups: Map<string, string>): string {
  switch (mode) {
    case "module":
    case "package":
    case "language":
    case "code":
      return groups.get(GROUPS[mode]?.(box) ?? "") ?? themeColor("--same");
    case "self":
      return scaleColor(box.value > 0 ? box.self / box.value : 0, "self");
    case "waiting": {
      const waiting = box.waits.reduce((sum, value) => sum + value, 0);
      return scaleColor(box.value > 0 ? waiting / box.value : 0, "waiting");
    }
    case "function":
      return colorOf(box.name);
  }
}

// Where waiting is not known, its share is no colour.
export const modesOf = (hasWaits: boolean): ColorMode[] =>
  COLOR_MODES.filter((mode) => mode !== "waiting" || hasWaits);

// What the page calls a meaning.
export const colorTitle = (mode: ColorMode): string =>
  mode === "self" ? "self share" : mode === "code" ? "whose code" : mode;

export interface LegendItem {
  color: string;
  text: string;
}

const LEGEND_MAX = 8;

// The largest groups, or the ends of a scale.
export function legendOf(boxes: Box[], mode: ColorMode, groups: Map<string, string>): LegendItem[] {
  if (mode === "self" || mode === "waiting")
    return [0, 0.5, 1].map((part) => ({
      color: scaleColor(part, mode),
      text: `${part * 100} % ${mode}`,
    }));
  const nameOf = GROUPS[mode];
  if (!nameOf) return [];
  const costs = new Map<string, number>();
  for (const box of boxes) {
    const name = nameOf(box);
    if (name !== "") costs.set(name, (costs.get(name) ?? 0) + box.self);
  }
  return [...costs]
    .sort((a, b) => b[1] - a[1])
    .slice(0, LEGEND_MAX)
    .map(([text]) => ({ color: groups.get(text) ?? "", text }));
}
