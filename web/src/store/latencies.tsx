// Percentiles of durations, and the number of spans and errors, over time. A drag selects a time range.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { formatCount, formatNs } from "../shared/format";
import { useIsNarrow } from "../shared/narrow";
import { useAnswer } from "../shared/use_answer";
import type { Histogram } from "../../generated/answers";
import { perSecond, share } from "./operations_model";
import { PlotFrame, valueMarks } from "./plot_frame";
import { printClock, withTimes } from "./query_text";
import { Bars } from "./store_histogram";
import { search } from "./store_search";

const STEPS = 60;
const PLOT = { width: 1200, height: 110 };
const LINES = [
  ["p50", 2],
  ["p90", 3],
  ["p99", 4],
] as const;

// The steps that have spans, each a level, joined to that of the step before; a gap is a gap.
export function linePath(
  steps: Histogram["steps"],
  which: 2 | 3 | 4,
  most: number,
  size: { width: number; height: number },
): string {
  const width = size.width / steps.length;
  return steps
    .map((step, i) => {
      if (step[0] === 0) return "";
      const move = (steps[i - 1]?.[0] ?? 0) > 0 ? "L" : "M";
      return `${move}${(i * width).toFixed(1)} ${(size.height * (1 - step[which] / most)).toFixed(1)}h${width.toFixed(1)}`;
    })
    .join("");
}

export function Latencies(props: {
  path: string;
  query: string;
  title: ComponentChildren;
  name: string;
  turn: number;
  children: ComponentChildren; // after the legend
}) {
  const isNarrow = useIsNarrow();
  const { value } = useAnswer<Histogram>(
    `${props.path}/histogram`,
    { q: props.query, steps: STEPS, spans: 1 },
    undefined,
    props.turn,
  );
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
      search(
        withTimes(props.query, timeAt(Math.min(from, to)), timeAt(Math.max(from, to) + 1) - 1n),
      );
    setFrom(-1);
  };
  const step = hover >= 0 ? value.steps[hover] : undefined;
  const busiest = Math.max(1, ...value.steps.map(([count]) => count));
  const pointers = {
    onPointerDown: (event: PointerEvent) => {
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
      setFrom(stepAt(event));
    },
    onPointerMove: (event: PointerEvent) => setHover(stepAt(event)),
    onPointerUp: (event: PointerEvent) => select(stepAt(event)),
    onPointerCancel: () => setFrom(-1),
    onPointerLeave: () => setHover(-1),
  };
  const marks = (
    <>
      {from >= 0 && hover >= 0 && (
        <rect
          class="plot-drag"
          x={Math.min(from, hover) * width}
          width={(Math.abs(hover - from) + 1) * width}
          y={0}
          height={PLOT.height}
        />
      )}
      {from < 0 && hover >= 0 && (
        <rect class="plot-at" x={hover * width} width={width} y={0} height={PLOT.height} />
      )}
    </>
  );
  const frame = { first: timeAt(0), last: timeAt(value.steps.length), marks: isNarrow ? 3 : 5 };
  const box = { viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, preserveAspectRatio: "none" };
  return (
    <figure class="latencies">
      <figcaption>
        <strong>{props.title}</strong>
        {LINES.map(([name]) => (
          <span key={name} class={`legend line-${name}`}>
            <i /> {name}
          </span>
        ))}
        <span class="legend line-rate">
          <i /> spans
        </span>
        <span class="legend line-errors">
          <i /> errors
        </span>
        <span class="status" aria-live="polite">
          {step
            ? `${printClock(timeAt(hover)).slice(0, 23)}: ${describe(step, value.step)}`
            : `a step is ${formatNs(value.step)}; drag to select`}
        </span>
        <span class="space" />
        {props.children}
      </figcaption>
      <div class="latency-plots">
        <PlotFrame {...frame} values={valueMarks(most, formatNs)}>
          <svg
            {...box}
            role="img"
            aria-label={`percentiles of durations of ${props.name} over time, up to ${formatNs(most)}`}
            {...pointers}
          >
            {marks}
            {LINES.map(([name, which]) => (
              <path
                key={name}
                class={`line-${name}`}
                vector-effect="non-scaling-stroke"
                d={linePath(value.steps, which, most, PLOT)}
              />
            ))}
          </svg>
        </PlotFrame>
        <PlotFrame
          {...frame}
          values={valueMarks((busiest * 1e9) / value.step, (rate) => `${formatCount(rate)}/s`)}
        >
          <svg
            {...box}
            role="img"
            aria-label={`spans and errors of ${props.name} over time, at most ${busiest} spans in a step`}
            {...pointers}
          >
            <Bars steps={value.steps} most={busiest} size={PLOT} />
            {marks}
          </svg>
        </PlotFrame>
      </div>
    </figure>
  );
}

function describe(step: Histogram["steps"][number], ns: number): string {
  const [count, errors, p50, p90, p99] = step;
  if (count === 0) return "no spans";
  return `${perSecond(count, ns)} per second, ${share(errors, count) || "no"} errors, p50 ${formatNs(p50)}, p90 ${formatNs(p90)}, p99 ${formatNs(p99)}`;
}
