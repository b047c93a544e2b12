// The durations of matching traces over time. A drag limits the query to the times and durations of
// the rectangle; a click on a dot, or Enter at the selected one, opens its trace.

import { useMemo, useState } from "preact/hooks";
import { countOf, formatNs } from "../shared/format";
import { useLive } from "./live";
import { clockMarks } from "./query_text";
import {
  durationScale,
  nearestTrace,
  rectangleQuery,
  roundDurations,
  type Scale,
} from "./scatter_model";
import { printTime } from "./store_results";
import { go, type State } from "../shared/state";
import type { TraceList, TraceRow } from "../../generated/answers";
import { openTrace } from "./trace_model";
import { useAnswer } from "../shared/use_answer";

interface Props {
  path: string;
  state: State;
}

interface Spot {
  x: number; // 0 to 1
  y: number;
  width: number; // of the area, in pixels
  height: number;
}

const PAGE = 1000;
const MARKS = 5; // of the time
const CLICK = 3; // pixels that are no drag
const NEAR = 8; // pixels around a dot

function spotOf(event: PointerEvent): Spot {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  const inside = (value: number) => Math.min(1, Math.max(0, value));
  return {
    x: inside((event.clientX - box.left) / box.width),
    y: inside((event.clientY - box.top) / box.height),
    width: box.width,
    height: box.height,
  };
}

const isDrag = (a: Spot, b: Spot) =>
  Math.abs(a.x - b.x) * b.width > CLICK || Math.abs(a.y - b.y) * b.height > CLICK;

function usePage(props: Props, turn: number, index: number, isWanted: boolean) {
  return useAnswer<TraceList>(
    isWanted ? `${props.path}/traces` : null,
    { q: props.state.q ?? "", sort: "duration", offset: index * PAGE, limit: PAGE },
    undefined,
    turn,
  );
}

// The longest traces: a first page, then up to four more.
function useLongest(props: Props) {
  const turn = useLive(props.state);
  const first = usePage(props, turn, 0, true);
  const count = first.value?.count ?? 0;
  const second = usePage(props, turn, 1, count > PAGE);
  const third = usePage(props, turn, 2, count > 2 * PAGE && second.value !== null);
  const fourth = usePage(props, turn, 3, count > 3 * PAGE && third.value !== null);
  const fifth = usePage(props, turn, 4, count > 4 * PAGE && fourth.value !== null);
  const lists = [first, second, third, fourth, fifth]
    .slice(0, Math.ceil(count / PAGE))
    .map(({ value }) => value?.traces);
  // By time, for the keyboard.
  const traces = useMemo(() => {
    const all = lists.flatMap((list) => list ?? []);
    return all.sort((a, b) => (BigInt(a.time) < BigInt(b.time) ? -1 : 1));
  }, lists);
  return { traces, count, isLoaded: first.value !== null, error: first.error };
}

function describe(trace: TraceRow): string {
  const errors = trace.errors > 0 ? `, ${countOf(trace.errors, "error")}` : "";
  return `${trace.method ?? "?"}: ${formatNs(trace.duration)}, ${countOf(trace.spans, "span")}${errors}, ${printTime(trace.time)}`;
}

export function Scatter(props: Props) {
  const query = props.state.q ?? "";
  const { traces, count, isLoaded, error } = useLongest(props);
  const [from, setFrom] = useState<Spot | null>(null);
  const [to, setTo] = useState<Spot | null>(null);
  const [at, setAt] = useState(-1);
  const scale = useMemo(() => durationScale(traces), [traces]);
  const dots = useMemo(() => <Dots traces={traces} scale={scale} />, [scale]);
  if (!isLoaded) return <p class="status">{error ?? "loading…"}</p>;
  if (traces.length === 0) return <p class="status">no matches</p>;
  const near = (spot: Spot) => nearestTrace(traces, scale, spot, NEAR);
  const end = (event: PointerEvent) => {
    const last = spotOf(event);
    if (from && isDrag(from, last))
      go({ q: rectangleQuery(query, scale, from, last), top: "", row: "" });
    else openTrace(traces[near(last)]);
    setFrom(null);
    setTo(null);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by !== 0) setAt(Math.min(traces.length - 1, Math.max(0, at + by)));
    else if (event.key === "Enter") openTrace(traces[at]);
    else if (event.key === "Escape" && at >= 0) setAt(-1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const shown = traces[at];
  return (
    <figure class="scatter">
      <figcaption class="status" aria-live="polite">
        {shown
          ? describe(shown)
          : `${count > traces.length ? `the ${traces.length.toLocaleString("en-US")} longest of ` : ""}${countOf(count, "trace")}; drag to select times and durations, click to open`}
      </figcaption>
      <div class="scatter-plot">
        {roundDurations(scale.low, scale.high).map((ns) => (
          <span key={ns} class="mark" style={{ top: `${scale.y(ns) * 100}%` }}>
            {formatNs(ns)}
          </span>
        ))}
        <div
          class={at >= 0 ? "scatter-area pointing" : "scatter-area"}
          tabIndex={0}
          role="application"
          aria-label={`durations of ${countOf(traces.length, "trace")} over time; drag to select, or arrows and Enter to open one`}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            setFrom(spotOf(event));
          }}
          onPointerMove={(event) => {
            const spot = spotOf(event);
            if (from && isDrag(from, spot)) setTo(spot);
            setAt(from ? -1 : near(spot));
          }}
          onPointerLeave={() => setAt(-1)}
          onPointerUp={end}
          onPointerCancel={() => {
            setFrom(null);
            setTo(null);
          }}
          onKeyDown={onKeyDown}
        >
          <svg aria-hidden="true">
            {dots}
            {shown && (
              <circle
                class="dot-ring"
                cx={`${scale.x(shown.time) * 100}%`}
                cy={`${scale.y(shown.duration) * 100}%`}
                r={7}
              />
            )}
          </svg>
          {from && to && (
            <i
              class="brush"
              style={{
                left: `${Math.min(from.x, to.x) * 100}%`,
                width: `${Math.abs(to.x - from.x) * 100}%`,
                top: `${Math.min(from.y, to.y) * 100}%`,
                height: `${Math.abs(to.y - from.y) * 100}%`,
              }}
            />
          )}
        </div>
      </div>
      <div class="scatter-axis">
        {clockMarks(scale.timeAt(0), scale.timeAt(1), MARKS).map((text, i) => (
          <span key={i}>{text}</span>
        ))}
      </div>
    </figure>
  );
}

// Failed traces are squares, and above the others.
function Dots(props: { traces: TraceRow[]; scale: Scale }) {
  const { scale } = props;
  const place = (trace: TraceRow): [string, string] => [
    `${(scale.x(trace.time) * 100).toFixed(2)}%`,
    `${(scale.y(trace.duration) * 100).toFixed(2)}%`,
  ];
  return (
    <>
      {props.traces
        .filter((trace) => trace.errors === 0)
        .map((trace) => {
          const [x, y] = place(trace);
          return <circle key={trace.key} class="dot" cx={x} cy={y} r={4} />;
        })}
      {props.traces
        .filter((trace) => trace.errors > 0)
        .map((trace) => {
          const [x, y] = place(trace);
          return (
            <rect
              key={trace.key}
              class="dot failed"
              x={x}
              y={y}
              width={8}
              height={8}
              transform="translate(-4 -4)"
            />
          );
        })}
    </>
  );
}
