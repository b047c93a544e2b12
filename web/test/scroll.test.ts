import assert from "node:assert/strict";
import { test } from "node:test";
import { Pager } from "../src/shared/table/pager";
import {
  HEIGHT_MAX,
  heightOf,
  scrollTo,
  topOfRow,
  windowOf,
} from "../src/shared/table/virtual_scroll";

const ROW = 24;
const list = (count: number) => ({ count, rowPx: ROW });

test("only visible rows are in the page, however many there are", () => {
  for (const count of [10, 1000, 5_000_000]) {
    const bottom = Math.max(0, heightOf(list(count)) - 480);
    for (const top of [0, bottom / 3, bottom]) {
      const part = windowOf(list(count), { top, height: 480 });
      assert.ok(part.last - part.first <= 40);
      assert.ok(part.first >= 0 && part.last <= count);
      assert.ok(
        part.top + (part.last - part.first) * ROW >= Math.min(top + 480, heightOf(list(count))) - 1,
      );
    }
    const last = windowOf(list(count), { top: bottom, height: 480 }).last;
    assert.equal(last, count, "the last row can be reached");
  }
});

test("the height of a list is limited", () => {
  assert.equal(heightOf(list(100)), 2400);
  assert.equal(heightOf(list(50_000_000)), HEIGHT_MAX);
});

test("scrolling to a row shows it", () => {
  for (const count of [1000, 5_000_000])
    for (const row of [0, 17, 499, count - 1]) {
      const view = { top: heightOf(list(count)) / 2, height: 480 };
      const top = scrollTo(list(count), view, row);
      const part = windowOf(list(count), { top, height: 480 });
      const y = part.top + (row - part.first) * ROW - top;
      assert.ok(y >= -1 && y + ROW <= 481, `row ${row} of ${count} is at ${y}`);
    }
});

test("a visible row is left where it is", () => {
  assert.equal(scrollTo(list(1000), { top: 240, height: 480 }, 15), 240);
});

test("any row can be the first one", () => {
  for (const count of [1000, 5_000_000])
    for (const row of [0, 17, 499]) {
      const view = { top: 0, height: 480 };
      const top = topOfRow(list(count), view, row);
      const part = windowOf(list(count), { top, height: 480 });
      assert.ok(Math.abs(part.top + (row - part.first) * ROW - top) < 1);
    }
});

test("a page is loaded once, and again after a failure or when it was dropped", async () => {
  const loaded: number[] = [];
  let fails = true;
  const pager = new Pager(async (offset) => {
    loaded.push(offset);
    if (fails) throw new Error("no");
  });
  await assert.rejects(pager.need(250));
  fails = false;
  await Promise.all([pager.need(250), pager.need(399), pager.need(0)]);
  await pager.need(200);
  assert.deepEqual(loaded, [200, 200, 0]);
  pager.drop(399);
  await pager.need(200);
  assert.deepEqual(loaded, [200, 200, 0, 200]);
});
