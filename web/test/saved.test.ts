import assert from "node:assert/strict";
import { test } from "node:test";
import { load, loadList, save } from "../src/shared/saved";

test("what was saved is loaded again; anything else is nothing", (t) => {
  const texts = new Map<string, string>();
  const storage = {
    getItem: (key: string) => texts.get(key) ?? null,
    setItem: (key: string, text: string) => texts.set(key, text),
  };
  Object.assign(globalThis, { localStorage: storage });
  t.after(() => Reflect.deleteProperty(globalThis, "localStorage"));
  assert.ok(save("list", ["a", "b"]));
  assert.deepEqual(loadList("list"), ["a", "b"]);
  assert.deepEqual(loadList("nothing"), []);
  for (const [text, value] of [
    ["{", null],
    ["7", 7],
    ['["a", 7]', ["a", 7]],
  ] as const) {
    texts.set("other", text);
    assert.deepEqual(load("other"), value);
  }
  assert.deepEqual(loadList("other"), ["a"]);
});

test("without local storage nothing is saved", () => {
  assert.equal(save("list", ["a"]), false);
  assert.deepEqual(loadList("list"), []);
});
