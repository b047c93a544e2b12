// Two sides of a comparison, as they are in the address and as they are shown.

import type { ComparedRow, TreeColumn } from "../tree/tree_rows";
import type { Parameters } from "../shared/api";
import { mixTokens } from "../shared/look/colors";
import { formatNs, formatPercent, formatValue, parseNs, plural } from "../shared/format";
import type { Range } from "../shared/range";
import { isOn, type State } from "../shared/state";
import type {
  Change,
  Comparison,
  DiffFlame,
  DiffLine,
  DiffRows,
  Explanation,
  Flame,
  FlameNode,
  Rows,
  Source,
} from "../../generated/answers";

// Ids of sources, each a run.
export interface Sides {
  a: string[];
  b: string[];
}

const listOf = (text: string | undefined): string[] =>
  (text ?? "").split(".").filter((id) => /^\d+$/.test(id));

const familyOf = (source: Source | undefined): string =>
  source?.kind === "store" ? "store" : "data";

// A is the source of the page and further runs; B another one. Without a choice, B is the only other
// source that A can be compared with; with selections of A alone, A itself; otherwise none.
export function sidesOf(state: State, sources: Source[]): Sides {
  const first = state.s ?? "0";
  const a = [first, ...listOf(state.ca).filter((id) => id !== first)];
  const chosen = listOf(state.cb);
  if (chosen.length > 0) return { a, b: chosen };
  const hasSelections = [state.cat, state.cbt, state.car, state.cbr, state.caq, state.cbq].some(
    (text) => text !== undefined,
  );
  if (hasSelections) return { a, b: [first] };
  const family = familyOf(sources[Number(first)]);
  const others = sources.filter(
    (source) => !a.includes(String(source.id)) && familyOf(source) === family,
  );
  return { a, b: others.length === 1 ? others.map(({ id }) => String(id)) : [] };
}

// The state with these runs.
export const withSides = ({ a: [first = "0", ...more], b }: Sides): State => ({
  s: first,
  ca: more.join("."),
  cb: b.join("."),
  zoom: "",
  open: "",
});

export interface RunGroup {
  title: string; // "a1.data … a3.data"
  ids: string[];
}

// Sources whose names differ by a number alone are runs of the same; pairs of such groups, with that of the first
// source first.
export function runGroups(sources: Source[]): [RunGroup, RunGroup][] {
  const groups = new Map<string, Source[]>();
  for (const source of sources) {
    const kind = source.name.replace(/\d+/g, "#");
    groups.set(kind, [...(groups.get(kind) ?? []), source]);
  }
  const list = [...groups.values()]
    .filter((group) => group.length > 1)
    .map((group): RunGroup => {
      const sorted = [...group].sort((a, b) => (a.name < b.name ? -1 : 1));
      return {
        title: `${sorted[0]?.name} … ${sorted[sorted.length - 1]?.name}`,
        ids: sorted.map(({ id }) => String(id)),
      };
    });
  const own = list.findIndex(({ ids }) => ids.includes(String(sources[0]?.id)));
  const first = list[own];
  if (!first) return [];
  return list.filter((_, i) => i !== own).map((other) => [first, other]);
}

// "1.5 ms - 20 ms" or "1500000-20000000"; null: not two times in order.
export function parseTimes(text: string | undefined): Range | null {
  const [begin, end] = (text ?? "").split("-").map(parseNs);
  return begin !== undefined && end !== undefined && begin < end ? { begin, end } : null;
}

export const printTimes = (range: Range | null): string =>
  range ? `${formatNs(range.begin)} - ${formatNs(range.end)}` : "";

export function sideParameters(state: State, sources: Source[]): Parameters {
  const { a, b } = sidesOf(state, sources);
  return {
    a,
    b,
    aThread: state.cat,
    bThread: state.cbt,
    aBegin: parseTimes(state.car)?.begin,
    aEnd: parseTimes(state.car)?.end,
    bBegin: parseTimes(state.cbr)?.begin,
    bEnd: parseTimes(state.cbr)?.end,
    aQuery: state.caq,
    bQuery: state.cbq,
    metric: state.m,
    waits: isOn(state, "w") && state.m === undefined ? 1 : undefined,
  };
}

export function swapped(state: State, sources: Source[]): State {
  const { a, b } = sidesOf(state, sources);
  return {
    ...withSides({ a: b, b: a }),
    cat: state.cbt ?? "",
    cbt: state.cat ?? "",
    car: state.cbr ?? "",
    cbr: state.car ?? "",
    caq: state.cbq ?? "",
    cbq: state.caq ?? "",
  };
}

export const signed = (value: number, metric: string): string =>
  `${value > 0 ? "+" : value < 0 ? "−" : "±"}${formatValue(Math.abs(value), metric)}`;

// "± 1.2 ms": the 95 % interval of the difference.
export const errorOf = (line: DiffLine, whole: Comparison): string =>
  line.plusMinus === null ? "" : `± ${formatValue(line.plusMinus, whole.metric)}`;

export function evidenceOf(whole: Comparison): string {
  const [a, b] = whole.runs;
  switch (whole.over) {
    case null:
      return "one run of each side: nothing tells changes from noise; add runs to a side";
    case "runs":
      return `changes are told from noise over ${a} and ${b} runs`;
    default:
      return `one run each: changes are told from noise over ${whole.over}`;
  }
}

// "3 of 8 changes: 5 real, 3 may be noise". The sentence of the server counts those that are real.
export function countedOf(value: Explanation): string {
  const shown = value.lines.length;
  if (value.over === null) return `${shown} of ${plural(value.changedCount, "changed function")}`;
  const count = value.realCount + value.unknownCount;
  if (value.unknownCount === 0) return `${shown} of ${plural(count, "real change")}`;
  return `${shown} of ${plural(count, "change")}: ${value.realCount} real, ${value.unknownCount} may be noise`;
}

// What a verdict means.
export const VERDICTS: Record<DiffLine["verdict"], string> = {
  real: "real",
  noise: "within noise",
  small: "too small to test",
  unknown: "may be noise",
};

// Why a line changed: "new in B: 4 calls", "called 150 times instead of 50".
export function reasonOf(line: Change): string {
  const [a, b] = [line.callsA, line.callsB];
  const paths = line.paths > 1 ? `, on ${plural(line.paths, "call path")}` : "";
  const count = (calls: number | null) =>
    calls === null ? "" : `: ${plural(Math.round(calls), "call")}`;
  switch (line.kind) {
    case "new":
      return `only in B${count(b)}${paths}`;
    case "gone":
      return `only in A${count(a)}${paths}`;
    case "moved":
      return `called from elsewhere in B${count(b)}${paths}`;
    case "calls":
      return `called ${plural(Math.round(b ?? 0), "time")} instead of ${Math.round(a ?? 0).toLocaleString("en-US")}${paths}`;
    case "self":
      if (a === null || b === null) return `its own cost${paths}`;
      return Math.round(a) === Math.round(b)
        ? `${Math.round(a) === 1 ? "one call" : `the same ${plural(Math.round(a), "call")}`}, ${line.difference > 0 ? "longer" : "shorter"}${paths}`
        : `${plural(Math.round(b), "call")} instead of ${Math.round(a).toLocaleString("en-US")}${paths}`;
  }
}

// The sentence of the server in parts: what is better or worse has a colour. Its minus is that of a terminal.
export function sentenceParts(said: string): { text: string; tone: "" | "worse" | "better" }[] {
  const sentence = said.replace(/(?<=, )-(?=\d)/g, "−");
  const match = /^(.*? )(\S+ \S+ (slower|faster|more \S+|fewer \S+|less \S+))(.*)$/.exec(sentence);
  if (!match || !/(^|, )B (is|has) /.test(sentence)) return [{ text: sentence, tone: "" }];
  const [, before = "", whole = "", word = "", after = ""] = match;
  return [
    { text: before, tone: "" },
    { text: whole, tone: /slower|more/.test(word) ? "worse" : "better" },
    { text: after, tone: "" },
  ];
}

const STRONG = 0.5; // a change by half is as strong as any

// Orange: B costs more; blue: B costs less; grey: the same. Told apart with any colour vision.
export function changeColor(a: number, b: number): string {
  const change = Math.max(a, b) > 0 ? (b - a) / Math.max(a, b) : 0;
  const part = Math.min(1, Math.abs(change) / STRONG);
  return mixTokens("--same", change > 0 ? "--worse" : "--better", part);
}

// The boxes of one side; those that the other side alone has are left out.
export function sideFlame(
  diff: DiffFlame,
  side: "a" | "b",
): { flame: Flame; nodes: DiffFlame["nodes"] } {
  const at = side === "a" ? 2 : 3;
  const kept = diff.nodes.filter((node) => node[at] > 0);
  const nodes = kept.map((node): FlameNode => [
    node[0],
    node[1],
    0,
    node[at],
    (side === "a" ? node[4] : node[5]) ?? 0,
    node[6],
  ]);
  const total = nodes.reduce((sum, node) => sum + (node[0] === 0 ? node[3] : 0), 0);
  return {
    flame: {
      column: diff.metric,
      total,
      isCut: diff.isCut,
      names: diff.names,
      modules: [""],
      nodes,
    },
    nodes: kept,
  };
}

export function boxRows(diff: DiffFlame, node: DiffFlame["nodes"][number]): [string, string][] {
  const [, , a, b] = node;
  return [
    ["A", `${formatValue(a, diff.metric)} ${formatPercent(a, diff.a)}`],
    ["B", `${formatValue(b, diff.metric)} ${formatPercent(b, diff.b)}`],
    ["difference", `${signed(b - a, diff.metric)}${a > 0 ? ` (× ${(b / a).toFixed(2)})` : ""}`],
  ];
}

const plain = (
  name: string,
  heading: string,
  metric: string,
  total: number | null,
  width: number,
): TreeColumn => ({
  name,
  title: heading,
  heading,
  metric,
  side: "inclusive",
  isPercentile: false,
  hasShare: false,
  isSortable: false,
  total,
  width,
});

// The rows of a comparison for the tree table: the verdict is beside the name.
export function diffRows(answer: DiffRows): Rows {
  const { metric } = answer;
  const most = Math.max(answer.a, answer.b);
  const hasCalls = answer.rows.some((row) => row.callsA !== null || row.callsB !== null);
  const columns = [
    plain("a", "A", metric, most, 6.5),
    plain("b", "B", metric, most, 6.5),
    { ...plain("difference", "difference", metric, most, 8.5), form: "signed" as const },
    ...(answer.over === null ? [] : [plain("plusMinus", "± 95 %", metric, most, 7.5)]),
    plain("ratio", "ratio", "", null, 4.5),
    { ...plain("share", "share", "", null, 5.5), form: "percent" as const },
    ...(hasCalls
      ? [plain("callsA", "calls A", "", 0, 6.5), plain("callsB", "calls B", "", 0, 6.5)]
      : []),
  ];
  return {
    columns,
    count: answer.count,
    rows: answer.rows.map((row): ComparedRow => ({
      id: row.id,
      kind: "function",
      label: row.label,
      context: row.id,
      module: answer.over === null ? null : row.verdict,
      file: null,
      line: 0,
      language: null,
      code: null,
      isNoise: row.verdict === "noise" || row.verdict === "small",
      isLeaf: row.isLeaf,
      values: [
        row.a,
        row.b,
        row.difference,
        ...(answer.over === null ? [] : [row.plusMinus]),
        row.ratio,
        row.sharePercent,
        ...(hasCalls ? [row.callsA, row.callsB] : []),
      ],
    })),
  };
}
