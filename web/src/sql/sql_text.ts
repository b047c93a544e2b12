// Completion in statements: tables, columns of the tables that a statement names, functions and keywords.

import type { SqlResult } from "../../generated/answers";

export interface SqlTable {
  name: string; // "calls", or "s1.calls" of another source
  columns: { name: string; type: string; use: string | null }[];
}

// The rows of `tables`: schema, table, column, type, use.
export function tablesOf(answer: SqlResult): SqlTable[] {
  const tables = new Map<string, SqlTable>();
  for (const [schema, table, column, type, use] of answer.rows) {
    const name = schema === "main" ? String(table) : `${schema}.${table}`;
    const known = tables.get(name) ?? { name, columns: [] };
    tables.set(name, known);
    known.columns.push({
      name: String(column),
      type: type === null || type === undefined ? "" : String(type),
      use: use === null || use === undefined ? null : String(use),
    });
  }
  return [...tables.values()];
}

const KEYWORDS = [
  "SELECT",
  "FROM",
  "WHERE",
  "GROUP BY",
  "ORDER BY",
  "LIMIT",
  "JOIN",
  "LEFT JOIN",
  "ON",
  "AS",
  "AND",
  "OR",
  "NOT",
  "IN",
  "LIKE",
  "BETWEEN",
  "IS NULL",
  "DISTINCT",
  "HAVING",
  "UNION ALL",
  "WITH",
  "CASE",
  "WHEN",
  "THEN",
  "ELSE",
  "END",
  "DESC",
  "ASC",
  "OVER",
  "PARTITION BY",
];

const FUNCTIONS = [
  "count(*)",
  "sum(",
  "avg(",
  "min(",
  "max(",
  "total(",
  "round(",
  "abs(",
  "length(",
  "substr(",
  "lower(",
  "upper(",
  "printf(",
  "coalesce(",
  "group_concat(",
  "row_number() OVER (",
];

export interface SqlOffer {
  begin: number; // of the text that a suggestion replaces, up to the cursor
  words: { text: string; note: string }[];
}

const OFFERED_MAX = 12;

// Names in a statement, with what they are called: "calls c" and "calls AS c".
export function aliasesOf(statement: string, tables: SqlTable[]): Map<string, SqlTable> {
  const found = new Map<string, SqlTable>();
  const pattern = /\b(?:from|join|,)\s*("?[\w.]+"?)(?:\([^)]*\))?(?:\s+(?:as\s+)?([a-z_]\w*))?/gi;
  for (const [, name = "", alias] of statement.matchAll(pattern)) {
    const bare = name.replaceAll('"', "").toLowerCase();
    const table = tables.find((one) => one.name.toLowerCase() === bare);
    if (!table) continue;
    found.set(bare.split(".").pop() ?? bare, table);
    if (alias && !/^(on|where|group|order|left|join|limit|inner|cross|union)$/i.test(alias))
      found.set(alias.toLowerCase(), table);
  }
  return found;
}

const isInText = (before: string): boolean => (before.match(/'/g) ?? []).length % 2 === 1;

// What may stand where the cursor is.
export function completeSql(statement: string, cursor: number, tables: SqlTable[]): SqlOffer {
  const before = statement.slice(0, cursor);
  const typed = /[\w]*$/.exec(before)?.[0] ?? "";
  const begin = cursor - typed.length;
  const none = { begin, words: [] };
  if (isInText(before)) return none;
  const low = typed.toLowerCase();
  const pick = (words: { text: string; note: string }[]): SqlOffer => {
    const fitting = words.filter(
      ({ text }) => text.toLowerCase().startsWith(low) && text.toLowerCase() !== low,
    );
    const seen = new Set<string>();
    return {
      begin,
      words: fitting.filter(({ text }) => !seen.has(text) && seen.add(text)).slice(0, OFFERED_MAX),
    };
  };
  const columnsOf = (table: SqlTable) =>
    table.columns
      .filter(({ use }) => use !== "parameter")
      .map(({ name, type, use }) => ({
        text: name,
        note: [table.name, type.toLowerCase(), use === "key" ? "fast" : ""]
          .filter(Boolean)
          .join(", "),
      }));
  const tableWords = tables.map(({ name, columns }) => ({
    text: name === "values" ? '"values"' : name,
    note: `${columns.length} columns`,
  }));
  const aliases = aliasesOf(statement, tables);
  const dotted = /(\w+)\.$/.exec(before.slice(0, begin));
  if (dotted) {
    const name = (dotted[1] ?? "").toLowerCase();
    const table = aliases.get(name);
    if (table) return pick(columnsOf(table));
    return pick(
      tables
        .filter((one) => one.name.startsWith(`${name}.`))
        .map((one) => ({ text: one.name.slice(name.length + 1), note: "table" })),
    );
  }
  if (/\b(from|join)\s+"?$/i.test(before.slice(0, begin))) return pick(tableWords);
  if (typed === "") return none;
  return pick([
    ...[...new Set(aliases.values())].flatMap(columnsOf),
    ...tableWords,
    ...KEYWORDS.map((text) => ({ text, note: "" })),
    ...FUNCTIONS.map((text) => ({ text, note: "function" })),
  ]);
}

// The ids of other sources that a statement names: "s1.calls".
export function othersIn(statement: string, own: number, count: number): number[] {
  const ids = [...statement.matchAll(/\bs(\d+)\s*\./gi)].map(([, id]) => Number(id));
  return [...new Set(ids)].filter((id) => id !== own && id < count);
}
