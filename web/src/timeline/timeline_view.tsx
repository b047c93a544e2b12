// Threads over time on a canvas, one request per frame, with the stack at the cursor and a map of the
// whole time.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { get } from "../shared/api";
import { colorOf } from "../shared/colors";
import { matcher } from "../flame/flame_layout";
import { formatNs, formatPercent } from "../shared/format";
import { MAP, Minimap } from "./minimap";
import { clampRange, panRange, zoomRange, type Range } from "../shared/range";
import { countNumbers, holdsNumber, printNumbers, toggleNumber } from "./thread_numbers";
import { axisPx, drawFrame, labelPx, rowPx, type Cursor } from "./timeline_draw";
import type { Stack, TimelineFrame } from "../shared/types";
import { useAnswer } from "../shared/use_answer";

export interface Selection extends Range {
  threads: string; // "1-3,7"; "": all
}

export interface TimelineChange {
  range?: Range;
  depth?: number;
  first?: number;
  selection?: Selection | null;
}

interface Props {
  path: string;
  duration: number;
  range: Range;
  depth: number; // 0: the server chooses
  first: number;
  thread: string;
  search: string;
  timesLabel: string; // says which times these are; may be empty
  selection: Selection | null;
  onChange: (change: TimelineChange) => void;
  onFlame: () => void;
  onTable: () => void;
  onCalls?: (time: number, profile: number) => void; // a click, or c
}

interface Drag {
  x: number;
  y: number;
  range: Range;
  isSelecting: boolean;
}

const isPending = (frame: TimelineFrame) => frame.isPending;

function useSize() {
  const frame = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 1000, rows: 20 });
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    const measure = () =>
      setSize({
        width: Math.max(200, element.clientWidth - labelPx()),
        rows: Math.max(4, Math.floor((element.clientHeight - axisPx() - MAP - 8) / rowPx())),
      });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  return { frame, size };
}

export function TimelineView(props: Props) {
  const { frame, size } = useSize();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [cursor, setCursor] = useState<Cursor | null>(null);
  const drag = useRef<Drag | null>(null);
  const matches = useMemo(() => matcher(props.search), [props.search]);

  const columns = Math.min(4000, size.width);
  const asked = { depth: props.depth, first: props.first, thread: props.thread, snap: 1 };
  const { value, error } = useAnswer<TimelineFrame>(
    `${props.path}/timeline`,
    {
      ...asked,
      begin: Math.floor(props.range.begin),
      end: Math.ceil(props.range.end),
      columns,
      count: Math.min(200, size.rows),
    },
    isPending,
  );
  const map = useAnswer<TimelineFrame>(
    `${props.path}/timeline`,
    { ...asked, columns: Math.min(1000, columns), count: 8 },
    isPending,
  );
  const profile = cursor ? value?.rows[cursor.row]?.profile : undefined;
  const stack = useStack(props.path, profile, cursor?.time);
  const height = axisPx() + Math.max(value?.rows.length ?? 0, 1) * rowPx();

  useEffect(() => {
    if (!value || !canvas.current) return;
    drawFrame(canvas.current, {
      frame: value,
      range: props.range,
      width: size.width,
      height,
      cursor,
      matches,
      selection: props.selection,
      isSelected: (number) => holdsNumber(props.selection?.threads ?? "", number),
    });
  });

  const span = props.range.end - props.range.begin;
  const timeAt = (x: number) => props.range.begin + ((x - labelPx()) / size.width) * span;
  const rowAt = (y: number) => Math.floor((y - axisPx()) / rowPx());
  const change = (range: Range) => props.onChange({ range: clampRange(range, props.duration) });
  const inside = (time: number) => Math.min(props.duration, Math.max(0, time));

  // The threads from one row to another; all of them from the axis on.
  const threadsBetween = (from: number, to: number): string => {
    if (from < 0 || !value) return "";
    const rows = value.rows.slice(Math.max(0, Math.min(from, to)), Math.max(from, to) + 1);
    return printNumbers(rows.map((row) => row.profile));
  };

  const onMove = (event: PointerEvent) => {
    const area = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const x = event.clientX - area.left;
    const y = event.clientY - area.top;
    const start = drag.current;
    if (start?.isSelecting) {
      const [begin, end] = [inside(timeAt(start.x)), inside(timeAt(x))].sort((p, q) => p - q) as [
        number,
        number,
      ];
      props.onChange({
        selection: { begin, end, threads: threadsBetween(rowAt(start.y), Math.max(0, rowAt(y))) },
      });
    } else if (start) {
      const moved = start.range.end - start.range.begin;
      change(panRange(start.range, (-(x - start.x) / size.width) * moved));
    } else {
      const row = rowAt(y);
      setCursor(
        x >= labelPx() && row >= 0 && row < (value?.rows.length ?? 0)
          ? { time: timeAt(x), row }
          : null,
      );
    }
  };

  const moveCursor = (by: number) => {
    const from = cursor ?? { time: props.range.begin + span / 2, row: 0 };
    const time = inside(from.time + by * span);
    setCursor({ time, row: from.row });
    if (time < props.range.begin || time > props.range.end)
      change(panRange(props.range, by * span * 10));
  };
  const moveRow = (by: number) => {
    const row = (cursor?.row ?? -1) + by;
    if (cursor && row >= 0 && row < (value?.rows.length ?? 0)) return setCursor({ ...cursor, row });
    const last = Math.max(0, (value?.threadCount ?? 1) - 1);
    props.onChange({ first: Math.min(last, Math.max(0, props.first + by)) });
  };
  // Move one end of the selection to the cursor.
  const mark = (end: "begin" | "end") => {
    const time = cursor?.time ?? props.range.begin + span / 2;
    const before = props.selection ?? { ...props.range, threads: "" };
    const next = { ...before, [end]: time };
    props.onChange({
      selection: {
        ...next,
        begin: Math.min(next.begin, next.end),
        end: Math.max(next.begin, next.end),
      },
    });
  };

  // Add the thread of the cursor to the selection, or remove it.
  const markThread = () => {
    if (profile === undefined) return;
    const selection = props.selection ?? { ...props.range, threads: "" };
    props.onChange({
      selection: { ...selection, threads: toggleNumber(selection.threads, profile) },
    });
  };

  const showCalls = () => {
    if (cursor && profile !== undefined) props.onCalls?.(cursor.time, profile);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const middle = cursor?.time ?? props.range.begin + span / 2;
    const depth = props.depth || (value?.depth ?? 1);
    const keys: Record<string, () => void> = {
      a: () => change(panRange(props.range, -span / 5)),
      d: () => change(panRange(props.range, span / 5)),
      w: () => change(zoomRange(props.range, middle, 0.6)),
      s: () => change(zoomRange(props.range, middle, 1 / 0.6)),
      ArrowLeft: () => change(panRange(props.range, -span / 20)),
      ArrowRight: () => change(panRange(props.range, span / 20)),
      ArrowUp: () => moveRow(-1),
      ArrowDown: () => moveRow(1),
      PageUp: () => props.onChange({ first: Math.max(0, props.first - size.rows) }),
      PageDown: () =>
        props.onChange({
          first: Math.min(Math.max(0, (value?.threadCount ?? 1) - 1), props.first + size.rows),
        }),
      ",": () => moveCursor(-1 / 100),
      ".": () => moveCursor(1 / 100),
      "[": () => mark("begin"),
      "]": () => mark("end"),
      "+": () => props.onChange({ depth: Math.min(value?.depthMax ?? 1, depth + 1) }),
      "-": () => props.onChange({ depth: Math.max(1, depth - 1) }),
      "0": () => change({ begin: 0, end: props.duration }),
      x: markThread,
      c: showCalls,
      z: () => props.selection && change(props.selection),
      Escape: () => (props.selection ? props.onChange({ selection: null }) : setCursor(null)),
      Enter: () => props.selection && props.onFlame(),
    };
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };

  return (
    <div class="timeline">
      <Toolbar props={props} frame={value} error={error} onRange={change} />
      <div class="timeline-body">
        <div
          class="timeline-canvas"
          ref={frame}
          tabIndex={0}
          role="application"
          aria-label="threads over time: W and S zoom, A and D move, comma and full stop move the cursor, brackets select time and x threads, plus and minus change the depth"
          onKeyDown={onKeyDown}
        >
          <Minimap
            frame={map.value}
            width={size.width}
            range={props.range}
            duration={props.duration}
            matches={matches}
            onChange={change}
          />
          <canvas
            ref={canvas}
            role="img"
            aria-label={
              value
                ? `${value.rows.length} of ${value.threadCount} threads at depth ${value.depth}`
                : "loading"
            }
            style={{ width: `${size.width + labelPx()}px`, height: `${height}px` }}
            onPointerDown={(event) => {
              event.currentTarget.setPointerCapture(event.pointerId);
              const area = event.currentTarget.getBoundingClientRect();
              drag.current = {
                x: event.clientX - area.left,
                y: event.clientY - area.top,
                range: props.range,
                isSelecting: event.shiftKey,
              };
            }}
            onPointerMove={onMove}
            onPointerUp={(event) => {
              const start = drag.current;
              drag.current = null;
              const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
              if (start && !start.isSelecting && Math.abs(x - start.x) < 3) showCalls();
            }}
            onPointerLeave={() => setCursor(null)}
            onDblClick={() => cursor && change(zoomRange(props.range, cursor.time, 0.25))}
            onWheel={(event) => {
              event.preventDefault();
              const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
              if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
                change(panRange(props.range, ((event.deltaX || event.deltaY) / size.width) * span));
              else change(zoomRange(props.range, timeAt(x), event.deltaY > 0 ? 1.25 : 0.8));
            }}
          />
        </div>
        <aside class="panel" aria-live="polite" aria-label="stack">
          <h2>{cursor ? `At ${formatNs(cursor.time)}` : "Visible range"}</h2>
          {cursor ? <StackList stack={stack} /> : <Legend frame={value} />}
        </aside>
      </div>
    </div>
  );
}

function Toolbar(toolbar: {
  props: Props;
  frame: TimelineFrame | null;
  error: string | null;
  onRange: (range: Range) => void;
}) {
  const { props, frame } = toolbar;
  const { selection } = props;
  return (
    <div class="toolbar">
      <label>
        depth{" "}
        <input
          type="range"
          min={1}
          max={Math.max(1, frame?.depthMax ?? 1)}
          value={frame?.depth ?? 1}
          aria-label="call depth"
          onInput={(event) => props.onChange({ depth: Number(event.currentTarget.value) })}
        />{" "}
        {frame?.depth ?? ""}
      </label>
      <span class="status">
        {formatNs(props.range.begin)} – {formatNs(props.range.end)} {props.timesLabel}·{" "}
        {frame ? `${frame.threadCount} threads` : (toolbar.error ?? "loading…")}
        {frame?.isPending
          ? " · computing…"
          : frame?.isEstimate
            ? " · zoomed out: dense parts are approximate"
            : ""}
      </span>
      <button onClick={() => toolbar.onRange({ begin: 0, end: props.duration })}>Whole time</button>
      {selection && (
        <>
          <strong>{formatNs(selection.end - selection.begin)} selected</strong>
          {selection.threads && (
            <button
              title="select all threads"
              onClick={() => props.onChange({ selection: { ...selection, threads: "" } })}
            >
              of {countNumbers(selection.threads)}{" "}
              {countNumbers(selection.threads) === 1 ? "thread" : "threads"} ×
            </button>
          )}
          <button onClick={props.onFlame}>Flame graph</button>
          <button onClick={props.onTable}>Table</button>
          <button onClick={() => toolbar.onRange(selection)}>Zoom to selection</button>
        </>
      )}
    </div>
  );
}

function useStack(
  path: string,
  profile: number | undefined,
  time: number | undefined,
): Stack | null {
  const [stack, setStack] = useState<Stack | null>(null);
  useEffect(() => {
    if (profile === undefined || time === undefined) return setStack(null);
    const stop = new AbortController();
    const timer = setTimeout(() => {
      get<Stack>(`${path}/stack`, { profile, time: Math.floor(time) }, stop.signal).then(
        setStack,
        () => undefined,
      );
    }, 60);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [profile, time]);
  return stack;
}

function StackList(props: { stack: Stack | null }) {
  const { stack } = props;
  if (!stack) return null;
  if (!stack.frames?.length) return <p class="status">no data</p>;
  const span =
    stack.begin !== undefined && stack.end !== undefined ? formatNs(stack.end - stack.begin) : "";
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
      {props.frame?.rows.some((row) => row.runs.some((run) => run[1] === props.frame?.idle)) && (
        <li class="waiting">(waiting)</li>
      )}
    </ol>
  );
}
