// All spans of a request, of all services, on one time axis.

import type { ComponentChildren } from "preact";
import { colorOf } from "../shared/colors";
import { countOf, formatNs } from "../shared/format";
import { useListKeys } from "./list_keys";
import { go } from "../shared/state";
import type { CriticalPath, SpanList, Trace } from "./store_types";
import { TimeAxis } from "../shared/time_axis";
import {
  arrangeSpans,
  callInState,
  pathShares,
  serviceOf,
  spanFlows,
  type SpanFlow,
  type SpanLine,
} from "./trace_model";
import { useAnswer } from "../shared/use_answer";
import { VirtualTable, type TableColumn } from "../shared/virtual_table";

const columns = (end: number): TableColumn[] => [
  { name: "span", title: "span" },
  { name: "start", title: "start", isNumber: true },
  { name: "duration", title: "duration", isNumber: true },
  { name: "axis", title: <TimeAxis begin={0} span={end} /> },
];
const SPANS_MAX = 1000;

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
  selected: number;
  onSelect: (index: number) => void;
}) {
  const { value, error } = useSpans(props.path, props.trace);
  useListKeys(".span-list");
  const path = useAnswer<CriticalPath>(`${props.path}/critical-path`, { key: props.traceKey });
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  const lines = arrangeSpans(value.spans, props.trace.spans);
  const end = Math.max(1, ...lines.map((line) => line.start + line.span.duration));
  const flows = spanFlows(lines);
  const services = [...new Set(lines.map((line) => serviceOf(line)))];
  const open = (line: SpanLine | undefined) => {
    if (line?.key === null) go({ tab: "calls", call: callInState(line.node) });
    else if (line) go({ key: line.key, tab: "calls", zoom: "", call: "" });
  };
  return (
    <div class="spans">
      <p class="status">
        {countOf(lines.length, "span")} of {countOf(services.length, "service")}, {formatNs(end)}
        {value.count > value.spans.length &&
          ` · the first ${value.spans.length} of ${value.count.toLocaleString("en-US")}`}
        {path.value && path.value.duration > 0 && (
          <span>
            {" "}
            · critical path{" "}
            {pathShares(path.value)
              .map(([service, part]) => `${service} ${(part * 100).toFixed(0)} %`)
              .join(", ")}
          </span>
        )}
        {services.map((service) => (
          <span key={service} class="legend">
            <i style={{ background: colorOf(service) }} /> {service}
          </span>
        ))}
      </p>
      <VirtualTable
        class="span-list"
        label="spans of the request; Enter shows the calls of one"
        isTree
        columns={columns(end)}
        widths="minmax(16em, 30%) 7em 7em 1fr"
        count={lines.length}
        row={(i) =>
          spanRow(lines[i] as SpanLine, end, props.traceKey, path.value, flowParts(flows, i, end))
        }
        selected={props.selected}
        onSelect={props.onSelect}
        onOpen={(i) => open(lines[i])}
      />
    </div>
  );
}

// The parts of flows in one row: they begin in the middle of the caller's row, and end in an arrow at
// the begin of the callee's bar.
function flowParts(flows: SpanFlow[], row: number, end: number) {
  return flows
    .filter((flow) => flow.from <= row && row <= flow.to)
    .map((flow) => (
      <i
        key={flow.to}
        class={`flow${row === flow.from ? " begins" : row === flow.to ? " ends" : ""}`}
        style={{ left: `${(flow.at / end) * 100}%` }}
      />
    ));
}

function spanRow(
  line: SpanLine,
  end: number,
  current: string,
  path: CriticalPath | null,
  flows: ComponentChildren,
) {
  const { span } = line;
  return {
    class: `${span.errors > 0 ? "failed" : ""}${line.key === current ? " here" : ""}`,
    level: line.depth + 1,
    cells: [
      <span style={{ paddingLeft: `${line.depth * 16}px` }}>
        <strong>{serviceOf(line)}</strong> {span.method}
      </span>,
      formatNs(line.start),
      formatNs(span.duration),
      <span class="span-axis">
        {flows}
        <i
          class="span-bar"
          style={{
            marginLeft: `${(line.start / end) * 100}%`,
            width: `${Math.max(0.3, (span.duration / end) * 100)}%`,
            background: colorOf(serviceOf(line)),
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
