import assert from "node:assert/strict";
import { test } from "node:test";
import { isOn, parseState, printState } from "../src/shared/state";

test("the state is read from an address and written back", () => {
  const state = parseState("#s=1&v=flame&inv=1&q=a%20b");
  assert.deepEqual(state, { s: "1", v: "flame", inv: "1", q: "a b" });
  assert.equal(printState(state), "#s=1&v=flame&inv=1&q=a+b");
  assert.ok(isOn(state, "inv") && !isOn(state, "up"));
});

test("empty values and unknown names are dropped", () => {
  assert.equal(printState({ s: "1", v: "" }), "#s=1");
  assert.deepEqual(parseState("#s=1&nonsense=2&toString=3"), { s: "1" });
});
