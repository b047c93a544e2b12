// An answer of the server about whole stacks over time, as boxes of nested calls.

import type { NestedAnswer } from "../shared/types";

export const LEVEL_MAX = 48; // of calls that are drawn; deeper ones are in the panel

// A call, in columns of the frame. Depth 0 is the entry point.
export interface Box {
  depth: number;
  begin: number;
  end: number;
  name: string;
}

// Waiting, "no data", or a stack.
export interface Run {
  begin: number;
  end: number;
  path: string[] | null; // names from the entry point down; null: waiting or no data
  isWaiting: boolean;
  share: number; // 0 to 1, of the columns
}

export type StateName = "running" | "waiting" | "blocked" | "pre-empted" | "no data";

export interface StateRun {
  begin: number;
  end: number;
  name: StateName;
}

export interface NestedRow {
  profile: number;
  label: string;
  runs: Run[];
  boxes: Box[]; // callers first
  states: StateRun[]; // "waiting" where the kind is unknown
  levels: number; // of boxes, without the entry point
}

export interface NestedFrame {
  begin: number; // ns
  end: number;
  columns: number;
  threadCount: number;
  isPending: boolean;
  isEstimate: boolean;
  rows: Map<number, NestedRow>; // by profile
  functions: [string, number][]; // self ns, longest first
  others: [number, number];
  waiting: number; // ns
}

// The frames from the entry point down to each frame, as far as they are drawn.
function paths(answer: NestedAnswer): Map<number, number[]> {
  const known = new Map<number, number[]>();
  for (const [frame, caller] of answer.frames) {
    const above = caller === null ? [] : (known.get(caller) ?? []);
    known.set(frame, above.length > LEVEL_MAX ? above : [...above, frame]);
  }
  return known;
}

// Calls that are open before and after waiting were open all the time.
function boxesOf(
  runs: [number, number | null, number, number][],
  idle: number,
  pathOf: Map<number, number[]>,
  nameOf: (frame: number) => string,
): Box[] {
  const boxes: Box[] = [];
  const open: { frame: number; box: Box }[] = [];
  let at = 0;
  let heldFrom = -1; // since when the thread waits
  const close = (depth: number, end: number) => {
    for (const { box } of open.splice(depth)) box.end = end;
  };
  for (const [count, frame] of runs) {
    const path = frame === null || frame === idle ? null : (pathOf.get(frame) ?? []);
    if (frame === idle) {
      if (heldFrom < 0) heldFrom = at;
    } else {
      let same = 0;
      while (path && same < open.length && open[same]?.frame === path[same]) same++;
      close(same, heldFrom >= 0 ? heldFrom : at);
      for (let depth = same; path && depth < path.length; depth++) {
        const box = { depth, begin: at, end: at, name: nameOf(path[depth] as number) };
        boxes.push(box);
        open.push({ frame: path[depth] as number, box });
      }
      heldFrom = -1;
    }
    at += count;
  }
  close(0, heldFrom >= 0 ? heldFrom : at);
  return boxes;
}

const STATES: StateName[] = ["running", "blocked", "pre-empted"];

function statesOf(
  runs: [number, number | null, number, number][],
  idle: number,
  known: [number, number | null][] | undefined,
): StateRun[] {
  const list: StateRun[] = [];
  const add = (count: number, name: StateName) => {
    const last = list[list.length - 1];
    if (last?.name === name) last.end += count;
    else list.push({ begin: last?.end ?? 0, end: (last?.end ?? 0) + count, name });
  };
  if (known)
    for (const [count, state] of known)
      add(count, state === null ? "no data" : (STATES[state] ?? "waiting"));
  else
    for (const [count, frame] of runs)
      add(count, frame === null ? "no data" : frame === idle ? "waiting" : "running");
  return list;
}

type AnswerRun = [number, number | null, number, number];

// Calls that are open around waiting at the ends of the frame, as runs without a width.
function withHeld(runs: AnswerRun[], held: [number | null, number | null] | undefined) {
  const [first = null, last = null] = held ?? [];
  const empty = (frame: number | null): AnswerRun[] => (frame === null ? [] : [[0, frame, 0, 0]]);
  return [...empty(first), ...runs, ...empty(last)];
}

export function parseNested(answer: NestedAnswer): NestedFrame {
  const names = new Map(answer.names);
  const functionOf = new Map(answer.frames.map(([frame, , place]) => [frame, place]));
  const nameOf = (frame: number) => names.get(functionOf.get(frame) ?? -1) ?? "?";
  const pathOf = paths(answer);
  const namesOf = new Map<number, string[]>();
  for (const [frame, path] of pathOf) namesOf.set(frame, path.map(nameOf));
  const rows = answer.rows.map(({ profile, label, runs, held, states }): [number, NestedRow] => {
    let at = 0;
    const boxes = boxesOf(withHeld(runs, held), answer.idle, pathOf, nameOf).filter(
      (box) => box.end > box.begin,
    );
    return [
      profile,
      {
        profile,
        label,
        boxes,
        states: statesOf(runs, answer.idle, states),
        levels: boxes.reduce((most, box) => Math.max(most, box.depth), 0),
        runs: runs.map(([count, frame, share]) => ({
          begin: at,
          end: (at += count),
          path: frame === null || frame === answer.idle ? null : (namesOf.get(frame) ?? []),
          isWaiting: frame === answer.idle,
          share: share / 100,
        })),
      },
    ];
  });
  return {
    begin: answer.begin,
    end: answer.end,
    columns: answer.columns,
    threadCount: answer.threadCount,
    isPending: answer.isPending,
    isEstimate: answer.isEstimate,
    rows: new Map(rows),
    functions: answer.functions,
    others: answer.others,
    waiting: answer.waiting,
  };
}

// What a strip shows of a stack: the function at a depth, of shallower ones the innermost.
export function cut(path: string[], depth: number): string {
  return path[Math.min(depth, path.length - 1)] ?? "?";
}

// What a strip draws: a function, or waiting.
export interface StripRun {
  begin: number;
  end: number;
  name: string | null; // null: waiting
  share: number; // mean of the columns
}

const strips = new WeakMap<NestedRow, { depth: number; runs: StripRun[] }>();

// The strip of a row at a depth: neighbours that look alike are one. Cached, as every step of a
// movement draws it.
export function stripOf(row: NestedRow, depth: number): StripRun[] {
  const known = strips.get(row);
  if (known?.depth === depth) return known.runs;
  const runs: StripRun[] = [];
  for (const run of row.runs) {
    if (!run.path && !run.isWaiting) continue;
    const name = run.path ? cut(run.path, depth) : null;
    const last = runs[runs.length - 1];
    if (last?.name === name && last.end === run.begin) {
      const width = last.end - last.begin;
      last.share =
        (last.share * width + run.share * (run.end - run.begin)) / (width + run.end - run.begin);
      last.end = run.end;
    } else runs.push({ begin: run.begin, end: run.end, name, share: run.share });
  }
  strips.set(row, { depth, runs });
  return runs;
}

const TELLING = 0.9;

// The smallest depth at which threads show more than one function for more than a tenth of the
// time they run.
export function chooseDepth(frame: NestedFrame): number {
  let best = 1;
  let bestShare = 2;
  const deepest = Math.max(1, ...[...frame.rows.values()].map((row) => row.levels));
  for (let depth = 1; depth <= deepest && bestShare > TELLING; depth++) {
    let most = 0;
    let all = 0;
    for (const row of frame.rows.values()) {
      const sums = new Map<string, number>();
      for (const { path, begin, end } of row.runs) {
        if (!path) continue;
        const name = cut(path, depth);
        sums.set(name, (sums.get(name) ?? 0) + end - begin);
        all += end - begin;
      }
      most += Math.max(0, ...sums.values());
    }
    const share = all > 0 ? most / all : 1;
    if (share < bestShare) {
      bestShare = share;
      best = depth;
    }
  }
  return best;
}

const runningTimes = new WeakMap<NestedRow, { running: number; all: number }>();

function runningTime(row: NestedRow): { running: number; all: number } {
  const known = runningTimes.get(row);
  if (known) return known;
  const sum = { running: 0, all: 0 };
  for (const run of row.runs) {
    if (!run.path && !run.isWaiting) continue;
    sum.all += run.end - run.begin;
    sum.running += (run.end - run.begin) * (run.path ? 1 : 1 - run.share);
  }
  runningTimes.set(row, sum);
  return sum;
}

// The part of the loaded time with data in which threads run; null without data.
export function runningShare(rows: NestedRow[]): number | null {
  let running = 0;
  let all = 0;
  for (const row of rows) {
    const time = runningTime(row);
    running += time.running;
    all += time.all;
  }
  return all > 0 ? running / all : null;
}

const SEEN = 0.005; // of the columns: levels with less are thin
const THIN_MAX = 8; // thin levels below the others that a track has room for

const roomLevels = new WeakMap<NestedRow, number>();

// The levels of calls that a track has room for. One deep call that is hardly to be seen does not
// move all other threads out of the window; it has its room when it is zoomed to.
export function levelsWithRoom(row: NestedRow, columns: number): number {
  const known = roomLevels.get(row);
  if (known !== undefined) return known;
  const widths = new Array<number>(row.levels + 1).fill(0);
  for (const { depth, begin, end } of row.boxes) widths[depth] = (widths[depth] ?? 0) + end - begin;
  const thin = widths.findIndex((width, depth) => depth > 0 && width < SEEN * columns);
  const levels = thin < 0 ? row.levels : Math.min(row.levels, thin - 1 + THIN_MAX);
  roomLevels.set(row, levels);
  return levels;
}
