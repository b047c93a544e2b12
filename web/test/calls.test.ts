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
import { momentUnit } from "../src/shared/units";
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

test("bars of durations are logarithmic, each duration has its unit and three decimals", () => {
  assert.equal(barShare(undefined, 1000), 0);
  assert.equal(barShare(1000, 1000), 1);
  assert.equal(barShare(100, 1000), 0.5);
  const print = (of: object) => {
    const { number, unit } = printDuration({ ...call(0, "enter", 0), ...of });
    return `${number} ${unit}`;
  };
  assert.equal(print({ duration: 512 }), "0.512 µs");
  assert.equal(print({ duration: 1500 }), "1.500 µs");
  assert.equal(print({ duration: 999_999 }), "999.999 µs");
  assert.equal(print({ duration: 999_999_999 }), "1.000 s");
  assert.equal(print({ duration: 9_999_000 }), "9.999 ms");
  assert.equal(print({ duration: 1_670_624_824 }), "1.671 s");
  assert.equal(print({ duration: 36e12 }), "600.000 min");
  assert.equal(print({ atLeast: 2e7 }), "≥ 20.000 ms");
  assert.equal(print({ duration: 2e7, isOpen: true }), "open 20.000 ms");
  assert.equal(print({}), " ");
});

test("times of calls have one unit with at most four digits before the point, to the nanosecond", () => {
  const of = (most: number, ns: number) => {
    const { unit, print } = momentUnit(most);
    return `${print(ns)} ${unit}`;
  };
  assert.equal(of(9999, 1234), "1,234 ns");
  assert.equal(of(9e6, 1_234_567), "1,234.567 µs");
  assert.equal(of(9e6, -1005), "−1.005 µs");
  assert.equal(of(4_372_436_079, 4_372_436_079), "4,372.436\u2009079 ms");
  assert.equal(of(4_372_436_079, 95_292), "0.095\u2009292 ms");
  assert.equal(of(2e10, 12_000_000_001), "12.000\u2009000\u2009001 s");
});
