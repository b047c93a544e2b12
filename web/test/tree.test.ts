import assert from "node:assert/strict";
import { test } from "node:test";
import { makeNodes, pathOf, visibleLines } from "../src/tree_model";
import type { Row } from "../src/types";

const row = (id: string): Row => ({
  id, kind: "function", label: id, module: null, file: null, line: 0, isLeaf: false, values: [1],
});

test("open rows show their children below them", () => {
  const top = makeNodes([row("a"), row("b")], null);
  const [a] = top;
  assert.ok(a);
  a.children = makeNodes([row("c")], a);
  a.total = 1;
  const names = () => visibleLines(top, 2).map((line) => ("node" in line ? line.node.row.id : "more"));
  assert.deepEqual(names(), ["a", "b"]);
  a.isOpen = true;
  assert.deepEqual(names(), ["a", "c", "b"]);
});

test("rows that the server keeps back are offered", () => {
  const top = makeNodes([row("a")], null);
  const lines = visibleLines(top, 5);
  assert.deepEqual(lines[1], { more: null, depth: 0, rest: 4 });
});

test("the path of a row begins at the top", () => {
  const [a] = makeNodes([row("a")], null);
  assert.ok(a);
  const [c] = makeNodes([row("c")], a);
  assert.ok(c);
  assert.deepEqual(pathOf(c), ["a", "c"]);
});
