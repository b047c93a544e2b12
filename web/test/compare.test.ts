import assert from "node:assert/strict";
import { test } from "node:test";
import {
  countedOf,
  diffRows,
  errorOf,
  evidenceOf,
  parseTimes,
  reasonOf,
  runGroups,
  sentenceParts,
  sideFlame,
  sideParameters,
  sidesOf,
  signed,
  swapped,
} from "../src/compare/compare_model";
import { nameColumn, shownColumns } from "../src/tree/tree_rows";
import type {
  Change,
  DiffFlame,
  DiffLine,
  DiffRows,
  Explanation,
  Source,
} from "../generated/answers";

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

const source = (id: number, name: string, kind: Source["kind"] = "recording"): Source => ({
  id,
  kind,
  name,
  path: `/${name}`,
  format: "uftrace",
  state: "ready",
  shareDone: 1,
});
const three = [source(0, "a1"), source(1, "b1"), source(2, "a2")];

test("the sides are in the address, and are exchanged whole", () => {
  // Without a choice: the only other one of its kind, or none.
  assert.deepEqual(sidesOf({}, three), { a: ["0"], b: [] });
  assert.deepEqual(sidesOf({}, three.slice(0, 2)), { a: ["0"], b: ["1"] });
  assert.deepEqual(sidesOf({}, [source(0, "a"), source(1, "s", "store")]), { a: ["0"], b: [] });
  assert.deepEqual(sidesOf({ cbt: "1" }, three), { a: ["0"], b: ["0"] });
  const state = { s: "1", cb: "2.0", cat: "1-3", w: "1" };
  assert.deepEqual(sideParameters(state, three)["aThread"], "1-3");
  assert.deepEqual(sideParameters(state, three)["b"], ["2", "0"]);
  const { s, ca, cb, cat, cbt } = swapped(state, three);
  assert.deepEqual([s, ca, cb, cat, cbt], ["2", "0", "1", "", "1-3"]);
  assert.deepEqual(sidesOf({ s: "0", ca: "0.2.x", cb: "1" }, three), { a: ["0", "2"], b: ["1"] });
});

test("runs whose names differ by a number are offered together", () => {
  const groups = runGroups([...three, source(3, "b2"), source(4, "other")]);
  assert.deepEqual(groups, [
    [
      { title: "a1 … a2", ids: ["0", "2"] },
      { title: "b1 … b2", ids: ["1", "3"] },
    ],
  ]);
  assert.deepEqual(runGroups([source(4, "other"), ...three]), []);
});

test("a cause says why, and the sentence says what is worse", () => {
  const cause = (change: Partial<Change>): Change => ({
    ...line,
    function: "f",
    label: "f",
    path: "main > f",
    kind: "self",
    paths: 1,
    hasPath: true,
    node: "1",
    runsA: [1],
    runsB: [2],
    ...change,
  });
  assert.equal(reasonOf(cause({ kind: "new", callsB: 4 })), "only in B: 4 calls");
  assert.equal(
    reasonOf(cause({ kind: "gone", callsA: 1, paths: 3 })),
    "only in A: 1 call, on 3 call paths",
  );
  assert.equal(
    reasonOf(cause({ kind: "calls", callsA: 50, callsB: 150 })),
    "called 150 times instead of 50",
  );
  assert.equal(reasonOf(cause({ callsA: 5, callsB: 5 })), "the same 5 calls, longer");
  assert.equal(reasonOf(cause({ callsA: 1, callsB: 1, difference: -1 })), "one call, shorter");
  assert.equal(reasonOf(cause({})), "its own cost");
  const tones = (text: string) => sentenceParts(text).map(({ tone }) => tone);
  assert.deepEqual(
    tones(
      "f, new, +1 ms and 1 more change; the whole differs by no more than noise: 9 ms and 10 ms",
    ),
    [""],
  );
  assert.deepEqual(sentenceParts("B is 4.81 ms slower: f, new"), [
    { text: "B is ", tone: "" },
    { text: "4.81 ms slower", tone: "worse" },
    { text: ": f, new", tone: "" },
  ]);
  assert.deepEqual(tones("B is 2 us faster: f, gone"), ["", "better", ""]);
  assert.deepEqual(tones("no difference"), [""]);
  assert.equal(sentenceParts("B is 2 us faster: f-1, gone, -2 us")[2]?.text, ": f-1, gone, −2 us");
});

test("a time of a side is two moments in order", () => {
  assert.deepEqual(parseTimes("1.5ms - 2 ms"), { begin: 1_500_000, end: 2_000_000 });
  assert.deepEqual(parseTimes("10-20"), { begin: 10, end: 20 });
  for (const text of [undefined, "", "5", "20-10", "a-b"]) assert.equal(parseTimes(text), null);
  const { aBegin, aEnd, bBegin } = sideParameters({ car: "10-20" }, three);
  assert.deepEqual([aBegin, aEnd, bBegin], [10, 20, undefined]);
});

test("a difference has a sign, a unit, an error and a verdict", () => {
  assert.equal(signed(-0.0015, "time (sec)"), "−1.5 ms");
  assert.equal(signed(0, "calls"), "±0");
  assert.equal(errorOf(line, whole), "± 100 ms");
  assert.equal(errorOf({ ...line, plusMinus: null }, whole), "");
  const counted = (more: Partial<Explanation>) =>
    countedOf({ ...whole, lines: [line, line, line], ...more } as Explanation);
  assert.equal(counted({ changedCount: 9 }), "3 of 9 changed functions");
  assert.equal(
    counted({ over: "runs", realCount: 5, unknownCount: 3 }),
    "3 of 8 changes: 5 real, 3 may be noise",
  );
  assert.equal(counted({ over: "runs", realCount: 5, unknownCount: 0 }), "3 of 5 real changes");
  assert.match(evidenceOf({ ...whole, over: "runs", runs: [3, 4] }), /over 3 and 4 runs/);
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

test("all columns of a comparison are beside names in a window of 1280 pixels", () => {
  const row = { ...line, function: "f", label: "f", path: "main > f", id: "7", isLeaf: true };
  const rows = [{ ...row, callsA: 5, callsB: 6 }];
  const { columns } = diffRows({ ...whole, cost: "total", count: 1, over: "runs", rows });
  const shown = shownColumns(columns, { hidden: new Set(), order: [], mode: "auto" });
  assert.equal(shown.length, 8);
  assert.equal(nameColumn(shown, 1265).bars, "short");
});
