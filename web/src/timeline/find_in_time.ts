// A search beyond the time that is loaded: the engine says whether a range of time has a match, and halves are asked
// until one is short enough to look at.

import type { Range } from "../shared/range";

export type HasMatch = (range: Range) => Promise<boolean>;

// The first such range in `within`, or the last one where `by` is negative; null: there is no match.
export async function findInTime(
  has: HasMatch,
  within: Range,
  by: number,
  enough: number,
): Promise<Range | null> {
  let { begin, end } = within;
  if (end <= begin || !(await has({ begin, end }))) return null;
  while (end - begin > Math.max(1, enough)) {
    const middle = Math.floor((begin + end) / 2);
    const near = by > 0 ? { begin, end: middle } : { begin: middle, end };
    // A match that both halves share, or that only the whole shows, is in the half that is left.
    if (await has(near)) ({ begin, end } = near);
    else if (by > 0) begin = middle;
    else end = middle;
  }
  return { begin, end };
}
