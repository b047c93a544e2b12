import assert from "node:assert/strict";
import { test } from "node:test";
import {
  findBox,
  layOut,
  layOutWaits,
  matchedValue,
  matcher,
  zoomTo,
} from "../src/flame/flame_layout";
import type { Flame } from "../generated/answers";

const flame: Flame = {
  column: "time (sec) (I)",
  total: 10,
  isCut: false,
  names: ["main", "a", "b"],
  modules: ["app"],
  nodes: [
    [0, 0, 0, 8, 1, "m"],
    [1, 1, 0, 5, 5, "a"],
    [1, 2, 0, 2, 0, "b"],
    [2, 1, 0, 2, 2, "ba"],
    [0, 2, 0, 2, 2, "b2"],
  ],
};

test("children lie inside their parents, one after another", () => {
  const boxes = layOut(flame);
  assert.deepEqual(
    boxes.map((box) => [box.name, box.parent, box.begin]),
    [
      ["main", -1, 0],
      ["a", 0, 0],
      ["b", 0, 5],
      ["a", 2, 5],
      ["b", -1, 8],
    ],
  );
});

test("waiting follows what a box calls, by state", () => {
  const waiting: Flame = {
    ...flame,
    waits: ["blocked", "pre-empted"],
    nodes: [
      [0, 0, 0, 8, 3, "m", 2, 1],
      [1, 1, 0, 5, 5, "a", null, 4],
    ],
  };
  const boxes = layOut(waiting);
  assert.deepEqual(
    boxes.map((box) => box.waits),
    [
      [2, 1],
      [0, 4],
    ],
  );
  assert.deepEqual(layOutWaits(waiting, boxes), [
    { box: 0, state: 0, depth: 1, begin: 5, value: 2 },
    { box: 0, state: 1, depth: 1, begin: 7, value: 1 },
    { box: 1, state: 1, depth: 2, begin: 0, value: 4 },
  ]);
  assert.deepEqual(layOutWaits({ ...waiting, side: "self" }, boxes), []);
  assert.deepEqual(layOutWaits(flame, layOut(flame)), []);
});

test("a box is found by depth and place", () => {
  const boxes = layOut(flame);
  assert.equal(findBox(boxes, 1, 5.5), 2);
  assert.equal(findBox(boxes, 1, 7.5), -1);
});

test("zooming fills the width with one box", () => {
  assert.deepEqual(zoomTo(layOut(flame), 2, 10), { begin: 5, span: 2, depth: 1 });
  assert.deepEqual(zoomTo(layOut(flame), -1, 10), { begin: 0, span: 10, depth: -1 });
});

test("matches inside matches are counted once", () => {
  const boxes = layOut(flame);
  assert.equal(
    matchedValue(boxes, (name) => name === "b"),
    4,
  );
  assert.equal(
    matchedValue(boxes, (name) => name === "a" || name === "b"),
    9,
  );
});

test("a broken regular expression is plain text", () => {
  assert.equal(matcher("a(")?.("xa(y"), true);
  assert.equal(matcher(""), null);
});
