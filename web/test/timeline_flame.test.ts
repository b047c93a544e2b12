import assert from "node:assert/strict";
import { test } from "node:test";
import { flameOverTime, listThreads, waitingIn } from "../src/flame/flame_over_time";
import { layOut as layOutFlame } from "../src/flame/flame_layout";
import { parseNested } from "../src/timeline/nested";
import { answer, thread } from "./timeline_answer";

test("a flame graph in the order of time has its boxes at the times of calls", () => {
  const flame = flameOverTime(parseNested(answer), 7, { begin: 20, end: 100 });
  const boxes = layOutFlame(flame).map((box) => [
    box.depth,
    box.name,
    Math.round(box.begin * 1e9),
    Math.round(box.value * 1e9),
    Math.round(box.self * 1e9),
    box.parent < 0 ? "" : flame.names[flame.nodes[box.parent]?.[1] ?? -1],
  ]);
  assert.deepEqual(boxes, [
    [0, "<main thread>", 0, 60, 0, ""],
    [1, "main", 0, 60, 0, "<main thread>"],
    [2, "work", 0, 40, 30, "main"],
    [3, "leaf", 0, 10, 10, "work"],
    [2, "rest", 40, 20, 20, "main"],
  ]);
  assert.equal(Math.round(flame.total * 1e9), 80);
  const work = layOutFlame(flame)[2];
  assert.equal(work && Math.round(waitingIn(flame, work) * 1e9), 20);
});

test("threads of a flame graph in the order of time have samples, in natural order", () => {
  const listed = listThreads([
    thread(1, "RANK 10", "THREAD 0"),
    thread(2, "RANK 2", "THREAD 1", 0),
    thread(3, "RANK 2", "THREAD 9"),
  ]);
  assert.deepEqual(
    listed.map((one) => one.profile),
    [3, 1],
  );
});
