// Percentiles of durations and the share of errors over time. A drag selects a time range.

import { useState } from "preact/hooks";
import { formatNs } from "../shared/format";
import { perSecond, share } from "./operations_model";
import { printClock, withTimes } from "./query_text";
import { go } from "../shared/state";
import type { Histogram } from "./store_types";
import { useAnswer } from "../shared/use_answer";

const STEPS = 60;
const PLOT = { width: 1200, height: 110 };
const LINES = [
  ["p50", 2],
  ["p90", 3],
  ["p99", 4],
] as const;

// The steps that have spans, each a level, joined by a line.
export function linePath(
  steps: Histogram["steps"],
  which: 2 | 3 | 4,
  most: number,
  size: { width: number; height: number },
): string {
  const width = size.width / steps.length;
  return steps
    .map((step, i): [number, (typeof step)[number]] => [i, step[0] > 0 ? step[which] : NaN])
    .filter(([, value]) => !Number.isNaN(value))
    .map(
      ([i, value], k) =>
        `${k === 0 ? "M" : "L"}${(i * width).toFixed(1)} ${(size.height * (1 - value / most)).toFixed(1)}h${width.toFixed(1)}`,
    )
    .join("");
}

export function Latencies(props: { path: string; query: string; title: string }) {
  const { value } = useAnswer<Histogram>(`${props.path}/histogram`, {
    q: props.query,
    steps: STEPS,
    spans: 1,
  });
  const [hover, setHover] = useState(-1);
  const [from, setFrom] = useState(-1);
  if (!value) return <figure class="latencies" />;
  const most = Math.max(1, ...value.steps.map((step) => step[4]));
  const width = PLOT.width / value.steps.length;
  const timeAt = (step: number) => BigInt(value.first) + BigInt(Math.round(step * value.step));
  const stepAt = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const at = Math.floor(((event.clientX - box.left) / box.width) * value.steps.length);
    return Math.min(value.steps.length - 1, Math.max(0, at));
  };
  const select = (to: number) => {
    if (from >= 0 && from !== to)
      go({
        q: withTimes(props.query, timeAt(Math.min(from, to)), timeAt(Math.max(from, to) + 1) - 1n),
      });
    setFrom(-1);
  };
  const step = hover >= 0 ? value.steps[hover] : undefined;
  return (
    <figure class="latencies">
      <figcaption>
        <strong>{props.title}</strong>
        {LINES.map(([name]) => (
          <span key={name} class={`legend line-${name}`}>
            <i /> {name}
          </span>
        ))}
        <span class="legend line-errors">
          <i /> errors
        </span>
        <span class="status">
          {step
            ? `${printClock(timeAt(hover)).slice(0, 23)}: ${perSecond(step[0], value.step)} per second, ${share(step[1], step[0]) || "no"} errors, p50 ${formatNs(step[2])}, p90 ${formatNs(step[3])}, p99 ${formatNs(step[4])}`
            : `up to ${formatNs(most)}; a step is ${formatNs(value.step)}; drag to select`}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${PLOT.width} ${PLOT.height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`percentiles of durations of ${props.title} over time, up to ${formatNs(most)}`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setFrom(stepAt(event));
        }}
        onPointerMove={(event) => setHover(stepAt(event))}
        onPointerUp={(event) => select(stepAt(event))}
        onPointerLeave={() => setHover(-1)}
      >
        {value.steps.map(
          ([count, errors], i) =>
            errors > 0 && (
              <rect
                key={i}
                class="plot-error"
                x={i * width}
                width={width}
                y={PLOT.height * (1 - errors / count)}
                height={(PLOT.height * errors) / count}
              />
            ),
        )}
        {from >= 0 && hover >= 0 && (
          <rect
            class="plot-drag"
            x={Math.min(from, hover) * width}
            width={(Math.abs(hover - from) + 1) * width}
            y={0}
            height={PLOT.height}
          />
        )}
        {LINES.map(([name, which]) => (
          <path
            key={name}
            class={`line-${name}`}
            vector-effect="non-scaling-stroke"
            d={linePath(value.steps, which, most, PLOT)}
          />
        ))}
      </svg>
    </figure>
  );
}
