// Callers or callees of a function, with their costs.

import { formatPercent } from "../shared/format";
import { Name } from "../shared/names/name";
import { columnUnit } from "../shared/units";
import { share, sideName } from "./tree_rows";
import type { Column, FunctionRow, Row } from "../../generated/answers";

interface Props {
  others: FunctionRow[];
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
    .slice(0, 2)
    .map(({ column, i }) => {
      const most = others.reduce((max, { row }) => Math.max(max, row.values[i] ?? 0), 0);
      return { column, i, unit: columnUnit(column.metric, most, "auto") };
    });
  return (
    <table class="others">
      <thead>
        <tr>
          <th scope="col">function</th>
          {shown.map(({ column, unit }) => (
            <th key={column.name} scope="col">
              {sideName(column)}
              {unit.unit && ` (${unit.unit})`}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {others.map(({ path, row }) => (
          <tr key={row.id}>
            <td class="barred other">
              <i
                class="bar"
                style={{ width: `${share(row.values[0] ?? null, whole.values[0] ?? null) * 100}%` }}
              />
              <button
                class="link"
                title={`${row.label}: ${props.title ?? "go to the context where it costs most"}`}
                onClick={() => props.onOpen(path, row)}
              >
                <Name name={row.label} />
              </button>
            </td>
            {shown.map(({ column, i, unit }, index) => (
              <td key={column.name}>
                {unit.print(row.values[i])}
                {index === 0 && (
                  <small> {formatPercent(row.values[i] ?? null, column.total)}</small>
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
