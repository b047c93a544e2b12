// A map of the whole time with the visible range, which can be dragged.

import { useEffect, useRef } from "preact/hooks";
import { themeColor } from "../shared/colors";
import { formatNs } from "../shared/format";
import type { Range } from "../shared/range";
import { drawRuns, labelPx, prepare } from "./timeline_draw";
import type { TimelineFrame } from "../shared/types";

export const MAP = 34;

interface Props {
  frame: TimelineFrame | null;
  width: number;
  range: Range;
  duration: number;
  matches: ((name: string) => boolean) | null;
  onChange: (range: Range) => void;
}

export function Minimap(props: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = canvas.current && prepare(canvas.current, props.width + labelPx(), MAP);
    if (!context || !props.frame) return;
    const rows = Math.max(1, props.frame.rows.length);
    for (let i = 0; i < props.frame.rows.length; i++)
      drawRuns(
        context,
        props.frame,
        i,
        {
          range: { begin: 0, end: props.duration },
          top: (i * MAP) / rows,
          width: props.width,
          height: MAP / rows,
        },
        props.matches,
      );
    const left = labelPx() + (props.range.begin / props.duration) * props.width;
    const right = labelPx() + (props.range.end / props.duration) * props.width;
    context.fillStyle = themeColor("--paper");
    context.globalAlpha = 0.7;
    context.fillRect(labelPx(), 0, left - labelPx(), MAP);
    context.fillRect(right, 0, labelPx() + props.width - right, MAP);
    context.globalAlpha = 1;
    context.strokeStyle = themeColor("--accent");
    context.lineWidth = 2;
    context.strokeRect(left + 1, 1, Math.max(right - left - 2, 2), MAP - 2);
  });
  const move = (event: PointerEvent) => {
    if (event.buttons === 0) return;
    const area = event.currentTarget as HTMLElement;
    const x = event.clientX - area.getBoundingClientRect().left - labelPx();
    const span = props.range.end - props.range.begin;
    const middle = (x / props.width) * props.duration;
    props.onChange({ begin: middle - span / 2, end: middle + span / 2 });
  };
  return (
    <canvas
      ref={canvas}
      class="minimap"
      role="img"
      aria-label={`the whole time, ${formatNs(props.duration)}; drag to move the visible range`}
      style={{ width: `${props.width + labelPx()}px`, height: `${MAP}px` }}
      onPointerDown={move}
      onPointerMove={move}
    />
  );
}
