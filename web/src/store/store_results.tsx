// The matching traces or spans, sorted by the server and loaded a page at a time.

import { useEffect, useRef } from "preact/hooks";
import { splitMethod } from "../shared/format";
import { printClock } from "./query_text";
import { useRowPages } from "../shared/row_pages";
import { flag, go, isOn, type State } from "../shared/state";
import { useLive } from "./live";
import { useIsNarrow } from "../shared/narrow";
import type { SpanList, SpanRow, TraceList, TraceRow } from "../../generated/answers";
import { openTrace } from "./trace_model";
import { durationUnit } from "../shared/units";
import { VirtualTable, type TableColumn, type TableRow } from "../shared/virtual_table";

interface Props {
  path: string;
  state: State;
}

type Listed = TraceRow | SpanRow;

interface Column extends TableColumn {
  width: string;
  isWide?: boolean; // left out of narrow windows
  narrow?: { width: string; cell: Column["cell"] }; // instead, in narrow windows
  cell: (row: Listed, unit: DurationUnit) => TableRow["cells"][number];
}

type DurationUnit = ReturnType<typeof durationUnit>;

const grouped = (value: number) => value.toLocaleString("en-US");

const COLUMNS: Record<string, Column> = {
  time: {
    name: "time",
    title: "time (UTC)",
    isSortable: true,
    width: "13em",
    cell: (row) => printTime(row.time),
    narrow: {
      width: "8.5em",
      cell: (row) => <span title={printTime(row.time)}>{printTime(row.time).slice(5, 19)}</span>,
    },
  },
  duration: {
    name: "duration",
    title: "duration",
    isNumber: true,
    isSortable: true,
    width: "7.5em",
    cell: (row, unit) => unit.print(row.duration),
  },
  spans: {
    name: "spans",
    title: "spans",
    isNumber: true,
    isSortable: true,
    width: "4em",
    cell: (row) => ("spans" in row ? grouped(row.spans) : ""),
  },
  errors: {
    name: "errors",
    title: "errors",
    isNumber: true,
    isSortable: true,
    width: "4em",
    cell: (row) => (row.errors > 0 ? grouped(row.errors) : ""),
  },
  calls: {
    name: "calls",
    title: "calls",
    isNumber: true,
    isSortable: true,
    width: "5em",
    isWide: true,
    cell: (row) => grouped(row.calls),
  },
  type: {
    name: "type",
    title: "type",
    width: "minmax(4em, 0.6fr)",
    isWide: true,
    cell: (row) => row.type,
  },
  services: {
    name: "services",
    title: "services",
    width: "minmax(6em, 2.4fr)",
    isWide: true,
    cell: (row) => {
      const names = "services" in row ? row.services.join(", ") : (row.service ?? "");
      return <span title={names}>{names}</span>;
    },
  },
  method: {
    name: "method",
    title: "method",
    width: "minmax(8em, 3fr)",
    cell: (row) => <MethodName name={row.method ?? "?"} />,
  },
};
const OF_TRACES = ["time", "duration", "spans", "errors", "calls", "type", "services", "method"];
const OF_SPANS = OF_TRACES.filter((name) => name !== "spans");
const SETTLE_MS = 250;
const FIRST_ROWS = 50;

// To the millisecond.
export function printTime(ns: string): string {
  return printClock((BigInt(ns) / 1000000n) * 1000000n)
    .padEnd(20, ".")
    .padEnd(23, "0");
}

export function MethodName(props: { name: string }) {
  const { short, around } = splitMethod(props.name);
  return (
    <span title={props.name}>
      <span class="kind-function">{short}</span>
      {around !== "" && <span class="package">{around}</span>}
    </span>
  );
}

export function Results(props: Props) {
  const { state } = props;
  const sort = state.sort ?? "time";
  const isAscending = isOn(state, "rev");
  const hasSpans = state.v === "spans";
  const isNarrow = useIsNarrow();
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
  const onRange = (first: number, last: number) => {
    pages.want(first, last);
    clearTimeout(timer.current);
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
  if (pages.count === 0) return <p class="status">no matches</p>;
  // The unit of the first rows is that of all, so that it does not change while scrolling.
  const first = Array.from({ length: FIRST_ROWS }, (_, i) => pages.at(i)?.duration ?? 0);
  const unit = durationUnit(Math.max(...first));
  const columns = (hasSpans ? OF_SPANS : OF_TRACES)
    .map((name) => COLUMNS[name] as Column)
    .filter((column) => !isNarrow || !column.isWide)
    .map((column) => (isNarrow ? { ...column, ...column.narrow } : column))
    .map((column) =>
      column.name === "duration" ? { ...column, title: `duration (${unit.unit})` } : column,
    );
  return (
    <VirtualTable
      class="results"
      takesFocus
      label={hasSpans ? "matching spans" : "matching traces"}
      columns={columns}
      widths={columns.map((column) => column.width).join(" ")}
      count={pages.count}
      row={(index) => {
        const row = pages.at(index);
        return row
          ? {
              class: row.errors > 0 ? "failed" : "",
              cells: columns.map((column) => column.cell(row, unit)),
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
      origin={`${state.q ?? ""} ${sort} ${isAscending} ${hasSpans}`}
    />
  );
}
