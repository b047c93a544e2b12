// The calls of a trace in rows, of all services, on one time axis: what happened in them, and below a bar
// the part that the end of the trace waited for.

import { useRef, useState } from "preact/hooks";
import { formatNs, formatTick, timeStep } from "../shared/format";
import { useIsNarrow, useIsPhone } from "../shared/narrow";
import { zoomRange, type Range } from "../shared/range";
import { load, save } from "../shared/saved";
import { durationUnit } from "../shared/units";
import { VirtualTable, type TableColumn, type TableRow } from "../shared/table/virtual_table";
import { useServiceColor, type ServiceColor } from "./service_colors";
import { moveTime, type Drawn } from "./trace_map";
import { hasCallsBelow, openRows, type TraceCall } from "./trace_model";

interface Props extends Drawn {
  closed: Set<number>;
  onClosed: (closed: Set<number>) => void;
  onOpen: (call: TraceCall) => void; // with all calls of its record
}

const WIDTH = "cairn.trace.names"; // of the column of names, as a share of the table
const SHARE = 0.32;
const SHARE_NARROW = 0.45;
const LEAST = 0.08;
const MOST = 0.85;

const MARKS = 6;
const LABELLED = 0.94; // of the width: the text of later marks would be cut

function marksOf({ begin, end }: Range, count: number): number[] {
  const step = timeStep(end - begin, count);
  const marks = [];
  for (let at = Math.ceil(begin / step) * step; at <= end; at += step) marks.push(at);
  return marks;
}

const place = (ns: number, view: Range) => (100 * (ns - view.begin)) / (view.end - view.begin);

// The share of the width that names have; the reader may change it.
function useNameShare(isNarrow: boolean) {
  const [share, setShare] = useState(() => {
    const saved = load(WIDTH);
    return typeof saved === "number" && saved >= LEAST && saved <= MOST ? saved : null;
  });
  const change = (next: number) => {
    const inside = Math.min(MOST, Math.max(LEAST, next));
    save(WIDTH, inside);
    setShare(inside);
  };
  return [share ?? (isNarrow ? SHARE_NARROW : SHARE), change] as const;
}

// The line between names and bars, which can be moved.
function Splitter(props: { share: number; onChange: (share: number) => void }) {
  const isDragged = useRef(false);
  const move = (event: PointerEvent) => {
    const table = (event.currentTarget as Element).closest(".vtable");
    const box = table?.getBoundingClientRect();
    if (isDragged.current && box) props.onChange((event.clientX - box.left) / box.width);
  };
  return (
    <i
      class="splitter"
      tabIndex={0}
      role="separator"
      aria-orientation="vertical"
      aria-label="width of names"
      aria-valuemin={100 * LEAST}
      aria-valuemax={100 * MOST}
      aria-valuenow={Math.round(100 * props.share)}
      title="drag to change the width of names; double click: as at first"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        isDragged.current = true;
      }}
      onPointerMove={move}
      onPointerUp={() => (isDragged.current = false)}
      onPointerCancel={() => (isDragged.current = false)}
      onDblClick={() => props.onChange(SHARE)}
      onKeyDown={(event) => {
        const by = event.key === "ArrowLeft" ? -0.02 : event.key === "ArrowRight" ? 0.02 : 0;
        if (by === 0) return;
        props.onChange(props.share + by);
        event.preventDefault();
        event.stopPropagation();
      }}
    />
  );
}

export function Waterfall(props: Props) {
  const { calls, view, closed, selected } = props;
  const isNarrow = useIsNarrow();
  const isPhone = useIsPhone(); // bars are below names, and as wide as the page
  const color = useServiceColor();
  const [share, setShare] = useNameShare(isNarrow);
  const rows = openRows(calls, closed);
  const index = selected ? rows.indexOf(selected) : -1;
  const unit = durationUnit(Math.max(1, ...calls.map(({ duration }) => duration)));
  const marks = marksOf(view, isNarrow ? 3 : MARKS);
  const step = timeStep(view.end - view.begin, isNarrow ? 3 : MARKS);
  const toggle = (call: TraceCall, isClosing: boolean) => {
    const next = new Set(closed);
    if (isClosing) next.add(call.index);
    else next.delete(call.index);
    props.onClosed(next);
  };
  const onKey = (key: string, at: number): boolean => {
    const call = rows[Math.max(0, at)];
    if (moveTime(key, props)) return true;
    if (!call) return false;
    if (key === "ArrowRight" && hasCallsBelow(call)) {
      if (closed.has(call.index)) toggle(call, false);
      else if (rows[at + 1]) props.onSelect(rows[at + 1] as TraceCall);
    } else if (key === "ArrowLeft") {
      if (hasCallsBelow(call) && !closed.has(call.index)) toggle(call, true);
      else if (calls[call.parent]) props.onSelect(calls[call.parent] as TraceCall);
    } else if (key === "f") {
      props.onTime({ begin: call.start, end: call.start + Math.max(call.duration, 1) }, "zoom");
    } else return false;
    return true;
  };
  const columns: TableColumn[] = [
    { name: "name", title: "call" },
    {
      name: "duration",
      isNumber: true,
      title: isPhone ? (
        ""
      ) : (
        <>
          <Splitter share={share} onChange={setShare} />
          {unit.unit}
        </>
      ),
    },
    { name: "axis", title: <Axis marks={marks} step={step} view={view} /> },
  ];
  return (
    <div
      class="waterfall-area"
      onWheel={(event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        const axis = event.currentTarget.querySelector(".wf-axis")?.getBoundingClientRect();
        if (!axis) return;
        const at = (event.clientX - axis.left) / Math.max(axis.width, 1);
        const middle = view.begin + Math.min(1, Math.max(0, at)) * (view.end - view.begin);
        props.onTime(zoomRange(view, middle, 2 ** (event.deltaY / 240)), "wheel");
      }}
    >
      <VirtualTable
        class="waterfall"
        takesFocus
        isTree
        label="calls of the trace; ← and → close and open one, Enter lists all calls of its record"
        columns={columns}
        isStacked={isPhone}
        widths={
          isPhone
            ? "minmax(0, 1fr) max-content"
            : `minmax(0, ${(share * 100).toFixed(1)}%) 9ch minmax(0, 1fr)`
        }
        count={rows.length}
        row={(i) =>
          rowOf(rows[i] as TraceCall, props, {
            color,
            marks,
            print: isPhone ? formatNs : unit.print,
            toggle,
          })
        }
        selected={index}
        reveal={index}
        onSelect={(i) => rows[i] && props.onSelect(rows[i])}
        onOpen={(i) => rows[i] && props.onOpen(rows[i])}
        onKey={onKey}
      />
    </div>
  );
}

function Axis(props: { marks: number[]; step: number; view: Range }) {
  return (
    <span class="wf-axis" aria-hidden="true">
      {props.marks.map((at) => (
        <i key={at} style={{ left: `${place(at, props.view)}%` }}>
          {place(at, props.view) < 100 * LABELLED ? formatTick(at, props.step) : ""}
        </i>
      ))}
    </span>
  );
}

interface Drawing {
  color: ServiceColor;
  marks: number[];
  print: (ns: number) => string;
  toggle: (call: TraceCall, isClosing: boolean) => void;
}

function rowOf(call: TraceCall, props: Props, drawing: Drawing): TableRow {
  const { calls, closed } = props;
  const isClosed = closed.has(call.index);
  const isHit = props.matches?.(call.method) ?? false;
  const isNewService = calls[call.parent]?.service !== call.service;
  return {
    class: `${call.isFailed ? "failed" : ""}${isHit ? " hit" : ""}`,
    level: call.depth + 1,
    ...(hasCallsBelow(call) ? { isOpen: !isClosed } : {}),
    cells: [
      <span class="wf-name" title={`${call.service}: ${call.method}`}>
        {Array.from({ length: call.depth }, (_, i) => (
          <i key={i} class="wf-guide" />
        ))}
        <button
          class="twist"
          tabIndex={-1}
          disabled={!hasCallsBelow(call)}
          aria-label={isClosed ? "open" : "close"}
          onClick={(event) => {
            event.stopPropagation();
            drawing.toggle(call, !isClosed);
          }}
        >
          {hasCallsBelow(call) ? (isClosed ? "▸" : "▾") : ""}
        </button>
        <i class="swatch" style={{ background: drawing.color(call.service) }} />
        {isNewService && <small class="wf-service">{call.service}</small>}
        <span class="kind-function">{call.method}</span>
        {isClosed && <small>{(call.end - call.index - 1).toLocaleString("en-US")} inside</small>}
        {call.isRunning && <em>still running</em>}
      </span>,
      drawing.print(call.duration),
      <Bar
        call={call}
        view={props.view}
        marks={drawing.marks}
        color={drawing.color(call.service)}
      />,
    ],
  };
}

const ROOM = 78; // percent: a label after this is left of its bar

function Bar(props: { call: TraceCall; view: Range; marks: number[]; color: string }) {
  const { call, view } = props;
  const left = place(call.start, view);
  const right = place(call.start + call.duration, view);
  const shown = { left: Math.max(0, left), right: Math.min(100, right) };
  const isVisible = right >= 0 && left <= 100;
  const event = call.events.find((one) => one.isError);
  const text = event?.text ?? event?.name;
  return (
    <span class="wf-bars">
      {props.marks.map((at) => (
        <i key={at} class="wf-mark" style={{ left: `${place(at, view)}%` }} />
      ))}
      {isVisible && (
        <i
          class={`wf-bar${call.isFailed ? " failed" : ""}${call.isSpan ? "" : " inside"}`}
          title={`${formatNs(call.start)} to ${formatNs(call.start + call.duration)}: ${formatNs(call.duration)}, self ${formatNs(call.self)}`}
          style={{
            left: `${shown.left}%`,
            width: `${Math.max(0, shown.right - shown.left)}%`,
            background: props.color,
          }}
        />
      )}
      {call.path.map((part) => (
        <i
          key={part.begin}
          class="wf-path"
          title={`on the critical path: ${formatNs(part.end - part.begin)}`}
          style={{
            left: `${Math.max(0, place(part.begin, view))}%`,
            width: `${Math.max(0, Math.min(100, place(part.end, view)) - Math.max(0, place(part.begin, view)))}%`,
          }}
        />
      ))}
      {call.events.map(
        (one, i) =>
          one.time !== undefined &&
          place(one.time, view) >= 0 &&
          place(one.time, view) <= 100 && (
            <i
              key={i}
              class={one.isError ? "wf-instant failed" : "wf-instant"}
              title={`${formatNs(one.time)} ${one.name}${one.text ? `: ${one.text}` : ""}`}
              style={{ left: `${place(one.time, view)}%` }}
            />
          ),
      )}
      {event && text && isVisible && (
        <small
          class="wf-event failed"
          title={`${event.name}${event.text ? `: ${event.text}` : ""}`}
          style={
            shown.right > ROOM ? { right: `${100 - shown.left}%` } : { left: `${shown.right}%` }
          }
        >
          ◆ {text}
        </small>
      )}
    </span>
  );
}
