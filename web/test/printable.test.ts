import assert from "node:assert/strict";
import { test } from "node:test";
import { printable } from "../src/shared/names/printable";

test("characters that reorder or hide others are shown", () => {
  assert.equal(printable("safe\u202Egpj.exe\u202C"), "safe\\u202egpj.exe\\u202c");
  assert.equal(
    printable("a\u0000b\u001B[31m\u009B\u2066\u2069"),
    "a\\u0000b\\u001b[31m\\u009b\\u2066\\u2069",
  );
});

test("other text stays, in any script", () => {
  const text = "work() של 日本語 👩‍👧 a\u0301\tcolumn\nline";
  assert.equal(printable(text), text);
});
