// A store of traces: search, facets, a trace.
import assert from "node:assert/strict";

export const tests = {
  async "a store is searched, narrowed and sorted"({ page, show, until, shot, hash }) {
    await show("s=2");
    await page.waitForSelector(".results tbody tr");
    await shot("store");
    await page.waitForSelector(".histogram .plot-bar");
    await page.click("#search");
    await page.keyboard.type("dur");
    await page.waitForSelector("#completions li");
    await page.keyboard.press("Tab");
    await page.keyboard.type("> 1us uri ends 7");
    await page.keyboard.press("Enter");
    await until("fewer traces", async () => /^15 traces/.test(await page.textContent(".searchbox .status")));
    await page.click(".results th:nth-child(2) button");
    await until("sorted", () => /sort=duration/.test(hash()));
    await show("s=2&q=duration+%3E");
    await page.waitForSelector(".mistake");
    assert.match(await page.textContent(".mistake"), /\^ .*column 10/);
    await shot("store-mistake");
    await show("s=2");
    await page.waitForSelector(".facet .link");
    await page.click(".facet .link");
    await until("narrowed", () => /q=type/.test(hash()));
  },
  async "a trace shows calls, chart, methods and spans"({ page, show, shot }) {
    await show("s=2");
    await page.click(".results tbody tr:nth-child(3) .link");
    await page.waitForSelector("table[role=treegrid] .kind-function");
    await shot("trace");
    for (const [tab, sign] of [["chart", ".flame canvas"], ["methods", ".list td"], ["spans", ".span-bar"]]) {
      await page.click(`[role=tab]:has-text("${tab === "chart" ? "Flame chart" : tab === "methods" ? "Methods" : "Spans"}")`);
      await page.waitForSelector(sign);
      await shot(`trace-${tab}`);
    }
    await show("s=2&v=flame");
    await page.waitForSelector(".flame canvas");
    await shot("store-flame");
  },
};
