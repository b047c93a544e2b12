// Flows from call to call: which ones are there, where they lie on the tracks, and which of them
// belong to the call at the cursor.

import { formatNs } from "../shared/format";
import type { Range } from "../shared/range";
import type { Flows, Thread } from "../../generated/answers";
import { timesOf, type Shown } from "./geometry";
import type { NestedFrame } from "./nested";
import type { Cursor } from "./track_draw";
import { topInWindow } from "./tracks";

export interface FlowEnd {
  profile: number;
  time: number;
  call: string | null; // the innermost function there; null: unknown, or none
}

export interface Flow {
  from: FlowEnd;
  to: FlowEnd;
  name: string; // "": it has none
}

export const FEW = 60; // flows that are all drawn; of more, only those at the cursor
const NEAR = 4; // pixels from the cursor to an end outside of calls
const AT_CURSOR_MAX = 20;

export const parseFlows = (answer: Flows): Flow[] =>
  answer.flows.map(([from, begin, caller, to, end, callee, name]) => ({
    from: { profile: from, time: begin, call: caller },
    to: { profile: to, time: end, call: callee },
    name,
  }));

// A thread begins where another one started it.
export const startsOf = (threads: Thread[]): Flow[] =>
  threads.flatMap(({ profile, creator, start }) =>
    creator !== undefined && start !== undefined
      ? [
          {
            from: { profile: creator, time: start, call: null },
            to: { profile, time: start, call: null },
            name: "start of a thread",
          },
        ]
      : [],
  );

// The innermost call at a time of a thread, to the column; null where there is none.
export function callAt(frame: NestedFrame | null, { profile, time }: Cursor): Range | null {
  if (!frame) return null;
  const column = ((time - frame.begin) / (frame.end - frame.begin)) * frame.columns;
  let best: Range | null = null;
  let deepest = 0;
  for (const box of frame.rows.get(profile)?.boxes ?? []) {
    if (box.depth <= deepest || column < box.begin || column >= box.end) continue;
    deepest = box.depth;
    best = timesOf(frame, box);
  }
  return best;
}

// The time in which the ends of flows belong to the cursor: that of its call, and a little around.
export function reachOf(shown: Shown, cursor: Cursor): Range {
  const { frame, range, width } = shown;
  const near = (NEAR * (range.end - range.begin)) / width;
  const call = callAt(frame, cursor);
  return call
    ? {
        begin: call.begin - (frame ? (frame.end - frame.begin) / frame.columns : 0),
        end: call.end,
      }
    : { begin: cursor.time - near, end: cursor.time + near };
}

const isIn = (end: FlowEnd, profile: number, reach: Range): boolean =>
  end.profile === profile && end.time >= reach.begin && end.time <= reach.end;

// The flows of the call at the cursor, those nearest to it first.
export function flowsAt(flows: Flow[], cursor: Cursor, reach: Range): Flow[] {
  const distance = (flow: Flow) =>
    Math.min(
      ...[flow.from, flow.to]
        .filter((end) => isIn(end, cursor.profile, reach))
        .map((end) => Math.abs(end.time - cursor.time)),
    );
  return flows
    .filter(({ from, to }) => isIn(from, cursor.profile, reach) || isIn(to, cursor.profile, reach))
    .sort((a, b) => distance(a) - distance(b))
    .slice(0, AT_CURSOR_MAX);
}

// The other end of the nearest flow that leads away from the call at the cursor, or with -1 of the
// one that leads to it.
export function along(flows: Flow[], cursor: Cursor, reach: Range, by: number): FlowEnd | null {
  const found = flowsAt(flows, cursor, reach).find((flow) =>
    isIn(by > 0 ? flow.from : flow.to, cursor.profile, reach),
  );
  return found ? (by > 0 ? found.to : found.from) : null;
}

// Both ends of a flow in words; `labelOf` names threads.
export function describe({ from, to, name }: Flow, labelOf: (profile: number) => string): string {
  const ends = [from, to].map(
    ({ call, profile }) => `${call ? `${call} on ` : ""}${labelOf(profile)}`,
  );
  return `${name ? `${name}: ` : ""}${ends.join(" → ")}, ${gapOf(from, to)}`;
}

export const gapOf = (from: FlowEnd, to: FlowEnd): string =>
  formatNs(Math.abs(to.time - from.time)) + (to.time < from.time ? " before" : "");

export interface Curve {
  flow: Flow;
  from: { x: number; y: number };
  to: { x: number; y: number };
  bend: number; // pixels: how far the curve leaves and arrives horizontally
}

// The depth of the call at an end, or of the innermost one there; 0: none.
function depthAt(frame: NestedFrame, { profile, time, call }: FlowEnd): number {
  const runs = frame.rows.get(profile)?.runs ?? [];
  const column = ((time - frame.begin) / (frame.end - frame.begin)) * frame.columns;
  let [low, high] = [0, runs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((runs[middle]?.end ?? 0) <= column) low = middle + 1;
    else high = middle;
  }
  const path = runs[low]?.path ?? [];
  const found = call === null ? -1 : path.lastIndexOf(call);
  return found >= 0 ? found : Math.max(0, path.length - 1);
}

// Where flows lie in the window of the tracks, from the labels on; those that are outside of it, or
// whose threads have no track, are left out.
export function curvesOf(flows: Flow[], shown: Shown): Curve[] {
  if (!shown.frame || flows.length === 0) return [];
  const { layout, scrolled, frame, range, width, sizes } = shown;
  const heights = new Map<number, (end: FlowEnd) => number>();
  for (const track of layout.tracks) {
    const top = topInWindow(layout, track, scrolled);
    if (track.kind === "group" && track.isShut)
      for (const profile of track.profiles) heights.set(profile, () => top + track.height / 2);
    if (track.kind !== "thread" || heights.has(track.thread.profile)) continue;
    const below = top + 2 + sizes.states;
    const room = track.height - sizes.states - 4;
    heights.set(track.thread.profile, (end) =>
      track.isOpen
        ? below + Math.min((Math.max(1, depthAt(frame, end)) - 0.5) * sizes.level, room)
        : below + room / 2,
    );
  }
  const xOf = (time: number) => ((time - range.begin) / (range.end - range.begin)) * width;
  return flows.flatMap((flow) => {
    const [from, to] = [heights.get(flow.from.profile), heights.get(flow.to.profile)];
    if (!from || !to) return [];
    const [left, right] = [xOf(flow.from.time), xOf(flow.to.time)];
    if (Math.max(left, right) < 0 || Math.min(left, right) > width) return [];
    return [
      {
        flow,
        from: { x: left, y: from(flow.from) },
        to: { x: right, y: to(flow.to) },
        bend: Math.min(80, Math.max(14, Math.abs(right - left) / 2)),
      },
    ];
  });
}

const HEAD = 5; // pixels of the head of an arrow

// The curve, then its head, as paths of SVG.
export const linePath = ({ from, to, bend }: Curve): string =>
  `M${from.x.toFixed(1)} ${from.y.toFixed(1)}C${(from.x + bend).toFixed(1)} ${from.y.toFixed(1)} ${(to.x - bend).toFixed(1)} ${to.y.toFixed(1)} ${to.x.toFixed(1)} ${to.y.toFixed(1)}`;
export const headPath = ({ to }: Curve): string =>
  `M${to.x.toFixed(1)} ${to.y.toFixed(1)}l${-HEAD - 2} ${-HEAD + 1}v${2 * HEAD - 2}z`;
