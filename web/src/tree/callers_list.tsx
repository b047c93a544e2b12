// Callers or callees of a function, with their costs.

import { formatPercent, formatValue } from "../shared/format";
import { share, sideName } from "./tree_rows";
import type { Column, Other, Row } from "../shared/types";

interface Props {
  others: Other[];
  columns: Column[];
  whole: Row; // the function; bars are shares of its cost
  none: string;
  title?: string;
  onOpen: (path: string[], row: Row) => void;
}

export function OthersList(props: Props) {
  const { others, columns, whole } = props;
  if (others.length === 0) return <p class="status">{props.none}</p>;
  const shown = columns
    .map((column, i) => ({ column, i }))
    .filter(({ column }) => !column.isPercentile)
    .slice(0, 2);
  return (
    <table class="others">
      <thead>
        <tr>
          <th scope="col">function</th>
          {shown.map(({ column }) => (
            <th key={column.name} scope="col">
              {sideName(column)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {others.map(({ path, row }) => (
          <tr key={row.id}>
            <td class="barred name">
              <i
                class="bar"
                style={{ width: `${share(row.values[0] ?? null, whole.values[0] ?? null) * 100}%` }}
              />
              <button
                class="link"
                title={`${row.label}: ${props.title ?? "go to the context where it costs most"}`}
                onClick={() => props.onOpen(path, row)}
              >
                {row.label}
              </button>
            </td>
            {shown.map(({ column, i }) => (
              <td key={column.name}>
                {formatValue(row.values[i], column.metric)}{" "}
                <small>{formatPercent(row.values[i] ?? null, column.total)}</small>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
