// How far an analysis is, and what is left of it.
import assert from "node:assert/strict";
import test from "node:test";
import { addStep, shareOf, timeLeft, type SeenStep } from "../src/overview/analysis";

const step = (what: string, done: number, total: number) => ({
  what,
  done,
  total,
  unit: "records",
});

test("steps that are done have their time, the current one has none", () => {
  let seen: SeenStep[] = addStep([], undefined, 0);
  assert.deepEqual(seen, []);
  seen = addStep(seen, step("reading samples", 100, 1000), 10);
  const same = addStep(seen, step("reading samples", 500, 1000), 500);
  assert.equal(same, seen, "nothing is new");
  seen = addStep(same, step("writing cct.db", 0, 10), 1010);
  assert.deepEqual(
    seen.map(({ what, took }) => [what, took]),
    [
      ["reading samples", 1000],
      ["writing cct.db", null],
    ],
  );
  assert.equal(addStep(seen, undefined, 2000), seen);
});

test("what is left is estimated from what was done since the step was seen", () => {
  const [seen] = addStep([], step("reading samples", 100, 1000), 0) as [SeenStep];
  assert.equal(timeLeft(seen, step("reading samples", 400, 1000), 3000), 6000);
  assert.equal(timeLeft(seen, step("reading samples", 400, 1000), 500), null, "too soon");
  assert.equal(timeLeft(seen, step("reading samples", 100, 1000), 3000), null, "nothing done");
  assert.equal(timeLeft(seen, step("reading samples", 1000, 1000), 3000), null, "nothing left");
  assert.equal(timeLeft(seen, step("reading samples", 400, 0), 3000), null, "unknown");
});

test("shares stay between nothing and all", () => {
  assert.equal(shareOf(step("", 1, 4)), 0.25);
  assert.equal(shareOf(step("", 1, 0)), 0);
  assert.equal(shareOf(step("", 9, 4)), 1);
});
