// Numbers and queries of operations.

import { including } from "./query_language";
import { quote } from "./query_text";
import type { Group } from "../../generated/answers";
import type { TableColumn } from "../shared/table/virtual_table";

// "service: method", or a method alone.
export function splitOperation(operation: string): { service: string; method: string } {
  const colon = operation.indexOf(": ");
  return colon < 0
    ? { service: "", method: operation }
    : { service: operation.slice(0, colon), method: operation.slice(colon + 2) };
}

// The conditions of the spans of an operation, added to a query.
export function operationQuery(query: string, operation: string): string {
  const { service, method } = splitOperation(operation);
  const conditions = [
    ...(service === "" ? [] : [`service = ${quote(service)}`]),
    `root = ${quote(method)}`,
  ];
  return conditions.reduce(including, query);
}

// A number per second over a time in ns; nothing for one moment.
export function perSecond(count: number, ns: number): string {
  if (ns <= 1) return "";
  const rate = (count * 1e9) / ns;
  return rate >= 100 ? Math.round(rate).toLocaleString("en-US") : rate.toPrecision(3);
}

export function share(part: number, whole: number): string {
  return part === 0 ? "" : `${((100 * part) / whole).toFixed(1)} %`;
}

// From this share of errors on, a service or the calls to it are drawn as failing.
const FAILING = 0.1;
export const isFailing = (errors: number, count: number) => errors >= FAILING * count && errors > 0;

// The column of a percentile with the unit in its title.
export function inUnit<Of extends TableColumn>(column: Of, unit: string): Of {
  return /^p\d+$/.test(column.name) ? { ...column, title: `${column.name} (${unit})` } : column;
}

// By a column: the largest first, of equals by name.
export function sortOperations(groups: Group[], by: string, isAscending: boolean): Group[] {
  const key = (group: Group): number =>
    by === "errors"
      ? group.errors / group.count
      : by === "p50" || by === "p90" || by === "p99" || by === "total"
        ? group[by]
        : group.count;
  const sign = isAscending ? -1 : 1;
  const byName = (a: Group, b: Group) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0);
  return [...groups].sort((a, b) =>
    by === "value" ? sign * byName(a, b) : sign * (key(b) - key(a)) || byName(a, b),
  );
}
