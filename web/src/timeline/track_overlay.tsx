// What lies on the tracks: the cursor, marks, what is measured, and flows. They are elements of the
// page, so that moving the pointer draws no canvas.

import type { Range } from "../shared/range";
import type { DrawnPath } from "./critical_path";
import { headPath, linePath, type Curve } from "./flows";

interface Props {
  range: Range;
  left: number; // pixels
  width: number;
  height: number;
  cursor: number | undefined;
  marks: number[];
  measured: Range | null;
  all: Curve[]; // if they are few
  curves: Curve[]; // of the call at the cursor
  tip: string; // about the first of them
  path: DrawnPath; // the critical path
}

// Below the lower end of a flow, on the side of the cursor where there is room.
function tipPlace({ from, to }: Curve, x: number, width: number) {
  const y = Math.max(from.y, to.y) + 12;
  const isLeft = x > width / 2;
  return {
    top: `${y.toFixed(0)}px`,
    left: isLeft ? "auto" : `${(x + 8).toFixed(0)}px`,
    right: isLeft ? `${(width - x + 8).toFixed(0)}px` : "auto",
  };
}

function Curves(props: { class: string; list: Curve[] }) {
  return (
    <>
      {props.list.map((curve, i) => (
        <g key={i} class={props.class}>
          <path class="line" d={linePath(curve)} />
          <path d={headPath(curve)} />
        </g>
      ))}
    </>
  );
}

// Where the thread waits, the line is dashed.
function Path(props: { path: DrawnPath }) {
  const { lines, steps } = props.path;
  return (
    <g class="critical-path">
      {lines.map(({ bar, x, end, y }, i) => (
        <path
          key={i}
          class={bar.kind === "running" ? "" : "waits"}
          d={`M${x.toFixed(1)} ${y.toFixed(1)}H${end.toFixed(1)}`}
        />
      ))}
      {steps.map(({ x, from, to }, i) => (
        <path key={`s${i}`} d={`M${x.toFixed(1)} ${from.toFixed(1)}V${to.toFixed(1)}`} />
      ))}
    </g>
  );
}

export function TrackOverlay(props: Props) {
  const { range, left, width, height, cursor, marks, measured, all, curves, tip, path } = props;
  const xOf = (time: number) => ((time - range.begin) / (range.end - range.begin)) * width;
  const isVisible = (time: number) => time >= range.begin && time <= range.end;
  const at = (time: number) => ({ transform: `translateX(${xOf(time).toFixed(1)}px)` });
  return (
    <div
      class="track-overlay"
      aria-hidden="true"
      style={{ left: `${left}px`, width: `${width}px`, height: `${height}px` }}
    >
      {marks.filter(isVisible).map((mark) => (
        <div key={mark} class="mark" style={at(mark)} />
      ))}
      {measured && (
        <div
          class="measured"
          style={{
            ...at(measured.begin),
            width: `${(xOf(measured.end) - xOf(measured.begin)).toFixed(1)}px`,
          }}
        />
      )}
      {all.length + curves.length + path.lines.length > 0 && (
        <svg width={width} height={height}>
          <Path path={path} />
          <Curves class="flow thin" list={all} />
          <Curves class="flow" list={curves} />
        </svg>
      )}
      {tip && curves[0] && cursor !== undefined && (
        <div class="flow-tip" style={tipPlace(curves[0], xOf(cursor), width)}>
          {tip}
        </div>
      )}
      {cursor !== undefined && isVisible(cursor) && <div class="cursor" style={at(cursor)} />}
    </div>
  );
}
