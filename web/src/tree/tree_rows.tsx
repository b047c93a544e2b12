// The lines of the tree table.

import { baseName, formatPercent, formatValue } from "../shared/format";
import { pathOf, type Line, type Node } from "./tree_model";
import type { Column } from "../shared/types";

export interface Sort {
  column: string; // "": the first
  isReversed: boolean;
}

export function columnTitle(column: Column): string {
  return column.title.replace(/ \(I\)$/, " ▸ incl").replace(/ \(E\)$/, " ▸ self");
}

export function Header(props: {
  columns: Column[];
  hidden: Set<string>;
  sort: Sort;
  onSort: (sort: Sort) => void;
}) {
  const { sort } = props;
  return (
    <div class="tree-row tree-head" role="row" aria-rowindex={1}>
      {props.columns.map((column, i) => {
        const isSorted = sort.column === "" ? i === 0 : sort.column === column.name;
        if (props.hidden.has(column.name)) return null;
        return (
          <button
            key={column.name}
            class="cell number"
            role="columnheader"
            aria-sort={!isSorted ? "none" : sort.isReversed ? "ascending" : "descending"}
            title={`${column.title}: sort by it, once more the other way round`}
            onClick={() =>
              props.onSort({ column: column.name, isReversed: isSorted && !sort.isReversed })
            }
          >
            <span>{columnTitle(column)}</span>
            <span aria-hidden="true">{!isSorted ? "" : sort.isReversed ? "↑" : "↓"}</span>
          </button>
        );
      })}
      <span class="cell label" role="columnheader">
        context
      </span>
    </div>
  );
}

export interface LineProps {
  line: Line;
  number: number;
  top: number;
  columns: Column[];
  hidden: Set<string>;
  isSelected: boolean;
  isHit: boolean;
  onToggle: (node: Node) => void;
  onSelect: (node: Node) => void;
}

export const lineId = (number: number) => `line-${number}`;

export function lineKey(line: Line): string {
  if ("node" in line) return pathOf(line.node).join(".");
  return `${line.hole.parent ? pathOf(line.hole.parent).join(".") : ""} ${line.place}`;
}

export function TreeLine(props: LineProps) {
  const { line } = props;
  const style = { top: `${props.top}px` };
  if (!("node" in line))
    return (
      <div
        class="tree-row"
        role="row"
        aria-rowindex={props.number + 2}
        aria-busy="true"
        style={style}
      >
        <span class="cell label place" role="gridcell">
          …
        </span>
      </div>
    );
  const { node } = line;
  const { row } = node;
  const place = row.file ? `${baseName(row.file)}${row.line ? `:${row.line}` : ""}` : "";
  return (
    <div
      id={lineId(props.number)}
      class={`tree-row${props.isSelected ? " selected" : ""}${props.isHit ? " hit" : ""}`}
      role="row"
      aria-rowindex={props.number + 2}
      aria-level={node.depth + 1}
      aria-posinset={node.place + 1}
      aria-setsize={node.level.total}
      aria-selected={props.isSelected}
      {...(row.isLeaf ? {} : { "aria-expanded": node.isOpen })}
      style={style}
      onClick={() => props.onSelect(node)}
      onDblClick={() => props.onToggle(node)}
    >
      {props.columns.map((column, i) =>
        props.hidden.has(column.name) ? null : (
          <ValueCell key={column.name} value={row.values[i] ?? null} column={column} />
        ),
      )}
      <span class="cell label" role="gridcell" style={{ paddingLeft: `${node.depth * 16}px` }}>
        <button
          class="twist"
          tabIndex={-1}
          aria-label={node.isOpen ? "close" : "open"}
          disabled={row.isLeaf}
          onClick={(event) => {
            event.stopPropagation();
            props.onToggle(node);
          }}
        >
          {row.isLeaf ? "" : node.isOpen ? "▾" : "▸"}
        </button>
        <span class={`kind kind-${row.kind}`}>{row.label}</span>
        <span class="place">{place || (row.module ? baseName(row.module) : "")}</span>
      </span>
    </div>
  );
}

export function share(value: number | null, total: number | null): number {
  return value !== null && total ? Math.min(1, Math.max(0, value / total)) : 0;
}

function ValueCell(props: { value: number | null; column: Column }) {
  const { value, column } = props;
  return (
    <span class="cell number" role="gridcell">
      <i class="bar" style={{ width: `${share(value, column.total) * 100}%` }} />
      <span>{formatValue(value, column.isPercentile ? "sec" : column.metric)}</span>
      {!column.isPercentile && <small>{formatPercent(value, column.total)}</small>}
    </span>
  );
}
