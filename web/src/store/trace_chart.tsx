// The flame chart of a trace: calls over time, callees below their callers, calls at the same time in
// lanes; one colour a service. The wheel zooms, a drag moves, a double click zooms to a call.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { prepare } from "../flame/flame_draw";
import { mixTokens, themeColor, themeFont } from "../shared/look/colors";
import { formatNs, formatTick, timeStep } from "../shared/format";
import { takeFocus } from "../shared/focus";
import { fitName } from "../shared/names/names";
import { useWidth } from "../shared/narrow";
import { panRange, zoomRange, type Range } from "../shared/range";
import { uiScale } from "../shared/look/ui_scale";
import { inkOn, useServiceColor, type ServiceColor } from "./service_colors";
import { moveTime, type Drawn } from "./trace_map";
import { laneRows, type TraceCall } from "./trace_model";

const ROW = 22; // pixels
const AXIS = 24;
const GAP = 2; // between rows
const LEAST = 1.5; // pixels of a box
const NAMED = 24; // pixels of a box with a name
const CLICK = 3;
const MARK_PX = 140;

interface Picture {
  calls: TraceCall[];
  rows: number[];
  view: Range;
  width: number;
  height: number;
  color: ServiceColor;
  matches: Drawn["matches"];
  selected: number;
  hovered: number;
}

interface Extent {
  left: number;
  right: number;
  top: number;
}

function extentOf(picture: Pick<Picture, "view" | "width" | "rows">, call: TraceCall): Extent {
  const { view, width } = picture;
  const scale = width / (view.end - view.begin);
  return {
    left: (call.start - view.begin) * scale,
    right: (call.start + call.duration - view.begin) * scale,
    top: (AXIS + (picture.rows[call.index] ?? 0) * (ROW + GAP)) * uiScale(),
  };
}

function drawAxis(context: CanvasRenderingContext2D, { view, width, height }: Picture): void {
  const scale = uiScale();
  const step = timeStep(view.end - view.begin, Math.max(2, width / (MARK_PX * scale)));
  context.font = themeFont(11 * scale);
  for (let at = Math.ceil(view.begin / step) * step; at <= view.end; at += step) {
    const x = Math.round(((at - view.begin) / (view.end - view.begin)) * width);
    context.fillStyle = themeColor("--line");
    context.fillRect(x, 0, 1, height);
    context.fillStyle = themeColor("--faint");
    context.fillText(formatTick(at, step), x + 4 * scale, (AXIS / 2) * scale);
  }
}

// A line from the caller to a call that is not directly below it: it runs at the same time as another.
function drawStem(context: CanvasRenderingContext2D, picture: Picture, call: TraceCall): void {
  const caller = picture.calls[call.parent];
  if (!caller) return;
  const { left, top } = extentOf(picture, call);
  const row = ROW * uiScale();
  const from = extentOf(picture, caller).top + row;
  if (top - from <= (GAP + 1) * uiScale() || left < 0 || left > picture.width) return;
  context.strokeStyle = mixTokens("--paper", "--ink", 0.45);
  context.lineWidth = 1;
  context.setLineDash([2, 2]);
  context.beginPath();
  context.moveTo(left + 0.5, from);
  context.lineTo(left + 0.5, top);
  context.stroke();
  context.setLineDash([]);
}

function drawCall(context: CanvasRenderingContext2D, picture: Picture, call: TraceCall): void {
  const { left, right, top } = extentOf(picture, call);
  const scale = uiScale();
  const row = ROW * scale;
  if (right < 0 || left > picture.width) return;
  const from = Math.max(0, left);
  const wide = Math.max(LEAST, Math.min(picture.width, right) - from - 0.5);
  const isHit = picture.matches?.(call.method) ?? false;
  context.globalAlpha = picture.matches && !isHit ? 0.35 : 1;
  context.fillStyle = picture.color(call.service);
  context.fillRect(from, top, wide, row);
  if (call.isFailed) {
    context.fillStyle = themeColor("--error");
    context.fillRect(from, top, Math.min(wide, 4 * scale), row);
  }
  context.globalAlpha = 1;
  if (wide > NAMED * scale) {
    const parent = picture.calls[call.parent];
    const indent = (call.isFailed ? 8 : 5) * scale;
    const name =
      parent?.service === call.service ? call.method : `${call.service} · ${call.method}`;
    context.font = themeFont(12 * scale);
    context.fillStyle = inkOn(picture.color(call.service));
    const room = wide - indent - 4 * scale;
    const label = fitLabel(context, name, call.method, room);
    context.fillText(label, from + indent, top + row / 2);
    // Its duration at the end, where there is room for both.
    const text = formatNs(call.duration);
    const width = context.measureText(text).width;
    if (context.measureText(label).width + width + 16 * scale <= room)
      context.fillText(text, from + wide - width - 5 * scale, top + row / 2);
  }
  const isMarked = call.index === picture.selected || call.index === picture.hovered || isHit;
  if (!isMarked) return;
  context.strokeStyle = themeColor(isHit ? "--accent" : "--ink");
  context.lineWidth = call.index === picture.selected || isHit ? 2 : 1;
  context.strokeRect(from + 1, top + 1, Math.max(1, wide - 2), row - 2);
}

// The service with the method where it has room, else the method alone.
function fitLabel(
  context: CanvasRenderingContext2D,
  whole: string,
  method: string,
  width: number,
): string {
  if (context.measureText(whole).width <= width) return whole;
  let text = fitName(context, method, width);
  while (text.length > 2 && context.measureText(text).width > width) text = `${text.slice(0, -2)}…`;
  return text;
}

function draw(element: HTMLCanvasElement, picture: Picture): void {
  const context = prepare(element, picture.width, picture.height);
  if (!context) return;
  drawAxis(context, picture);
  for (const call of picture.calls) drawStem(context, picture, call);
  for (const call of picture.calls) drawCall(context, picture, call);
}

export function TraceChart(props: Drawn) {
  const { calls, view, selected } = props;
  const { element: scroller, width } = useWidth(true);
  const canvas = useRef<HTMLCanvasElement>(null);
  const color = useServiceColor();
  const rows = useMemo(() => laneRows(calls), [calls]);
  const [hovered, setHovered] = useState<{ index: number; x: number; y: number } | null>(null);
  const grip = useRef<{ x: number; view: Range; isDrag: boolean } | null>(null);
  const depth = rows.reduce((most, row) => Math.max(most, row), 0) + 1;
  const height = (AXIS + depth * (ROW + GAP)) * uiScale();
  const picture: Picture = {
    calls,
    rows,
    view,
    width,
    height,
    color,
    matches: props.matches,
    selected: selected?.index ?? -1,
    hovered: hovered?.index ?? -1,
  };
  useEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, picture);
  });
  useEffect(() => takeFocus(canvas.current), []);
  // The selected call is on the screen.
  useEffect(() => {
    const box = scroller.current;
    if (!box || !selected) return;
    const { top } = extentOf(picture, selected);
    const row = ROW * uiScale();
    if (top < box.scrollTop + AXIS) box.scrollTop = Math.max(0, top - AXIS * 2);
    else if (top + row > box.scrollTop + box.clientHeight)
      box.scrollTop = top + 2 * row - box.clientHeight;
  }, [selected?.index]);

  const callAt = (event: MouseEvent): TraceCall | undefined => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box) return undefined;
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const row = Math.floor((y / uiScale() - AXIS) / (ROW + GAP));
    return calls.find((call) => {
      if (rows[call.index] !== row) return false;
      const { left, right } = extentOf(picture, call);
      return x >= left - 1 && x <= Math.max(right, left + LEAST) + 1;
    });
  };
  const zoomTo = (call: TraceCall) =>
    props.onTime({ begin: call.start, end: call.start + Math.max(1, call.duration) }, "zoom");
  const neighbour = (key: string): TraceCall | undefined => {
    const at = selected ?? calls[0];
    if (!at) return undefined;
    if (key === "ArrowUp") return calls[at.parent];
    if (key === "ArrowDown") return calls.find((call) => call.parent === at.index);
    const siblings = calls.filter((call) => call.parent === at.parent);
    return siblings[siblings.indexOf(at) + (key === "ArrowRight" ? 1 : -1)];
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = event.key.startsWith("Arrow") ? neighbour(event.key) : undefined;
    if (next) props.onSelect(next);
    else if ((event.key === "Enter" || event.key === "f") && selected) zoomTo(selected);
    else if (
      (event.key === "Escape" || event.key === "Backspace") &&
      (view.begin > 0 || view.end < props.chart.duration)
    )
      props.onTime({ begin: 0, end: props.chart.duration }, "zoom");
    else if (!event.key.startsWith("Arrow") && !moveTime(event.key, props)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onWheel = (event: WheelEvent) => {
    const box = scroller.current;
    const isTall = box !== null && box.scrollHeight > box.clientHeight + 1;
    if (isTall && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const left = canvas.current?.getBoundingClientRect().left ?? 0;
    const at = view.begin + ((event.clientX - left) / Math.max(1, width)) * (view.end - view.begin);
    props.onTime(zoomRange(view, at, 2 ** (event.deltaY / 240)), "wheel");
  };
  return (
    <div class="trace-chart" ref={scroller} onWheel={onWheel}>
      <canvas
        ref={canvas}
        tabIndex={0}
        data-keys
        role="application"
        aria-label="flame chart of the trace: arrow keys move from call to call, Enter zooms to one, w s a d zoom and move, 0 shows all"
        style={{ width: `${width}px`, height: `${height}px` }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          grip.current = { x: event.clientX, view, isDrag: false };
        }}
        onPointerMove={(event) => {
          const call = callAt(event);
          setHovered(call ? { index: call.index, x: event.clientX, y: event.clientY } : null);
          const { current } = grip;
          if (!current || event.buttons === 0) return;
          const by = event.clientX - current.x;
          if (Math.abs(by) > CLICK) current.isDrag = true;
          const span = current.view.end - current.view.begin;
          if (current.isDrag)
            props.onTime(panRange(current.view, (-by / Math.max(1, width)) * span), "drag");
        }}
        onPointerUp={(event) => {
          const call = grip.current?.isDrag ? undefined : callAt(event);
          grip.current = null;
          if (call) props.onSelect(call);
        }}
        onPointerCancel={() => (grip.current = null)}
        onPointerLeave={() => setHovered(null)}
        onDblClick={(event) => {
          const call = callAt(event);
          if (call) zoomTo(call);
        }}
        onKeyDown={onKeyDown}
      />
      {hovered && calls[hovered.index] && (
        <Tip call={calls[hovered.index] as TraceCall} x={hovered.x} y={hovered.y} />
      )}
      <p class="hidden" aria-live="polite">
        {selected && `${selected.service}: ${selected.method}, ${formatNs(selected.duration)}`}
      </p>
    </div>
  );
}

function Tip(props: { call: TraceCall; x: number; y: number }) {
  const { call } = props;
  const style = {
    ...(props.x > innerWidth / 2
      ? { right: `${innerWidth - props.x + 12}px` }
      : { left: `${props.x + 12}px` }),
    ...(props.y > innerHeight / 2
      ? { bottom: `${innerHeight - props.y + 12}px` }
      : { top: `${props.y + 16}px` }),
  };
  return (
    <div class="tooltip" role="tooltip" style={style}>
      <strong class={call.isFailed ? "failed" : ""}>{call.method}</strong>
      <table>
        <tbody>
          {(
            [
              ["service", call.service],
              ["start", formatNs(call.start)],
              ["duration", formatNs(call.duration)],
              ["self", formatNs(call.self)],
            ] as const
          ).map(([name, text]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {call.events.map((event, i) => (
        <small key={i} class={event.isError ? "failed" : ""}>
          ◆ {event.name}
          {event.text ? `: ${event.text}` : ""}
        </small>
      ))}
    </div>
  );
}
