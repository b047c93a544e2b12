// The scales of durations over time, and the query of a rectangle in them.

import { withTimes } from "./query_text";

export interface Scale {
  first: bigint; // ns since the epoch
  last: bigint;
  low: number; // ns
  high: number;
  x: (time: string) => number; // 0 to 1, from the left
  y: (duration: number) => number; // 0 to 1, from the top; logarithmic
  timeAt: (x: number) => bigint;
  durationAt: (y: number) => number;
}

export function scaleOf(first: bigint, last: bigint, low: number, high: number): Scale {
  const span = Number(last - first) || 1;
  const size = Math.log(high / low) || 1;
  return {
    first,
    last: last > first ? last : first + 1n,
    low,
    high,
    x: (time) => Number(BigInt(time) - first) / span,
    y: (duration) => 1 - Math.log(Math.max(1, duration) / low) / size,
    timeAt: (x) => first + BigInt(Math.round(x * span)),
    durationAt: (y) => low * Math.exp((1 - y) * size),
  };
}

interface Timed {
  time: string;
  duration: number;
}

export function durationScale(traces: Timed[]): Scale {
  const times = traces.map((trace) => BigInt(trace.time));
  const durations = traces.map((trace) => Math.max(1, trace.duration));
  const first = times.reduce((a, b) => (b < a ? b : a), times[0] ?? 0n);
  const last = times.reduce((a, b) => (b > a ? b : a), first);
  const low = durations.reduce((a, b) => Math.min(a, b), Infinity) * 0.9;
  const high = durations.reduce((a, b) => Math.max(a, b), 1) * 1.1;
  return scaleOf(first, last, low, high);
}

// The trace whose dot is nearest to a place in an area of some pixels, within `near` pixels; -1: none.
export function nearestTrace(
  traces: Timed[],
  scale: Scale,
  spot: { x: number; y: number; width: number; height: number },
  near: number,
): number {
  let best = -1;
  let least = near * near;
  traces.forEach((trace, i) => {
    const x = (scale.x(trace.time) - spot.x) * spot.width;
    const y = (scale.y(trace.duration) - spot.y) * spot.height;
    if (x * x + y * y > least) return;
    least = x * x + y * y;
    best = i;
  });
  return best;
}

// 1, 2 and 5 of each power of ten between two durations; of many powers, 1 alone.
export function roundDurations(low: number, high: number): number[] {
  const factors = high / low > 1e4 ? [1] : [1, 2, 5];
  const list: number[] = [];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10)
    for (const factor of factors)
      if (power * factor >= low && power * factor <= high) list.push(power * factor);
  return list;
}

const DURATIONS = /\s*\bduration\s*[<>]=\s*[^\s()]+/g;

const print = (ns: number) => `${Math.round(ns)}ns`;

// The query limited to the times and durations of a rectangle, instead of an earlier one.
export function rectangleQuery(
  query: string,
  scale: Scale,
  a: { x: number; y: number },
  b: { x: number; y: number },
): string {
  const rest = query.replace(DURATIONS, "").trim();
  const shortest = scale.durationAt(Math.max(a.y, b.y));
  const longest = scale.durationAt(Math.min(a.y, b.y));
  return withTimes(
    `${rest} duration >= ${print(shortest)} duration <= ${print(longest)}`.trim(),
    scale.timeAt(Math.min(a.x, b.x)),
    scale.timeAt(Math.max(a.x, b.x)),
  );
}
