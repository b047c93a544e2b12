// A time axis.

import { axisStep, formatNs } from "./format";

export function TimeAxis(props: { begin: number; span: number; marks?: number }) {
  const step = axisStep(props.span, props.marks ?? 8);
  const marks = [];
  for (let at = Math.ceil(props.begin / step) * step; at < props.begin + props.span; at += step)
    marks.push(at);
  return (
    <div class="time-axis" aria-hidden="true">
      {marks.map((at) => (
        <span key={at} style={{ left: `${((at - props.begin) / Math.max(props.span, 1)) * 100}%` }}>
          {formatNs(at)}
        </span>
      ))}
    </div>
  );
}
