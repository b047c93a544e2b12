import assert from "node:assert/strict";
import { test } from "node:test";
import { callsItself, foldSelf } from "../src/tree/fold_self";
import type { Flame } from "../generated/answers";

// fib calls itself three deep, and at each depth add or, through help, fib.
const flame: Flame = {
  column: "time (sec)",
  side: "total",
  total: 20,
  isCut: false,
  names: ["fib", "add", "help", "log"],
  modules: ["", "app"],
  nodes: [
    [0, 0, 1, 14, 2, "1"],
    [1, 0, 1, 8, 1, "2"],
    [2, 1, 1, 4, 3, "3"],
    [3, 3, 1, 1, 1, "4"],
    [2, 2, 1, 3, 1, "5"],
    [3, 0, 1, 2, 2, "6"],
    [1, 1, 1, 4, 4, "7"],
    [0, 1, 1, 5, 4, "8"],
    [1, 3, 1, 1, 1, "9"],
  ],
  codes: [["c", "mine"]],
  nodeCodes: [0, 0, 0, null, 0, 0, 0, 0, null],
};

test("calls of a function by itself are folded, and what they call is that of the function", () => {
  const folded = foldSelf(flame, "fib");
  assert.deepEqual(folded.nodes, [
    [0, 1, 1, 13, 11, "3"],
    [1, 3, 1, 2, 2, "4"],
    [0, 2, 1, 3, 1, "5"],
    [1, 0, 1, 2, 2, "6"],
  ]);
  assert.deepEqual(folded.nodeCodes, [0, null, 0, 0]);
  assert.equal(folded.total, 20);
});

test("a graph without calls of itself stays as it is", () => {
  assert.equal(callsItself(flame, "fib"), true);
  assert.equal(callsItself(flame, "help"), false);
  assert.equal(foldSelf(flame, "help"), flame);
});
