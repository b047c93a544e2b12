// Up to 5,000 traces as dots. A drag limits the query to the times and durations of the rectangle; a
// click on a dot, or Enter at the selected one, opens its trace.

import { useMemo, useState } from "preact/hooks";
import { countOf, formatNs } from "../shared/format";
import { useIsNarrow } from "../shared/narrow";
import type { State } from "../shared/state";
import { useAnswer } from "../shared/use_answer";
import type { TraceList, TraceRow } from "../../generated/answers";
import { Brush } from "./durations_brush";
import { durationScale, nearestTrace, roundDurations, type Scale } from "./durations_model";
import { useLive } from "./live";
import { NoMatches } from "./no_matches";
import { PlotFrame } from "./plot_frame";
import { printTime } from "./query_text";
import { Service, useServiceColor, type ServiceColor } from "./service_colors";
import { openTrace } from "./trace_model";

interface Props {
  path: string;
  state: State;
}

const PAGE = 1000;
const NEAR = 8; // pixels around a dot

function usePage(props: Props, turn: number, index: number, isWanted: boolean) {
  return useAnswer<TraceList>(
    isWanted ? `${props.path}/traces` : null,
    { q: props.state.q ?? "", sort: "duration", offset: index * PAGE, limit: PAGE },
    undefined,
    turn,
  );
}

// All traces: a first page, then up to four more.
function useAll(props: Props) {
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
  const isNarrow = useIsNarrow();
  const color = useServiceColor();
  const { traces, count, isLoaded, error } = useAll(props);
  const [at, setAt] = useState(-1);
  const scale = useMemo(() => durationScale(traces), [traces]);
  const dots = useMemo(() => <Dots traces={traces} scale={scale} color={color} />, [scale, color]);
  const services = useMemo(
    () => [...new Set(traces.flatMap((trace) => trace.services[0] ?? []))].sort(),
    [traces],
  );
  if (!isLoaded) return <p class="status">{error ?? "loading…"}</p>;
  if (traces.length === 0) return <NoMatches state={props.state} />;
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
      <figcaption class="heat-head">
        <span aria-live="polite">
          {shown
            ? describe(shown)
            : `${count > traces.length ? `${traces.length.toLocaleString("en-US")} of ` : ""}${countOf(count, "trace")}; drag to select times and durations, click to open`}
        </span>
        <span class="service-names">
          {services.map((service) => (
            <Service key={service} name={service} />
          ))}
          <span class="service-name">
            <i class="swatch dot-failed" /> with errors
          </span>
        </span>
      </figcaption>
      <PlotFrame
        class="tall"
        values={roundDurations(scale.low, scale.high).map((ns) => [formatNs(ns), scale.y(ns)])}
        first={scale.first}
        last={scale.last}
        marks={isNarrow ? 3 : 8}
      >
        <Brush
          query={query}
          scale={scale}
          label={`durations of ${countOf(traces.length, "trace")} over time; drag to select, or arrows and Enter to open one`}
          isPointing={at >= 0}
          onMove={(spot) => setAt(spot ? nearestTrace(traces, scale, spot, NEAR) : -1)}
          onClick={(spot) => openTrace(traces[nearestTrace(traces, scale, spot, NEAR)])}
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
        </Brush>
      </PlotFrame>
    </figure>
  );
}

// Of the colour of their first service. Failed traces are squares, and above the others.
function Dots(props: { traces: TraceRow[]; scale: Scale; color: ServiceColor }) {
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
          return (
            <circle
              key={trace.key}
              class="dot"
              cx={x}
              cy={y}
              r={4}
              fill={props.color(trace.services[0] ?? "")}
            />
          );
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
