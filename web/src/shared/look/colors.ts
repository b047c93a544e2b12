// Colours of drawings. All of them come from tokens of the style sheet, or are mixed from them, and the same name has
// the same colour everywhere.

export function hash(text: string): number {
  let value = 2166136261;
  for (let i = 0; i < text.length; i++) {
    value ^= text.charCodeAt(i);
    value = Math.imul(value, 16777619);
  }
  return value >>> 0;
}

export const isDark = (): boolean => document.documentElement.dataset["theme"] === "dark";

// Tokens of the current theme: a drawing asks for them thousands of times.
let tokens = new Map<string, string>();
let tokensAreDark: boolean | undefined;

function cacheOfTheme(): Map<string, string> {
  if (tokensAreDark !== isDark()) {
    tokens = new Map();
    tokensAreDark = isDark();
  }
  return tokens;
}

function cached(key: string, compute: () => string): string {
  const cache = cacheOfTheme();
  const known = cache.get(key);
  if (known !== undefined) return known;
  const value = compute();
  cache.set(key, value);
  return value;
}

// The value of a token, for canvases.
export const themeColor = (name: string): string =>
  cached(name, () => getComputedStyle(document.documentElement).getPropertyValue(name).trim());

// The font of text in canvases, which have no style sheet.
export const themeFont = (pixels: number): string => `${pixels}px ${themeColor("--sans")}`;

type Lab = [lightness: number, a: number, b: number];

const toLinear = (c: number) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const toGamma = (c: number) => (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055);

// OKLab, in which equal distances look equally different.
export function labOf(hex: string): Lab {
  const [r, g, b] = [1, 3, 5].map((i) => toLinear(parseInt(hex.slice(i, i + 2), 16) / 255));
  if (r === undefined || g === undefined || b === undefined) return [0, 0, 0];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

export function hexOf([lightness, a, b]: Lab): string {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const channels = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const print = (value: number) =>
    Math.round(255 * toGamma(Math.min(1, Math.max(0, value))))
      .toString(16)
      .padStart(2, "0");
  return `#${channels.map(print).join("")}`;
}

// From one token to another: 0 is the first, 1 the second. A hundred steps look continuous.
export function mixTokens(from: string, to: string, share: number): string {
  const part = Math.round(100 * Math.min(1, Math.max(0, share))) / 100;
  return cached(`${from} ${to} ${part}`, () => {
    const a = labOf(themeColor(from));
    const b = labOf(themeColor(to));
    return hexOf([0, 1, 2].map((i) => (a[i] ?? 0) + ((b[i] ?? 0) - (a[i] ?? 0)) * part) as Lab);
  });
}

export const FILLS = 8; // hues
const SHADES = 3;
const SHIFT = 0.06; // of lightness
const MIDDLE = 0.75;
const PALE = 0.5; // of chroma

// A fill: as it is, lighter or darker, or paler. Text on all of them is legible.
function fillColor(fill: number, shade: number): string {
  return cached(`fill ${fill} ${shade}`, () => {
    const token = themeColor(`--fill-${fill + 1}`);
    const [lightness, a, b] = labOf(token);
    if (shade === 0) return token;
    if (shade === 1) return hexOf([lightness + (lightness < MIDDLE ? SHIFT : -SHIFT), a, b]);
    return hexOf([lightness + (lightness < MIDDLE ? SHIFT : 0), PALE * a, PALE * b]);
  });
}

type Slot = [fill: number, shade: number];

// Fill and shade that the hash of a name gives.
const slotOf = (name: string): Slot => {
  const value = hash(name);
  return [(value >>> 4) % FILLS, (value >>> 16) % SHADES];
};

export const colorOf = (name: string): string => fillColor(...slotOf(name));

// The slots of a few names, of which no two are equal: a name whose fill another one has takes the next one that is
// free, then another shade. Neither order nor costs matter.
function distinctSlots(names: Iterable<string>): Map<string, Slot> {
  const taken = new Set<string>();
  const slots = new Map<string, Slot>();
  for (const name of [...new Set(names)].sort()) {
    const [fill, shade] = slotOf(name);
    const all = Array.from({ length: FILLS * SHADES }, (_, i): Slot => [
      (fill + i) % FILLS,
      (shade + Math.floor(i / FILLS)) % SHADES,
    ]);
    const isFillFree = ([other]: Slot) => ![...taken].some((key) => key.startsWith(`${other} `));
    const isFree = (slot: Slot) => !taken.has(slot.join(" "));
    const slot = all.find(isFillFree) ?? all.find(isFree) ?? [fill, shade];
    taken.add(slot.join(" "));
    slots.set(name, slot);
  }
  return slots;
}

export const distinctColors = (names: Iterable<string>): Map<string, string> =>
  new Map([...distinctSlots(names)].map(([name, slot]) => [name, fillColor(...slot)]));
