// The whole trace in a few pixels, and the time that is shown of it: drag to choose one, drag the
// window to move it, arrow keys too.

import { useEffect, useRef, useState } from "preact/hooks";
import { prepare } from "../flame/flame_draw";
import { formatNs } from "../shared/format";
import { useWidth } from "../shared/narrow";
import { panRange, zoomRange, type Range } from "../shared/range";
import { usePixels } from "../shared/look/ui_scale";
import type { Chart } from "../../generated/answers";
import { useServiceColor } from "./service_colors";
import type { TraceCall } from "./trace_model";

export interface Drawn {
  calls: TraceCall[];
  chart: Chart;
  view: Range;
  selected: TraceCall | undefined;
  matches: ((name: string) => boolean) | null;
  onSelect: (call: TraceCall) => void;
  onTime: (range: Range, name?: string) => void;
}

const LEAST = 2; // pixels of a bar
const CLICK = 3; // pixels that are no drag

// Keys that move the visible time; false: no such key.
export function moveTime(key: string, { view, chart, onTime }: Drawn): boolean {
  const span = view.end - view.begin;
  const middle = (view.begin + view.end) / 2;
  const zoomed = (factor: number) => onTime(zoomRange(view, middle, factor), "keys");
  if (key === "w" || key === "+") zoomed(0.7);
  else if (key === "s" || key === "-") zoomed(1 / 0.7);
  else if (key === "a") onTime(panRange(view, -span / 5), "keys");
  else if (key === "d") onTime(panRange(view, span / 5), "keys");
  else if (key === "0") onTime({ begin: 0, end: chart.duration }, "keys");
  else return false;
  return true;
}

export function TraceMap(props: Drawn) {
  const { chart, view, calls } = props;
  const duration = Math.max(chart.duration, 1);
  const { element, width } = useWidth(true);
  const canvas = useRef<HTMLCanvasElement>(null);
  const most = usePixels("--plot-small");
  const least = usePixels("--gap-24");
  const height = Math.min(most, Math.max(least, calls.length * (LEAST + 1)));
  const color = useServiceColor();
  const [drag, setDrag] = useState<{ from: number; to: number; isMove: boolean } | null>(null);
  useEffect(() => {
    if (!canvas.current || width === 0) return;
    const context = prepare(canvas.current, width, height);
    if (!context) return;
    const row = Math.min(LEAST + 1, height / Math.max(1, calls.length));
    calls.forEach((call, i) => {
      context.fillStyle = color(call.service);
      context.fillRect(
        (call.start / duration) * width,
        i * row,
        Math.max(LEAST, (call.duration / duration) * width),
        Math.max(0.5, row - (row > LEAST ? 1 : 0)),
      );
    });
  }, [calls, width, height, color]);
  const timeAt = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const share = (event.clientX - box.left) / Math.max(box.width, 1);
    return Math.min(1, Math.max(0, share)) * duration;
  };
  const isZoomed = view.begin > 0 || view.end < duration;
  const isInside = (at: number) => isZoomed && at > view.begin && at < view.end;
  const end = (event: PointerEvent) => {
    if (!drag) return;
    setDrag(null);
    const to = timeAt(event);
    if (drag.isMove) return;
    const isClick = (Math.abs(to - drag.from) / duration) * width <= CLICK;
    if (isClick) props.onTime({ begin: 0, end: duration });
    else props.onTime({ begin: Math.min(drag.from, to), end: Math.max(drag.from, to) });
  };
  const shown =
    drag && !drag.isMove
      ? { begin: Math.min(drag.from, drag.to), end: Math.max(drag.from, drag.to) }
      : view;
  const percent = (ns: number) => `${(ns / duration) * 100}%`;
  return (
    <div class="trace-map">
      <div
        class="trace-map-area"
        ref={element}
        tabIndex={0}
        role="application"
        aria-label={`the whole trace, ${formatNs(duration)}; shown from ${formatNs(view.begin)} to ${formatNs(view.end)}: drag to choose, w s a d to zoom and move, 0 for all`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const at = timeAt(event);
          setDrag({ from: at, to: at, isMove: isInside(at) });
        }}
        onPointerMove={(event) => {
          if (!drag || event.buttons === 0) return;
          const at = timeAt(event);
          if (drag.isMove) props.onTime(panRange(view, at - drag.to), "map");
          setDrag({ ...drag, to: at });
        }}
        onPointerUp={end}
        onPointerCancel={() => setDrag(null)}
        onDblClick={() => props.onTime({ begin: 0, end: duration })}
        onKeyDown={(event) => {
          const key = { ArrowLeft: "a", ArrowRight: "d", ArrowUp: "w", ArrowDown: "s" }[event.key];
          if (event.ctrlKey || event.metaKey || event.altKey) return;
          if (!moveTime(key ?? event.key, props)) return;
          event.preventDefault();
          event.stopPropagation();
        }}
      >
        <canvas ref={canvas} style={{ height: `${height}px` }} />
        {(isZoomed || drag) && (
          <>
            <i class="trace-map-rest" style={{ left: 0, width: percent(shown.begin) }} />
            <i
              class="trace-map-rest"
              style={{ left: percent(shown.end), width: percent(duration - shown.end) }}
            />
            <i
              class="trace-map-view"
              style={{ left: percent(shown.begin), width: percent(shown.end - shown.begin) }}
            />
          </>
        )}
      </div>
    </div>
  );
}
