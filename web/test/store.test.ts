import assert from "node:assert/strict";
import { test } from "node:test";
import { complete, errorColumn, quote, toggleCondition, withTimes } from "../src/query_text";
import type { TraceNode } from "../src/store_types";
import { methodStatistics, traceFlame, visibleNodes } from "../src/trace_model";
import { layOut } from "../src/flame_layout";

const node = (depth: number, method: string, start: number, duration: number): TraceNode => ({
  depth, method, start, duration, calls: 1, isError: false, isOpen: false,
});

const nodes = [node(0, "a", 0, 100), node(1, "b", 10, 50), node(2, "a", 20, 30), node(1, "c", 70, 20)];

test("words are completed where the cursor is", () => {
  assert.deepEqual(complete("errors http.s", 13, ["http.status", "db"]), { begin: 7, words: ["http.status"] });
  assert.deepEqual(complete("errors ", 7, ["db"]).words, []);
});

test("values are quoted when they need it", () => {
  assert.equal(quote("/items/1"), "/items/1");
  assert.equal(quote('a "b"'), '"a \\"b\\""');
  assert.equal(quote("and"), '"and"');
});

test("a condition is added, and taken away again", () => {
  assert.equal(toggleCondition("errors", "type = db"), "errors type = db");
  assert.equal(toggleCondition("errors type = db", "type = db"), "errors");
  assert.equal(toggleCondition("type = db", "type = db"), "");
  assert.equal(toggleCondition("a or b", "type = db"), "(a or b) type = db");
});

test("times replace earlier ones", () => {
  const query = withTimes('errors since "2020-01-01 00:00" until 2021', 0, 1000);
  assert.equal(query, 'errors since "1970-01-01 00:00:00.000" until "1970-01-01 00:00:01.000"');
});

test("errors point at a column", () => {
  assert.equal(errorColumn("query, column 10: a value is missing"), 9);
  assert.equal(errorColumn("something else"), -1);
});

test("closed calls hide what is in them", () => {
  assert.deepEqual(visibleNodes(nodes, new Set([1])), [0, 1, 3]);
  assert.deepEqual(visibleNodes(nodes, new Set([0])), [0]);
});

test("methods are added up, recursion once", () => {
  const rows = methodStatistics(nodes);
  const a = rows.find((row) => row.method === "a");
  assert.deepEqual([a?.calls, a?.total, a?.self], [2, 100, 60]);
});

test("boxes of a trace lie where its calls were", () => {
  const boxes = layOut(traceFlame(nodes));
  assert.deepEqual(boxes.map((box) => Math.round(box.begin * 1e9)), [0, 10, 20, 70]);
});
