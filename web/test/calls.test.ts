import assert from "node:assert/strict";
import { test } from "node:test";
import {
  appendPage,
  barShare,
  calleeOf,
  callerOf,
  callLines,
  foldKey,
  foldPages,
  lineAt,
  linesOf,
  noPages,
  prependPage,
  printDuration,
  siblingOf,
  waitText,
} from "../src/calls/calls_model";
import { formatMoment } from "../src/shared/format";
import type { Call, Calls } from "../generated/answers";

const call = (time: number, kind: Call["kind"], depth: number): Call => ({
  time,
  kind,
  depth,
  name: "f",
  values: "()",
});
const page = (...calls: Call[]): Calls => ({
  base: "recorded time with waiting",
  calls,
  first: "0.0",
  next: "0.9",
  isStart: false,
  isEnd: false,
});

const some = [
  call(0, "enter", 0),
  call(1, "enter", 1),
  call(2, "exit", 1),
  call(3, "event", 1),
  call(4, "exit", 0),
];

test("a call that calls nothing is one line", () => {
  assert.deepEqual(
    callLines(some).map((line) => [line.call.time, line.isLeaf]),
    [
      [0, false],
      [1, true],
      [3, false],
      [4, false],
    ],
  );
});

test("a thread that stops and runs again is one line, with the time between", () => {
  const switched = (time: number, name: string, values = ""): Call => ({
    ...call(time, "event", 1),
    name,
    values,
  });
  const lines = callLines([
    switched(-5, "linux:sched-in"),
    call(0, "enter", 0),
    switched(1, "linux:sched-out", "(pre-empted)"),
    switched(4, "linux:sched-in"),
    switched(6, "linux:sched-out"),
    switched(7, "linux:sched-out (pre-empted)"),
    switched(8, "linux:sched-in"),
    call(9, "exit", 0),
  ]);
  assert.deepEqual(
    lines.map((line) => [line.call.time, line.wait]),
    [
      [-5, undefined],
      [0, undefined],
      [1, 3],
      [6, undefined],
      [7, 1],
      [9, undefined],
    ],
  );
  assert.deepEqual(
    [2, 3, 4].map((i) => waitText(lines[i]!.call)),
    ["waiting (pre-empted)", "waiting (blocked)", "waiting (pre-empted)"],
  );
});

test("the line of a moment is the last that is not after it, the first of equals", () => {
  const lines = callLines([
    call(0, "enter", 0),
    call(5, "enter", 1),
    call(5, "enter", 2),
    call(9, "enter", 3),
  ]);
  assert.deepEqual(
    [-1, 0, 4, 5, 8, 99].map((time) => lineAt(lines, time)),
    [0, 0, 0, 1, 2, 3],
  );
  assert.equal(lineAt([], 5), -1);
});

test("pages are added at both ends, and distant ones are dropped", () => {
  let pages = appendPage(noPages, page(...some));
  pages = prependPage(pages, page(call(-2, "event", 0), call(-1, "event", 0)));
  assert.equal(pages.shift, 2);
  assert.equal(linesOf(pages).length, 6);
  for (let i = 0; i < 20; i++) pages = appendPage(pages, page(call(10 + i, "event", 0)));
  assert.equal(pages.pages.length, 12);
  assert.equal(linesOf(pages)[0]?.call.time, 18);
  assert.equal(pages.shift, 2 - 2 - 4 - 8, "lines that went are counted");
});

test("events are indented where they happened", () => {
  const kernel = { ...call(3, "event", 0), depth: 7 };
  const lines = callLines([call(0, "enter", 0), call(1, "enter", 1), kernel, call(4, "exit", 1)]);
  assert.equal(lines[2]?.depth, 2);
  assert.equal(callLines([kernel, call(4, "exit", 1)])[0]?.depth, 2);
});

test("callers, callees and neighbours are found", () => {
  const lines = callLines([
    call(0, "enter", 0),
    call(1, "enter", 1),
    call(2, "enter", 2),
    call(3, "exit", 2),
    call(4, "exit", 1),
    call(5, "enter", 1),
    call(6, "exit", 1),
    call(7, "exit", 0),
  ]);
  assert.deepEqual(
    lines.map((line) => line.call.time),
    [0, 1, 2, 4, 5, 7],
  );
  assert.equal(callerOf(lines, 2), 1);
  assert.equal(callerOf(lines, 4), 0);
  assert.equal(callerOf(lines, 0), -1);
  assert.equal(calleeOf(lines, 0), 1);
  assert.equal(calleeOf(lines, 2), -1);
  assert.equal(siblingOf(lines, 1, 1), 4);
  assert.equal(siblingOf(lines, 4, -1), 1);
  assert.equal(siblingOf(lines, 2, 1), -1);
});

test("what is inside a folded call has no lines, wherever it ends", () => {
  const calls = [
    call(0, "enter", 0),
    call(1, "enter", 1),
    call(2, "enter", 2),
    call(3, "exit", 2),
    call(4, "exit", 1),
    call(5, "event", 1),
    call(6, "exit", 0),
  ];
  const times = (folds: Call[]) =>
    callLines(calls, new Set(folds.map(foldKey))).map((line) => line.call.time);
  assert.deepEqual(times([]), [0, 1, 2, 4, 5, 6]);
  assert.deepEqual(times([calls[1]!]), [0, 1, 5, 6]);
  assert.deepEqual(times([calls[0]!]), [0]);
  const pages = { pages: [page(...calls.slice(0, 3)), page(...calls.slice(3, 5))], shift: 0 };
  const after = page(calls[6]!);
  const folded = foldPages(pages, calls[0]!, after);
  assert.deepEqual(
    linesOf(folded, new Set([foldKey(calls[0]!)])).map((line) => line.call.time),
    [0],
  );
});

test("bars of durations are logarithmic, durations have one unit", () => {
  assert.equal(barShare(undefined, 1000), 0);
  assert.equal(barShare(1000, 1000), 1);
  assert.equal(barShare(100, 1000), 0.5);
  const lasting = (duration: number) => printDuration({ ...call(0, "enter", 0), duration });
  assert.equal(lasting(1500), "1.500");
  assert.equal(lasting(9_999_000), "9,999.000");
  assert.equal(lasting(1_670_624_824), "1,670,624.824");
  assert.equal(printDuration({ ...call(0, "enter", 0), atLeast: 2e7 }), "≥ 20,000.000");
});

test("times before the first call are negative", () => {
  assert.equal(formatMoment(1234567), "1,234.567");
  assert.equal(formatMoment(-1005), "−1.005");
});
