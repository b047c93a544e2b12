// Two sides of a comparison, as they are in the address and as they are shown.

import type { TreeColumn } from "../tree/tree_rows";
import type { Parameters } from "../shared/api";
import { mixTokens } from "../shared/colors";
import { formatNs, formatPercent, formatValue, parseNs, plural } from "../shared/format";
import type { Range } from "../shared/range";
import { isOn, type State } from "../shared/state";
import type {
  Comparison,
  DiffFlame,
  DiffLine,
  DiffRows,
  Flame,
  FlameNode,
  Row,
  Rows,
} from "../../generated/answers";

// A is the source of the page, B another one; without a choice, the next.
export function sidesOf(state: State, count: number): { a: string; b: string } {
  const a = state.s ?? "0";
  return { a, b: state.cb ?? String((Number(a) + 1) % Math.max(count, 1)) };
}

// "1.5 ms - 20 ms" or "1500000-20000000"; null: not two times in order.
export function parseTimes(text: string | undefined): Range | null {
  const [begin, end] = (text ?? "").split("-").map(parseNs);
  return begin !== undefined && end !== undefined && begin < end ? { begin, end } : null;
}

export const printTimes = (range: Range | null): string =>
  range ? `${formatNs(range.begin)} - ${formatNs(range.end)}` : "";

export function sideParameters(state: State, count: number): Parameters {
  const { a, b } = sidesOf(state, count);
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

export function swapped(state: State, count: number): State {
  const { a, b } = sidesOf(state, count);
  return {
    s: b,
    cb: a,
    cat: state.cbt ?? "",
    cbt: state.cat ?? "",
    car: state.cbr ?? "",
    cbr: state.car ?? "",
    caq: state.cbq ?? "",
    cbq: state.caq ?? "",
    zoom: "",
    open: "",
  };
}

export const signed = (value: number, metric: string): string =>
  `${value > 0 ? "+" : value < 0 ? "−" : "±"}${formatValue(Math.abs(value), metric)}`;

export const verdictOf = (line: DiffLine, whole: Comparison): string =>
  whole.over === null ? "no error bar" : line.verdict;

// "± 1.2 ms": the 95 % interval of the difference.
export const errorOf = (line: DiffLine, whole: Comparison): string =>
  line.plusMinus === null ? "" : `± ${formatValue(line.plusMinus, whole.metric)}`;

export function evidenceOf(whole: Comparison): string {
  const [a, b] = whole.runs;
  return whole.over === null
    ? "one run of each side: nothing tells changes from noise"
    : `changes are told from noise over ${whole.over}${whole.over === "runs" ? `, ${a} and ${b}` : ""}`;
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
});

// The rows of a comparison for the tree table: the verdict is beside the name.
export function diffRows(answer: DiffRows): Rows {
  const { metric } = answer;
  const most = Math.max(answer.a, answer.b);
  const hasCalls = answer.rows.some((row) => row.callsA !== null || row.callsB !== null);
  const columns = [
    plain("a", "A", metric, most),
    plain("b", "B", metric, most),
    plain("difference", "difference", metric, most),
    ...(answer.over === null ? [] : [plain("plusMinus", "± 95 %", metric, most)]),
    plain("ratio", "ratio", "", null),
    plain("share", "share (%)", "", null),
    ...(hasCalls ? [plain("callsA", "calls A", "", 0), plain("callsB", "calls B", "", 0)] : []),
  ];
  return {
    columns,
    count: answer.count,
    rows: answer.rows.map((row): Row => ({
      id: row.id,
      kind: "function",
      label: row.label,
      context: row.id,
      module: answer.over === null ? null : row.verdict,
      file: null,
      line: 0,
      language: null,
      code: null,
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

export const calls = (count: number | null): string =>
  count === null ? "" : plural(count, "call");
