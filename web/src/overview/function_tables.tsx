// Lists of functions: those with most self cost, those that wait, and the slowest calls.

import { baseName, formatPercent, isSeconds, metricTitle } from "../shared/format";
import { Name } from "../shared/names/name";
import type { State } from "../shared/state";
import { columnUnit, durationUnit, percentileUnit, type ColumnUnit } from "../shared/units";
import { useAnswer } from "../shared/use_answer";
import type {
  Column,
  FunctionRow,
  Overview,
  Row,
  SlowestCalls as SlowestCallList,
} from "../../generated/answers";
import { Card, contextOf, Link } from "./card";
import { columnIndex, percentileIndex } from "./overview_model";

interface Shown {
  index: number;
  title: string;
  isOptional: boolean; // left out of narrow windows
  unit: ColumnUnit;
}

function Heads(props: { shown: { title: string; isOptional?: boolean }[] }) {
  return (
    <>
      {props.shown.map(({ title, isOptional }) => (
        <th key={title} scope="col" class={isOptional ? "optional" : ""}>
          {title}
        </th>
      ))}
    </>
  );
}

// File and line, else the module; "" if the name has it already: "memcpy [libc.so.6]".
function locationOf(row: Row): string {
  const file = row.file ? `${baseName(row.file)}${row.line ? `:${row.line}` : ""}` : "";
  const location = file || (row.module ? baseName(row.module) : "");
  return row.label.includes(location) ? "" : location;
}

// A module that all functions of a list are in says nothing.
const isOneModule = (rows: FunctionRow[]): boolean =>
  rows.length > 1 && rows.every(({ row }) => !row.file && row.module === rows[0]?.row.module);

// A function, where it is, and what called it.
function FunctionName(props: {
  row: Row;
  to: State;
  caller?: string | undefined;
  hasLocation?: boolean;
}) {
  const { row, hasLocation = true } = props;
  const location = hasLocation ? locationOf(row) : "";
  return (
    <span class="function-name">
      <Link to={props.to} title={row.label}>
        <Name name={row.label} />
      </Link>
      {(props.caller || location) && (
        <small class="location">{props.caller ? `of ${props.caller}` : location}</small>
      )}
    </span>
  );
}

const FEW_CALLS = 10;

// Percentiles of a few calls say no more than their durations, and would choose the unit of all others.
function valueOf(columns: Column[], row: Row, index: number): number | null | undefined {
  const calls = columnIndex(columns, "calls", "exclusive");
  return columns[index]?.isPercentile && (row.values[calls] ?? FEW_CALLS) < FEW_CALLS
    ? null
    : row.values[index];
}

const FAR = 5000; // times the median: one such value does not choose the unit of all

// The largest of durations, unless it is so far from most of them that these would round to zero in its unit.
export function typicalMost(values: number[]): number {
  const known = values.filter((value) => value > 0).sort((a, b) => a - b);
  const median = known[known.length >> 1] ?? 0;
  return Math.min(known[known.length - 1] ?? 0, FAR * median);
}

// The columns of a list. Those of one metric, as self and total, have the unit of the largest value of all of them.
function shownColumns(
  columns: Column[],
  others: FunctionRow[],
  wanted: [index: number, title: string, isOptional?: boolean][],
): Shown[] {
  const known = wanted.filter(([index]) => index >= 0);
  const valuesOf = (index: number) => others.map(({ row }) => valueOf(columns, row, index) ?? 0);
  const ofMetric = (metric: string | undefined) =>
    known
      .map(([index]) => index)
      .filter((index) => !columns[index]?.isPercentile && columns[index]?.metric === metric);
  return known.map(([index, title, isOptional = false]) => {
    const column = columns[index];
    const most = column?.isPercentile
      ? typicalMost(valuesOf(index))
      : Math.max(0, ...ofMetric(column?.metric).flatMap(valuesOf));
    const unit = column?.isPercentile
      ? percentileUnit(column.resolution, "auto", most)
      : columnUnit(column?.metric ?? "", most, "auto");
    return { index, title: unit.unit ? `${title} (${unit.unit})` : title, isOptional, unit };
  });
}

// A bar beside its number.
function Share(props: { value: number; most: number; whole: number | null }) {
  return (
    <td class="share">
      <span>
        <i style={{ width: `${props.most > 0 ? (100 * props.value) / props.most : 0}%` }} />
        <span>{formatPercent(props.value, props.whole)}</span>
      </span>
    </td>
  );
}

export function Functions(props: { overview: Overview; rows: number }) {
  const { columns, functions, metric } = props.overview;
  if (!columns || !functions)
    return (
      <Card title="Where the time goes">
        <p class="status">computing…</p>
      </Card>
    );
  const listed = functions.slice(0, props.rows);
  const self = columnIndex(columns, metric, "exclusive");
  const p50 = percentileIndex(columns, "p50");
  const whole = columns[self]?.total ?? null;
  const most = functions[0]?.row.values[self] ?? 0;
  const shown = shownColumns(columns, listed, [
    [self, "self"],
    [columnIndex(columns, metric, "inclusive"), "total", true],
    [columnIndex(columns, "calls", "exclusive"), "calls"],
    [p50, "p50", true],
    [percentileIndex(columns, "p99"), "p99", true],
  ]);
  return (
    <Card
      title={isSeconds(metric) ? "Where the time goes" : "Hottest functions"}
      hint={[
        `functions by self ${columns[self]?.base ?? metricTitle(metric)}`,
        ...(columns[p50]?.base && columns[p50].base !== columns[self]?.base
          ? [`p50 and p99: ${columns[p50].base}`]
          : []),
      ].join("; ")}
    >
      <table class="overview-table">
        <thead>
          <tr>
            <th scope="col">function</th>
            <th scope="col" class="share">
              share
            </th>
            <Heads shown={shown} />
          </tr>
        </thead>
        <tbody>
          {listed.map((other) => (
            <tr key={other.row.id}>
              <th scope="row">
                <FunctionName
                  row={other.row}
                  to={contextOf(other.path)}
                  hasLocation={!isOneModule(listed)}
                />
              </th>
              <Share value={other.row.values[self] ?? 0} most={most} whole={whole} />
              {shown.map(({ index, title, isOptional, unit }) => (
                <td key={title} class={isOptional ? "optional" : ""}>
                  {unit.print(valueOf(columns, other.row, index))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        <Link to={{ v: "flat" }}>All functions</Link>
      </p>
    </Card>
  );
}

export function Waiting(props: { overview: Overview }) {
  const { columns, waiting } = props.overview;
  if (!columns || !waiting || waiting.length === 0) return null;
  const blocked = columnIndex(columns, "blocked time (sec)", "exclusive");
  const shown = shownColumns(columns, waiting, [
    [blocked, "blocked"],
    [columnIndex(columns, "pre-empted time (sec)", "exclusive"), "pre-empted"],
  ]).filter(({ index }) => waiting.some(({ row }) => row.values[index]));
  return (
    <Card
      title="Waiting"
      hint={`calls by time blocked or pre-empted, ${columns[blocked]?.base ?? ""}`}
    >
      <table class="overview-table">
        <thead>
          <tr>
            <th scope="col">function</th>
            <Heads shown={shown} />
          </tr>
        </thead>
        <tbody>
          {waiting.map((other) => (
            <tr key={`${other.row.id} ${other.caller ?? ""}`}>
              <th scope="row">
                <FunctionName row={other.row} to={contextOf(other.path)} caller={other.caller} />
              </th>
              {shown.map(({ index, title, unit }) => (
                <td key={title}>{unit.print(other.row.values[index])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        <Link to={{ v: "bottom-up", w: "1" }}>All functions with their waits</Link>
      </p>
    </Card>
  );
}

export function SlowestCalls(props: { path: string }) {
  const { value, error } = useAnswer<SlowestCallList>(`${props.path}/slowest`, {});
  if (value?.calls.length === 0) return null;
  const unit = durationUnit(Math.max(0, ...(value?.calls ?? []).map(({ duration }) => duration)));
  return (
    <Card
      title="Slowest calls"
      hint={`beyond the mean of their function, one each${value ? `; ${value.base}` : ""}`}
    >
      {!value && <p class="status">{error ?? "computing…"}</p>}
      {value && (
        <table class="overview-table">
          <thead>
            <tr>
              <th scope="col">call</th>
              <Heads
                shown={[`duration (${unit.unit})`, `mean (${unit.unit})`, "calls"].map((title) => ({
                  title,
                }))}
              />
            </tr>
          </thead>
          <tbody>
            {value.calls.map((call) => (
              <tr key={call.function}>
                <th scope="row">
                  <span class="function-name">
                    <Link
                      to={{ v: "calls", task: String(call.task), time: String(call.time) }}
                      title={`${call.function}: show this call`}
                    >
                      <Name name={call.function} />
                    </Link>
                  </span>
                </th>
                <td>{unit.print(call.duration)}</td>
                <td>{unit.print(call.mean)}</td>
                <td>{call.count.toLocaleString("en-US")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}
