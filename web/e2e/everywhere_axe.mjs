// Roles, names, order and contrast in every view, light and dark, checked with axe-core.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { violations } from "./axe.mjs";

// States, what shows that they are there, and keys pressed then.
const VIEWS = [
  ["s=0", ".overview-table tbody tr"],
  ["s=0&v=top-down", ".tree-row"],
  ["s=3&v=top-down&src=1&p=1&q=work", ".tree-row.hit", "ArrowDown ArrowDown"],
  ["s=1&v=bottom-up", ".tree-row", "ArrowDown z"],
  ["s=1&v=flat&b=200&e=3000", ".tree-row", "ArrowDown"],
  ["s=1&v=sandwich", ".sandwich"],
  ["s=1&v=flame", ".flame canvas", "ArrowDown ArrowDown Space"],
  ["s=1&v=flame&q=work&col=module", ".flame canvas"],
  ["s=1&v=flame&chron=1", ".flame canvas"],
  ["s=1&v=timeline", ".timeline-canvas canvas"],
  ["s=1&v=timeline&b=200&e=3000&ov=1&mk=400", ".panel h2:text-is('Selection')"],
  ["s=1&v=calls", ".call-list", "ArrowDown"],
  ["s=2", ".results"],
  ["s=2&v=spans&q=errors", ".results"],
  ["s=2&q=nosuchthing", "text=no matches"],
  ["s=2&v=scatter", ".scatter"],
  ["s=2&v=operations", ".operations", "ArrowDown"],
  ["s=2&v=services", ".service-calls"],
  ["s=2&v=flame", ".flame canvas"],
  ["s=2&key=0.0", ".waterfall .wf-bar", "ArrowDown"],
  ["s=2&key=0.0&tab=chart", ".trace-chart canvas"],
  ["s=2&key=0.0&tab=methods", ".methods"],
  ["s=2&key=0.0&tab=calls", ".trace-calls", "ArrowDown"],
  ["s=0&v=flat", ".tree-row", "Shift+?"],
  ["s=0&v=flat", ".tree-row", "Control+k"],
  ["s=77", "main a"],
];

const ASKING = [
  ["s=1&v=compare", ".compare-offers .offer-list a"],
  ["s=1&v=compare&cb=1&cat=1&cbt=2", ".compare-where .flame canvas"],
  ["s=2&v=compare&cb=2&caq=not+errors&cbq=errors&ct=facets", "text=What goes with one side"],
  ["s=1&v=sql", ".sql-tables summary"],
  ["s=1&v=sql&sql=SELECT+thread,name,begin_ns,total_ns+FROM+calls", ".sql-rows .vtable-row"],
  ["s=1&v=sql&sf=plot&sql=SELECT+name,calls+FROM+report", ".sql-bars"],
  ["s=1&v=sql&sf=tracks&sql=SELECT+name,begin_ns,total_ns+FROM+calls", ".sql-tracks canvas"],
  ["s=1&v=compare&cb=1&cat=1&cbt=2&ct=flame", ".flame canvas"],
  ["s=1&v=compare&cb=1&cat=1&cbt=2&ct=tree", ".tree-row"],
  ["s=1&v=compare&cb=1&cat=1&cbt=2&ct=flat", ".tree-row"],
  ["s=1&v=compare&cb=1&cat=1&cbt=2&ct=callers", ".tree-row"],
  ["s=1&v=compare&cb=1&cat=1&cbt=2&ct=timelines", ".timeline-canvas canvas"],
];

async function check({ page, show, settled, drawn }, views) {
  const found = [];
  for (const [state, sign, keys] of views) {
    await show(state);
    await page.waitForSelector(sign);
    await settled();
    for (const key of keys?.split(" ") ?? []) await page.keyboard.press(key);
    if (keys) await settled();
    for (const line of await violations(page, drawn)) found.push(`${state} ${keys ?? ""}: ${line}`);
    await page.keyboard.press("Escape");
  }
  assert.deepEqual(found, []);
}

// In a window that is wide, views have panels beside them.
const WIDE = [
  ["s=0", ".overview-flames canvas"],
  ["s=1", ".overview-flames canvas"],
  ["s=3&v=flat", ".panel.beside .source"],
  ["s=3&v=top-down", ".panel.beside .crumbs", "ArrowDown"],
  ["s=1&v=calls", ".call-list"],
];

export const tests = {
  "axe-core finds nothing in any view": (viewer) => check(viewer, VIEWS),
  async "axe-core finds nothing in wide windows"(viewer) {
    await viewer.page.setViewportSize({ width: 1920, height: 1080 });
    await check(viewer, WIDE);
    await viewer.page.setViewportSize({ width: 1280, height: 800 });
  },
  "axe-core finds nothing in comparisons and in SQL": (viewer) => check(viewer, ASKING),
  async "axe-core finds nothing in an empty viewer, nor in an exported page"(viewer) {
    const { page, cairn, paths } = viewer;
    const folder = await mkdtemp(join(tmpdir(), "cairn-axe-"));
    const back = page.url();
    try {
      for (const [name, exported, views] of [
        ["empty.html", ["--empty"], [["", "text=Drop files or folders here"]]],
        ["page.html", [paths[1]], [["", ".overview-table tbody tr"]]],
      ]) {
        const file = join(folder, name);
        execFileSync(cairn, ["export-html", "-q", ...exported, file]);
        await page.goto(`file://${file}`);
        await page.waitForSelector(views[0][1]);
        await check(viewer, views);
      }
    } finally {
      await page.goto(back);
      await rm(folder, { recursive: true });
    }
  },
  async "placeholders have the colour of faint text"({ page, show }) {
    await show("s=0&v=flat");
    await page.waitForSelector("#search");
    await page.waitForSelector(".tree-head");
    for (const theme of ["light", "dark"]) {
      const [is, wanted] = await page.evaluate((name) => {
        document.documentElement.dataset.theme = name;
        const style = getComputedStyle(document.querySelector("#search"), "::placeholder");
        const faint = document.querySelector(".tree-head");
        return [style.color, getComputedStyle(faint).color];
      }, theme);
      assert.equal(is, wanted, theme);
    }
  },
  async "Ctrl-K goes to views, functions and threads"({ page, show, until, hash }) {
    await show("s=0&v=top-down");
    await page.waitForSelector(".tree-row");
    await page.evaluate(() => {
      window.requestAnimationFrame = (draw) => setTimeout(draw, 100); // typed faster than drawn
    });
    await page.keyboard.press("Control+k");
    await page.keyboard.type("flame");
    await page.keyboard.press("Enter");
    await until("the flame graph", () => /v=flame/.test(hash()));
    await page.keyboard.press("Control+k");
    await page.keyboard.type("solve");
    await page.waitForSelector(".palette li:has-text('solve')");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".sandwich h2:has-text('solve')");
    await page.goBack();
    await until("undone", () => /v=flame/.test(hash()));
    await page.goForward();
    await until("done again", () => /v=sandwich/.test(hash()));
    await page.keyboard.press("Control+k");
    await page.waitForSelector(".palette li >> nth=1");
    assert.match(await page.textContent(".palette li >> nth=0"), /solve/, "the last one is first");
    assert.match(await page.textContent(".palette li >> nth=1"), /Flame graph/);
    await page.keyboard.press("Escape");
    await show("s=2&q=errors&key=0.0");
    await page.waitForSelector(".waterfall");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("operations");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".operations");
    assert.match(hash(), /q=errors/, "the query stays");
  },
};
