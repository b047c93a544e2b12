// All spans of a request, of all services, on one time axis, with the calls inside those that are open.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { get } from "../shared/api";
import { countOf, formatNs } from "../shared/format";
import { shorten } from "../shared/names";
import { useIsNarrow } from "../shared/narrow";
import { go } from "../shared/state";
import type { CriticalPath, LinkList, SpanList, Trace, TraceList } from "../../generated/answers";
import { NAME_MAX, ServiceLegend, serviceColor } from "./service_legend";
import { Details } from "./trace_details";
import { TimeAxis } from "../shared/time_axis";
import {
  arrangeSpans,
  callInState,
  linkFlows,
  pathShares,
  selfOfSpan,
  serviceOf,
  spanFlows,
  spanId,
  withCalls,
  type SpanFlow,
  type SpanLine,
  type WaterfallLine,
} from "./trace_model";
import { useAnswer } from "../shared/use_answer";
import { durationUnit } from "../shared/units";
import { VirtualTable, type TableColumn } from "../shared/virtual_table";

const columns = (end: number, unit: string, isNarrow: boolean): TableColumn[] => [
  { name: "span", title: "span" },
  { name: "start", title: `start (${unit})`, isNumber: true },
  { name: "duration", title: `duration (${unit})`, isNumber: true },
  { name: "axis", title: <TimeAxis begin={0} span={end} marks={isNarrow ? 3 : 4} /> },
];
const START = 1; // left out of narrow windows
const SPANS_MAX = 1000;
const CALLS_MAX = 200; // of a span that is open

const isSpan = (line: WaterfallLine) => !line.call && !line.more;

// The answers about spans that are open, and what opens or closes one.
function useOpened(path: string, traceKey: string) {
  const [opened, setOpened] = useState<Map<string, Trace>>(new Map());
  const [error, setError] = useState<string | null>(null);
  const close = (line: SpanLine) =>
    setOpened((before) => new Map([...before].filter(([id]) => id !== spanId(line))));
  const open = (line: SpanLine) =>
    get<Trace>(`${path}/trace`, {
      key: line.key ?? traceKey,
      node: line.node,
      limit: CALLS_MAX,
    }).then(
      (trace) => {
        setError(null);
        setOpened((before) => new Map([...before, [spanId(line), trace]]));
      },
      (reason: Error) => setError(reason.message),
    );
  return { opened, error, open, close };
}

export function useSpans(path: string, trace: Trace | null) {
  return useAnswer<SpanList>(trace ? `${path}/traces` : null, {
    q: `id = ${trace?.trace}`,
    spans: 1,
    sort: "time",
    reverse: 1,
    limit: SPANS_MAX,
  });
}

export function TraceSpans(props: {
  path: string;
  traceKey: string;
  trace: Trace;
  duration: number | null; // of all of the trace; null: unknown
  selected: number;
  onSelect: (index: number) => void;
}) {
  const { value, error } = useSpans(props.path, props.trace);
  const inside = useOpened(props.path, props.traceKey);
  const isNarrow = useIsNarrow();
  const links = useAnswer<LinkList>(`${props.path}/links`, { key: props.traceKey });
  const linked = useAnswer<TraceList>(`${props.path}/traces`, {
    q: `links.trace = ${props.trace.trace} and not id = ${props.trace.trace}`,
    limit: 1,
  });
  const path = useAnswer<CriticalPath>(`${props.path}/critical-path`, { key: props.traceKey });
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  const spans = arrangeSpans(value.spans, props.trace.spans);
  const lines = withCalls(spans, inside.opened);
  const rowOf = new Map(lines.map((line, i) => [isSpan(line) ? line.of : null, i]));
  const flows = [...spanFlows(spans), ...linkFlows(props.trace.trace, spans, links.value)].map(
    (flow) => ({
      ...flow,
      from: rowOf.get(spans[flow.from] ?? null) ?? 0,
      to: rowOf.get(spans[flow.to] ?? null) ?? 0,
    }),
  );
  const end = Math.max(1, ...spans.map((line) => line.start + line.span.duration));
  const unit = durationUnit(end);
  const isShown = (_: unknown, i: number) => !isNarrow || i !== START;
  const id = props.trace.trace;
  const services = [...new Set(spans.map((line) => serviceOf(line)))];
  const open = (line: WaterfallLine | undefined) => {
    if (!line) return;
    const call = callInState(line.call?.node ?? line.of.node);
    if (line.of.key === null) go({ tab: "calls", call });
    else go({ key: line.of.key, tab: "calls", zoom: "", call });
  };
  const toggle = (line: WaterfallLine, isOpening: boolean) =>
    isOpening ? void inside.open(line.of) : inside.close(line.of);
  const onKey = (key: string, index: number): boolean => {
    const line = lines[Math.max(0, index)]; // none is selected at first
    if (!line || (key !== "ArrowRight" && key !== "ArrowLeft")) return false;
    toggle(line, key === "ArrowRight");
    if (key === "ArrowLeft") props.onSelect(lines.findIndex(({ of }) => of === line.of));
    return true;
  };
  const chosen = lines[props.selected];
  return (
    <>
      <div class="spans">
        <p class="status">
          {countOf(spans.length, "span")} of {countOf(services.length, "service")},{" "}
          {formatNs(props.duration ?? end)}
          {props.duration !== null && end > props.duration && `, ${formatNs(end)} to the last end`}
          {inside.error && <span class="error"> · {inside.error}</span>}
          {value.count > value.spans.length &&
            ` · the first ${value.spans.length} of ${value.count.toLocaleString("en-US")}`}
          {path.value && path.value.duration > 0 && (
            <span>
              {" "}
              · critical path{" "}
              {pathShares(path.value)
                .map(
                  ([service, part]) => `${shorten(service, NAME_MAX)} ${(part * 100).toFixed(0)} %`,
                )
                .join(", ")}
            </span>
          )}
          {linked.value && linked.value.count > 0 && (
            <>
              {" "}
              ·{" "}
              <button
                class="link"
                onClick={() =>
                  go({ key: "", tab: "", zoom: "", call: "", find: "", q: `links.trace = ${id}` })
                }
              >
                {countOf(linked.value.count, "trace")} with links to this one
              </button>
            </>
          )}
          <ServiceLegend services={services} />
        </p>
        <VirtualTable
          class="span-list"
          takesFocus
          label="spans of the request; → shows the calls inside one, Enter opens it"
          isTree
          columns={columns(end, unit.unit, isNarrow).filter(isShown)}
          widths={
            isNarrow ? "minmax(10em, 36%) 8em 1fr" : "minmax(12em, 30%) 7em 8.5em minmax(9em, 1fr)"
          }
          count={lines.length}
          row={(i) => {
            const line = lines[i] as WaterfallLine;
            const parts = flowParts(flows, i, end);
            const row = isSpan(line)
              ? spanRow(line.of, end, unit.print, props.traceKey, path.value, parts, {
                  isOpen: inside.opened.has(spanId(line.of)),
                  toggle: (isOpening) => toggle(line, isOpening),
                })
              : callRow(line, end, unit.print, parts);
            return { ...row, cells: row.cells.filter(isShown) };
          }}
          selected={props.selected}
          onSelect={props.onSelect}
          onOpen={(i) => open(lines[i])}
          onKey={onKey}
        />
      </div>
      {chosen && !chosen.more && (
        <SpanDetails path={props.path} traceKey={props.traceKey} spans={spans} line={chosen} />
      )}
    </>
  );
}

// The selected span, or call inside one, with its attributes.
function SpanDetails(props: {
  path: string;
  traceKey: string;
  spans: SpanLine[];
  line: WaterfallLine;
}) {
  const { line, spans } = props;
  const { value } = useAnswer<Trace>(`${props.path}/trace`, {
    key: line.of.key ?? props.traceKey,
    node: line.call?.node ?? line.of.node,
    limit: 1,
  });
  const call = value?.nodes[0];
  if (!call) return <aside class="panel" />;
  const self = line.call ? call.self : selfOfSpan(spans, line.of, call.self);
  const shown = { ...call, start: line.start };
  return <Details path={props.path} trace={value.trace} call={shown} self={self} />;
}

// The parts of flows in one row: they begin in the middle of the caller's row, and end in an arrow at
// the begin of the callee's bar. A link leads from the span that it names to the one that has it.
function flowParts(flows: SpanFlow[], row: number, end: number) {
  return flows
    .filter((flow) => Math.min(flow.from, flow.to) <= row && row <= Math.max(flow.from, flow.to))
    .map((flow) => (
      <i
        key={`${flow.from} ${flow.to}`}
        class={[
          "flow",
          row === flow.from ? "begins" : row === flow.to ? "ends" : "",
          flow.from > flow.to ? "up" : "",
          flow.isLink ? "linked" : "",
        ].join(" ")}
        style={{ left: `${(flow.at / end) * 100}%` }}
      />
    ));
}

// A call inside a span, or the number of those that are not listed.
function callRow(
  line: WaterfallLine,
  end: number,
  print: (ns: number) => string,
  flows: ComponentChildren,
) {
  const { call } = line;
  const indent = { paddingLeft: `${line.depth * 16 + 16}px` };
  if (!call)
    return {
      class: "",
      level: line.depth + 1,
      cells: [
        <span style={indent} class="faint">
          {countOf(line.more ?? 0, "more call")}: Enter shows them
        </span>,
        "",
        "",
        <span class="span-axis">{flows}</span>,
      ],
    };
  return {
    class: call.isError ? "failed" : "",
    level: line.depth + 1,
    cells: [
      <span style={indent}>{call.method}</span>,
      print(line.start),
      print(call.duration),
      <span class="span-axis">
        <i
          class="span-bar inside"
          style={{
            marginLeft: `${(line.start / end) * 100}%`,
            width: `${Math.max(0.3, (call.duration / end) * 100)}%`,
            background: serviceColor(serviceOf(line.of)),
          }}
        />
        {flows}
      </span>,
    ],
  };
}

interface Opening {
  isOpen: boolean;
  toggle: (isOpening: boolean) => void;
}

function spanRow(
  line: SpanLine,
  end: number,
  print: (ns: number) => string,
  current: string,
  path: CriticalPath | null,
  flows: ComponentChildren,
  opening: Opening,
) {
  const { span } = line;
  return {
    class: `${span.errors > 0 ? "failed" : ""}${line.key === current ? " here" : ""}`,
    level: line.depth + 1,
    cells: [
      <span style={{ paddingLeft: `${line.depth * 16}px` }}>
        <button
          class="link"
          tabIndex={-1}
          disabled={line.isCall}
          aria-label={opening.isOpen ? "hide calls inside" : "show calls inside"}
          onClick={(event) => {
            event.stopPropagation();
            opening.toggle(!opening.isOpen);
          }}
        >
          {line.isCall ? "" : opening.isOpen ? "▾" : "▸"}
        </button>{" "}
        <strong>{serviceOf(line)}</strong> {span.method}
      </span>,
      print(line.start),
      print(span.duration),
      <span class="span-axis">
        {flows}
        <i
          class="span-bar"
          style={{
            marginLeft: `${(line.start / end) * 100}%`,
            width: `${Math.max(0.3, (span.duration / end) * 100)}%`,
            background: serviceColor(serviceOf(line)),
          }}
        />
        {(path?.steps ?? [])
          .filter((step) => step.span !== undefined && step.span === span.span)
          .map((step) => (
            <i
              key={step.start}
              class="on-path"
              title={`on the critical path: ${formatNs(step.duration)} in ${step.method ?? ""}`}
              style={{
                left: `${(step.start / end) * 100}%`,
                width: `${(step.duration / end) * 100}%`,
              }}
            />
          ))}
      </span>,
    ],
  };
}
