// The geometry of plots.

// Powers of ten from `low` to `high`, at most six of them; both ends of a range without one.
export function decades(low: number, high: number): number[] {
  const first = Math.ceil(Math.log10(low));
  const last = Math.floor(Math.log10(high));
  if (last < first) return [low, high];
  const step = Math.max(1, Math.ceil((last - first + 1) / 6));
  const list: number[] = [];
  for (let power = first; power <= last; power += step) list.push(10 ** power);
  return list;
}

export interface Point {
  profile: number;
  value: number;
  at: number; // from the left
}

// The threads that have a value, by number or by value.
export function threadPoints(
  threads: [number, number][],
  isSorted: boolean,
): { points: Point[]; most: number; last: number } {
  const list = [...threads].sort((a, b) => (isSorted ? a[1] - b[1] || a[0] - b[0] : a[0] - b[0]));
  const from = list[0]?.[0] ?? 0;
  const points = list.map(([profile, value], i) => ({
    profile,
    value,
    at: isSorted ? i : profile - from,
  }));
  return {
    points,
    most: points.reduce((most, point) => Math.max(most, point.value), 0),
    last: points[points.length - 1]?.at ?? 0,
  };
}

// The index of the nearest of ascending positions; -1: there are none.
export function nearest(positions: number[], at: number): number {
  let found = -1;
  positions.forEach((position, i) => {
    if (found < 0 || Math.abs(position - at) < Math.abs((positions[found] ?? 0) - at)) found = i;
  });
  return found;
}
