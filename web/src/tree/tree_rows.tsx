// The columns and rows of the tree table.

import {
  baseName,
  formatDuration,
  formatPercent,
  formatValue,
  metricTitle,
} from "../shared/format";
import { Icon } from "../shared/look/icons";
import { Name } from "../shared/names/name";
import type { ComponentChildren } from "preact";
import type { Node } from "./tree_model";
import type { Column, Row } from "../../generated/answers";
import {
  columnUnit,
  percentileUnit,
  percentUnit,
  signedUnit,
  type ColumnUnit,
  type UnitMode,
} from "../shared/units";
import type { TableColumn, TableRow } from "../shared/table/virtual_table";

const INDENT_PX = 16; // of a level, as --indent
const EM_PX = 13;
const GAP_PX = 12;
// With less room, names are the first column and do not scroll. In a small table the indentation
// of deep rows takes most of it.
const SMALL_PX = 660;
const NAME_PX = 300;
// Costs that are parts of a long list are small parts of the whole: with room for it, bars are longer.
const LIST_NAME_PX = 600;
// On a phone, numbers are below the name.
const STACKED_PX = 480;
const STACKED_EM = 8.5; // the least width of a column of few
const STACKED_SHARE_EM = 11.5; // of one with a bar where columns scroll: two fill the page
const STACKED_PLAIN_EM = 6; // of one without, where differences have their bar beside it

type Bars = "none" | "short" | "long";
const WIDTHS = { none: 10.5, short: 13, long: 19 };
const BAR_EM = 4; // of the bar of a difference
const WAIT_EM = 10.5; // for the title "pre-empted total (ms)"

// Of a column with or without bars, in em.
const widthOf = ({ column }: ShownColumn, bars: Bars): number =>
  hasShare(column)
    ? WIDTHS[bars]
    : (column.width ?? (OF_STATE.test(column.metric) ? WAIT_EM : 8.5)) +
      (column.form === "signed" && bars !== "none" ? BAR_EM : 0);

// Where the names of rows are, for a table of `px` pixels.
export interface NameColumn {
  isFirst: boolean;
  bars: Bars; // beside numbers; a small table has no room for them
  widths: string; // of all columns, as in grid-template-columns
  indent: (depth: number) => number; // pixels
  isList: boolean; // no row is inside another one: locations have a column
  isStacked: boolean; // names are above the numbers
}

export function nameColumn(
  shown: ShownColumn[],
  px: number,
  isList = false,
  isLong = isList, // a list of many parts, which may be opened
): NameColumn {
  const numbers = (bars: Bars) => shown.map((one) => `${widthOf(one, bars)}em`).join(" ");
  const needed = (bars: Bars) =>
    shown.reduce((sum, one) => sum + widthOf(one, bars) * EM_PX + GAP_PX, 0);
  const fits = (bars: Bars) =>
    bars === "long"
      ? isLong && px >= needed(bars) + LIST_NAME_PX
      : px >= needed(bars) + NAME_PX && (bars === "short" || px >= SMALL_PX);
  const bars = px === 0 ? "short" : (["long", "short", "none"] as const).find((one) => fits(one));
  if (bars)
    return {
      isFirst: false,
      bars,
      widths: isList
        ? `${numbers(bars)} minmax(0, 2fr) minmax(0, 1fr)`
        : `${numbers(bars)} minmax(var(--name-min, max-content), 1fr)`,
      indent: (depth) => depth * INDENT_PX,
      isList,
      isStacked: false,
    };
  if (px < STACKED_PX) return stackedColumn(shown, px);
  const small = px >= SMALL_PX ? "short" : "none";
  const name = Math.max(Math.round(px * 0.55), px - needed(small) - 2 * GAP_PX);
  return {
    isFirst: true,
    bars: small,
    widths: `${name}px ${numbers(small)}`,
    indent: (depth) => Math.min(depth * (INDENT_PX / 2), name * 0.4),
    isList: false,
    isStacked: false,
  };
}

function stackedColumn(shown: ShownColumn[], px: number): NameColumn {
  const isCompared = shown.some(({ column }) => column.form === "signed");
  const emOf = (one: ShownColumn): number => {
    if (one.column.form === "signed") return STACKED_SHARE_EM;
    if (hasShare(one.column) && shown.length > 2) return STACKED_SHARE_EM;
    return Math.min(isCompared ? STACKED_PLAIN_EM : STACKED_EM, widthOf(one, "none"));
  };
  const ems = shown.map(emOf);
  const fits = ems.reduce((sum, em) => sum + em * EM_PX + GAP_PX, GAP_PX) <= px;
  return {
    isFirst: true,
    bars: "short",
    widths: ems.map((em) => (fits ? `minmax(${em}em, 1fr)` : `${em}em`)).join(" "),
    indent: (depth) => Math.min(depth * (INDENT_PX / 2), px * 0.4),
    isList: false,
    isStacked: true,
  };
}

export interface Sort {
  column: string; // "": the first
  isReversed: boolean;
}

// A percentile, or what a formula computes, is no part of a whole.
export const hasShare = (column: Column): boolean =>
  !column.isPercentile && column.hasShare && !OF_STATE.test(column.metric);

export const formatPercentile = (seconds: number | null | undefined, column: Column): string =>
  seconds === null || seconds === undefined
    ? ""
    : formatDuration(seconds * 1e9, (column.resolution ?? 0) * 1e9);

export const sideName = (column: Column): string =>
  column.side === "inclusive" ? "total" : "self";

// A column of a tree table, which comparisons have as well.
export interface TreeColumn extends Column {
  heading?: string; // the title of the column, if it is not a side of a metric
  isSortable?: boolean; // default: true
  form?: "signed" | "percent"; // a difference, or its share of all differences
  width?: number; // em
}

// Time in which threads did not run: the bar of all time shows its share.
const OF_STATE = /^(blocked|pre-empted) time\b.*/;

export function columnTitle(column: TreeColumn): string {
  if (column.heading !== undefined) return column.heading;
  // Values of seconds are shown with the unit that fits.
  if (column.isPercentile) return column.title;
  return `${metricTitle(column.metric).replace(OF_STATE, "$1")} ${sideName(column)}`;
}

// A column on the screen: its index among the values of a row, and how they are printed.
export interface ShownColumn {
  column: TreeColumn;
  index: number;
  unit: ColumnUnit;
  end: number; // of the bar of a difference; of other bars 0: the whole
  // Of a column of all time: those of the same side with its parts in which threads were blocked and pre-empted.
  waits: [blocked: number, preempted: number] | null;
}

function waitsOf(columns: TreeColumn[], { metric, side }: TreeColumn): ShownColumn["waits"] {
  const find = (name: string) =>
    columns.findIndex((other) => other.side === side && other.metric.startsWith(`${name} time`));
  const [blocked, preempted] = [find("blocked"), find("pre-empted")];
  return /^time \(/.test(metric) && blocked >= 0 && preempted >= 0 ? [blocked, preempted] : null;
}

// Columns in the chosen order, followed by those that the order does not name; without hidden ones.
export function shownColumns(
  columns: TreeColumn[],
  layout: { hidden: Set<string>; order: string[]; mode: UnitMode },
  most: number[] = [], // the largest value of each, about
  ends: number[] = [], // the values of the longest bars; 0: the whole
): ShownColumn[] {
  const place = (column: Column) => {
    const at = layout.order.indexOf(column.name);
    return at < 0 ? layout.order.length : at;
  };
  return columns
    .map((column, index) => ({
      column,
      index,
      waits: waitsOf(columns, column),
      end: ends[index] ?? 0,
      unit: column.isPercentile
        ? percentileUnit(column.resolution, layout.mode, most[index] ?? 0)
        : column.form === "percent"
          ? percentUnit
          : column.form === "signed"
            ? signedUnit(columnUnit(column.metric, column.total, layout.mode))
            : columnUnit(column.metric, column.total, layout.mode),
    }))
    .filter(({ column }) => !layout.hidden.has(column.name))
    .sort((a, b) => place(a.column) - place(b.column) || a.index - b.index);
}

export const unitTitle = ({ column, unit }: ShownColumn): string =>
  unit.unit ? `${columnTitle(column)} (${unit.unit})` : columnTitle(column);

const ordered = <T,>(values: T[], name: T, isFirst: boolean, last: T | null): T[] =>
  isFirst ? [name, ...values] : last === null ? [...values, name] : [...values, name, last];

export function treeColumns(
  shown: ShownColumn[],
  names: NameColumn,
  isList = false,
): TableColumn[] {
  return ordered<TableColumn>(
    shown.map((one) => ({
      name: one.column.name,
      title: unitTitle(one),
      hint: `sort by ${columnTitle(one.column)}${one.column.base ? `, ${one.column.base}` : ""}; again: reverse`,
      isNumber: true,
      isSortable: one.column.isSortable ?? true,
    })),
    { name: "context", title: isList ? "function" : "context" },
    names.isFirst,
    names.isList ? { name: "location", title: "location" } : null,
  );
}

// "file.c:12", unless the label says it.
export function locationOf(row: Row): string {
  const location = row.file ? `${baseName(row.file)}${row.line ? `:${row.line}` : ""}` : "";
  if (location !== "" && row.label.includes(location)) return "";
  return (
    location ||
    (row.module && !row.label.includes(baseName(row.module)) ? baseName(row.module) : "")
  );
}

// A row of a comparison: whether its difference may be noise.
export interface ComparedRow extends Row {
  isNoise: boolean;
}

const isNoise = (row: Row): boolean => "isNoise" in row && row.isNoise === true;

// Code of others, and what may be noise, is less important.
const codeOf = (row: Row): string => (isNoise(row) ? "noise" : (row.code ?? "mine"));

export function treeRow(
  node: Node,
  shown: ShownColumn[],
  names: NameColumn,
  isHit: boolean,
  onToggle: (node: Node) => void,
  isList = false,
): TableRow {
  const { row } = node;
  return {
    class: isHit ? "hit" : "",
    level: node.depth + 1,
    position: node.index + 1,
    siblings: node.level.total,
    ...(row.isLeaf || isList ? {} : { isOpen: node.isOpen }),
    cells: ordered<ComponentChildren>(
      shown.map((one) => <Value row={row} shown={one} bars={names.bars} />),
      <span
        class="indented"
        style={{
          paddingLeft: `${names.indent(node.depth)}px`,
          backgroundSize: `${names.isFirst ? 0 : names.indent(node.depth)}px 100%`,
        }}
      >
        {!isList && (
          <button
            class="twist"
            tabIndex={-1}
            aria-label={node.isOpen ? "close" : "open"}
            disabled={row.isLeaf}
            onClick={(event) => {
              event.stopPropagation();
              onToggle(node);
            }}
          >
            {!row.isLeaf && <Icon name={node.isOpen ? "down" : "right"} />}
          </button>
        )}
        <span class={`kind kind-${row.kind} code-${codeOf(row)}`}>
          <Name name={row.label} />
        </span>
        {!names.isList && <span class="location">{locationOf(row)}</span>}
      </span>,
      names.isFirst,
      names.isList ? <span class="location">{locationOf(row)}</span> : null,
    ),
  };
}

export function share(value: number | null, total: number | null): number {
  return value !== null && total ? Math.min(1, Math.max(0, value / total)) : 0;
}

// The largest difference of each column.
export const endsOf = (rows: Row[]): number[] =>
  rows.reduce<number[]>(
    (ends, { values }) => values.map((value, i) => Math.max(ends[i] ?? 0, Math.abs(value ?? 0))),
    [],
  );

// What may be noise is grey, as what is the same.
export const changeClass = (difference: number, row: Row): string =>
  isNoise(row) ? "same" : difference > 0 ? "worse" : "better";

// The bar is beside the number, not behind it.
function Value(props: { row: Row; shown: ShownColumn; bars: Bars }) {
  const { row, shown } = props;
  const { values } = row;
  const { column, unit } = shown;
  const value = values[shown.index] ?? null;
  const isPart = hasShare(column);
  const widest = shown.end || column.total;
  const [blocked, preempted] = (shown.waits ?? []).map((at) => values[at] ?? 0);
  return (
    <>
      {column.form === "signed" && props.bars !== "none" && (
        <span class="bar-room">
          {value !== null && value !== 0 && (
            <i
              class={changeClass(value, row)}
              style={{ width: `${share(Math.abs(value), shown.end) * 100}%` }}
            />
          )}
        </span>
      )}
      {isPart && props.bars !== "none" && (
        <span class={props.bars === "long" ? "bar-room long" : "bar-room"}>
          {value !== null && blocked !== undefined && preempted !== undefined
            ? [
                ["running", value - blocked - preempted] as const,
                ["blocked", blocked] as const,
                ["pre-empted", preempted] as const,
              ].map(([state, part]) => (
                <i
                  key={state}
                  class={`state-${state}`}
                  title={`${state} ${formatValue(part, column.metric)}`}
                  style={{ width: `${share(part, widest) * 100}%` }}
                />
              ))
            : value !== null && <i style={{ width: `${share(value, widest) * 100}%` }} />}
        </span>
      )}
      <span>{unit.print(value)}</span>
      {isPart && unit.unit !== "%" && <small>{formatPercent(value, column.total)}</small>}
    </>
  );
}
