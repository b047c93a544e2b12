import assert from "node:assert/strict";
import { test } from "node:test";
import {
  diffRows,
  errorOf,
  evidenceOf,
  parseTimes,
  sideFlame,
  sideParameters,
  sidesOf,
  signed,
  swapped,
  verdictOf,
} from "../src/compare/compare_model";
import type { DiffFlame, DiffLine, DiffRows } from "../generated/answers";

const whole = {
  metric: "time (sec)",
  runs: [1, 1] as [number, number],
  over: null,
  a: 3,
  b: 4,
  gross: 1,
  hasCalls: false,
  uncounted: 0,
  damage: null,
};
const line: DiffLine = {
  a: 1,
  b: 2,
  difference: 1,
  ratio: 2,
  sharePercent: 100,
  plusMinus: 0.1,
  p: 0.01,
  rankP: 0.02,
  verdict: "real",
  callsA: null,
  callsB: null,
};

test("the sides are in the address, and are exchanged whole", () => {
  assert.deepEqual(sidesOf({}, 3), { a: "0", b: "1" });
  assert.deepEqual(sidesOf({ s: "2" }, 3), { a: "2", b: "0" });
  assert.deepEqual(sidesOf({}, 1), { a: "0", b: "0" });
  const state = { s: "1", cb: "2", cat: "1-3", w: "1" };
  assert.deepEqual(sideParameters(state, 3)["aThread"], "1-3");
  const { s, cb, cat, cbt } = swapped(state, 3);
  assert.deepEqual([s, cb, cat, cbt], ["2", "1", "", "1-3"]);
});

test("a time of a side is two moments in order", () => {
  assert.deepEqual(parseTimes("1.5ms - 2 ms"), { begin: 1_500_000, end: 2_000_000 });
  assert.deepEqual(parseTimes("10-20"), { begin: 10, end: 20 });
  for (const text of [undefined, "", "5", "20-10", "a-b"]) assert.equal(parseTimes(text), null);
  const { aBegin, aEnd, bBegin } = sideParameters({ car: "10-20" }, 1);
  assert.deepEqual([aBegin, aEnd, bBegin], [10, 20, undefined]);
});

test("a difference has a sign, a unit, an error and a verdict", () => {
  assert.equal(signed(-0.0015, "time (sec)"), "−1.5 ms");
  assert.equal(signed(0, "calls"), "±0");
  assert.equal(verdictOf(line, whole), "no error bar");
  assert.equal(verdictOf(line, { ...whole, over: "threads" }), "real");
  assert.equal(errorOf(line, whole), "± 100 ms");
  assert.equal(errorOf({ ...line, plusMinus: null }, whole), "");
  assert.match(evidenceOf({ ...whole, over: "runs", runs: [3, 4] }), /over runs, 3 and 4/);
});

test("a flame graph has the boxes of one side, the other one gives colours", () => {
  const diff: DiffFlame = {
    ...whole,
    isCut: false,
    names: ["main", "old", "new"],
    nodes: [
      [0, 0, 3, 4, 1, 1, "1"],
      [1, 1, 2, 0, 2, 0, "2"],
      [1, 2, 0, 3, null, 3, "3"],
    ],
  };
  const names = (side: "a" | "b") => sideFlame(diff, side).flame.nodes.map((node) => node[1]);
  assert.deepEqual(names("a"), [0, 1]);
  assert.deepEqual(names("b"), [0, 2]);
  assert.equal(sideFlame(diff, "b").flame.total, 4);
  assert.deepEqual(sideFlame(diff, "b").nodes[1]?.slice(2, 4), [0, 3]);
});

test("rows have both sides, and calls if there are any", () => {
  const row = { ...line, function: "f", label: "f", path: "main > f", id: "7", isLeaf: true };
  const answer: DiffRows = { ...whole, cost: "total", count: 1, rows: [row] };
  assert.deepEqual(diffRows(answer).rows[0]?.values, [1, 2, 1, 2, 100]);
  const counted = { ...answer, rows: [{ ...row, callsA: 5, callsB: 6 }] };
  assert.deepEqual(diffRows(counted).rows[0]?.values, [1, 2, 1, 2, 100, 5, 6]);
  assert.equal(diffRows(counted).columns.length, 7);
  const tested = diffRows({ ...answer, over: "runs" });
  assert.deepEqual(tested.rows[0]?.values, [1, 2, 1, 0.1, 2, 100]);
  assert.equal(tested.columns[3]?.name, "plusMinus");
});
