import assert from "node:assert/strict";
import { test } from "node:test";
import { heightOf, ROW, scrollTo, windowOf } from "../src/tree/tree_scroll";

test("only what can be seen is drawn, however many lines there are", () => {
  for (const lines of [10, 1000, 5_000_000]) {
    const bottom = Math.max(0, heightOf(lines) - 480);
    for (const top of [0, bottom / 3, bottom]) {
      const part = windowOf({ top, height: 480 }, lines);
      assert.ok(part.last - part.first <= 40);
      assert.ok(part.first >= 0 && part.last <= lines);
      assert.ok(
        part.top + (part.last - part.first) * ROW >= Math.min(top + 480, heightOf(lines)) - 1,
      );
    }
    assert.equal(
      windowOf({ top: bottom, height: 480 }, lines).last,
      lines,
      "the last line can be reached",
    );
  }
});

test("scrolling to a line shows it", () => {
  for (const lines of [1000, 5_000_000])
    for (const line of [0, 17, 499, lines - 1]) {
      const top = scrollTo({ top: heightOf(lines) / 2, height: 480 }, lines, line);
      const part = windowOf({ top, height: 480 }, lines);
      const y = part.top + (line - part.first) * ROW - top;
      assert.ok(y >= -1 && y + ROW <= 481, `line ${line} of ${lines} is at ${y}`);
    }
});

test("a line that can be seen is left where it is", () => {
  assert.equal(scrollTo({ top: 240, height: 480 }, 1000, 15), 240);
});
