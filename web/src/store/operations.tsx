// Operations: what services did, by service and method of spans, with their share of the time and how many
// there were over time; the selected one in more detail.

import { useState } from "preact/hooks";
import { useIsNarrow } from "../shared/narrow";
import { flag, go, isOn, type State } from "../shared/state";
import { useAnswer } from "../shared/use_answer";
import { durationUnit } from "../shared/units";
import { VirtualTable, type TableColumn, type TableRow } from "../shared/table/virtual_table";
import type { Group, Groups } from "../../generated/answers";
import { Latencies } from "./latencies";
import { useLive } from "./live";
import { NoMatches } from "./no_matches";
import {
  inUnit,
  operationQuery,
  perSecond,
  share,
  sortOperations,
  splitOperation,
} from "./operations_model";
import { useServiceColor, type ServiceColor } from "./service_colors";
import { MethodName } from "./store_results";

interface Props {
  path: string;
  state: State;
}

const LIMIT = 1000;
const STEPS = 40;

interface Column extends TableColumn {
  width: string;
  isWide?: boolean; // left out of narrow windows
}

const COLUMNS: Column[] = [
  { name: "value", title: "operation", isSortable: true, width: "minmax(20ch, 2fr)" },
  {
    name: "total",
    title: "share of time",
    hint: "durations of its spans, of those of all",
    isNumber: true,
    isSortable: true,
    isWide: true,
    width: "minmax(18ch, 1fr)",
  },
  { name: "over", title: "spans over time", isWide: true, width: "minmax(14ch, 1fr)" },
  { name: "count", title: "spans", isNumber: true, isSortable: true, isWide: true, width: "9ch" },
  { name: "rate", title: "per second", isNumber: true, isWide: true, width: "11ch" },
  { name: "errors", title: "errors", isNumber: true, isSortable: true, width: "9ch" },
  { name: "p50", title: "p50", isNumber: true, isSortable: true, width: "12ch" },
  { name: "p90", title: "p90", isNumber: true, isSortable: true, isWide: true, width: "12ch" },
  { name: "p99", title: "p99", isNumber: true, isSortable: true, width: "12ch" },
];
const NARROW_WIDTHS: Record<string, string> = {
  value: "minmax(12ch, 1fr)",
  count: "7ch",
  errors: "7ch",
  p50: "9ch",
  p99: "10ch",
};

function OperationName(props: { value: string; color: ServiceColor }) {
  const { service, method } = splitOperation(props.value);
  return (
    <span class="root-cell" title={props.value}>
      <i class="swatch" style={service === "" ? {} : { background: props.color(service) }} />
      {service !== "" && <small class="root-service">{service}</small>}
      <MethodName name={method} />
    </span>
  );
}

export function Operations(props: Props) {
  const { state } = props;
  const query = state.q ?? "";
  const isNarrow = useIsNarrow();
  const color = useServiceColor();
  const columns = COLUMNS.filter((column) => !isNarrow || !column.isWide);
  const [selected, setSelected] = useState<string | null>(null);
  const turn = useLive(state);
  const { value, error } = useAnswer<Groups>(
    `${props.path}/groups`,
    { q: query, by: "operation", limit: LIMIT, steps: STEPS },
    undefined,
    turn,
  );
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  if (value.groups.length === 0) return <NoMatches state={state} />;
  const by = COLUMNS.some((column) => column.name === state.sort) ? (state.sort ?? "") : "total";
  const isAscending = isOn(state, "rev");
  const list = sortOperations(value.groups, by, isAscending);
  const unit = durationUnit(Math.max(...list.map((group) => group.p99)));
  const at = Math.max(
    0,
    list.findIndex((group) => group.value === selected),
  );
  const chosen = list[at];
  const ns = (value.step ?? 0) * STEPS;
  const showSpans = (operation: string) =>
    go({ v: "spans", q: operationQuery(query, operation), sort: "", rev: "", top: "", row: "" });
  const most = Math.max(...list.map((group) => group.total), 1);
  const row = (group: Group): TableRow => {
    const cells: Record<string, TableRow["cells"][number]> = {
      value: <OperationName value={group.value} color={color} />,
      total: (
        <span class="measured">
          <span class="measured-track">
            <i style={{ width: `${(group.total / most) * 100}%` }} />
          </span>
          <span class="measured-value">{share(group.total, value.total) || "0 %"}</span>
        </span>
      ),
      over: <Sparkline group={group} />,
      count: group.count.toLocaleString("en-US"),
      rate: perSecond(group.count, ns),
      errors: <span class="failed">{share(group.errors, group.count)}</span>,
      p50: unit.print(group.p50),
      p90: unit.print(group.p90),
      p99: unit.print(group.p99),
    };
    return { cells: columns.map(({ name }) => cells[name]) };
  };
  return (
    <div class="operations-page">
      {chosen && (
        <Latencies
          path={props.path}
          query={operationQuery(query, chosen.value)}
          title={<OperationName value={chosen.value} color={color} />}
          name={chosen.value}
          turn={turn}
        >
          <button onClick={() => showSpans(chosen.value)}>
            Its {chosen.count.toLocaleString("en-US")} spans
          </button>
        </Latencies>
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
        columns={columns.map((column) => inUnit(column, unit.unit))}
        widths={columns
          .map(({ name, width }) => (isNarrow && NARROW_WIDTHS[name]) || width)
          .join(" ")}
        count={list.length}
        row={(i) => (list[i] ? row(list[i]) : null)}
        selected={at}
        onSelect={(i) => setSelected(list[i]?.value ?? null)}
        onOpen={(i) => list[i] && showSpans(list[i].value)}
        sort={{
          by,
          isAscending,
          onChange: (name) => go({ sort: name, rev: flag(name === by && !isAscending) }, true),
        }}
      />
    </div>
  );
}

const SPARK = { width: 160, height: 18 };

// Spans in each step, and those that failed.
function Sparkline(props: { group: Group }) {
  const counts = props.group.counts ?? [];
  const errors = props.group.errorCounts ?? [];
  const most = Math.max(1, ...counts);
  const width = SPARK.width / Math.max(1, counts.length);
  const bars = (list: number[]) =>
    list
      .map((count, i) => {
        const height = count === 0 ? 0 : Math.max(1, (SPARK.height * count) / most);
        return height === 0
          ? ""
          : `M${(i * width).toFixed(1)} ${SPARK.height}v${(-height).toFixed(1)}h${Math.max(width - 0.8, 0.8).toFixed(1)}v${height.toFixed(1)}z`;
      })
      .join("");
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${SPARK.width} ${SPARK.height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`at most ${most.toLocaleString("en-US")} spans in one of ${counts.length} steps`}
    >
      <path class="plot-bar" d={bars(counts)} />
      <path class="plot-error" d={bars(errors)} />
    </svg>
  );
}
