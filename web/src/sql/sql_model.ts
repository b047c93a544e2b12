// What a result can be drawn as: bars of values by name, lines over numbers, or rows on tracks over time.

import type { SqlResult } from "../../generated/answers";

type Cell = string | number | null;

export const numberOf = (cell: Cell | undefined): number =>
  typeof cell === "number" ? cell : typeof cell === "string" && cell !== "" ? Number(cell) : NaN;

const isNumeric = (result: SqlResult, column: number): boolean =>
  ["integer", "real"].includes(result.columns[column]?.type ?? "");

const columnsWhere = (result: SqlResult, holds: (column: number) => boolean): number[] =>
  result.columns.map((_, i) => i).filter(holds);

export interface Plot {
  kind: "bars" | "lines";
  x: number; // column
  y: number[]; // columns
}

// Values by name, or over the first number; null if there is no number.
export function plotOf(result: SqlResult): Plot | null {
  const numbers = columnsWhere(result, (i) => isNumeric(result, i));
  const texts = columnsWhere(result, (i) => result.columns[i]?.type === "text");
  const [text] = texts;
  if (numbers.length === 0 || result.rows.length === 0) return null;
  if (text !== undefined) return { kind: "bars", x: text, y: numbers };
  const [x, ...y] = numbers;
  if (x === undefined) return null;
  return y.length === 0 ? { kind: "lines", x: -1, y: [x] } : { kind: "lines", x, y };
}

const BEGINS = /^(begin|start|time|ts|begin_ns|start_ns|time_ns|first_ns)$/i;
const ENDS = /^(end|end_ns|last_ns)$/i;
const DURATIONS = /^(dur|duration|duration_ns|total|total_ns|ns|elapsed|elapsed_ns)$/i;
const TRACKS = /^(track|thread|tid|task|service|process|cpu|lane)$/i;

export interface TrackItem {
  row: number;
  begin: number; // ns from the first
  end: number;
  name: string;
}

export interface Track {
  name: string;
  items: TrackItem[];
  depths: number[]; // by item: the lane in which it overlaps nothing
  depth: number;
}

// Rows with a begin and an end or a duration, on a track for each thread, service or the like; null if the
// result has no times. Times of an epoch are large: they are subtracted as whole numbers.
export function tracksOf(result: SqlResult): { tracks: Track[]; duration: number } | null {
  const find = (pattern: RegExp) => result.columns.findIndex(({ name }) => pattern.test(name));
  const begin = find(BEGINS);
  const end = find(ENDS);
  const duration = find(DURATIONS);
  if (begin < 0 || !isNumeric(result, begin) || (end < 0 && duration < 0)) return null;
  const whole = (cell: Cell | undefined) =>
    cell === null || cell === undefined ? null : bigOf(cell);
  const starts = result.rows.map((row) => whole(row[begin]));
  const first = starts.reduce<bigint | null>(
    (least, at) => (at !== null && (least === null || at < least) ? at : least),
    null,
  );
  if (first === null) return null;
  const trackColumn = find(TRACKS);
  const nameColumn = result.columns.findIndex(
    ({ name, type }, i) => type === "text" && i !== trackColumn && !/_id$/.test(name),
  );
  const tracks = new Map<string, TrackItem[]>();
  let last = 0;
  result.rows.forEach((row, i) => {
    const at = starts[i];
    if (at === null || at === undefined) return;
    const from = Number(at - first);
    const to =
      end >= 0 && row[end] !== null
        ? Number(bigOf(row[end] ?? 0) - first)
        : from + (numberOf(row[duration]) || 0);
    const track = trackColumn < 0 ? "" : String(row[trackColumn] ?? "");
    const name = nameColumn < 0 ? "" : String(row[nameColumn] ?? "");
    tracks.set(track, [
      ...(tracks.get(track) ?? []),
      { row: i, begin: from, end: Math.max(to, from), name },
    ]);
    last = Math.max(last, to);
  });
  return {
    tracks: [...tracks].map(([name, items]) => layTrack(name, items)),
    duration: Math.max(last, 1),
  };
}

const bigOf = (cell: Cell): bigint => {
  if (typeof cell === "string" && /^-?\d+$/.test(cell)) return BigInt(cell);
  const value = Number(cell);
  return Number.isFinite(value) ? BigInt(Math.round(value)) : 0n;
};

// The first lane in which an item overlaps none before it; longer ones first where they begin together, so that
// nested calls are below each other.
function layTrack(name: string, unsorted: TrackItem[]): Track {
  const items = [...unsorted].sort((a, b) => a.begin - b.begin || b.end - a.end || a.row - b.row);
  const ends: number[] = [];
  const depths = items.map(({ begin, end }) => {
    let lane = ends.findIndex((taken) => taken <= begin);
    if (lane < 0) lane = ends.length;
    ends[lane] = Math.max(end, begin);
    return lane;
  });
  return { name, items, depths, depth: Math.max(1, ends.length) };
}

function csvCell(cell: Cell): string {
  const text = cell === null ? "" : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const toCsv = (result: SqlResult): string =>
  [
    result.columns.map(({ name }) => csvCell(name)).join(","),
    ...result.rows.map((row) => row.map(csvCell).join(",")),
    "",
  ].join("\n");

// Statements to begin with.
export const EXAMPLES: Record<string, [title: string, statement: string][]> = {
  database: [
    [
      "functions by self cost",
      "SELECT c.name, sum(v.value) AS self\nFROM contexts c JOIN \"values\" v ON v.context = c.id JOIN metrics m ON m.id = v.metric\nWHERE m.scope = 'point'\nGROUP BY c.name ORDER BY self DESC LIMIT 20",
    ],
    ["threads", "SELECT * FROM threads LIMIT 100"],
    [
      "samples of each thread",
      "SELECT thread, count(*) AS samples, min(time_ns) AS begin_ns, max(time_ns) AS end_ns\nFROM samples GROUP BY thread",
    ],
    ["metrics", "SELECT * FROM metrics"],
  ],
  recording: [
    [
      "functions by self time",
      "SELECT name, calls, total_ns, self_ns\nFROM report ORDER BY self_ns DESC LIMIT 20",
    ],
    [
      "the longest calls, as tracks",
      "SELECT thread, name, begin_ns, total_ns, depth\nFROM calls ORDER BY total_ns DESC LIMIT 500",
    ],
    [
      "calls in each millisecond",
      "SELECT begin_ns / 1000000 AS ms, count(*) AS calls\nFROM calls GROUP BY 1 ORDER BY 1",
    ],
    ["states of threads", "SELECT thread, state, ns FROM states"],
  ],
  store: [
    [
      "time by service",
      "SELECT service, count(*) AS spans, sum(duration_ns) AS total_ns\nFROM spans GROUP BY service ORDER BY total_ns DESC",
    ],
    [
      "the slowest spans, as tracks",
      "SELECT service, method, time_ns, duration_ns, trace_id\nFROM spans ORDER BY duration_ns DESC LIMIT 200",
    ],
    [
      "spans and errors in each second",
      "SELECT time_ns / 1000000000 AS second, count(*) AS spans, sum(errors > 0) AS failed\nFROM spans GROUP BY 1 ORDER BY 1",
    ],
    [
      "failed spans of a query",
      "SELECT service, method, count(*) AS failed\nFROM spans('errors') GROUP BY 1, 2 ORDER BY failed DESC",
    ],
  ],
};
