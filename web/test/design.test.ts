import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { changeColor } from "../src/compare/compare_model";
import { colorOf, distinctColors, hexOf, labOf, mixTokens } from "../src/shared/look/colors";
import {
  closest,
  contrast,
  dark,
  light,
  luminanceOf,
  stubTheme,
  VISION_NAMES,
  type Tokens,
} from "./palette";

const THEMES = { light, dark };
const of = (tokens: Tokens, name: string) => tokens.get(`--${name}`) ?? assert.fail(name);
const numbered = (tokens: Tokens, name: string) =>
  Array.from({ length: 8 }, (_, i) => of(tokens, `${name}-${i + 1}`));

// Text, and what it lies on.
const TEXTS: [text: string, on: string, least: number][] = [
  ["ink", "paper", 12],
  ["ink", "raised", 12],
  ["ink", "sunken", 12],
  ["ink", "chosen", 7],
  ["ink", "hover", 7],
  ["ink", "wait", 7],
  ["ink", "cost-soft", 7],
  ["ink", "error-soft", 7],
  ["faint", "paper", 4.5],
  ["faint", "raised", 4.5],
  ["faint", "chosen", 4.5],
  ["accent", "paper", 4.5],
  ["accent", "raised", 4.5],
  ["accent-ink", "accent", 4.5],
  ["brand", "raised", 4.5],
  ["error", "paper", 4.5],
  ["error", "raised", 4.5],
  ["warn", "raised", 4.5],
  ["good", "raised", 4.5],
  ["on-fill", "hit", 7],
  ["on-fill", "same", 4.5],
  ["on-fill", "worse", 4.5],
  ["on-fill", "better", 4.5],
];

test("text is legible in both themes", () => {
  for (const [name, tokens] of Object.entries(THEMES))
    for (const [text, on, least] of TEXTS) {
      const ratio = contrast(of(tokens, text), of(tokens, on));
      assert.ok(ratio >= least, `${name}: ${text} on ${on}: ${ratio.toFixed(2)} < ${least}`);
    }
});

test("text has the same contrast in the dark theme as in the light one", () => {
  for (const text of ["ink", "faint", "accent", "brand", "error", "warn", "good"]) {
    const [a, b] = [light, dark].map((tokens) => contrast(of(tokens, text), of(tokens, "paper")));
    const ratio = b! / a!;
    assert.ok(ratio > 0.85 && ratio < 1.2, `${text}: ${a!.toFixed(2)} and ${b!.toFixed(2)}`);
  }
});

test("boxes are as bright in the dark theme as in the light one", () => {
  const names = [
    ...Array.from({ length: 8 }, (_, i) => `fill-${i + 1}`),
    "cost",
    "running",
    "preempted",
  ];
  for (const name of names) {
    const share = luminanceOf(of(dark, name)) / luminanceOf(of(light, name));
    assert.ok(share > 0.8 && share < 1.25, `${name}: ${share.toFixed(2)}`);
  }
});

// What must be told apart without text, and the least distance in hundredths of lightness.
const SETS: [name: string, colors: (tokens: Tokens) => string[], least: number][] = [
  ["fills", (tokens) => numbered(tokens, "fill"), 10],
  ["strokes", (tokens) => numbered(tokens, "stroke"), 10],
  [
    "states",
    (tokens) => ["running", "preempted", "blocked", "recording"].map((one) => of(tokens, one)),
    12,
  ],
  [
    "states with what runs outside of calls",
    (tokens) =>
      ["running", "outside", "preempted", "blocked", "recording"].map((one) => of(tokens, one)),
    7,
  ],
  ["changes", (tokens) => ["worse", "same", "better"].map((one) => of(tokens, one)), 7],
];

test("colours are told apart with any kind of colour vision", () => {
  for (const [theme, tokens] of Object.entries(THEMES))
    for (const [set, colors, least] of SETS)
      for (const vision of VISION_NAMES) {
        const { distance, pair } = closest(colors(tokens), vision);
        assert.ok(
          distance >= least,
          `${theme}, ${set}, ${vision}: ${pair} are ${distance.toFixed(1)} apart, not ${least}`,
        );
      }
});

test("lines, dots and states stand out from the page", () => {
  for (const [theme, tokens] of Object.entries(THEMES))
    for (const color of [...numbered(tokens, "stroke"), of(tokens, "running")]) {
      const ratio = contrast(color, of(tokens, "paper"));
      assert.ok(ratio >= 3, `${theme}: ${color} ${ratio.toFixed(2)}`);
    }
});

const NAMES = Array.from({ length: 24 }, (_, i) => `lib${i}.so`);

test("text on any colour of a function has the contrast of WCAG AA", () => {
  for (const theme of ["light", "dark"] as const) {
    stubTheme(theme);
    const ink = of(THEMES[theme], "on-fill");
    for (const color of distinctColors(NAMES).values())
      assert.ok(contrast(color, ink) >= 4.5, `${theme}: ${color}`);
    for (const share of [0, 0.3, 0.6, 1]) {
      assert.ok(contrast(mixTokens("--same", "--worse", share), ink) >= 4.5);
      assert.ok(contrast(changeColor(1 - share, 1), ink) >= 4.5);
    }
  }
});

test("names have colours of their own, whatever their order", () => {
  stubTheme("light");
  const colors = distinctColors(NAMES);
  assert.equal(new Set(colors.values()).size, 24);
  assert.ok(closest([...colors.values()], "normal").distance >= 2.5);
  assert.deepEqual(distinctColors([...NAMES].reverse()), colors);
  const few = [...distinctColors(NAMES.slice(0, 8)).values()];
  for (const vision of VISION_NAMES) assert.ok(closest(few, vision).distance >= 4, vision);
  assert.equal(distinctColors(["libc.so"]).get("libc.so"), colorOf("libc.so"));
});

test("mixing goes through OKLab and back", () => {
  for (const color of ["#7a93e1", "#000000", "#ffffff", "#c02525"])
    assert.equal(hexOf(labOf(color)), color);
  stubTheme("dark");
  assert.equal(mixTokens("--same", "--worse", 0), dark.get("--same"));
  assert.equal(mixTokens("--same", "--worse", 2), dark.get("--worse"));
});

test("docs/design.md lists every token with its values", () => {
  const text = readFileSync("../docs/design.md", "utf8");
  const rows = new Map(
    [...text.matchAll(/^\| `(--[\w-]+)` \| ([^|]*) \| ([^|]*)/gm)].map(([, name, a, b]) => [
      name!,
      [a!.trim().replaceAll("`", ""), b!.trim().replaceAll("`", "")],
    ]),
  );
  for (const [name, value] of light) {
    const row = rows.get(name);
    assert.ok(row, `${name} is not in docs/design.md`);
    assert.equal(row[0], value, name);
    if (dark.get(name) !== value) assert.equal(row[1], dark.get(name), `${name}, dark`);
  }
  for (const name of rows.keys()) assert.ok(light.has(name), `${name} is no token`);
});
