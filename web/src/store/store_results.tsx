// The matching traces or spans, sorted by the server and loaded a page at a time.

import { useEffect, useRef, useState } from "preact/hooks";
import { formatNs, splitMethod } from "../shared/format";
import { useIsNarrow } from "../shared/narrow";
import { useRowPages } from "../shared/table/row_pages";
import { flag, go, isOn, type State } from "../shared/state";
import { durationUnit } from "../shared/units";
import { VirtualTable, type TableColumn, type TableRow } from "../shared/table/virtual_table";
import type { SpanList, SpanRow, TraceList, TraceRow } from "../../generated/answers";
import { useLive } from "./live";
import { NoMatches } from "./no_matches";
import { printTime } from "./query_text";
import { useServiceColor, type ServiceColor } from "./service_colors";
import { openTrace } from "./trace_model";

interface Props {
  path: string;
  state: State;
}

type Listed = TraceRow | SpanRow;

// What cells are drawn with.
interface Drawing {
  print: (ns: number) => string;
  most: number; // duration of the longest of the first rows
  color: ServiceColor;
  isNarrow: boolean;
}

interface Column extends TableColumn {
  width: string;
  isWide?: boolean; // left out of narrow windows
  narrowWidth?: string;
  cell: (row: Listed, drawing: Drawing) => TableRow["cells"][number];
}

const grouped = (value: number) => value.toLocaleString("en-US");
const servicesOf = (row: Listed): string[] =>
  "services" in row ? row.services : row.service === null ? [] : [row.service];

const COLUMNS: Record<string, Column> = {
  method: {
    name: "method",
    title: "root",
    width: "minmax(30ch, 2.4fr)",
    narrowWidth: "minmax(14ch, 1fr)",
    cell: (row, { color }) => <Root row={row} color={color} />,
  },
  errors: {
    name: "errors",
    title: "errors",
    isNumber: true,
    isSortable: true,
    isWide: true, // rows with errors are red
    width: "8ch",
    cell: (row) => (row.errors > 0 ? <span class="error-count">{grouped(row.errors)}</span> : ""),
  },
  services: {
    name: "services",
    title: "other services",
    width: "minmax(20ch, 1.6fr)",
    isWide: true,
    cell: (row, { color }) => <ServiceList names={servicesOf(row).slice(1)} color={color} />,
  },
  duration: {
    name: "duration",
    title: "duration",
    isNumber: true,
    isSortable: true,
    width: "minmax(20ch, 1.2fr)",
    narrowWidth: "11ch",
    cell: (row, { print, most }) => (
      <span class="measured" title={formatNs(row.duration)}>
        <span class="measured-track">
          <i style={{ width: `${Math.min(1, row.duration / most) * 100}%` }} />
        </span>
        <span class="measured-value">{print(row.duration)}</span>
      </span>
    ),
  },
  time: {
    name: "time",
    title: "time (UTC)",
    isSortable: true,
    width: "20ch",
    narrowWidth: "13ch",
    cell: (row, { isNarrow }) => {
      const text = printTime(row.time);
      return <span title={text}>{isNarrow ? text.slice(11) : text.slice(5)}</span>;
    },
  },
  spans: {
    name: "spans",
    title: "spans",
    isNumber: true,
    isSortable: true,
    isWide: true,
    width: "7ch",
    cell: (row) => ("spans" in row ? grouped(row.spans) : ""),
  },
  calls: {
    name: "calls",
    title: "calls",
    isNumber: true,
    isSortable: true,
    width: "9ch",
    isWide: true,
    cell: (row) => grouped(row.calls),
  },
  type: {
    name: "type",
    title: "type",
    width: "minmax(8ch, 0.5fr)",
    isWide: true,
    cell: (row) => row.type,
  },
};
const OF_TRACES = ["method", "errors", "services", "duration", "time", "spans"];
const OF_SPANS = ["method", "errors", "type", "duration", "time", "calls"];
const SETTLE_MS = 250;
const FIRST_ROWS = 50;

export function MethodName(props: { name: string }) {
  const { short, around } = splitMethod(props.name);
  return (
    <span title={props.name}>
      <span class="kind-function">{short}</span>
      {around !== "" && <span class="package">{around}</span>}
    </span>
  );
}

// The service that began it, and its first call.
function Root(props: { row: Listed; color: ServiceColor }) {
  const { row } = props;
  const service = servicesOf(row)[0];
  return (
    <span class="root-cell">
      <i class="swatch" style={service === undefined ? {} : { background: props.color(service) }} />
      {service !== undefined && <small class="root-service">{service}</small>}
      <MethodName name={row.method ?? "?"} />
    </span>
  );
}

function ServiceList(props: { names: string[]; color: ServiceColor }) {
  return (
    <span class="service-names" title={props.names.join(", ")}>
      {props.names.map((name) => (
        <span key={name} class="service-name">
          <i class="swatch" style={{ background: props.color(name) }} />
          {name}
        </span>
      ))}
    </span>
  );
}

// New traces appear above the rows that one looks at, which stay where they are.
function useShift(count: number | null, isLive: boolean, first: { current: number }): number {
  const [shift, setShift] = useState(0);
  const before = useRef(count);
  useEffect(() => {
    const added = (count ?? 0) - (before.current ?? count ?? 0);
    before.current = count;
    if (!isLive || added <= 0) return;
    const row = Number(new URLSearchParams(location.hash.slice(1)).get("row") ?? -1);
    if (row >= 0) go({ row: String(row + added) }, true);
    if (first.current > 0) setShift((sum) => sum + added);
  }, [count, isLive]);
  return shift;
}

export function Results(props: Props) {
  const { state } = props;
  const sort = state.sort ?? "time";
  const isAscending = isOn(state, "rev");
  const hasSpans = state.v === "spans";
  const isNarrow = useIsNarrow();
  const color = useServiceColor();
  const pages = useRowPages<Listed>(
    `${props.path}/traces`,
    { q: state.q, sort, reverse: state.rev, spans: flag(hasSpans) },
    (answer: TraceList | SpanList) => ({
      count: answer.count,
      rows: "spans" in answer ? answer.spans : answer.traces,
    }),
    useLive(state),
  );
  const timer = useRef<ReturnType<typeof setTimeout>>();
  useEffect(() => () => clearTimeout(timer.current), []);
  // The position goes into the address when scrolling has ended.
  const top = useRef("");
  const firstRow = useRef(0);
  const shift = useShift(
    pages.count,
    isOn(state, "live") && sort === "time" && !isAscending,
    firstRow,
  );
  const onRange = (first: number, last: number) => {
    pages.want(first, last);
    clearTimeout(timer.current);
    firstRow.current = first;
    top.current = first > 0 ? String(first) : "";
    timer.current = setTimeout(() => go({ top: top.current }, true), SETTLE_MS);
  };
  const open = (index: number) => {
    const row = pages.at(index);
    if (!row) return;
    clearTimeout(timer.current);
    go({ row: String(index), top: top.current }, true);
    openTrace(row);
  };
  if (pages.count === null || pages.error)
    return <p class="status">{pages.error ? "" : "loading…"}</p>;
  if (pages.count === 0) return <NoMatches state={state} />;
  // The unit of the first rows is that of all, so that it does not change while scrolling.
  const first = Array.from({ length: FIRST_ROWS }, (_, i) => pages.at(i)?.duration ?? 0);
  const most = Math.max(1, ...first);
  const unit = durationUnit(most);
  const drawing = { print: unit.print, most, color, isNarrow };
  const columns = (hasSpans ? OF_SPANS : OF_TRACES)
    .map((name) => COLUMNS[name] as Column)
    .filter((column) => !isNarrow || !column.isWide)
    .map((column) =>
      column.name === "duration"
        ? { ...column, title: `duration (${unit.unit})` }
        : column.name === "method" && hasSpans
          ? { ...column, title: "span" }
          : column,
    );
  return (
    <VirtualTable
      class="results"
      takesFocus
      label={hasSpans ? "matching spans" : "matching traces"}
      columns={columns}
      widths={columns.map((column) => (isNarrow && column.narrowWidth) || column.width).join(" ")}
      count={pages.count}
      row={(index) => {
        const row = pages.at(index);
        return row
          ? {
              class: row.errors > 0 ? "failing" : "",
              cells: columns.map((column) => column.cell(row, drawing)),
            }
          : null;
      }}
      selected={Number(state.row ?? -1)}
      onSelect={(index) => go({ row: String(index) }, true)}
      onOpen={open}
      isClickOpen
      onRange={onRange}
      sort={{
        by: sort,
        isAscending,
        onChange: (by) =>
          go({ sort: by, rev: flag(by === sort && !isAscending), top: "", row: "" }),
      }}
      top={Number(state.top ?? 0)}
      shift={shift}
      origin={`${state.q ?? ""} ${sort} ${isAscending} ${hasSpans}`}
    />
  );
}
