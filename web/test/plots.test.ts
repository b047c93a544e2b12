import assert from "node:assert/strict";
import { test } from "node:test";
import { formatCount, formatTick } from "../src/shared/format";
import { decades, nearest, threadPoints } from "../src/tree/plot_scale";
import { hottestLine } from "../src/tree/source_view";
import {
  countNumbers,
  holdsNumber,
  printNumbers,
  toggleNumber,
} from "../src/timeline/thread_numbers";

test("axes of durations have powers of ten", () => {
  assert.deepEqual(decades(3, 5000), [10, 100, 1000]);
  assert.deepEqual(decades(20, 80), [20, 80]);
  assert.ok(decades(1, 1e12).length <= 6);
});

test("threads stand at their numbers, or in the order of their values", () => {
  const threads: [number, number][] = [
    [7, 1],
    [3, 5],
    [4, 2],
  ];
  assert.deepEqual(
    threadPoints(threads, false).points.map((point) => [point.profile, point.at]),
    [
      [3, 0],
      [4, 1],
      [7, 4],
    ],
  );
  assert.deepEqual(
    threadPoints(threads, true).points.map((point) => point.value),
    [1, 2, 5],
  );
  assert.equal(threadPoints(threads, true).most, 5);
  assert.equal(nearest([0, 10, 40], 27), 2);
  assert.equal(nearest([], 1), -1);
});

test("the hottest line is the one with the highest cost", () => {
  assert.equal(
    hottestLine([
      [3, 1],
      [9, 4],
      [12, 2],
    ]),
    9,
  );
  assert.equal(hottestLine([]), 0);
});

test("numbers of threads are a selection", () => {
  assert.equal(printNumbers([4, 1, 2, 3, 9]), "1-4,9");
  assert.equal(printNumbers([]), "");
  assert.equal(holdsNumber("1-4,9", 3), true);
  assert.equal(holdsNumber("1-4,9", 5), false);
  assert.equal(holdsNumber("", 5), true);
  assert.equal(countNumbers("1-4,9"), 5);
  assert.equal(toggleNumber("1-4,9", 3), "1-2,4,9");
  assert.equal(toggleNumber("1-2,4", 3), "1-4");
  assert.equal(toggleNumber("", 7), "7");
  assert.equal(toggleNumber("7", 7), "");
});

test("counts have four digits", () => {
  assert.equal(formatCount(13_427_734.375), "13.43 M");
  assert.equal(formatCount(190_734), "190,734");
  assert.equal(formatCount(0.5), "0.5");
});

test("marks of an axis that look alike count from the unit before", () => {
  assert.equal(formatTick(5e9, 1e9), "5 s");
  assert.equal(formatTick(100e6, 50e6), "100 ms");
  assert.equal(formatTick(3_600_000_000_020, 10), "+20 ns");
});
