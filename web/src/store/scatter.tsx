// The durations of the longest matching traces over time. A drag limits the query to the times and
// durations of the rectangle; a click on a dot opens its trace.

import { useState } from "preact/hooks";
import { countOf, formatNs } from "../shared/format";
import { clockMarks } from "./query_text";
import { durationScale, rectangleQuery, roundDurations, type Scale } from "./scatter_model";
import { printTime } from "./store_results";
import { go, type State } from "../shared/state";
import type { TraceList, TraceRow } from "./store_types";
import { useAnswer } from "../shared/use_answer";

interface Props {
  path: string;
  state: State;
}

interface Spot {
  x: number; // 0 to 1
  y: number;
}

const LIMIT = 1000;
const MARKS = 5; // of the time
const CLICK = 0.004;

function spotOf(event: PointerEvent): Spot {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  const inside = (value: number) => Math.min(1, Math.max(0, value));
  return {
    x: inside((event.clientX - box.left) / box.width),
    y: inside((event.clientY - box.top) / box.height),
  };
}

export function Scatter(props: Props) {
  const query = props.state.q ?? "";
  const { value, error } = useAnswer<TraceList>(`${props.path}/traces`, {
    q: query,
    sort: "duration",
    limit: LIMIT,
  });
  const [from, setFrom] = useState<Spot | null>(null);
  const [to, setTo] = useState<Spot | null>(null);
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  if (value.traces.length === 0) return <p class="status">no matches</p>;
  const scale = durationScale(value.traces);
  const end = (event: PointerEvent) => {
    const last = spotOf(event);
    if (from && (Math.abs(last.x - from.x) > CLICK || Math.abs(last.y - from.y) > CLICK))
      go({ q: rectangleQuery(query, scale, from, last), top: "", row: "" });
    setFrom(null);
    setTo(null);
  };
  return (
    <figure class="scatter">
      <figcaption class="status">
        {value.count > value.traces.length
          ? `the ${value.traces.length.toLocaleString("en-US")} longest of ${countOf(value.count, "trace")}`
          : countOf(value.count, "trace")}
        ; drag to select times and durations, click to open
      </figcaption>
      <div class="scatter-plot">
        {roundDurations(scale.low, scale.high).map((ns) => (
          <span key={ns} class="mark" style={{ top: `${scale.y(ns) * 100}%` }}>
            {formatNs(ns)}
          </span>
        ))}
        <div
          class="scatter-area"
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            setFrom(spotOf(event));
          }}
          onPointerMove={(event) => from && setTo(spotOf(event))}
          onPointerUp={end}
        >
          {value.traces.map((trace) => (
            <Dot key={trace.key} trace={trace} scale={scale} />
          ))}
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

function Dot(props: { trace: TraceRow; scale: Scale }) {
  const { trace, scale } = props;
  return (
    <button
      class={trace.errors > 0 ? "dot failed" : "dot"}
      tabIndex={-1}
      title={`${trace.method ?? "?"}\n${printTime(trace.time)}, ${formatNs(trace.duration)}, ${countOf(trace.spans, "span")}${trace.errors > 0 ? `, ${countOf(trace.errors, "error")}` : ""}`}
      aria-label={`open ${trace.method ?? "trace"}, ${formatNs(trace.duration)}`}
      style={{ left: `${scale.x(trace.time) * 100}%`, top: `${scale.y(trace.duration) * 100}%` }}
      onPointerDown={(event) => event.stopPropagation()}
      onClick={() => go({ key: trace.key })}
    />
  );
}
