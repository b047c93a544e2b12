// A plot over time: values at the left with lines across, a clock below.

import type { ComponentChildren } from "preact";
import { axisStep } from "../shared/format";
import { ClockAxis, clockMarks } from "./clock_axis";

type ValueMark = [text: string, share: number]; // share: from the top, 0 to 1

const VALUES = 4;

// Marks at zero and at round values up to `most`, which is at the top.
export function valueMarks(most: number, print: (value: number) => string, least = 0): ValueMark[] {
  const step = Math.max(least, axisStep(most, VALUES));
  const count = Math.floor(most / step);
  return Array.from({ length: count + 1 }, (_, i): ValueMark => {
    const value = (count - i) * step;
    return [value === 0 ? "0" : print(value), 1 - value / most];
  });
}

interface Props {
  values: ValueMark[];
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
