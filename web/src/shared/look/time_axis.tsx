// A time axis.

import { formatTick, timeStep } from "../format";

const LABELLED = 0.92; // of the width: the text of later marks would be cut

export function TimeAxis(props: { begin: number; span: number; marks?: number }) {
  const step = timeStep(props.span, props.marks ?? 8);
  const marks = [];
  for (let at = Math.ceil(props.begin / step) * step; at < props.begin + props.span; at += step)
    marks.push(at);
  const shareOf = (at: number) => (at - props.begin) / Math.max(props.span, 1);
  return (
    <div class="time-axis" aria-hidden="true">
      {marks.map((at) => (
        <span key={at} style={{ left: `${shareOf(at) * 100}%` }}>
          {shareOf(at) < LABELLED ? formatTick(at, step) : ""}
        </span>
      ))}
    </div>
  );
}
