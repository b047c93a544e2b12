// Threads over time: one frame a request, drawn on a canvas; the stack under the cursor
// beside it; a map of the whole above.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { get } from "./api";
import { colorOf, themeColor } from "./colors";
import { axisStep, formatNs, formatPercent } from "./format";
import { clampRange, panRange, zoomRange, type Range } from "./range";
import type { Stack, TimelineFrame } from "./types";
import { useAnswer } from "./use_answer";

const LABEL = 150;
const ROW = 22;
const MAP = 34;
const AXIS = 22;

interface Props {
  path: string;
  duration: number;
  range: Range;
  depth: number; // 0: the server chooses
  first: number;
  thread: string;
  selection: Range | null;
  onChange: (change: { range?: Range; depth?: number; first?: number; selection?: Range | null }) => void;
  onFlame: (range: Range) => void;
  onCalls?: (time: number) => void;
}

const isPending = (frame: TimelineFrame) => frame.isPending;

interface Hover {
  x: number;
  y: number;
  profile: number;
  time: number;
}

export function TimelineView(props: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ width: 1000, rows: 20 });
  const [hover, setHover] = useState<Hover | null>(null);
  const drag = useRef<{ x: number; range: Range; isSelecting: boolean } | null>(null);

  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    const measure = () =>
      setSize({
        width: Math.max(200, element.clientWidth - LABEL),
        rows: Math.max(4, Math.floor((element.clientHeight - AXIS - MAP - 8) / ROW)),
      });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);

  const columns = Math.min(4000, size.width);
  const { value, error } = useAnswer<TimelineFrame>(`${props.path}/timeline`, {
    begin: Math.floor(props.range.begin),
    end: Math.ceil(props.range.end),
    columns,
    depth: props.depth,
    first: props.first,
    count: Math.min(200, size.rows),
    thread: props.thread,
    snap: 1,
  }, isPending);
  const map = useAnswer<TimelineFrame>(`${props.path}/timeline`, {
    columns: Math.min(1000, columns),
    depth: props.depth,
    first: props.first,
    count: 8,
    thread: props.thread,
    snap: 1,
  }, isPending);
  const stack = useStack(props.path, hover);
  const rows = value?.rows.length ?? 0;
  const height = AXIS + Math.max(rows, 1) * ROW;

  useEffect(() => {
    if (value && canvas.current) draw(canvas.current, value, size.width, height, props, hover);
  });

  const timeAt = (x: number) =>
    props.range.begin + ((x - LABEL) / size.width) * (props.range.end - props.range.begin);
  const change = (range: Range) => props.onChange({ range: clampRange(range, props.duration) });

  const onMove = (event: PointerEvent) => {
    const area = event.currentTarget as HTMLElement;
    const x = event.clientX - area.getBoundingClientRect().left;
    const y = event.clientY - area.getBoundingClientRect().top;
    const start = drag.current;
    if (start?.isSelecting) {
      const [a, b] = [timeAt(start.x), timeAt(x)].sort((p, q) => p - q) as [number, number];
      props.onChange({ selection: { begin: Math.max(0, a), end: Math.min(props.duration, b) } });
    } else if (start) {
      const span = start.range.end - start.range.begin;
      change(panRange(start.range, (-(x - start.x) / size.width) * span));
    } else {
      const row = value?.rows[Math.floor((y - AXIS) / ROW)];
      setHover(row && x >= LABEL ? { x, y, profile: row.profile, time: timeAt(x) } : null);
    }
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const span = props.range.end - props.range.begin;
    const middle = hover?.time ?? props.range.begin + span / 2;
    const keys: Record<string, () => void> = {
      a: () => change(panRange(props.range, -span / 5)),
      d: () => change(panRange(props.range, span / 5)),
      w: () => change(zoomRange(props.range, middle, 0.6)),
      s: () => change(zoomRange(props.range, middle, 1 / 0.6)),
      ArrowLeft: () => change(panRange(props.range, -span / 20)),
      ArrowRight: () => change(panRange(props.range, span / 20)),
      ArrowUp: () => props.onChange({ first: Math.max(0, props.first - 1) }),
      ArrowDown: () =>
        props.onChange({ first: Math.min(Math.max(0, (value?.threadCount ?? 1) - 1), props.first + 1) }),
      "+": () => props.onChange({ depth: (value?.depth ?? 1) + 1 }),
      "-": () => props.onChange({ depth: Math.max(1, (value?.depth ?? 2) - 1) }),
      "0": () => change({ begin: 0, end: props.duration }),
      Escape: () => props.onChange({ selection: null }),
      Enter: () => props.selection && props.onFlame(props.selection),
    };
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  };

  return (
    <div class="timeline">
      <div class="toolbar">
        <label>
          depth{" "}
          <input
            type="range"
            min={1}
            max={Math.max(1, value?.depthMax ?? 1)}
            value={value?.depth ?? 1}
            aria-label="call depth"
            onInput={(event) => props.onChange({ depth: Number(event.currentTarget.value) })}
          />{" "}
          {value?.depth ?? ""}
        </label>
        <span class="status">
          {formatNs(props.range.begin)} – {formatNs(props.range.end)} ·{" "}
          {value ? `${value.threadCount} threads` : (error ?? "loading…")}
          {value?.isPending ? " · adding up…" : value?.isEstimate ? " · crowded columns are estimated" : ""}
        </span>
        <button onClick={() => change({ begin: 0, end: props.duration })}>all</button>
        {props.selection && (
          <>
            <strong>{formatNs(props.selection.end - props.selection.begin)} selected</strong>
            <button onClick={() => props.selection && props.onFlame(props.selection)}>flame graph of it</button>
            <button onClick={() => props.selection && change(props.selection)}>zoom to it</button>
          </>
        )}
        {props.onCalls && hover === null && (
          <button onClick={() => props.onCalls?.(Math.floor(props.selection?.begin ?? props.range.begin))}>
            calls from here
          </button>
        )}
      </div>
      <div class="timeline-body">
        <div
          class="timeline-canvas"
          ref={frame}
          tabIndex={0}
          role="application"
          aria-label="threads over time: W and S zoom, A and D move, plus and minus change the depth"
          onKeyDown={onKeyDown}
        >
          <Minimap frame={map.value} width={size.width} range={props.range} duration={props.duration} onChange={change} />
          <canvas
            ref={canvas}
            style={{ width: `${size.width + LABEL}px`, height: `${height}px` }}
            onPointerDown={(event) => {
              event.currentTarget.setPointerCapture(event.pointerId);
              const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
              drag.current = { x, range: props.range, isSelecting: event.shiftKey };
            }}
            onPointerMove={onMove}
            onPointerUp={() => (drag.current = null)}
            onPointerLeave={() => setHover(null)}
            onDblClick={() => hover && change(zoomRange(props.range, hover.time, 0.25))}
            onWheel={(event) => {
              event.preventDefault();
              const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
              if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
                change(panRange(props.range, ((event.deltaX || event.deltaY) / size.width) * (props.range.end - props.range.begin)));
              else change(zoomRange(props.range, timeAt(x), event.deltaY > 0 ? 1.25 : 0.8));
            }}
          />
        </div>
        <aside class="panel" aria-live="polite">
          <h2>{hover ? `at ${formatNs(hover.time)}` : "in view"}</h2>
          {hover && stack ? <StackList stack={stack} /> : <Legend frame={value} />}
        </aside>
      </div>
    </div>
  );
}

function useStack(path: string, hover: Hover | null): Stack | null {
  const [stack, setStack] = useState<Stack | null>(null);
  useEffect(() => {
    if (!hover) return setStack(null);
    const stop = new AbortController();
    const timer = setTimeout(() => {
      get<Stack>(`${path}/stack`, { profile: hover.profile, time: Math.floor(hover.time) }, stop.signal).then(setStack, () => undefined);
    }, 60);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [hover?.profile, hover?.time]);
  return stack;
}

function StackList(props: { stack: Stack }) {
  const { stack } = props;
  if (!stack.frames?.length) return <p class="status">not running</p>;
  const span = stack.begin !== undefined && stack.end !== undefined ? formatNs(stack.end - stack.begin) : "";
  return (
    <>
      <p class="status">{span && `for ${span}`}</p>
      <ol class="stack">
        {[...stack.frames].reverse().map((item, i) => (
          <li key={i} style={{ borderLeftColor: colorOf(item.label) }}>
            {item.label}
          </li>
        ))}
      </ol>
    </>
  );
}

function Legend(props: { frame: TimelineFrame | null }) {
  const places = [...(props.frame?.places ?? [])].sort((a, b) => b[2] - a[2]).slice(0, 40);
  const total = places.reduce((sum, place) => sum + place[2], 0);
  return (
    <ol class="stack">
      {places.map(([id, name, ns]) => (
        <li key={id} style={{ borderLeftColor: colorOf(name) }}>
          {name} <small>{formatPercent(ns, total)}</small>
        </li>
      ))}
    </ol>
  );
}

function prepare(element: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio || 1;
  element.width = width * ratio;
  element.height = height * ratio;
  const context = element.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

// A frame is drawn where its time is: while the next one is on its way, the last one moves
// along.
function drawRuns(context: CanvasRenderingContext2D, frame: TimelineFrame, row: number, box: { range: Range; top: number; width: number; height: number }) {
  const names = new Map(frame.places.map(([id, name]) => [id, name]));
  const nsPerPixel = (box.range.end - box.range.begin) / box.width;
  const left = LABEL + (frame.begin - box.range.begin) / nsPerPixel;
  const scale = (frame.end - frame.begin) / frame.columns / nsPerPixel;
  let at = 0;
  context.save();
  context.beginPath();
  context.rect(LABEL, box.top, box.width, box.height);
  context.clip();
  for (const [count, place, share] of frame.rows[row]?.runs ?? []) {
    const name = place === null ? undefined : names.get(place);
    if (name !== undefined) {
      context.fillStyle = colorOf(name);
      context.globalAlpha = 0.35 + (0.65 * share) / 100;
      context.fillRect(left + at * scale, box.top, Math.max(count * scale, 0.5), box.height);
    }
    at += count;
  }
  context.restore();
}

function draw(element: HTMLCanvasElement, frame: TimelineFrame, width: number, height: number, props: Props, hover: Hover | null) {
  const context = prepare(element, width + LABEL, height);
  if (!context) return;
  const ink = themeColor("--ink");
  context.clearRect(0, 0, width + LABEL, height);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  drawAxis(context, props.range, width, height);
  frame.rows.forEach((row, i) => {
    const top = AXIS + i * ROW;
    context.fillStyle = ink;
    context.fillText(row.label.replace(/^NODE \S+ /, "").slice(-22), 4, top + ROW / 2);
    drawRuns(context, frame, i, { range: props.range, top: top + 1, width, height: ROW - 2 });
  });
  const xOf = (time: number) => LABEL + ((time - props.range.begin) / (props.range.end - props.range.begin)) * width;
  if (props.selection) {
    context.fillStyle = themeColor("--accent");
    context.globalAlpha = 0.22;
    context.fillRect(xOf(props.selection.begin), AXIS, xOf(props.selection.end) - xOf(props.selection.begin), height);
    context.globalAlpha = 1;
  }
  if (hover) {
    context.fillStyle = ink;
    context.fillRect(hover.x, AXIS, 1, height);
  }
}

function drawAxis(context: CanvasRenderingContext2D, range: Range, width: number, height: number) {
  const span = range.end - range.begin;
  const step = axisStep(span, width / 110);
  context.fillStyle = themeColor("--faint");
  for (let at = Math.ceil(range.begin / step) * step; at < range.end; at += step) {
    const x = LABEL + ((at - range.begin) / span) * width;
    context.globalAlpha = 0.3;
    context.fillRect(x, AXIS, 1, height);
    context.globalAlpha = 1;
    context.fillText(formatNs(at), x + 3, AXIS / 2);
  }
}

interface MinimapProps {
  frame: TimelineFrame | null;
  width: number;
  range: Range;
  duration: number;
  onChange: (range: Range) => void;
}

function Minimap(props: MinimapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = canvas.current && prepare(canvas.current, props.width + LABEL, MAP);
    if (!context || !props.frame) return;
    const rows = Math.max(1, props.frame.rows.length);
    for (let i = 0; i < props.frame.rows.length; i++)
      drawRuns(context, props.frame, i, { range: { begin: 0, end: props.duration }, top: (i * MAP) / rows, width: props.width, height: MAP / rows });
    const left = LABEL + (props.range.begin / props.duration) * props.width;
    const right = LABEL + (props.range.end / props.duration) * props.width;
    context.fillStyle = themeColor("--paper");
    context.globalAlpha = 0.7;
    context.fillRect(LABEL, 0, left - LABEL, MAP);
    context.fillRect(right, 0, LABEL + props.width - right, MAP);
    context.globalAlpha = 1;
    context.strokeStyle = themeColor("--accent");
    context.lineWidth = 2;
    context.strokeRect(left + 1, 1, Math.max(right - left - 2, 2), MAP - 2);
  });
  const move = (event: PointerEvent) => {
    if (event.buttons === 0) return;
    const area = event.currentTarget as HTMLElement;
    const x = event.clientX - area.getBoundingClientRect().left - LABEL;
    const span = props.range.end - props.range.begin;
    const middle = (x / props.width) * props.duration;
    props.onChange({ begin: middle - span / 2, end: middle + span / 2 });
  };
  return (
    <canvas
      ref={canvas}
      class="minimap"
      aria-label="the whole time; drag to move the part that is shown"
      style={{ width: `${props.width + LABEL}px`, height: `${MAP}px` }}
      onPointerDown={move}
      onPointerMove={move}
    />
  );
}
