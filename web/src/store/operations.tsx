// Operations: what services did, by service and method of spans, and one of them over time.

import { useState } from "preact/hooks";
import { Latencies } from "./latencies";
import { useLive } from "./live";
import { useIsNarrow } from "../shared/narrow";
import { inUnit, operationQuery, perSecond, share, sortOperations } from "./operations_model";
import { flag, go, isOn, type State } from "../shared/state";
import type { Groups, Histogram } from "../../generated/answers";
import { MethodName } from "./store_results";
import { useAnswer } from "../shared/use_answer";
import { durationUnit } from "../shared/units";
import { VirtualTable, type TableColumn } from "../shared/virtual_table";

interface Props {
  path: string;
  state: State;
}

const LIMIT = 1000;
const COLUMNS: TableColumn[] = [
  { name: "value", title: "operation", isSortable: true },
  { name: "count", title: "spans", isNumber: true, isSortable: true },
  { name: "rate", title: "per second", isNumber: true },
  { name: "errors", title: "errors", isNumber: true, isSortable: true },
  { name: "p50", title: "p50", isNumber: true, isSortable: true },
  { name: "p90", title: "p90", isNumber: true, isSortable: true },
  { name: "p99", title: "p99", isNumber: true, isSortable: true },
];
const WIDTHS = ["minmax(10em, 1fr)", "5em", "6em", "5em", "7.5em", "7.5em", "7.5em"];
const NARROW = ["value", "count", "errors", "p50", "p99"];

// "shop: com.example.Dao.query", or the method alone.
function OperationName(props: { value: string }) {
  const [, service = "", method = props.value] = /^([^:]*: )(.*)$/.exec(props.value) ?? [];
  return (
    <span title={props.value}>
      {service}
      <MethodName name={method} />
    </span>
  );
}

export function Operations(props: Props) {
  const { state } = props;
  const query = state.q ?? "";
  const isNarrow = useIsNarrow();
  const isShown = (_: unknown, i: number) => !isNarrow || NARROW.includes(COLUMNS[i]?.name ?? "");
  const [selected, setSelected] = useState(0);
  const turn = useLive(state);
  const { value, error } = useAnswer<Groups>(
    `${props.path}/groups`,
    { q: query, by: "operation", limit: LIMIT },
    undefined,
    turn,
  );
  const time = useAnswer<Histogram>(
    `${props.path}/histogram`,
    { q: query, steps: 1, spans: 1 },
    undefined,
    turn,
  );
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  if (value.groups.length === 0) return <p class="status">no matches</p>;
  const by = COLUMNS.some((column) => column.name === state.sort) ? (state.sort ?? "") : "count";
  const isAscending = isOn(state, "rev");
  const list = sortOperations(value.groups, by, isAscending);
  const unit = durationUnit(Math.max(...list.map((group) => group.p99)));
  const chosen = list[Math.min(selected, list.length - 1)];
  const showSpans = (operation: string) =>
    go({ v: "spans", q: operationQuery(query, operation), sort: "", rev: "", top: "", row: "" });
  return (
    <>
      {chosen && (
        <Latencies
          path={props.path}
          query={operationQuery(query, chosen.value)}
          title={chosen.value}
          turn={turn}
        />
      )}
      {value.count > list.length && (
        <p class="status">
          the {list.length.toLocaleString("en-US")} most frequent of{" "}
          {value.count.toLocaleString("en-US")} operations
        </p>
      )}
      <VirtualTable
        class="operations"
        takesFocus
        label="operations; Enter shows the spans of one"
        columns={COLUMNS.filter(isShown).map((column) => inUnit(column, unit.unit))}
        widths={WIDTHS.filter(isShown).join(" ")}
        count={list.length}
        row={(i) => {
          const group = list[i];
          return group
            ? {
                cells: [
                  <OperationName value={group.value} />,
                  group.count.toLocaleString("en-US"),
                  perSecond(group.count, time.value?.step ?? 0),
                  <span class="failed">{share(group.errors, group.count)}</span>,
                  unit.print(group.p50),
                  unit.print(group.p90),
                  unit.print(group.p99),
                ].filter(isShown),
              }
            : null;
        }}
        selected={selected}
        onSelect={setSelected}
        onOpen={(i) => list[i] && showSpans(list[i].value)}
        sort={{
          by,
          isAscending,
          onChange: (name) => go({ sort: name, rev: flag(name === by && !isAscending) }, true),
        }}
      />
    </>
  );
}
