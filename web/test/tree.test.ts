import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addRows,
  closeNode,
  findNode,
  lineAt,
  lineOf,
  makeLevel,
  openNode,
  pathOf,
  type Level,
  type Node,
} from "../src/tree/tree_model";
import type { Row } from "../generated/answers";

const row = (id: string): Row => ({
  id,
  kind: "function",
  label: id,
  context: id,
  module: null,
  file: null,
  line: 0,
  language: null,
  code: null,
  isLeaf: false,
  values: [1],
});

const level = (parent: Node | null, ...ids: string[]): Level => {
  const made = makeLevel(parent, ids.length);
  addRows(made, 0, ids.map(row));
  if (parent) parent.children = made;
  return made;
};

const at = (top: Level, id: string): Node => {
  const node = findNode(top, id);
  assert.ok(node);
  return node;
};

const names = (top: Level): string[] => {
  const list: string[] = [];
  for (let i = 0; ; i++) {
    const line = lineAt(top, i);
    if (!line) return list;
    list.push("node" in line ? line.node.row.id : `${line.index}?`);
  }
};

test("open rows show their children below them", () => {
  const top = level(null, "a", "b");
  const inner = level(at(top, "a"), "c", "d");
  assert.deepEqual(names(top), ["a", "b"]);
  openNode(at(top, "a"));
  assert.deepEqual(names(top), ["a", "c", "d", "b"]);
  level(at(inner, "d"), "e");
  openNode(at(inner, "d"));
  assert.deepEqual(names(top), ["a", "c", "d", "e", "b"]);
  closeNode(at(top, "a"));
  assert.deepEqual(names(top), ["a", "b"]);
  closeNode(at(inner, "d"));
  openNode(at(top, "a"));
  assert.deepEqual(
    names(top),
    ["a", "c", "d", "b"],
    "rows that were closed while hidden stay closed",
  );
});

test("rows that are not here yet have lines of their own", () => {
  const top = makeLevel(null, 1_000_000);
  addRows(top, 0, [row("a")]);
  addRows(top, 999_999, [row("z")]);
  level(at(top, "a"), "b", "c");
  openNode(at(top, "a"));
  assert.equal(top.lines, 1_000_002);
  assert.deepEqual(lineAt(top, 2), { node: at(at(top, "a").children as Level, "c") });
  assert.deepEqual(lineAt(top, 3), { hole: top, index: 1 });
  assert.deepEqual(lineAt(top, 1_000_001), { node: at(top, "z") });
  assert.equal(lineAt(top, 1_000_002), null);
});

test("every row knows its line", () => {
  const top = level(null, "a", "b", "c");
  const b = level(at(top, "b"), "d", "e");
  level(at(top, "a"), "f");
  level(at(b, "d"), "g");
  for (const node of [at(top, "b"), at(top, "a"), at(b, "d")]) openNode(node);
  names(top).forEach((_, i) => {
    const line = lineAt(top, i);
    assert.ok(line && "node" in line);
    assert.equal(lineOf(line.node), i);
  });
});

test("the path of a row begins at the top", () => {
  const top = level(null, "a");
  const inner = level(at(top, "a"), "c");
  assert.deepEqual(pathOf(at(inner, "c")), ["a", "c"]);
});
