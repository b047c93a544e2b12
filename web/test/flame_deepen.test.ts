import assert from "node:assert/strict";
import { test } from "node:test";
import { boxPath, graft, layOut } from "../src/flame/flame_layout";
import type { Flame, FlameNode } from "../generated/answers";
import { deepen } from "../src/flame/use_flame";

// main > f > g > f > h, and main > f > h, with what each took by itself.
const names = ["main", "f", "g", "h"];
const node = (depth: number, name: number, value: number, self: number, id: string): FlameNode => [
  depth,
  name,
  0,
  value,
  self,
  id,
];
const flame: Flame = {
  column: "time (s)",
  total: 31,
  isCut: false,
  names,
  modules: ["app"],
  nodes: [
    node(0, 0, 31, 0, "1"),
    node(1, 1, 31, 1, "2"),
    node(2, 2, 14, 2, "3"),
    node(3, 1, 12, 4, "4"),
    node(4, 3, 8, 8, "5"),
    node(2, 3, 16, 16, "6"),
  ],
};

test("the inside of a box can come from another answer", () => {
  const inside: Flame = {
    ...flame,
    names: ["x", "y"],
    nodes: [node(0, 0, 9, 9, "7"), node(0, 1, 3, 3, "8")],
  };
  const grown = graft(flame, "3", inside);
  assert.deepEqual(
    layOut(grown).map((box) => [box.depth, box.name]),
    [
      [0, "main"],
      [1, "f"],
      [2, "g"],
      [3, "x"],
      [3, "y"],
      [2, "h"],
    ],
  );
  assert.deepEqual(boxPath(layOut(grown), 4), ["1", "2", "3", "8"]);
});

test("the functions of another answer keep their language", () => {
  const grown = graft({ ...flame, codes: [["c", "mine"]], nodeCodes: [0, 0, 0, 0, 0, 0] }, "3", {
    ...flame,
    nodes: [node(0, 0, 9, 9, "7")],
    codes: [["rust", "library"]],
    nodeCodes: [0],
  });
  assert.deepEqual(
    layOut(grown).map((box) => box.language),
    ["c", "c", "c", "rust", "c"],
  );
});

test("zooming asks for what was too small to be drawn", async () => {
  const asked: string[] = [];
  const deeper = await deepen(flame, ["1", "2", "6", "9"], async (row) => {
    asked.push(row);
    return {
      ...flame,
      names: ["deep"],
      nodes: row === "6" ? [node(0, 0, 5, 5, "9")] : [node(0, 0, 1, 1, "10")],
    };
  });
  assert.deepEqual(asked, ["6", "9"]);
  assert.equal(layOut(deeper).filter((box) => box.name === "deep").length, 2);
});
