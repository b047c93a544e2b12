// Numbers as text.

const UNITS: [number, string][] = [
  [3600e9, "h"],
  [60e9, "min"],
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
];

const COUNTS: [number, string][] = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

// A duration with three or four significant digits.
export function formatNs(ns: number): string {
  // 999,960 ns are 1 ms, not 1000 µs.
  const size = Math.abs(ns) * (1 + 5e-5);
  for (const [factor, unit] of UNITS) if (size >= factor) return `${trim(ns / factor)} ${unit}`;
  return `${trim(ns)} ns`;
}

// The duration of a call. The clock does not tell apart what is as short as its resolution.
export function formatDuration(ns: number, resolution = 0): string {
  return ns > 0 && ns <= resolution ? `< ${formatNs(resolution)}` : formatNs(ns);
}

function trim(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000) return value.toFixed(0);
  return value.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : 3).replace(/\.?0+$/, "");
}

export const isSeconds = (metric: string) => /\bsec\b|\(s\)$/.test(metric);
export const isBytes = (metric: string) => /\((bytes|B)\)/.test(metric);

// The name of a metric without the unit that its values are printed with.
export const metricTitle = (metric: string) => metric.replace(/ \((sec|s|bytes|B)\)/, "");

// With its unit, if another of `names` differs in that alone: "live at end (B)", "live at end".
export const choiceTitle = (name: string, names: string[]) => {
  const title = metricTitle(name);
  return names.filter((other) => metricTitle(other) === title).length > 1 ? name : title;
};

export const BYTES: [number, string][] = [
  [2 ** 40, "TiB"],
  [2 ** 30, "GiB"],
  [2 ** 20, "MiB"],
  [2 ** 10, "KiB"],
];

const EXACT_UNITS: [below: number, factor: number, unit: string][] = [
  [1e6, 1e3, "µs"],
  [1e9, 1e6, "ms"],
  [1e13, 1e9, "s"],
  [Infinity, 60e9, "min"],
];

// The duration of a call with three decimals of its own unit, so that durations of any length have their points below
// each other: "43.867 µs", "4.372 s".
export function formatExact(ns: number): { number: string; unit: string } {
  // 999,999.9 µs would be rounded to 1000 ms.
  const [, factor, unit] = EXACT_UNITS.find(([below]) => ns < below * (1 - 5e-7)) ?? [0, 1e9, "s"];
  return {
    number: (ns / factor).toLocaleString("en-US", {
      minimumFractionDigits: 3,
      maximumFractionDigits: 3,
    }),
    unit,
  };
}

// The value of a metric: durations and sizes with their unit, others with grouped digits.
export function formatValue(value: number | null | undefined, metric: string): string {
  if (value === null || value === undefined) return "";
  if (isSeconds(metric)) return formatNs(value * 1e9);
  const found = isBytes(metric) && BYTES.find(([factor]) => Math.abs(value) >= factor);
  if (found) return `${trim(value / found[0])} ${found[1]}`;
  if (isBytes(metric)) return `${trim(value)} B`;
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en-US");
  return value.toPrecision(5);
}

// "1 trace", "2,000 traces".
export function countOf(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}

export function formatPercent(value: number | null, total: number | null): string {
  if (value === null || !total) return "";
  return `${((value / total) * 100).toFixed(1)} %`;
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

// A probability of which the natural logarithm is known, to one digit: "0.004", "3 × 10⁻⁴³".
export function formatChance(logP: number): string {
  const power = Math.floor(logP / Math.LN10);
  if (power >= -3) return Number(Math.exp(logP).toPrecision(1)).toString();
  const digit = Math.round(10 ** (logP / Math.LN10 - power));
  const [shown, exponent] = digit === 10 ? [1, power + 1] : [digit, power];
  const digits = String(-exponent).replace(/\d/g, (one) => SUPERSCRIPTS[Number(one)] ?? one);
  return `${shown} × 10⁻${digits}`;
}

// "1 thread", "2,000 threads"
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

// "1.5ms", "20 us", "3s" or nanoseconds; NaN for other text.
export function parseNs(text: string): number {
  const match = /^\s*([0-9.]+)\s*(ns|us|µs|ms|s|min|m|h)?\s*$/.exec(text);
  if (!match) return NaN;
  const factors: Record<string, number> = {
    ns: 1,
    us: 1e3,
    µs: 1e3,
    ms: 1e6,
    s: 1e9,
    m: 60e9,
    min: 60e9,
    h: 3600e9,
  };
  return Math.round(Number(match[1]) * (factors[match[2] ?? "ns"] ?? 1));
}

// Round steps for the marks of an axis, about `wanted` of them.
export function axisStep(span: number, wanted: number): number {
  const rough = span / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-12)));
  for (const factor of [1, 2, 5, 10]) if (power * factor >= rough) return power * factor;
  return power * 10;
}

const MINUTE = 60e9;
const HOUR = 3600e9;
const DAY = 24 * HOUR;
const LONG_STEPS = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 240, 360, 720, 1440]; // minutes

// The same of times in nanoseconds: from half a minute on, marks are at whole parts of minutes, hours and days.
export function timeStep(span: number, wanted: number): number {
  const rough = span / Math.max(1, wanted);
  if (rough <= 20e9) return axisStep(span, wanted);
  const minutes = LONG_STEPS.find((long) => long * MINUTE >= rough);
  return minutes ? minutes * MINUTE : axisStep(span / DAY, wanted) * DAY;
}

const LONG_MIN = 1e8; // between marks: those of shorter steps have no room for minutes

// "1 min 40 s", "2 h": parts that are zero are left out.
function formatLong(at: number): string {
  const rest = at % MINUTE;
  return [
    at >= HOUR ? `${Math.floor(at / HOUR)} h` : "",
    at % HOUR >= MINUTE ? `${Math.floor((at % HOUR) / MINUTE)} min` : "",
    rest > 0 ? formatNs(rest) : "",
  ]
    .filter((part) => part !== "")
    .join(" ");
}

// A time of an axis. Marks whose leading digits are equal are printed relative to the unit before.
export function formatTick(at: number, step: number): string {
  const print = (ns: number) => (ns >= MINUTE && step >= LONG_MIN ? formatLong(ns) : formatNs(ns));
  const text = print(at);
  if (print(at - step) !== text) return text.replace(/\.0 /, " ");
  const units = [1e9, 1e6, 1e3].filter((unit) => unit > step * 10);
  const unit = units[units.length - 1] ?? 1e3;
  return `+${formatNs(at % unit)}`;
}

// A count or rate with four significant digits: "13.43 M".
export function formatCount(value: number): string {
  const size = Math.abs(value);
  const found = COUNTS.find(([factor]) => size >= factor);
  if (Number.isInteger(value) && size < 1e6) return value.toLocaleString("en-US");
  return found ? `${trim(value / found[0])} ${found[1]}` : trim(value);
}

// "com.example.Dao.query": class and method, and the package. A number at the end is that of a copy
// which a compiler made: "solve.constprop.0" is one name.
export function splitMethod(name: string): { short: string; around: string } {
  const match = /^((?:[\w$]+\.)+)([\w$]+\.[A-Za-z_$<][\w$<>]*)$/.exec(name);
  return match
    ? { short: match[2] ?? name, around: (match[1] ?? "").replace(/\.$/, "") }
    : { short: name, around: "" };
}
