// The times of each method of a trace.

import { useState } from "preact/hooks";
import { flag, go, isOn, type State } from "../shared/state";
import type { MethodRow, Methods } from "../../generated/answers";
import { useAnswer } from "../shared/use_answer";
import { durationUnit } from "../shared/units";
import { useIsNarrow } from "../shared/narrow";
import { VirtualTable, type TableColumn } from "../shared/table/virtual_table";

const COLUMNS: TableColumn[] = [
  { name: "method", title: "method" },
  { name: "self", title: "self", isNumber: true, isSortable: true },
  { name: "total", title: "total", isNumber: true, isSortable: true },
  { name: "calls", title: "calls", isNumber: true, isSortable: true },
  { name: "longest", title: "longest", isNumber: true, isSortable: true },
  { name: "errors", title: "errors", isNumber: true, isSortable: true },
];

const WIDTHS = ["minmax(16em, 2fr)", "minmax(14em, 1fr)", "8em", "7em", "8em", "6em"];
const NARROW_WIDTHS = ["minmax(8em, 1fr)", "6.5em", "6.5em", "4em", "", ""];

const TIMES = ["self", "total", "longest"];

interface Props {
  path: string;
  traceKey: string;
  state: State;
  matches: ((name: string) => boolean) | null;
}

type Measure = "self" | "total" | "calls" | "longest" | "errors";

export function TraceMethods(props: Props) {
  const { value, error } = useAnswer<Methods>(`${props.path}/methods`, { key: props.traceKey });
  const [selected, setSelected] = useState(-1);
  const isNarrow = useIsNarrow();
  const widths = isNarrow ? NARROW_WIDTHS : WIDTHS;
  const isShown = (_: unknown, i: number) => widths[i] !== "";
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  const by = (props.state.msort ?? "self") as Measure;
  const isAscending = isOn(props.state, "mrev");
  const rows = value.methods
    .filter((row) => props.matches?.(row.method) ?? true)
    .sort((a, b) => (isAscending ? a[by] - b[by] : b[by] - a[by]));
  const most = Math.max(1, ...value.methods.map((row) => row.self));
  const unit = durationUnit(Math.max(...value.methods.map((method) => method.total)));
  const row = (method: MethodRow) => ({
    class: method.errors > 0 ? "failed" : "",
    cells: [
      <span class="kind-function" title={method.method}>
        {method.method}
      </span>,
      <span class="measured">
        {!isNarrow && (
          <span class="measured-track">
            <i style={{ width: `${(method.self / most) * 100}%` }} />
          </span>
        )}
        <span class="measured-value">{unit.print(method.self)}</span>
      </span>,
      unit.print(method.total),
      method.calls.toLocaleString("en-US"),
      unit.print(method.longest),
      method.errors > 0 ? method.errors.toLocaleString("en-US") : "",
    ].filter(isShown),
  });
  const open = (i: number) => {
    const name = rows[i]?.method;
    if (name !== undefined)
      go({ tab: "calls", find: `^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$` });
  };
  return (
    <VirtualTable
      class="methods"
      takesFocus
      label="methods and their times; Enter shows their calls"
      columns={COLUMNS.filter(isShown).map((column) =>
        TIMES.includes(column.name)
          ? { ...column, title: `${column.name} (${unit.unit})` }
          : column,
      )}
      widths={widths.join(" ")}
      count={rows.length}
      row={(i) => row(rows[i] as MethodRow)}
      selected={selected}
      onSelect={setSelected}
      onOpen={open}
      sort={{
        by,
        isAscending,
        onChange: (name) => go({ msort: name, mrev: flag(name === by && !isAscending) }),
      }}
    />
  );
}
