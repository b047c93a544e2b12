import assert from "node:assert/strict";
import { test } from "node:test";
import { layOut } from "../src/flame/flame_layout";
import type { SpanRow, Trace, TraceNode, TraceSpan } from "../src/store/store_types";
import {
  addCalls,
  arrangeSpans,
  growCalls,
  traceFlame,
  visibleCalls,
  type CallLine,
} from "../src/store/trace_model";

const node = (
  number: number,
  depth: number,
  start: number,
  duration: number,
  below = 0,
): TraceNode => ({
  node: number,
  below,
  depth,
  method: `m${number}`,
  start,
  duration,
  self: duration,
  calls: 1,
  isError: false,
  isOpen: false,
});
const answer = (nodes: TraceNode[], next?: number): Trace => ({
  trace: "1",
  time: "0",
  type: null,
  service: null,
  nodeCount: 9,
  path: [],
  nodes,
  spans: [],
  ...(next === undefined ? {} : { next }),
});
const numbers = (lines: CallLine[]) =>
  lines.map((line) => ("node" in line ? line.node.call.node : "more"));

test("calls become a tree; calls that are not loaded are closed", () => {
  const root = growCalls(
    answer([node(0, 0, 0, 100, 8), node(1, 1, 10, 50, 3), node(5, 1, 70, 20)]),
    null,
  );
  assert.ok(root);
  assert.deepEqual(numbers(visibleCalls(root)), [0, 1, 5]);
  const call = root.children?.[0];
  assert.ok(call);
  assert.equal(call.isOpen, false);
  addCalls(call, answer([node(1, 1, 10, 50, 3), node(2, 2, 10, 5), node(3, 2, 20, 5)], 4));
  assert.deepEqual(numbers(visibleCalls(root)), [0, 1, 2, 3, "more", 5]);
  addCalls(call, answer([node(1, 1, 10, 50, 3), node(4, 2, 30, 5)]));
  assert.deepEqual(numbers(visibleCalls(root)), [0, 1, 2, 3, 4, 5]);
  call.isOpen = false;
  assert.deepEqual(numbers(visibleCalls(root)), [0, 1, 5]);
});

test("boxes of a trace lie where its calls were", () => {
  const boxes = layOut(
    traceFlame([node(0, 0, 0, 100), node(1, 1, 10, 50), node(2, 2, 20, 30), node(3, 1, 70, 20)]),
  );
  assert.deepEqual(
    boxes.map((box) => Math.round(box.begin * 1e9)),
    [0, 10, 20, 70],
  );
});

test("a part of a trace begins at the left edge", () => {
  const boxes = layOut(traceFlame([node(4, 3, 100, 50), node(5, 4, 110, 20)]));
  assert.deepEqual(
    boxes.map((box) => [box.depth, Math.round(box.begin * 1e9)]),
    [
      [0, 0],
      [1, 10],
    ],
  );
});

const row = (key: string, span: string, parent: string | null, time: string): SpanRow => ({
  key,
  trace: "1",
  span,
  parent,
  time,
  duration: 10,
  calls: 1,
  records: 1,
  errors: 0,
  type: null,
  service: null,
  method: null,
});

test("spans stand below those that caused them, on one axis", () => {
  const rows = [
    row("a", "s1", null, "1000"),
    row("b", "s3", "s1", "1700"),
    row("c", "s2", "s1", "1500"),
    row("d", "s4", "s2", "1600"),
  ];
  const lines = arrangeSpans(rows, []);
  assert.deepEqual(
    lines.map((line) => [line.key, line.depth, line.start]),
    [
      ["a", 0, 0],
      ["c", 1, 500],
      ["d", 2, 600],
      ["b", 1, 700],
    ],
  );
});

test("spans that cause each other are shown, and spans inside the trace once", () => {
  const inside: TraceSpan[] = [0, 1, 2].map((at) => ({
    node: at,
    span: `s${at}`,
    parent: null,
    time: "5",
    duration: 1,
    errors: 0,
    type: null,
    service: null,
    method: "m",
  }));
  const lines = arrangeSpans(
    [row("a", "x", "y", "1"), row("b", "y", "x", "2"), row("c", "s1", null, "3")],
    inside,
  );
  assert.deepEqual(lines.map((line) => line.key).sort(), ["a", "b", "c", null].sort());
});
