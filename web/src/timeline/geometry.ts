// From points of the window to times, threads and calls, and back.

import type { Range } from "../shared/range";
import type { Box, NestedFrame, NestedRow } from "./nested";
import { printNumbers } from "./thread_numbers";
import type { Cursor, Sizes } from "./track_draw";
import { topInWindow, trackAt, type Layout } from "./tracks";

export interface Shown {
  layout: Layout;
  scrolled: number;
  frame: NestedFrame | null;
  range: Range;
  width: number; // without labels
  sizes: Pick<Sizes, "label" | "states" | "level">;
  depth: number; // of strips
}

export const timeAt = ({ range, width, sizes }: Shown, x: number): number =>
  range.begin + ((x - sizes.label) / width) * (range.end - range.begin);

// When a call begins and ends, to the column.
export function timesOf(frame: NestedFrame, box: Pick<Box, "begin" | "end">): Range {
  const column = (frame.end - frame.begin) / frame.columns;
  return { begin: frame.begin + box.begin * column, end: frame.begin + box.end * column };
}

// The call at a point; on a strip, the one that it shows.
export function boxAt(shown: Shown, x: number, y: number): Box | null {
  const { layout, scrolled, frame, sizes } = shown;
  const track = trackAt(layout, scrolled, y);
  if (!frame || track?.kind !== "thread") return null;
  const column = ((timeAt(shown, x) - frame.begin) / (frame.end - frame.begin)) * frame.columns;
  const top = topInWindow(layout, track, scrolled) + sizes.states + 2;
  const level = track.isOpen ? Math.floor((y - top) / sizes.level) + 1 : shown.depth;
  const found = (frame.rows.get(track.thread.profile)?.boxes ?? []).filter(
    (box) => column >= box.begin && column < box.end,
  );
  const exact = found.find((box) => box.depth === level);
  return exact ?? (track.isOpen ? null : (found[found.length - 1] ?? null));
}

// The numbers of the threads between two heights, with those of closed groups; "", all of them,
// from above the tracks on.
export function threadsBetween({ layout, scrolled }: Shown, from: number, to: number): string {
  if (from < 0) return "";
  const [low, high] = [Math.min(from, to), Math.max(from, to)];
  const crossed = layout.tracks.filter((track) => {
    const top = topInWindow(layout, track, scrolled);
    return top < high + 1 && top + track.height > low;
  });
  return printNumbers(
    crossed.flatMap((track) =>
      track.kind === "thread"
        ? [track.thread.profile]
        : track.kind === "group" && track.isShut
          ? track.profiles
          : [],
    ),
  );
}

// The calls of a row whose name matches: boxes, and times in which a call matches that is too deep to be drawn.
function* matchesOf(row: NestedRow, matches: (name: string) => boolean) {
  for (const box of row.boxes) if (matches(box.name)) yield box;
  for (const run of row.runs) if (run.deeper && [...run.deeper()].some(matches)) yield run;
}

// The next call after a time whose name matches, or with -1 the previous one, of those loaded.
export function nextMatch(
  frame: NestedFrame,
  matches: (name: string) => boolean,
  from: number,
  by: number,
): Cursor | null {
  let best: Cursor | null = null;
  for (const row of frame.rows.values())
    for (const call of matchesOf(row, matches)) {
      const { begin, end } = timesOf(frame, call);
      const time = (begin + end) / 2;
      if ((time - from) * by <= 0 || (best && (time - best.time) * by >= 0)) continue;
      best = { time, profile: row.profile };
    }
  return best;
}

// Between two clicks, or from the first one to the cursor.
export function measuredRange(times: number[], cursor: Cursor | null): Range | null {
  if (times.length === 0) return null;
  const ends = times.length < 2 && cursor ? [...times, cursor.time] : times;
  return { begin: Math.min(...ends), end: Math.max(...ends) };
}
