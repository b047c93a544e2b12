// The tokens of the style sheet, and colours as eyes see them.

import { readFileSync } from "node:fs";
import { labOf } from "../src/shared/look/colors";

export const THEME = readFileSync("src/shared/look/theme.css", "utf8").replace(/\/\*.*?\*\//gs, "");

export type Tokens = Map<string, string>;

function declared(selector: string): Tokens {
  const begin = THEME.indexOf(`${selector} {`);
  const block = THEME.slice(begin, THEME.indexOf("\n}", begin));
  return new Map([...block.matchAll(/(--[\w-]+):\s*([^;]+);/g)].map(([, n, v]) => [n!, v!]));
}

function resolved(tokens: Tokens): Tokens {
  return new Map(
    [...tokens].map(([name, value]) => {
      const other = /^var\((--[\w-]+)\)$/.exec(value)?.[1];
      return [name, other ? (tokens.get(other) ?? "") : value];
    }),
  );
}

export const light = declared(":root");
export const dark = resolved(new Map([...light, ...declared(':root[data-theme="dark"]')]));

// What components ask a browser for.
export function stubTheme(theme: "light" | "dark"): void {
  const tokens = theme === "dark" ? dark : light;
  Object.assign(globalThis, {
    document: { documentElement: { dataset: { theme } } },
    getComputedStyle: () => ({ getPropertyValue: (name: string) => tokens.get(name) ?? "" }),
  });
}

type Channels = [number, number, number];

function linear(hex: string): Channels {
  const one = (at: number) => {
    const c = parseInt(hex.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  };
  return [one(1), one(3), one(5)];
}

function printed(channels: Channels): string {
  const one = (value: number) => {
    const c = Math.min(1, Math.max(0, value));
    const gamma = c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055;
    return Math.round(255 * gamma)
      .toString(16)
      .padStart(2, "0");
  };
  return `#${channels.map(one).join("")}`;
}

// The contrast of WCAG 2.
export function contrast(a: string, b: string): number {
  const luminance = (hex: string) => {
    const [r, g, blue] = linear(hex);
    return 0.2126 * r + 0.7152 * g + 0.0722 * blue;
  };
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

export const luminanceOf = (hex: string): number => 1.05 / contrast(hex, "#ffffff") - 0.05;

// Machado, Oliveira and Fernandes 2009, whole loss of one kind of cones, on linear light.
const VISIONS: Record<string, [Channels, Channels, Channels]> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function seen(hex: string, vision: [Channels, Channels, Channels]): string {
  const light = linear(hex);
  return printed(
    vision.map((row) => row[0] * light[0] + row[1] * light[1] + row[2] * light[2]) as Channels,
  );
}

export const VISION_NAMES = Object.keys(VISIONS);

// The two colours that look most alike, in hundredths of the lightness of OKLab: 2 is what can just be seen.
export function closest(colors: string[], vision: string): { distance: number; pair: string } {
  const all = colors.map((hex) => labOf(seen(hex, VISIONS[vision]!)));
  let best = { distance: Infinity, pair: "" };
  all.forEach((a, i) =>
    all.slice(0, i).forEach((b, j) => {
      const distance = 100 * Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
      if (distance < best.distance) best = { distance, pair: `${colors[j]} ${colors[i]}` };
    }),
  );
  return best;
}
