// The critical path on the tracks: which threads what was waited for was in, as bars below their
// calls, and steps from one to the next.

import { useMemo } from "preact/hooks";
import type { WaitKind, WaitPath } from "../../generated/answers";
import type { Range } from "../shared/range";
import { useAnswer } from "../shared/use_answer";
import type { Shown } from "./geometry";
import { topInWindow } from "./tracks";
import type { Selection } from "./track_draw";

export interface PathBar extends Range {
  profile: number;
  kind: WaitKind;
  parts: number;
}

export const parseBars = ({ bars }: WaitPath): PathBar[] =>
  bars.map(([begin, end, profile, kind, parts]) => ({ begin, end, profile, kind, parts }));

// What the path explains: the selection, or all of the time.
export const explained = (selection: Selection | null) =>
  selection
    ? {
        begin: Math.floor(selection.begin),
        end: Math.ceil(selection.end),
        thread: selection.threads,
      }
    : {};

const NONE: PathBar[] = [];

// The bars in a time; none without a path to ask.
export function useCriticalPath(
  path: string | null,
  selection: Selection | null,
  range: Range,
  columns: number,
): PathBar[] {
  const { value } = useAnswer<WaitPath>(path && `${path}/critical-path`, {
    ...explained(selection),
    from: Math.max(0, Math.floor(range.begin)),
    to: Math.ceil(range.end),
    columns: Math.min(4000, columns),
  });
  return useMemo(() => (path && value ? parseBars(value) : NONE), [path, value]);
}

export interface PathLine {
  bar: PathBar;
  x: number; // pixels, from the labels on
  end: number;
  y: number;
}

export interface PathStep {
  x: number;
  from: number; // pixels from the top
  to: number;
}

export interface DrawnPath {
  lines: PathLine[];
  steps: PathStep[];
}

const FROM_BELOW = 2; // pixels: from the lower end of a track
const STEPS_MAX = 500; // more are a grey field

// Where the bars lie in the window of the tracks; those of threads without a track are left out.
export function drawnPath(bars: PathBar[], shown: Shown): DrawnPath {
  if (bars.length === 0) return { lines: [], steps: [] };
  const { layout, scrolled, range, width } = shown;
  const heights = new Map<number, number>();
  for (const track of layout.tracks) {
    const below = topInWindow(layout, track, scrolled) + track.height - FROM_BELOW;
    if (track.kind === "group" && track.isShut)
      for (const profile of track.profiles) heights.set(profile, below);
    if (track.kind === "thread" && !heights.has(track.thread.profile))
      heights.set(track.thread.profile, below);
  }
  const xOf = (time: number) => ((time - range.begin) / (range.end - range.begin)) * width;
  const lines = bars.flatMap((bar) => {
    const y = heights.get(bar.profile);
    const [x, end] = [Math.max(0, xOf(bar.begin)), Math.min(width, xOf(bar.end))];
    return y === undefined || end < 0 || x > width
      ? []
      : [{ bar, x, end: Math.max(end, x + 1), y }];
  });
  return { lines, steps: stepsOf(lines) };
}

// From a thread to the one that went on at the end of its bar.
function stepsOf(lines: PathLine[]): PathStep[] {
  const ends = new Map(lines.map((line) => [line.bar.end, line]));
  const steps = lines.flatMap((line) => {
    const before = ends.get(line.bar.begin);
    return before && before.bar.profile !== line.bar.profile
      ? [{ x: line.x, from: before.y, to: line.y }]
      : [];
  });
  return steps.length <= STEPS_MAX ? steps : [];
}
