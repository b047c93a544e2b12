// The plots of a context: durations of its calls, cost on each thread.

import { useState } from "preact/hooks";
import { formatCount, formatDuration, formatNs, formatValue } from "../shared/format";
import { shortLabels } from "../overview/overview_model";
import { shorten } from "../shared/names/names";
import { decades, nearest, threadPoints } from "./plot_scale";
import type { Latency, Thread } from "../../generated/answers";
import { useAnswer } from "../shared/use_answer";

const PLOT = { left: 52, right: 8, top: 8, bottom: 18, width: 340, height: 120 };
const MARK = 12; // pixels: the name of a mark above a plot
const MARKS = 3 * MARK;
const INNER = {
  width: PLOT.width - PLOT.left - PLOT.right,
  height: PLOT.height - PLOT.top - PLOT.bottom,
};
const FLOOR = PLOT.height - PLOT.bottom;

// Marks of the value axis: 0, half and the maximum.
function ValueAxis(props: { most: number; print: (value: number) => string }) {
  return (
    <g aria-hidden="true">
      {[0, 0.5, 1]
        .filter((part) => part !== 0.5 || props.print(props.most / 2) !== props.print(props.most))
        .map((part) => {
          const y = FLOOR - part * INNER.height;
          return (
            <g key={part}>
              <line class="plot-grid" x1={PLOT.left} x2={PLOT.width - PLOT.right} y1={y} y2={y} />
              <text class="plot-text" text-anchor="end" x={PLOT.left - 4} y={y + 3}>
                {props.print(props.most * part)}
              </text>
            </g>
          );
        })}
    </g>
  );
}

// Arrow keys move from point to point.
const onArrows =
  (at: number, count: number, setAt: (next: number) => void) => (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by !== 0) setAt(Math.min(count - 1, Math.max(0, at + by)));
    else if (event.key === "Escape" && at >= 0) setAt(-1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

// The durations of a bucket. The first one may have all that are shorter than the clock resolves.
const rangeOf = (from: number, to: number, resolution: number | undefined): string =>
  from === 0 && resolution && to + 1 >= resolution
    ? `< ${formatNs(to + 1)}`
    : `${formatNs(from)} – ${formatNs(to)}`;

export function LatencyPlot(props: { latency: Latency }) {
  const { base, buckets, p50, p90, p99, resolution } = props.latency;
  const [hovered, setHovered] = useState(-1);
  if (buckets.length === 0) return null;
  const callCount = buckets.reduce((sum, item) => sum + item[2], 0);
  if (callCount === 1)
    return (
      <p class="status">
        one call, {p50 === null ? "duration unknown" : formatDuration(p50, resolution)}
      </p>
    );
  const low = Math.max(buckets[0]?.[0] ?? 1, (resolution ?? 2) / 2);
  const high = Math.max(buckets[buckets.length - 1]?.[1] ?? 2, low + 1) + 1;
  const most = Math.max(...buckets.map((bucket) => bucket[2]));
  const x = (ns: number) =>
    PLOT.left + (Math.log(Math.max(ns, 1) / low) / Math.log(high / low)) * INNER.width;
  const marks: [string, number | null][] = [
    ["p50", p50],
    ["p90", p90],
    ["p99", p99],
  ];
  const words = marks
    .map(([name, ns]) => `${name} ${ns === null ? "?" : formatDuration(ns, resolution)}`)
    .join(" · ");
  const bucket = buckets[hovered];
  return (
    <figure class="latency">
      <figcaption aria-live="polite">
        {bucket
          ? `${rangeOf(bucket[0], bucket[1], resolution)}: ${bucket[2].toLocaleString("en-US")} calls`
          : `calls, ${base}: ${words}`}
      </figcaption>
      <svg
        viewBox={`0 ${-MARKS} ${PLOT.width} ${PLOT.height + MARKS}`}
        role="img"
        tabIndex={0}
        aria-label={`distribution of call durations: ${words}; arrow keys move through it`}
        onMouseLeave={() => setHovered(-1)}
        onBlur={() => setHovered(-1)}
        onKeyDown={onArrows(hovered, buckets.length, setHovered)}
      >
        <ValueAxis most={most} print={(value) => formatCount(Math.round(value))} />
        {decades(low, high).map((ns) => (
          <text
            key={ns}
            class="plot-text"
            text-anchor={x(ns) > PLOT.width - 24 ? "end" : "middle"}
            x={x(ns) > PLOT.width - 24 ? PLOT.width : x(ns)}
            y={PLOT.height - 5}
          >
            {formatNs(ns)}
          </text>
        ))}
        {buckets.map(([from, to, count], i) => {
          const height = Math.max(1.5, (count / most) * INNER.height);
          const left = x(Math.max(from, low));
          return (
            <rect
              key={from}
              class={`plot-bar${i === hovered ? " hovered" : ""}`}
              x={left}
              width={Math.max(1.5, x(to + 1) - left - 0.5)}
              y={FLOOR - height}
              height={height}
            />
          );
        })}
        {marks.map(([name, ns], i) =>
          ns === null ? null : (
            <g key={name}>
              <line class="plot-mark" x1={x(ns)} x2={x(ns)} y1={MARK * i - MARKS} y2={FLOOR} />
              <text
                class="plot-text"
                text-anchor={x(ns) > PLOT.width - 40 ? "end" : "start"}
                x={x(ns) + (x(ns) > PLOT.width - 40 ? -2 : 2)}
                y={MARK * i - MARKS + 9}
              >
                {name}
              </text>
            </g>
          ),
        )}
        {buckets.map(([from, to], i) => (
          <rect
            key={from}
            fill="transparent"
            x={x(Math.max(from, low))}
            width={Math.max(2, x(to + 1) - x(from))}
            y={PLOT.top}
            height={INNER.height}
            onMouseEnter={() => setHovered(i)}
          />
        ))}
      </svg>
    </figure>
  );
}

// The label of a thread; "" until it is known.
function useThreadName(path: string, thread: [number, number] | undefined): string {
  const { value } = useAnswer<Thread[]>(thread ? `${path}/threads` : null, {
    first: thread?.[0],
    count: 1,
  });
  const found = value?.[0]?.profile === thread?.[0] ? value?.[0] : undefined;
  return found ? `${found.group} ${found.name}`.trim() : "";
}

interface ThreadPlotProps {
  path: string;
  threads: [number, number][];
  metric: string;
  isSorted: boolean;
  onSort: (isSorted: boolean) => void;
}

export function ThreadPlot(props: ThreadPlotProps) {
  const { threads, metric } = props;
  const [hovered, setHovered] = useState(-1);
  const names = useAnswer<Thread[]>(hovered >= 0 ? `${props.path}/threads` : null, { count: 2000 });
  const isPlotted = threads.length >= 2;
  const firstName = useThreadName(props.path, isPlotted ? threads[0] : undefined);
  const lastName = useThreadName(props.path, isPlotted ? threads[threads.length - 1] : undefined);
  if (!isPlotted) return null;
  const { points, most, last } = threadPoints(threads, props.isSorted);
  const ends = shortLabels([
    [0, firstName],
    [1, lastName],
  ]).map(([, label]) => shorten(label, 24));
  const x = (at: number) => PLOT.left + (at / Math.max(last, 1)) * INNER.width;
  const y = (value: number) => FLOOR - (most > 0 ? value / most : 0) * INNER.height;
  const point = points[hovered];
  const label =
    point &&
    (names.value?.find((thread) => thread.profile === point.profile)?.label ??
      `thread ${point.profile}`);
  return (
    <figure class="threads">
      <figcaption aria-live="polite">
        {point
          ? `${label}: ${formatValue(point.value, metric)}`
          : `${threads.length.toLocaleString("en-US")} threads, maximum ${formatValue(most, metric)}`}
      </figcaption>
      <svg
        viewBox={`0 0 ${PLOT.width} ${PLOT.height}`}
        role="img"
        tabIndex={0}
        aria-label={`${metric} on each of ${threads.length} threads, maximum ${formatValue(most, metric)}; arrow keys move through them`}
        onMouseLeave={() => setHovered(-1)}
        onBlur={() => setHovered(-1)}
        onKeyDown={onArrows(hovered, points.length, setHovered)}
        onMouseMove={(event) => {
          const area = event.currentTarget.getBoundingClientRect();
          const at = ((event.clientX - area.left) / area.width) * PLOT.width;
          setHovered(
            nearest(
              points.map((item) => x(item.at)),
              at,
            ),
          );
        }}
      >
        <ValueAxis most={most} print={(value) => formatValue(value, metric)} />
        <path
          class="plot-dots"
          d={points
            .map((item) => `M${x(item.at).toFixed(1)} ${y(item.value).toFixed(1)}h0.01`)
            .join("")}
        />
        {point && <circle class="plot-chosen" cx={x(point.at)} cy={y(point.value)} r={4} />}
        <text class="plot-text" x={PLOT.left} y={PLOT.height - 5}>
          {props.isSorted ? "minimum" : ends[0]}
        </text>
        <text class="plot-text" text-anchor="end" x={PLOT.width - PLOT.right} y={PLOT.height - 5}>
          {props.isSorted ? "maximum" : ends[1]}
        </text>
      </svg>
      <label>
        <input
          type="checkbox"
          checked={props.isSorted}
          onChange={(event) => props.onSort(event.currentTarget.checked)}
        />{" "}
        Sort by value
      </label>
    </figure>
  );
}
