import assert from "node:assert/strict";
import { test } from "node:test";
import { layOut, matchedValue } from "../src/flame/flame_layout";
import { toCsv } from "../src/store/hits_csv";
import { linePath } from "../src/store/latencies";
import { operationQuery, perSecond, sortOperations } from "../src/store/operations_model";
import { durationScale, rectangleQuery, roundDurations } from "../src/store/scatter_model";
import { layoutServices, leftOf } from "../src/store/services_model";
import type {
  Group,
  ServiceEdge,
  SpanRow,
  Trace,
  TraceNode,
  TraceRow,
  TraceSpan,
} from "../generated/answers";
import {
  addCalls,
  arrangeSpans,
  chartFlame,
  growCalls,
  linkFlows,
  pathShares,
  selfOfSpan,
  spanFlows,
  spanId,
  traceFlame,
  visibleCalls,
  withCalls,
  type CallLine,
  type SpanLine,
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

test("flows lead from a service to another one that it calls", () => {
  const of = (key: string, span: string, parent: string | null, time: string, service: string) => ({
    ...row(key, span, parent, time),
    service,
  });
  const lines = arrangeSpans(
    [
      of("a", "s1", null, "1000", "web"),
      of("b", "s2", "s1", "1200", "web"),
      of("c", "s3", "s2", "1500", "db"),
      of("d", "s4", "s1", "1900", "cache"),
      of("e", "s5", "gone", "2000", "db"),
    ],
    [],
  );
  assert.deepEqual(
    spanFlows(lines).map(({ from, to, at }) => [lines[from]?.key, lines[to]?.key, at]),
    [
      ["b", "c", 500],
      ["a", "d", 900],
    ],
  );
});

test("links lead from the span that one names, of this trace", () => {
  const lines = arrangeSpans(
    [row("a", "s1", null, "1000"), row("b", "s2", "s1", "1200"), row("c", "s3", "s1", "1500")],
    [],
  );
  const link = (trace: string, span: string) => ({ trace, span, attributes: [] });
  const links = [link("t", "s3"), link("t", "gone"), link("other", "s3"), link("t", "s2")];
  const answer = { count: 1, spans: [{ span: "s2", service: null, method: "m", links }] };
  assert.deepEqual(linkFlows("t", lines, answer), [{ from: 2, to: 1, at: 200, isLink: true }]);
  assert.deepEqual(linkFlows("t", lines, null), []);
});

test("calls at the same time are in lanes, not below each other", () => {
  const span = (parent: number | null) => ({ key: "0.0", span: null, service: "s", parent });
  const flame = chartFlame({
    time: "0",
    duration: 100,
    listedDuration: 100,
    count: 7,
    events: [],
    eventCount: 0,
    path: [],
    errors: 0,
    selfTimes: [100],
    pathTimes: [100],
    spans: [span(null), span(0), span(0), span(2), span(0), span(0)],
    calls: [
      [0, 0, 0, 0, 100, 10, 0, 0, 0],
      [0, 1, 1, 0, 10, 10, 0, 0, 0],
      [1, 0, 1, 10, 40, 40, 0, 0, 0],
      [2, 0, 1, 20, 40, 30, 0, 0, 0],
      [3, 0, 2, 25, 10, 10, 0, 0, 0],
      [4, 0, 1, 60, 30, 30, 0, 0, 0],
      [5, 0, 1, 70, 10, 10, 0, 0, 0],
    ],
    methods: ["m"],
    services: ["s"],
  });
  // Two rows, one that is free, then the lane of the second call with what it calls, and of the last.
  assert.deepEqual(
    flame.nodes.map(([depth]) => depth),
    [0, 1, 1, 3, 4, 1, 3],
  );
  assert.deepEqual(
    layOut(flame).map((box) => box.parent),
    [-1, 0, 0, 0, 3, 0, 0],
  );
  assert.equal(flame.starts?.[5], 60e-9);
});

test("calls at the same time inside one span are in lanes too", () => {
  const flame = traceFlame([
    node(0, 0, 0, 100),
    node(1, 1, 10, 50),
    node(2, 2, 20, 30),
    node(3, 1, 40, 20),
  ]);
  assert.deepEqual(
    layOut(flame).map((box) => [box.depth, box.parent]),
    [
      [0, -1],
      [1, 0],
      [2, 1],
      [4, 0],
    ],
  );
});

test("a match inside a match counts once, in whichever row it is", () => {
  const nodes = [node(0, 0, 0, 100), node(1, 1, 10, 50), node(2, 2, 20, 30), node(3, 1, 40, 20)];
  const boxes = layOut(traceFlame(nodes.map((one, i) => ({ ...one, method: `m${i}` }))));
  const matched = (pattern: RegExp) =>
    Math.round(matchedValue(boxes, (name) => pattern.test(name)) * 1e9);
  assert.deepEqual([matched(/m0|m3/), matched(/m1|m2/), matched(/m2|m3/)], [100, 50, 50]);
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

test("calls inside an open span are below it, on the axis of the spans", () => {
  const spans = arrangeSpans([row("a", "s1", null, "1000"), row("b", "s2", "s1", "1500")], []);
  const opened = new Map([
    [spanId(spans[1] ?? assert.fail()), answer([node(0, 0, 7, 90, 5), node(1, 1, 17, 20, 0)])],
  ]);
  assert.deepEqual(
    withCalls(spans, opened).map((line) => [
      line.of.key,
      line.call?.method ?? line.more ?? null,
      line.depth,
      line.start,
    ]),
    [
      ["a", null, 0, 0],
      ["b", null, 1, 500],
      ["b", "m1", 2, 510],
      ["b", 4, 2, 500],
    ],
  );
});

const edge = (caller: string | null, callee: string, count = 1): ServiceEdge => ({
  caller,
  callee,
  count,
  errors: 0,
  p50: 1,
  p90: 2,
  p99: 3,
  total: 4,
});

test("the time of a span itself is without the spans that it called", () => {
  const line = (depth: number, start: number, duration: number, isCall = true): SpanLine => ({
    key: `${start}`,
    node: 0,
    depth,
    start,
    isCall,
    span: {
      span: null,
      parent: null,
      time: String(start),
      duration,
      errors: 0,
      type: null,
      service: null,
      method: "m",
    },
  });
  // Two at the same time, one inside, one that ends after its caller.
  const spans = [
    line(0, 0, 100),
    line(1, 10, 30),
    line(2, 15, 5),
    line(1, 30, 20),
    line(1, 90, 50),
  ];
  const self = (at: number) => selfOfSpan(spans, spans[at] as SpanLine, 7);
  assert.deepEqual([0, 1, 2].map(self), [50, 25, 7]);
  const mixed = [line(0, 0, 100, false), line(1, 10, 30)];
  assert.equal(selfOfSpan(mixed, mixed[0] as SpanLine, 60), null);
});

test("services are right of their callers, also when they call each other", () => {
  const layers = (edges: ServiceEdge[]) =>
    Object.fromEntries(layoutServices(edges, []).nodes.map((node) => [node.name, node.layer]));
  assert.deepEqual(
    layers([edge(null, "a"), edge("a", "b"), edge("a", "c"), edge("b", "c"), edge("c", "d")]),
    { a: 0, b: 1, c: 2, d: 3 },
  );
  assert.deepEqual(layers([edge(null, "a"), edge("a", "b"), edge("b", "a")]), { a: 0, b: 1 });
  assert.deepEqual(Object.keys(layers([edge("x", "y"), edge("y", "x")])).sort(), ["x", "y"]);
});

test("the graph of services is as wide as its window, as far as names are legible", () => {
  const chain = [edge("a", "b"), edge("b", "c"), edge("c", "d")];
  const at = (room?: number) => layoutServices(chain, [], room);
  assert.deepEqual([at().width, at().isNarrow], [at(5000).width, false]);
  for (const room of [1440, 1200, 1024, 900, 600]) assert.ok(at(room).width <= room, `${room}`);
  assert.ok(at(600).isNarrow);
  assert.ok(at(300).box.width >= 110);
});

test("an edge across columns runs below no box", () => {
  const graph = layoutServices(
    [edge("a", "b"), edge("b", "c"), edge("b", "d"), edge("c", "e"), edge("a", "e", 9)],
    [],
  );
  const line = graph.lines.find(({ edge: one }) => one.caller === "a" && one.callee === "e");
  assert.equal(line?.points.length, 6);
  for (const node of graph.nodes)
    for (const point of line?.points.slice(1, -1) ?? [])
      assert.ok(
        leftOf(node.layer, graph.box) > point.x ||
          leftOf(node.layer, graph.box) + graph.box.width < point.x ||
          point.y < node.top ||
          point.y > node.top + graph.box.height,
        `${node.name} covers the edge`,
      );
});

test("an operation becomes the conditions of its spans, once", () => {
  const query = operationQuery("errors", "shop: GET /cart");
  assert.equal(query, 'errors service = shop root = "GET /cart"');
  assert.equal(operationQuery(query, "shop: GET /cart"), query);
  assert.equal(operationQuery("", "main"), "root = main");
});

test("operations are sorted by share of errors, not by number", () => {
  const group = (value: string, count: number, errors: number): Group => ({
    value,
    count,
    errors,
    p50: 1,
    p90: 1,
    p99: count,
    total: 1,
  });
  const list = [group("b", 10, 2), group("a", 2, 1), group("c", 5, 0)];
  const names = (by: string, isAscending: boolean) =>
    sortOperations(list, by, isAscending).map((one) => one.value);
  assert.deepEqual(names("errors", false), ["a", "b", "c"]);
  assert.deepEqual(names("count", true), ["a", "c", "b"]);
  assert.deepEqual(names("value", false), ["a", "b", "c"]);
  assert.equal(perSecond(5, 0), "");
  assert.equal(perSecond(3, 2e9), "1.50");
});

const trace = (time: string, duration: number): TraceRow => ({
  key: time,
  trace: "1",
  time,
  duration,
  spans: 2,
  calls: 3,
  records: 3,
  errors: 0,
  services: ["a", "b"],
  type: null,
  service: "a",
  method: 'say "hi", twice',
});

test("a rectangle of the plot becomes times and durations, instead of earlier ones", () => {
  const scale = durationScale([
    trace("1700000000000000000", 1e6),
    trace("1700000010000000000", 1e8),
  ]);
  const query = rectangleQuery("errors duration >= 5ns", scale, { x: 0, y: 0 }, { x: 1, y: 1 });
  assert.match(query, /^errors duration >= 900000ns duration <= 110000000ns since /);
  assert.match(query, /until "2023-11-14 22:13:30"$/);
  assert.equal(query.match(/duration/g)?.length, 2);
  assert.deepEqual(roundDurations(9e5, 1.1e7), [1e6, 2e6, 5e6, 1e7]);
});

test("lines skip steps without spans", () => {
  const steps: [number, number, number, number, number][] = [
    [1, 0, 5, 5, 10],
    [0, 0, 0, 0, 0],
    [1, 0, 5, 5, 5],
  ];
  assert.equal(linePath(steps, 4, 10, { width: 30, height: 10 }), "M0.0 0.0h10.0L20.0 5.0h10.0");
});

test("traces are exported with quotes where they are needed", () => {
  const lines = toCsv([trace("5", 7)]).split("\n");
  assert.equal(lines[1], '5,7,2,0,,"a, b",3,3,1,"say ""hi"", twice"');
  assert.equal(lines.length, 3);
});

test("the critical path is divided among services", () => {
  assert.deepEqual(
    pathShares({
      time: "0",
      duration: 10,
      count: 3,
      steps: [
        { start: 0, duration: 2, span: "1", service: "a", method: "m" },
        { start: 2, duration: 5, span: "2", service: "b", method: "n" },
        { start: 7, duration: 3 },
      ],
    }),
    [
      ["b", 0.5],
      ["no span", 0.3],
      ["a", 0.2],
    ],
  );
});
