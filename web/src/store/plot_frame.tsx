// A plot over time: values at the left with lines across, a clock below.

import type { ComponentChildren } from "preact";
import { ClockAxis, clockMarks } from "./clock_axis";

interface Props {
  values: [text: string, share: number][]; // share: from the top, 0 to 1
  first: bigint;
  last: bigint;
  marks: number; // of the time, about
  class?: string;
  children: ComponentChildren;
}

export function PlotFrame(props: Props) {
  return (
    <div class={`plot-frame ${props.class ?? ""}`}>
      <div class="plot-values" aria-hidden="true">
        {props.values.map(([text, share]) => (
          <span key={share} style={{ top: `${share * 100}%` }}>
            {text}
          </span>
        ))}
      </div>
      <div class="plot-area">
        {props.values.map(([, share]) => (
          <i key={share} class="plot-line" style={{ top: `${share * 100}%` }} />
        ))}
        {clockMarks(props.first, props.last, props.marks).map(({ share }) => (
          <i key={share} class="plot-line upright" style={{ left: `${share * 100}%` }} />
        ))}
        {props.children}
      </div>
      <ClockAxis first={props.first} last={props.last} marks={props.marks} />
    </div>
  );
}
