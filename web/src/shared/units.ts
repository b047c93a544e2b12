// One unit a column: all its values have the same unit and the same number of decimals, so that
// they are aligned at the decimal point.

import { BYTES, formatPercent, isBytes, isSeconds } from "./format";

export const UNIT_MODES = ["auto", "ns", "%", "scientific"] as const;
export type UnitMode = (typeof UNIT_MODES)[number];

export interface ColumnUnit {
  unit: string; // for the title: "ms"; "": none
  print: (value: number | null | undefined) => string;
}

const SECONDS: [number, string][] = [
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "µs"],
  [1e-9, "ns"],
];
const DIGITS = 5; // of the largest value
const DECIMALS_MAX = 3;

export const unitMode = (text: string | undefined): UnitMode =>
  UNIT_MODES.find((mode) => mode === text) ?? "auto";

function fixed(decimals: number, factor: number): (value: number) => string {
  const least = 10 ** -decimals;
  const print = (value: number) =>
    value.toLocaleString("en-US", {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    });
  return (value) => {
    const scaled = value / factor;
    // A value that rounds to zero is not zero.
    return scaled !== 0 && Math.abs(scaled) < least / 2
      ? `${scaled < 0 ? "> −" : "< "}${print(least)}`
      : print(scaled);
  };
}

const orNothing =
  (print: (value: number) => string) =>
  (value: number | null | undefined): string =>
    value === null || value === undefined ? "" : print(value);

function decimalsOf(most: number): number {
  const digits = most >= 1 ? Math.floor(Math.log10(most)) + 1 : 1;
  return Math.min(DECIMALS_MAX, Math.max(0, DIGITS - digits));
}

// "+1.50", "−0.24"; a value without a digit that is not zero has no sign.
const withSign = (text: string): string =>
  /^[<>]/.test(text) || !/[1-9]/.test(text)
    ? text.replace(/^-/, "")
    : text.replace(/^(?!-)/, "+").replace("-", "−");

export const signedUnit = ({ unit, print }: ColumnUnit): ColumnUnit => ({
  unit,
  print: (value) => (value === null || value === undefined ? "" : withSign(print(value))),
});

// Shares that may be negative, with one decimal.
export const percentUnit: ColumnUnit = signedUnit({
  unit: "%",
  print: orNothing((value) => value.toFixed(1)),
});

// The unit of a column of durations of calls in seconds, the largest of which is about `most`. Values
// as small as `resolution` mean "less".
export function percentileUnit(
  resolution: number | undefined,
  mode: UnitMode,
  most: number,
): ColumnUnit {
  const auto = durationUnit(most * 1e9);
  const { unit, print } =
    mode === "auto" || mode === "%"
      ? { unit: auto.unit, print: orNothing((value) => auto.print(value * 1e9)) }
      : columnUnit("sec", most, mode);
  return {
    unit,
    print: (value) =>
      value && resolution && value <= resolution
        ? print(resolution).replace(/^(?!<)/, "< ")
        : print(value),
  };
}

// The unit of a column whose largest value is about `most`; null: unknown.
export function columnUnit(metric: string, most: number | null, mode: UnitMode): ColumnUnit {
  const size = Math.abs(most ?? 0);
  if (mode === "%")
    return { unit: "%", print: orNothing((value) => formatPercent(value, most).replace(" %", "")) };
  if (mode === "scientific")
    return {
      unit: isSeconds(metric) ? "s" : "",
      print: orNothing((value) => value.toExponential(3)),
    };
  if (isBytes(metric) && mode !== "ns") {
    const [factor, unit] = BYTES.find(([f]) => size >= f) ?? [1, "B"];
    return { unit, print: orNothing(fixed(factor === 1 ? 0 : decimalsOf(size / factor), factor)) };
  }
  if (!isSeconds(metric)) {
    const isWhole = most !== null && (size >= 1000 || Number.isInteger(size));
    return { unit: "", print: orNothing(fixed(isWhole ? 0 : DECIMALS_MAX, 1)) };
  }
  if (mode === "ns") return { unit: "ns", print: orNothing(fixed(0, 1e-9)) };
  // The duration of a call whose maximum is not known.
  const [factor, unit] =
    size === 0 ? [1e-6, "µs"] : (SECONDS.find(([f]) => size >= f) ?? [1e-9, "ns"]);
  const decimals = size === 0 ? DECIMALS_MAX : unit === "ns" ? 0 : decimalsOf(size / factor);
  return { unit, print: orNothing(fixed(decimals, factor)) };
}

// Prints costs below each other, as "12.012 ms   3.8 %", in the unit of the largest one. For fonts
// whose characters have the same width.
export function costPrinter(
  metric: string,
  most: number,
  whole: number | null,
): (cost: number | undefined) => string {
  const { unit, print } = columnUnit(metric, most, "auto");
  return (cost) =>
    cost === undefined
      ? ""
      : `${print(cost)}${unit && ` ${unit}`}${formatPercent(cost, whole).padStart(8)}`;
}

const DURATIONS: [below: number, factor: number, unit: string][] = [
  [1e4, 1, "ns"],
  [1e7, 1e3, "µs"],
  [1e10, 1e6, "ms"],
  [Infinity, 1e9, "s"],
];

const SIGNIFICANT = 4; // digits of a duration
const POINT = "\u2008"; // as wide as a point
const DIGIT = "\u2007"; // as wide as a digit

// Four digits, and blanks for the decimals that are left out: points stay below each other.
function significant(factor: number): (value: number) => string {
  const whole = fixed(DECIMALS_MAX, factor);
  const cut = Array.from({ length: DECIMALS_MAX }, (_, decimals) => fixed(decimals, factor));
  return (value) => {
    const digits = Math.floor(Math.log10(Math.max(1, Math.abs(value / factor)))) + 1;
    const decimals = Math.max(0, SIGNIFICANT - digits);
    const print = cut[decimals];
    if (!print) return whole(value);
    return print(value) + (decimals === 0 ? POINT : "") + DIGIT.repeat(DECIMALS_MAX - decimals);
  };
}

// The unit of a column of durations in ns, the largest of which is about `most`: the smallest one in
// which that has at most four digits before the point, so that short ones among long ones keep theirs.
export function durationUnit(most: number): { unit: string; print: (ns: number) => string } {
  const [, factor, unit] = DURATIONS.find(([below]) => most < below) ?? [0, 1, "ns"];
  return { unit, print: factor === 1 ? fixed(0, 1) : significant(factor) };
}

const THIN = "\u2009";

// The unit of a column of times up to `most`, which are told apart to the nanosecond: at most four digits before the
// point, and groups of three after it, "4,372.436 079".
export function momentUnit(most: number): { unit: string; print: (ns: number) => string } {
  const [, factor, unit] = DURATIONS.find(([below]) => most < below) ?? [0, 1, "ns"];
  const decimals = Math.round(Math.log10(factor));
  return {
    unit,
    print: (ns) => {
      const size = Math.abs(ns);
      const whole = Math.floor(size / factor).toLocaleString("en-US");
      const rest = String(Math.floor(size % factor)).padStart(decimals, "0");
      const part = decimals === 0 ? "" : `.${rest.replace(/(\d{3})(?=\d)/g, `$1${THIN}`)}`;
      return `${ns < 0 ? "−" : ""}${whole}${part}`;
    },
  };
}
