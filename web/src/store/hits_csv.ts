// Traces as CSV, with the column names of cairn store search.

import type { TraceRow } from "../../generated/answers";

const HEAD = [
  "time_ns",
  "duration_ns",
  "spans",
  "errors",
  "type",
  "services",
  "calls",
  "records",
  "trace_id",
  "method",
];

function cell(value: string | number | null): string {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function toCsv(rows: TraceRow[]): string {
  const lines = rows.map((row) =>
    [
      row.time,
      row.duration,
      row.spans,
      row.errors,
      row.type,
      row.services.join(", "),
      row.calls,
      row.records,
      row.trace,
      row.method,
    ]
      .map(cell)
      .join(","),
  );
  return [HEAD.join(","), ...lines, ""].join("\n");
}
