// Traces over time; selecting a time range adds it to the query.

import { useState } from "preact/hooks";
import { countOf, formatCount, formatNs } from "../shared/format";
import { useIsNarrow } from "../shared/narrow";
import { flag, type State } from "../shared/state";
import { useAnswer } from "../shared/use_answer";
import type { Histogram } from "../../generated/answers";
import { useLive } from "./live";
import { PlotFrame, valueMarks } from "./plot_frame";
import { printClock, withTimes, withoutTimes } from "./query_text";
import { search } from "./store_search";

interface Props {
  path: string;
  state: State;
}

const STEPS = 120;
const PLOT = { width: 1200, height: 70 };

export interface Part {
  from: number;
  to: number;
}

const ordered = (part: Part): [number, number] => [
  Math.min(part.from, part.to),
  Math.max(part.from, part.to),
];

export function TimeHistogram(props: Props) {
  const query = props.state.q ?? "";
  const isNarrow = useIsNarrow();
  const { value } = useAnswer<Histogram>(
    `${props.path}/histogram`,
    { q: query, steps: STEPS, spans: flag(props.state.v === "spans") },
    undefined,
    useLive(props.state),
  );
  const [part, setPart] = useState<Part | null>(null);
  const [hover, setHover] = useState(-1);
  const traces = value?.steps.reduce((sum, [count]) => sum + count, 0) ?? 0;
  if (!value || traces === 0) return <figure class="histogram" />;
  // One trace has no distribution.
  if (traces === 1) return null;

  const unit = props.state.v === "spans" ? "span" : "trace";
  const count = value.steps.length;
  const most = Math.max(...value.steps.map(([traces]) => traces));
  const timeAt = (step: number) => BigInt(value.first) + BigInt(Math.round(step * value.step));
  const stepAt = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    return Math.min(
      count - 1,
      Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * count)),
    );
  };
  const select = (chosen: Part) => {
    const [from, to] = ordered(chosen);
    setPart(null);
    search(withTimes(query, timeAt(from), timeAt(to + 1) - 1n));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const at = part ?? { from: 0, to: 0 };
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const to = Math.min(count - 1, Math.max(0, part ? at.to + by : 0));
    if (by !== 0) setPart({ from: event.shiftKey ? at.from : to, to });
    else if (event.key === "Enter" && part) select(part);
    else if (event.key === "Escape" && part) setPart(null);
    else if (event.key === "0") search(withoutTimes(query));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <figure class="histogram">
      <PlotFrame
        values={valueMarks(most, formatCount, 1)}
        first={timeAt(0)}
        last={timeAt(count)}
        marks={isNarrow ? 3 : 8}
      >
        <div
          class="histogram-plot"
          tabIndex={0}
          role="application"
          aria-label={`${unit}s over time from ${printClock(timeAt(0))} to ${printClock(timeAt(count))}, at most ${most} in a step; drag to select, or arrows, shift and Enter`}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            setPart({ from: stepAt(event), to: stepAt(event) });
          }}
          onPointerMove={(event) => {
            setHover(stepAt(event));
            if (part && event.buttons !== 0) setPart({ ...part, to: stepAt(event) });
          }}
          onPointerLeave={() => setHover(-1)}
          onPointerUp={() => part && select(part)}
          onPointerCancel={() => setPart(null)}
          onKeyDown={onKeyDown}
        >
          <svg
            viewBox={`0 0 ${PLOT.width} ${PLOT.height}`}
            preserveAspectRatio="none"
            aria-hidden="true"
          >
            <Bars steps={value.steps} most={most} size={PLOT} />
            {part && <Selected part={part} width={PLOT.width / count} />}
          </svg>
        </div>
      </PlotFrame>
      <figcaption>
        <Caption value={value} part={part} hover={hover} timeAt={timeAt} unit={unit} />
        {withoutTimes(query) !== query && (
          <button class="link" onClick={() => search(withoutTimes(query))}>
            Whole time
          </button>
        )}
      </figcaption>
    </figure>
  );
}

export function Bars(props: {
  steps: Histogram["steps"];
  most: number;
  size: { width: number; height: number };
}) {
  const width = props.size.width / props.steps.length;
  const bar = (name: string, i: number, traces: number) => {
    // Small counts stay visible.
    const height = traces === 0 ? 0 : Math.max(1.5, (props.size.height * traces) / props.most);
    return (
      <rect
        class={name}
        x={i * width}
        width={Math.max(width - 1, 0.5)}
        y={props.size.height - height}
        height={height}
      />
    );
  };
  return (
    <>
      {props.steps.map(([count, errors], i) => (
        <g key={i}>
          {bar("plot-bar", i, count)}
          {errors > 0 && bar("plot-error", i, errors)}
        </g>
      ))}
    </>
  );
}

function Selected(props: { part: Part; width: number }) {
  const [from, to] = ordered(props.part);
  return (
    <rect
      class="plot-drag"
      x={from * props.width}
      width={(to - from + 1) * props.width}
      y={0}
      height={PLOT.height}
    />
  );
}

function Caption(props: {
  value: Histogram;
  part: Part | null;
  hover: number;
  timeAt: (step: number) => bigint;
  unit: string;
}) {
  const { value, part, timeAt } = props;
  const [from, to] = part ? ordered(part) : [props.hover, props.hover];
  const chosen = from < 0 ? [] : value.steps.slice(from, to + 1);
  const sum = (which: 0 | 1) => chosen.reduce((total, step) => total + step[which], 0);
  return (
    <span class="histogram-note" aria-live="polite">
      {chosen.length > 0
        ? `${printClock(timeAt(from)).slice(0, 23)}, ${formatNs((to - from + 1) * value.step)}: ${countOf(sum(0), props.unit)}, ${sum(1).toLocaleString("en-US")} with errors`
        : `${printClock(timeAt(0)).slice(0, 10)} UTC · ${props.unit}s, a bar is ${formatNs(value.step)}; red: with errors; drag to select`}
    </span>
  );
}
