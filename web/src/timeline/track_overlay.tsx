// Times that lie on the tracks: the cursor, marks, and what is measured. They are elements of the
// page, so that moving the pointer draws no canvas.

import type { Range } from "../shared/range";

interface Props {
  range: Range;
  left: number; // pixels
  width: number;
  height: number;
  cursor: number | undefined;
  marks: number[];
  measured: Range | null;
}

export function TrackOverlay({ range, left, width, height, cursor, marks, measured }: Props) {
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
      {cursor !== undefined && isVisible(cursor) && <div class="cursor" style={at(cursor)} />}
    </div>
  );
}
