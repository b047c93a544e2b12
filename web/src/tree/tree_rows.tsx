// The columns and rows of the tree table.

import { baseName, formatPercent, formatValue } from "../shared/format";
import type { Node } from "./tree_model";
import type { Column } from "../shared/types";
import type { TableColumn, TableRow } from "../shared/virtual_table";

export interface Sort {
  column: string; // "": the first
  isReversed: boolean;
}

export const sideName = (column: Column): string =>
  column.side === "inclusive" ? "total" : "self";

export function columnTitle(column: Column): string {
  // Values of seconds are shown with the unit that fits.
  return column.isPercentile
    ? column.title
    : `${column.metric.replace(/ \(sec\)$/, "")} ${sideName(column)}`;
}

export function treeColumns(columns: Column[], hidden: Set<string>): TableColumn[] {
  return [
    ...columns
      .filter((column) => !hidden.has(column.name))
      .map((column) => ({
        name: column.name,
        title: columnTitle(column),
        hint: `sort by ${columnTitle(column)}; again: reverse`,
        isNumber: true,
        isSortable: true,
      })),
    { name: "context", title: "context" },
  ];
}

export function treeRow(
  node: Node,
  columns: Column[],
  hidden: Set<string>,
  isHit: boolean,
  onToggle: (node: Node) => void,
): TableRow {
  const { row } = node;
  const location = row.file ? `${baseName(row.file)}${row.line ? `:${row.line}` : ""}` : "";
  return {
    class: isHit ? "hit" : "",
    level: node.depth + 1,
    position: node.index + 1,
    siblings: node.level.total,
    ...(row.isLeaf ? {} : { isOpen: node.isOpen }),
    cells: [
      ...columns.flatMap((column, i) =>
        hidden.has(column.name) ? [] : [<Value value={row.values[i] ?? null} column={column} />],
      ),
      <span style={{ paddingLeft: `${node.depth * 16}px` }}>
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
          {row.isLeaf ? "" : node.isOpen ? "▾" : "▸"}
        </button>
        <span class={`kind kind-${row.kind}`}>{row.label}</span>
        <span class="location">{location || (row.module ? baseName(row.module) : "")}</span>
      </span>,
    ],
  };
}

export function share(value: number | null, total: number | null): number {
  return value !== null && total ? Math.min(1, Math.max(0, value / total)) : 0;
}

function Value(props: { value: number | null; column: Column }) {
  const { value, column } = props;
  return (
    <>
      <i class="bar" style={{ width: `${share(value, column.total) * 100}%` }} />
      <span>{formatValue(value, column.isPercentile ? "sec" : column.metric)}</span>
      {!column.isPercentile && <small>{formatPercent(value, column.total)}</small>}
    </>
  );
}
