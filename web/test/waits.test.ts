import assert from "node:assert/strict";
import { test } from "node:test";
import { costParameters, defaultMetrics, type ViewProps } from "../src/shared/page";
import { describeStates } from "../src/shared/waits";
import type { Info } from "../generated/answers";

const metric = (name: string) => ({ name, description: null, isVisible: true });
const info = {
  metrics: ["time", "cpu", "blocked", "pre-empted", "calls"].map(metric),
  defaultMetric: "cpu",
  states: [
    { name: "all", metric: "time", seconds: 3 },
    { name: "running", metric: "cpu", seconds: 0.5 },
    { name: "blocked", metric: "blocked", seconds: 2 },
    { name: "pre-empted", metric: "pre-empted", seconds: 0.5 },
  ],
  hasLatencies: false,
} as unknown as Info;
const ask = (state: ViewProps["state"], of = info) => {
  const { metric: metrics, waits } = costParameters({ info: of, state, view: "flat" } as ViewProps);
  return [metrics, waits];
};

test("the check box asks for waits of the default metric", () => {
  assert.deepEqual(ask({}), [undefined, undefined]);
  assert.deepEqual(ask({ w: "1" }), [undefined, 1]);
  assert.deepEqual(ask({ w: "1", more: "calls\nblocked" }), [["", "calls"], 1]);
  assert.deepEqual(ask({ more: "calls\nblocked" }), [["", "calls", "blocked"], undefined]);
  assert.deepEqual(ask({ w: "1", m: "calls" }), ["calls", undefined]);
  assert.deepEqual(ask({ w: "1" }, { ...info, states: [] }), [undefined, undefined]);
});

test("the default metrics are those of the server", () => {
  assert.deepEqual(defaultMetrics(info, {}), ["cpu"]);
  assert.deepEqual(defaultMetrics(info, { w: "1" }), ["time", "blocked", "pre-empted"]);
});

test("the states add up to all time", () => {
  assert.equal(describeStates(info.states), "3 s: running 500 ms, blocked 2 s, pre-empted 500 ms");
  assert.equal(describeStates([]), "");
});
