// An answer of the server about whole stacks over time, as boxes of nested calls.

import type { NestedTimeline, ThreadState } from "../../generated/answers";

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
  path: string[] | null; // names from the entry point down, as far as they are drawn; null: waiting or no data
  deeper: (() => Set<string>) | null; // names of the calls below those; null: there are none
  isWaiting: boolean;
}

// How much of the time the thread ran, 0 to 1.
export interface BusyRun {
  begin: number;
  end: number;
  share: number;
}

export interface StateRun {
  begin: number;
  end: number;
  name: ThreadState;
}

export interface NestedRow {
  profile: number;
  label: string;
  runs: Run[];
  busy: BusyRun[]; // of columns with data
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

// The stack of a frame from the entry point down, as far as it is drawn.
interface Stack {
  frames: number[];
  names: string[];
  deeper: (() => Set<string>) | null; // see Run
}

// Of the frames that are on top of some stack; those are far fewer than all.
function stacks(answer: NestedTimeline): (frame: number) => Stack {
  const names = new Map(answer.names);
  const callerOf = new Map<number, number | null>(); // callers are listed first
  const nameOf = new Map<number, string>();
  for (const [frame, caller, place] of answer.frames) {
    callerOf.set(frame, caller !== null && callerOf.has(caller) ? caller : null);
    nameOf.set(frame, names.get(place) ?? "?");
  }
  const known = new Map<number, Stack>();
  // Found when they are searched: recursions are deep, and have few names.
  const deeperNames = (frame: number, count: number) => {
    let found: Set<string> | undefined;
    return () => {
      if (found) return found;
      found = new Set();
      for (let at: number | null = frame, i = 0; at !== null && i < count; i++) {
        found.add(nameOf.get(at) ?? "?");
        at = callerOf.get(at) ?? null;
      }
      return found;
    };
  };
  return (frame) => {
    let stack = known.get(frame);
    if (stack) return stack;
    const frames: number[] = [];
    let at = callerOf.has(frame) ? frame : null;
    while (at !== null) {
      frames.push(at);
      at = callerOf.get(at) ?? null;
    }
    frames.reverse();
    const drawn = frames.slice(0, LEVEL_MAX + 1);
    stack = {
      frames: drawn,
      names: drawn.map((one) => nameOf.get(one) ?? "?"),
      deeper:
        frames.length > drawn.length ? deeperNames(frame, frames.length - drawn.length) : null,
    };
    known.set(frame, stack);
    return stack;
  };
}

// Calls that are open before and after waiting were open all the time; of a gap that is not known.
function boxesOf(
  runs: [number, number | null, number, number][],
  idle: number,
  stackOf: (frame: number) => Stack,
): { boxes: Box[]; levels: number } {
  const boxes: Box[] = [];
  const open: Box[] = [];
  let openFrames: number[] = [];
  let at = 0;
  let heldFrom = -1; // since when the thread waits
  const close = (depth: number, end: number) => {
    for (let i = depth; i < open.length; i++) (open[i] as Box).end = end;
    open.length = depth;
  };
  for (const run of runs) {
    const frame = run[1];
    if (frame === idle) {
      if (heldFrom < 0) heldFrom = at;
    } else {
      const stack = frame === null ? null : stackOf(frame);
      const frames = stack?.frames ?? [];
      let same = 0;
      while (same < open.length && same < frames.length && openFrames[same] === frames[same])
        same++;
      close(same, heldFrom >= 0 ? heldFrom : at);
      for (let depth = same; depth < frames.length; depth++) {
        const box = { depth, begin: at, end: at, name: stack?.names[depth] as string };
        boxes.push(box);
        open.push(box);
      }
      openFrames = frames;
      heldFrom = -1;
    }
    at += run[0];
  }
  close(0, heldFrom >= 0 ? heldFrom : at);
  let levels = 0;
  const wide = boxes.filter((box) => box.end > box.begin);
  for (const box of wide) levels = Math.max(levels, box.depth);
  return { boxes: wide, levels };
}

const STATES: ThreadState[] = ["running", "blocked", "pre-empted"];

function statesOf(
  runs: [number, number | null, number, number][],
  { idle, hasGaps }: NestedTimeline,
  known: [number, number | null][] | undefined,
): StateRun[] {
  const list: StateRun[] = [];
  const add = (count: number, name: ThreadState) => {
    const last = list[list.length - 1];
    if (last?.name === name) last.end += count;
    else list.push({ begin: last?.end ?? 0, end: (last?.end ?? 0) + count, name });
  };
  if (known)
    for (const [count, state] of known)
      add(count, state === null ? "no data" : (STATES[state] ?? "waiting"));
  else
    for (const [count, frame] of runs)
      add(
        count,
        frame === null || (hasGaps && frame === idle)
          ? "no data"
          : frame === idle
            ? "waiting"
            : "running",
      );
  return list;
}

type AnswerRun = [number, number | null, number, number];

const BUSY_MAX = 15; // of a hexadecimal digit

function busyOf(runs: AnswerRun[], idle: number, digits: string | undefined): BusyRun[] {
  const list: BusyRun[] = [];
  const add = (begin: number, end: number, share: number) => {
    const last = list[list.length - 1];
    if (last?.end === begin && last.share === share) last.end = end;
    else list.push({ begin, end, share });
  };
  let at = 0;
  for (const [count, frame] of runs) {
    if (frame !== null && !digits) add(at, at + count, frame === idle ? 0 : 1);
    else if (frame !== null && digits)
      for (let i = at; i < at + count; i++)
        add(i, i + 1, parseInt(digits[i] ?? "0", 16) / BUSY_MAX);
    at += count;
  }
  return list;
}

// Long waits as runs of the calls in which they are.
function withWaits(runs: AnswerRun[], idle: number, waits: [number, number, number][] = []) {
  const list: AnswerRun[] = [];
  let at = 0;
  for (const run of runs) {
    const end = at + run[0];
    for (const [first, last, frame] of run[1] === idle ? waits : []) {
      if (first >= end || last <= at) continue;
      if (first > at) list.push([first - at, idle, 0, 0]);
      list.push([Math.min(last, end) - Math.max(first, at), frame, 0, 0]);
      at = Math.min(last, end);
    }
    if (at < end) list.push([end - at, run[1], run[2], run[3]]);
    at = end;
  }
  return list;
}

// Calls that are open around waiting at the ends of the frame, as runs without a width.
function withHeld(runs: AnswerRun[], held: [number | null, number | null] | undefined) {
  const [first = null, last = null] = held ?? [];
  const empty = (frame: number | null): AnswerRun[] => (frame === null ? [] : [[0, frame, 0, 0]]);
  return [...empty(first), ...runs, ...empty(last)];
}

const BRIDGED = 6; // columns

// Where nothing is known of waiting, it is a gap: there are no samples. One that is hardly to be seen does not
// divide the calls around it.
const withGaps = (runs: AnswerRun[], { idle, hasGaps }: NestedTimeline): AnswerRun[] =>
  hasGaps
    ? runs.map((run) => (run[1] === idle && run[0] > BRIDGED ? [run[0], null, 0, 0] : run))
    : runs;

export function parseNested(answer: NestedTimeline): NestedFrame {
  const stackOf = stacks(answer);
  const rows = answer.rows.map(
    ({ profile, label, runs: all, busy, held, waits, states }): [number, NestedRow] => {
      const runs = withGaps(all, answer);
      let at = 0;
      return [
        profile,
        {
          profile,
          label,
          ...boxesOf(withHeld(withWaits(runs, answer.idle, waits), held), answer.idle, stackOf),
          states: statesOf(runs, answer, states),
          busy: busyOf(runs, answer.idle, busy),
          runs: runs.map(([count, frame]) => {
            const isWaiting = frame === answer.idle;
            return {
              begin: at,
              end: (at += count),
              path: frame === null || isWaiting ? null : stackOf(frame).names,
              deeper: frame === null || isWaiting ? null : stackOf(frame).deeper,
              isWaiting,
            };
          }),
        },
      ];
    },
  );
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
    waiting: answer.hasGaps ? 0 : answer.waiting,
  };
}

export const hasSameColumns = (a: NestedFrame, b: NestedFrame): boolean =>
  a.begin === b.begin && a.end === b.end && a.columns === b.columns;

const isSameList = <T>(a: T[], b: T[], isSame: (a: T, b: T) => boolean): boolean =>
  a.length === b.length && a.every((item, i) => isSame(item, b[i] as T));

// True if two rows of the same columns look the same.
export const isSameRow = (a: NestedRow, b: NestedRow): boolean =>
  isSameList(a.runs, b.runs, (x, y) => x.end === y.end && x.isWaiting === y.isWaiting) &&
  isSameList(a.busy, b.busy, (x, y) => x.end === y.end && x.share === y.share) &&
  isSameList(
    a.boxes,
    b.boxes,
    (x, y) => x.begin === y.begin && x.end === y.end && x.depth === y.depth && x.name === y.name,
  ) &&
  isSameList(a.states, b.states, (x, y) => x.end === y.end && x.name === y.name);

const IN_GPU = /^<gpu /;

// What a strip shows of a stack: the function at a depth, of shallower ones and of GPU work the innermost.
export function cut(path: string[], depth: number): string {
  if (path.slice(-2).some((name) => IN_GPU.test(name))) return path[path.length - 1] ?? "?";
  return path[Math.min(depth, path.length - 1)] ?? "?";
}

// What a strip draws: a function, or waiting.
export interface StripRun {
  begin: number;
  end: number;
  name: string | null; // null: waiting
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
    if (last?.name === name && last.end === run.begin) last.end = run.end;
    else runs.push({ begin: run.begin, end: run.end, name });
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

const SEEN = 0.005; // of the columns: levels with less are thin
const SEEN_OF_OUTER = 0.05; // of the outermost calls: the same
const THIN_MAX = 4; // thin levels below the others that a track has room for

const roomLevels = new WeakMap<NestedRow, number>();

// The levels of calls that a track has room for. One deep call that is hardly to be seen does not
// move all other threads out of the window; it has its room when it is zoomed to.
export function levelsWithRoom(row: NestedRow, columns: number): number {
  const known = roomLevels.get(row);
  if (known !== undefined) return known;
  const widths = new Array<number>(row.levels + 1).fill(0);
  for (const { depth, begin, end } of row.boxes) widths[depth] = (widths[depth] ?? 0) + end - begin;
  const least = Math.max(SEEN * columns, SEEN_OF_OUTER * (widths[1] ?? 0));
  const thin = widths.findIndex((width, depth) => depth > 0 && width < least);
  const levels = thin < 0 ? row.levels : Math.min(row.levels, thin - 1 + THIN_MAX);
  roomLevels.set(row, levels);
  return levels;
}
