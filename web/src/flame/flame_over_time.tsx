// The calls of one thread in the order of time, as a flame graph: the nested calls of the timeline,
// zoomed by time.

import { useMemo } from "preact/hooks";
import { FlameView } from "./flame_view";
import type { ColorMode } from "./flame_colors";
import type { Box, DrawnFlame } from "./flame_layout";
import { lensParameters } from "../shared/filters";
import { chosenRange } from "../shared/chosen_range";
import { formatNs, formatPercent } from "../shared/format";
import type { ViewProps } from "../shared/page";
import { clampRange, type Range } from "../shared/range";
import { go, isOn } from "../shared/state";
import { TimeAxis } from "../shared/look/time_axis";
import type { FlameNode, Thread } from "../../generated/answers";
import type { NestedFrame } from "../timeline/nested";
import { compareNaturally, labelOf } from "../timeline/tracks";
import { useFrame, useThreads } from "../timeline/use_tracks";

const COLUMNS = 2000;
const NOTHING: Range = { begin: 0, end: 0 };

// Boxes at the times of their calls, as far as they are in the range.
export function flameOverTime(frame: NestedFrame, profile: number, range: Range): DrawnFlame {
  const nodes: FlameNode[] = [];
  const starts: number[] = [];
  const numbers = new Map<string, number>();
  const open: FlameNode[] = [];
  const columnNs = (frame.end - frame.begin) / frame.columns;
  for (const box of frame.rows.get(profile)?.boxes ?? []) {
    const begin = Math.max(range.begin, frame.begin + box.begin * columnNs);
    const end = Math.min(range.end, frame.begin + box.end * columnNs);
    if (begin >= end) continue;
    const name = numbers.get(box.name) ?? numbers.size;
    numbers.set(box.name, name);
    const seconds = (end - begin) / 1e9;
    const node: FlameNode = [box.depth, name, 0, seconds, seconds, `${box.depth}@${begin}`];
    const caller = open[box.depth - 1];
    if (caller) caller[4] = Math.max(0, (caller[4] ?? 0) - seconds);
    open[box.depth] = node;
    nodes.push(node);
    starts.push((begin - range.begin) / 1e9);
  }
  return {
    column: "time (s)",
    total: (range.end - range.begin) / 1e9,
    isCut: false,
    names: [...numbers.keys()],
    modules: [""],
    nodes,
    starts,
    pauses: pausesOf(frame, profile, range),
  };
}

// When a thread waits, in seconds from the begin of the range.
function pausesOf(frame: NestedFrame, profile: number, range: Range): [number, number][] {
  const columnNs = (frame.end - frame.begin) / frame.columns;
  const secondsAt = (column: number) =>
    Math.min(range.end - range.begin, frame.begin + column * columnNs - range.begin) / 1e9;
  return (frame.rows.get(profile)?.runs ?? [])
    .filter((run) => run.isWaiting)
    .map((run): [number, number] => [Math.max(0, secondsAt(run.begin)), secondsAt(run.end)])
    .filter(([begin, end]) => begin < end);
}

// How long a thread waits while a call is open.
export function waitingIn(flame: DrawnFlame, box: Pick<Box, "begin" | "value">): number {
  const end = box.begin + box.value;
  return (flame.pauses ?? []).reduce(
    (sum, pause) => sum + Math.max(0, Math.min(end, pause[1]) - Math.max(box.begin, pause[0])),
    0,
  );
}

// Threads with samples, in natural order.
export const listThreads = (threads: Thread[]): Thread[] =>
  threads.filter((thread) => thread.samples > 0).sort((a, b) => compareNaturally(a.label, b.label));

export function FlameOverTime(props: ViewProps & { color: ColorMode }) {
  const { state, info } = props;
  const bounds = chosenRange(state) ?? { begin: 0, end: info.duration };
  const range = clampRange(
    {
      begin: Math.max(bounds.begin, Number(state.from ?? bounds.begin)),
      end: Math.min(bounds.end, Number(state.to ?? bounds.end)),
    },
    info.duration,
  );
  const threads = useThreads(props.path, state.st ?? state.t ?? "");
  const listed = useMemo(() => listThreads(threads ?? []), [threads]);
  const thread = listed.find((one) => one.profile === Number(state.lane ?? 0)) ?? listed[0];
  const { frame, error } = useFrame(
    props.path,
    thread ? range : NOTHING,
    Math.min(COLUMNS, innerWidth),
    thread ? [thread.profile] : [],
    lensParameters(state),
  );
  const flame = useMemo(
    () => (frame && thread ? flameOverTime(frame, thread.profile, range) : null),
    [frame, thread?.profile, range.begin, range.end],
  );
  if (threads && !thread) return <p class="status">no thread of the selection has samples</p>;
  if (!thread || !flame || !frame?.rows.has(thread.profile))
    return <p class="status">{error ?? "loading…"}</p>;
  const short = labelOf(threads ?? []);
  const span = range.end - range.begin;
  const begins = (box: Box) => range.begin + box.begin * 1e9;
  const zoom = (id: string) => {
    const node = flame.nodes.findIndex((one) => one[5] === id);
    const begin = range.begin + (flame.starts?.[node] ?? 0) * 1e9;
    const end = begin + (flame.nodes[node]?.[3] ?? 0) * 1e9;
    go(
      node < 0
        ? { from: "", to: "" }
        : { from: String(Math.floor(begin)), to: String(Math.ceil(end)) },
    );
  };
  return (
    <div class="scroll">
      <div class="toolbar">
        <label>
          Thread{" "}
          <select
            aria-label="thread whose calls are shown"
            value={thread.profile}
            onChange={(event) => go({ lane: event.currentTarget.value })}
          >
            {listed.map((one) => (
              <option key={one.profile} value={one.profile}>
                {short(one.label)}
              </option>
            ))}
          </select>
        </label>
        <span class="status">
          {info.costTimes ? "recorded time " : ""}
          {formatNs(range.begin)} – {formatNs(range.end)}, {formatNs(span)}
          {frame.isEstimate ? " · zoomed out: dense parts are approximate" : ""}
        </span>
        {(state.from !== undefined || state.to !== undefined) && (
          <button onClick={() => zoom("")}>Reset zoom</button>
        )}
        <button onClick={() => go({ v: "timeline", first: String(thread.profile) })}>
          Timeline
        </button>
      </div>
      <TimeAxis begin={range.begin} span={span} />
      <FlameView
        flame={flame}
        search={state.q ?? ""}
        isInverted={isOn(state, "inv")}
        color={props.color}
        zoom=""
        onZoom={zoom}
        explain={(box) => [
          ["duration", formatNs(box.value * 1e9)],
          ["of the visible time", formatPercent(box.value, flame.total)],
          ["waiting, about", formatNs(waitingIn(flame, box) * 1e9)],
          ["begin", formatNs(begins(box))],
          ["end", formatNs(begins(box) + box.value * 1e9)],
        ]}
        saveAs={`${props.source.name}-flame-over-time`}
      />
    </div>
  );
}
