// The matching traces, sorted by the server and loaded a page at a time.

import { useEffect, useRef } from "preact/hooks";
import { formatNs, splitMethod } from "../shared/format";
import { printClock } from "./query_text";
import { useRowPages } from "../shared/row_pages";
import { flag, go, isOn, type State } from "../shared/state";
import type { TraceList, TraceRow } from "./store_types";
import { VirtualTable, type TableColumn, type TableRow } from "../shared/virtual_table";

interface Props {
  path: string;
  state: State;
}

const COLUMNS: TableColumn[] = [
  { name: "time", title: "time (UTC)", isSortable: true },
  { name: "duration", title: "duration", isNumber: true, isSortable: true },
  { name: "errors", title: "errors", isNumber: true, isSortable: true },
  { name: "calls", title: "calls", isNumber: true, isSortable: true },
  { name: "records", title: "records", isNumber: true, isSortable: true },
  { name: "type", title: "type" },
  { name: "service", title: "service" },
  { name: "method", title: "method" },
];
const WIDTHS = "13em 6.5em 4em 5em 5em minmax(4em, 1fr) minmax(4em, 1fr) minmax(12em, 4fr)";
const SETTLE_MS = 250;

// To the millisecond.
export function printTime(ns: string): string {
  return printClock((BigInt(ns) / 1000000n) * 1000000n)
    .padEnd(20, ".")
    .padEnd(23, "0");
}

const grouped = (value: number) => value.toLocaleString("en-US");

function MethodName(props: { name: string }) {
  const { short, around } = splitMethod(props.name);
  return (
    <span title={props.name}>
      <span class="kind-function">{short}</span>
      {around !== "" && <span class="package">{around}</span>}
    </span>
  );
}

function rowOf(trace: TraceRow): TableRow {
  return {
    class: trace.errors > 0 ? "failed" : "",
    cells: [
      printTime(trace.time),
      formatNs(trace.duration),
      trace.errors > 0 ? grouped(trace.errors) : "",
      grouped(trace.calls),
      grouped(trace.records),
      trace.type,
      trace.service,
      <MethodName name={trace.method ?? "?"} />,
    ],
  };
}

export function Results(props: Props) {
  const { state } = props;
  const sort = state.sort ?? "time";
  const isAscending = isOn(state, "rev");
  const pages = useRowPages<TraceRow>(
    `${props.path}/traces`,
    { q: state.q, sort, reverse: state.rev },
    (answer: TraceList) => ({
      count: answer.count,
      rows: answer.traces,
    }),
  );
  const timer = useRef<ReturnType<typeof setTimeout>>();
  useEffect(() => () => clearTimeout(timer.current), []);
  const selected = Number(state.row ?? -1);
  // The position goes into the address when scrolling has ended.
  const top = useRef("");
  const onRange = (first: number, last: number) => {
    pages.want(first, last);
    clearTimeout(timer.current);
    top.current = first > 0 ? String(first) : "";
    timer.current = setTimeout(() => go({ top: top.current }, true), SETTLE_MS);
  };
  const open = (index: number) => {
    const trace = pages.at(index);
    if (!trace) return;
    clearTimeout(timer.current);
    go({ row: String(index), top: top.current }, true);
    go({ key: trace.key });
  };
  if (pages.count === null || pages.error)
    return <p class="status">{pages.error ? "" : "loading…"}</p>;
  if (pages.count === 0) return <p class="status">no matches</p>;
  return (
    <VirtualTable
      class="results"
      label="matching traces"
      columns={COLUMNS}
      widths={WIDTHS}
      count={pages.count}
      row={(index) => {
        const trace = pages.at(index);
        return trace ? rowOf(trace) : null;
      }}
      selected={selected}
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
      origin={`${state.q ?? ""} ${sort} ${isAscending}`}
    />
  );
}
