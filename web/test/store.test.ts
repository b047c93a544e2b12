import assert from "node:assert/strict";
import { test } from "node:test";
import { clockMarks } from "../src/store/clock_axis";
import { durationScale, rectangleQuery, roundDurations } from "../src/store/durations_model";
import { heatOf, nextCell } from "../src/store/heat_map";
import { toCsv } from "../src/store/hits_csv";
import { linePath } from "../src/store/latencies";
import {
  operationQuery,
  perSecond,
  sortOperations,
  splitOperation,
} from "../src/store/operations_model";
import { colorOfSlot, serviceSlots } from "../src/store/service_colors";
import { layoutServices } from "../src/store/services_model";
import { printTimes } from "../src/store/time_picker";
import { addCalls, growCalls, visibleCalls, type CallLine } from "../src/store/trace_calls_model";
import {
  callsOf,
  closedAtFirst,
  laneRows,
  openRows,
  parseClosed,
  printClosed,
  revealCall,
  serviceShares,
  shareText,
} from "../src/store/trace_model";
import { printSpan, storeFlaws } from "../src/store/store_subject";
import type {
  Chart,
  Group,
  ServiceEdge,
  StoreInfo,
  Trace,
  TraceNode,
  TraceRow,
} from "../generated/answers";
import { closest, stubTheme, VISION_NAMES } from "./palette";

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

test("the line below the header of a store has its times and what it lacks", () => {
  const at = (text: string) => `${BigInt(Date.parse(text)) * 1000000n}`;
  const first = at("2026-11-19T00:55:07Z");
  assert.equal(printSpan(first, first), "2026-11-19 00:55:07 UTC");
  assert.equal(printSpan(first, at("2026-11-19T01:10:00Z")), "2026-11-19 00:55:07 – 01:10:00 UTC");
  assert.equal(
    printSpan(first, at("2026-11-20T01:10:00Z")),
    "2026-11-19 00:55:07 – 2026-11-20 01:10:00 UTC",
  );
  const info = { damage: null } as StoreInfo;
  assert.deepEqual(storeFlaws(info), []);
  const flaws = storeFlaws({ ...info, damage: "the tail is missing", sampled: "1 of 9 kept" });
  assert.deepEqual(
    flaws.map(({ text, isBad }) => [text, isBad]),
    [
      ["damaged", true],
      ["sampled", false],
    ],
  );
});

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
        node.left > point.x ||
          node.left + graph.box.width < point.x ||
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

test("lines have a gap where steps are without spans", () => {
  const steps: [number, number, number, number, number][] = [
    [1, 0, 5, 5, 10],
    [0, 0, 0, 0, 0],
    [1, 0, 5, 5, 5],
    [1, 0, 5, 5, 10],
  ];
  assert.equal(
    linePath(steps, 4, 10, { width: 40, height: 10 }),
    "M0.0 0.0h10.0M20.0 5.0h10.0L30.0 0.0h10.0",
  );
});

test("traces are exported with quotes where they are needed", () => {
  const lines = toCsv([trace("5", 7)]).split("\n");
  assert.equal(lines[1], '5,7,2,0,,"a, b",3,3,1,"say ""hi"", twice"');
  assert.equal(lines.length, 3);
});

test("the graph of services uses the width of its window, as far as names are legible", () => {
  const chain = [edge("a", "b"), edge("b", "c"), edge("c", "d")];
  const at = (room: number) => layoutServices(chain, [], room);
  const right = (room: number) => {
    const { nodes, box } = at(room);
    return Math.max(...nodes.map(({ left }) => left)) + box.width;
  };
  for (const room of [3000, 1920, 1440, 1200, 1024, 900, 600]) {
    assert.equal(at(room).width, room);
    assert.ok(right(room) <= room, `${room}`);
    assert.ok(right(room) >= room - 30, `${room}: unused`);
  }
  assert.ok(at(300).box.width >= 110);
  // Labels of lines are between the columns.
  const { nodes, lines, box } = at(1440);
  for (const { label, edge: one } of lines) {
    const from = nodes.find(({ name }) => name === one.caller);
    const to = nodes.find(({ name }) => name === one.callee);
    assert.ok(label && from && to);
    assert.ok(label.x > from.left + box.width && label.x < to.left);
  }
});

// [depth, start, duration, flags]
const chartOf = (calls: [number, number, number, number?][]): Chart => ({
  time: "0",
  duration: Math.max(...calls.map(([, start, duration]) => start + duration)),
  listedDuration: 100,
  spans: [{ key: "a.0", span: null, service: "s", parent: null }],
  calls: calls.map(([depth, start, duration, flags = 2], i) => [
    0,
    i,
    depth,
    start,
    duration,
    duration,
    0,
    0,
    flags,
  ]),
  count: calls.length,
  events: [{ call: 1, name: "Error", text: "no", isError: true }],
  eventCount: 1,
  path: [[0, 5, 7]],
  errors: 1,
  methods: ["m"],
  services: ["s", ""],
  selfTimes: [10, 90],
  pathTimes: [100, 0],
});

test("calls of a trace know their caller, what is inside of them, events and the critical path", () => {
  const calls = callsOf(
    chartOf([
      [0, 0, 100],
      [1, 10, 50, 3],
      [2, 20, 30],
      [1, 70, 20, 12],
    ]),
  );
  assert.deepEqual(
    calls.map(({ parent, end, id }) => [parent, end, id]),
    [
      [-1, 4, "a.0/0"],
      [0, 3, "a.0/1"],
      [1, 3, "a.0/2"],
      [0, 4, "a.0/3"],
    ],
  );
  assert.deepEqual(
    calls.map(({ isFailed, isSpan, isRunning, isCut }) => [isFailed, isSpan, isRunning, isCut]),
    [
      [false, true, false, false],
      [true, true, false, false],
      [false, true, false, false],
      [false, false, true, true],
    ],
  );
  assert.equal(calls[1]?.events[0]?.text, "no");
  assert.deepEqual(calls[0]?.path, [{ begin: 5, end: 12 }]);
  const rows = (closed: number[]) => openRows(calls, new Set(closed)).map(({ index }) => index);
  assert.deepEqual([rows([]), rows([1]), rows([0])], [[0, 1, 2, 3], [0, 1, 3], [0]]);
  assert.deepEqual([...revealCall(calls, new Set([0, 1, 3]), 2)], [3]);
  assert.deepEqual([...parseClosed("1.3.x", calls)], [1, 3]);
  assert.equal(printClosed(new Set()), "-");
  assert.deepEqual(parseClosed("-", calls), new Set());
});

test("of many calls, those at the depth that has room are closed at first", () => {
  const many: [number, number, number][] = [[0, 0, 1e6]];
  for (let i = 0; i < 100; i++) {
    many.push([1, i * 1000, 900]);
    for (let k = 0; k < 10; k++) many.push([2, i * 1000 + k * 50, 40]);
  }
  const calls = callsOf(chartOf(many));
  const closed = closedAtFirst(calls);
  assert.equal(closed.size, 100);
  assert.equal(openRows(calls, closed).length, 101);
  assert.equal(
    closedAtFirst(
      callsOf(
        chartOf([
          [0, 0, 9],
          [1, 1, 2],
        ]),
      ),
    ).size,
    0,
  );
});

test("calls at the same time are side by side, below their caller, and cover nothing", () => {
  const rows = (calls: [number, number, number][]) => laneRows(callsOf(chartOf(calls)));
  // One after the other; inside each other.
  assert.deepEqual(
    rows([
      [0, 0, 100],
      [1, 0, 40],
      [2, 10, 20],
      [1, 40, 60],
    ]),
    [0, 1, 2, 1],
  );
  // Two at the same time: the second one is below all of the first one, with what it calls below it.
  assert.deepEqual(
    rows([
      [0, 0, 100],
      [1, 0, 60],
      [2, 10, 20],
      [1, 30, 60],
      [2, 40, 10],
    ]),
    [0, 1, 2, 2, 3],
  );
  // A third one has room beside the first.
  assert.deepEqual(
    rows([
      [0, 0, 100],
      [1, 0, 20],
      [1, 10, 60],
      [1, 30, 10],
    ]),
    [0, 1, 2, 1],
  );
  // Two without a caller.
  assert.deepEqual(
    rows([
      [0, 0, 50],
      [1, 10, 10],
      [0, 20, 50],
    ]),
    [0, 1, 1],
  );
  // At random: no two in a row overlap, and a callee is below its caller.
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % below;
  };
  const list: [number, number, number][] = [[0, 0, 100000]];
  const grow = (depth: number, begin: number, end: number) => {
    for (let k = random(5); k > 0 && end - begin > 10; k--) {
      const from = begin + random(end - begin - 5);
      const length = 1 + random(end - from);
      list.push([depth, from, length]);
      if (depth < 6) grow(depth + 1, from, from + length);
    }
  };
  for (let k = 0; k < 20; k++) grow(1, 0, 100000);
  const calls = callsOf(chartOf(list));
  const placed = laneRows(calls);
  assert.ok(calls.length > 200);
  for (const a of calls) {
    if (a.parent >= 0) assert.ok((placed[a.index] ?? 0) > (placed[a.parent] ?? 0));
    for (const b of calls)
      if (a.index < b.index && placed[a.index] === placed[b.index])
        assert.ok(
          a.start + a.duration <= b.start || b.start + b.duration <= a.start,
          `${a.index} and ${b.index} overlap`,
        );
  }
});

test("services have their share, and what is small is not zero", () => {
  assert.deepEqual(serviceShares(chartOf([[0, 0, 9]]), "selfTimes"), [
    { service: "unnamed service", ns: 90 },
    { service: "s", ns: 10 },
  ]);
  assert.deepEqual(
    [shareText(0, 10), shareText(1, 100000), shareText(5, 100), shareText(99, 100)],
    ["0 %", "< 0.1 %", "5.0 %", "99 %"],
  );
});

test("services have colours of their own, which eyes of every kind tell apart", () => {
  const names = ["web", "cart", "catalog", "payment", "mail", "reviews", "search", "login"];
  assert.deepEqual(
    new Set([...serviceSlots(names).values()].map(([fill]) => fill)),
    new Set([1, 2, 3, 4, 5, 6, 7, 8]),
  );
  // Another service changes the colour of no more than those that it collides with.
  const before = serviceSlots(names.slice(0, 4));
  const after = serviceSlots(names.slice(0, 5));
  const moved = names.slice(0, 4).filter((name) => `${before.get(name)}` !== `${after.get(name)}`);
  assert.ok(moved.length <= 1, moved.join());
  for (const theme of ["light", "dark"] as const) {
    stubTheme(theme);
    const least = (count: number) => {
      const many = Array.from({ length: count }, (_, i) => `service-${i}`);
      const colors = [...serviceSlots(many).values()].map(colorOfSlot);
      assert.equal(new Set(colors).size, count);
      return Math.min(...VISION_NAMES.map((vision) => closest(colors, vision).distance));
    };
    assert.ok(least(8) >= 10, `${theme}: ${least(8)}`);
    assert.ok(least(16) >= 4, `${theme}: ${least(16)}`);
  }
});

test("a clock has marks at round times, and the date where it is new", () => {
  const at = (text: string) => BigInt(Date.parse(`${text}Z`)) * 1_000_000n;
  const texts = (from: string, to: string, count: number) =>
    clockMarks(at(from), at(to), count).map(({ text }) => text);
  assert.deepEqual(texts("2026-11-18T01:00:13", "2026-11-18T01:02:05", 4), [
    "01:00:30",
    "01:01:00",
    "01:01:30",
    "01:02:00",
  ]);
  assert.deepEqual(texts("2026-11-17T18:10:00", "2026-11-18T07:00:00", 4), ["2026-11-18", "06:00"]);
  assert.deepEqual(texts("2026-11-18T01:00:00", "2026-11-18T01:00:00.010", 5), [
    "01:00:00.000",
    "01:00:00.002",
    "01:00:00.004",
    "01:00:00.006",
    "01:00:00.008",
    "01:00:00.010",
  ]);
  assert.equal(clockMarks(5n, 5n, 4).length, 0);
  const years = clockMarks(0n, at("2026-01-01T00:00:00"), 8);
  assert.ok(years.length <= 9 && years.every(({ isDate }) => isDate));
});

test("a time range is printed as short as it is clear", () => {
  const times = (since: string | null, until: string | null, last: string | null = null) =>
    printTimes({ since, until, last });
  assert.equal(times(null, null), "all time");
  assert.equal(times(null, null, "1h"), "last hour");
  assert.equal(times(null, null, "3w"), "last 3w");
  assert.equal(
    times("2026-11-18 01:00:00", "2026-11-18 01:02:03.123456789"),
    "2026-11-18 01:00:00 – 01:02:03.123",
  );
  assert.equal(times("2026-11-18", null), "since 2026-11-18");
});

test("one trace among many is still seen in a heat map", () => {
  assert.equal(heatOf(0, 100), 0);
  assert.ok(heatOf(1, 1e6) > 0.1);
  assert.equal(heatOf(100, 100), 1);
  assert.ok(heatOf(10, 100) > heatOf(9, 100));
});

test("an operation has a service and a method, which may have colons", () => {
  assert.deepEqual(splitOperation("a: b: c"), { service: "a", method: "b: c" });
  assert.deepEqual(splitOperation("std::sort"), { service: "", method: "std::sort" });
});

test("arrows move through the cells of a heat map", () => {
  const cell = (step: number, row: number, count: number) => ({ step, row, count, errors: 0 });
  const cells = [cell(0, 0, 3), cell(2, 0, 9), cell(1, 3, 1), cell(2, 5, 1)];
  const at = (index: number) => cells[index] ?? null;
  assert.equal(nextCell(cells, null, [1, 0]), at(1), "the cell of most traces is the first");
  assert.equal(nextCell(cells, at(0), [1, 0]), at(1), "far in the same row before near in another");
  assert.equal(nextCell(cells, at(1), [0, 1]), at(3));
  assert.equal(nextCell(cells, at(3), [0, -1]), at(1));
  assert.equal(nextCell(cells, at(1), [1, 0]), at(1), "nothing is to the right");
  assert.equal(nextCell([], null, [1, 0]), null);
});
