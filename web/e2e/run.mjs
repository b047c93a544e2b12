// Drives the viewer in a real browser: node e2e/run.mjs CAIRN SHOTS PATH...
//
// Every view is opened, searched and zoomed; pictures go to the folder SHOTS. Ends with
// status 77 where there is no browser.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium";
const [cairn, shots, ...paths] = process.argv.slice(2);

if (!existsSync(BROWSER)) {
  console.log(`skipped: there is no browser at ${BROWSER}`);
  process.exit(77);
}

const server = spawn(cairn, ["serve", "-q", ...paths], { stdio: ["ignore", "pipe", "inherit"] });
const [url] = await new Promise((resolve) => {
  createInterface({ input: server.stdout }).once("line", (line) => resolve([line]));
});

const profile = await mkdtemp(join(tmpdir(), "cairn-e2e-"));
await mkdir(shots, { recursive: true });
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: BROWSER,
  viewport: { width: 1280, height: 800 },
  args: [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
});
const page = await browser.newPage();
// The mistakes that tests make on purpose are answered with 400.
const complaints = [];
page.on("pageerror", (error) => complaints.push(error.message));
page.on("console", (message) => {
  if (message.type() === "error" && !/503|400/.test(message.text())) complaints.push(message.text());
});

const hash = () => new URL(page.url()).hash;
const open = async (state) => {
  await page.evaluate((next) => { location.hash = next; }, state);
  await page.waitForTimeout(50);
};
// The page's policy forbids the evaluation that waitForFunction() needs.
const until = async (what, holds) => {
  for (let i = 0; i < 100; i++) {
    if (await holds()) return;
    await page.waitForTimeout(50);
  }
  assert.fail(`${what}: never happened, at ${hash()}`);
};
const shot = (name) => page.screenshot({ path: join(shots, `${name}.png`) });

const tests = {
  async "the first page shows a tree within a second"() {
    const begin = Date.now();
    await page.goto(url);
    await page.waitForSelector(".tree-row .kind-function");
    console.log(`  first rows after ${Date.now() - begin} ms`);
    assert.ok(!page.url().includes("token"), "the token stays in the address");
    await shot("tree");
  },
  async "the keyboard walks the tree and opens details"() {
    await page.focus(".tree");
    await page.keyboard.press("Home");
    await page.keyboard.press("h");
    await page.waitForSelector(".panel h2");
    await until("/open=/", () => /open=/.test(hash()));
    const name = await page.textContent(".panel h2");
    assert.ok(name && name.length > 0);
    await shot("context");
    const link = page.url();
    await page.goto("about:blank");
    await page.goto(link);
    await page.waitForSelector(".panel h2");
    assert.equal(await page.textContent(".panel h2"), name, "a link reopens the same view");
  },
  async "search marks rows in the tree"() {
    await open("v=top-down");
    const label = await page.textContent(".tree-row .kind-function");
    await page.keyboard.press("/");
    await page.keyboard.type(label.replace(/[^\w]/g, "."));
    await page.waitForSelector(".tree-row.hit");
    await shot("search");
    await open("v=top-down");
  },
  async "bottom-up and flat show rows, columns sort"() {
    for (const view of ["bottom-up", "flat"]) {
      await open(`v=${view}`);
      await page.waitForSelector(`[role=tab][aria-selected=true]:has-text("${view === "flat" ? "Flat" : "Bottom-up"}")`);
      await page.waitForSelector(".tree-row[aria-level='1']");
      await page.click(".tree-head .number:nth-child(2)");
      await page.waitForSelector(".tree-head .number:nth-child(2)[aria-sort=descending]");
      await shot(view);
    }
  },
  async "several metrics are columns beside each other"() {
    await open("s=1&v=top-down");
    await page.waitForSelector(".tree-row[aria-level='1']");
    const before = await page.locator(".tree-head .number").count();
    await page.click(".more-columns summary");
    await page.click(".more-columns label >> nth=0");
    await until("a column more", async () => (await page.locator(".tree-head .number").count()) > before);
    await page.waitForSelector(".tree-row[aria-level='1']");
    assert.match(hash(), /more=/);
    await page.click(".more-columns summary");
    const left = (selector) => page.locator(selector).first().boundingBox().then((box) => box.x);
    assert.ok(Math.abs((await left(".tree-head .number:nth-child(4)")) - (await left(".tree-row[aria-level='1'] .number:nth-child(4)"))) < 2, "titles stand above their columns");
    await shot("columns");
    await open("s=0&v=top-down");
    await page.waitForSelector(".tree-row[aria-level='1']");
  },
  async "the flame graph zooms, searches and turns"() {
    await open("v=flame");
    const canvas = await page.waitForSelector(".flame canvas");
    await page.waitForTimeout(300);
    const box = await canvas.boundingBox();
    await page.mouse.click(box.x + 30, box.y + 30);
    await until("/zoom=/", () => /zoom=/.test(hash()));
    await shot("flame-zoomed");
    await page.keyboard.press("Escape");
    await until("no /zoom=/", () => !/zoom=/.test(hash()));
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await until("/zoom=/", () => /zoom=/.test(hash()));
    await page.keyboard.press("i");
    await until("/inv=1/", () => /inv=1/.test(hash()));
    await open("v=flame&q=.");
    await page.waitForSelector("text=matches hold 100.0 %");
    await shot("flame");
  },
  async "the timeline zooms, moves, selects, and shows stacks"() {
    await open("v=timeline");
    await page.waitForSelector(".stack li");
    const canvas = await page.waitForSelector(".timeline-canvas canvas:not(.minimap)");
    const box = await canvas.boundingBox();
    await shot("timeline");
    await page.focus(".timeline-canvas");
    await page.keyboard.press("w");
    await until("zoom", () => hash().includes("from="));
    await page.keyboard.press("d");
    await until("hover", async () => {
      await page.mouse.move(box.x + 290, box.y + 30);
      await page.mouse.move(box.x + 300, box.y + 34);
      return /^at /.test(await page.textContent(".panel h2"));
    });
    await page.waitForSelector(".stack li");
    await page.keyboard.down("Shift");
    await page.mouse.down();
    await page.mouse.move(box.x + 600, box.y + 34, { steps: 5 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await page.waitForSelector("text=selected");
    await shot("timeline-selected");
    await page.click("text=flame graph of it");
    await page.waitForSelector(".flame canvas");
    await until("/v=flame/", () => /v=flame/.test(hash()));
    await shot("flame-of-range");
  },
  async "a recording has a list of calls"() {
    await open("s=1&v=calls");
    await page.waitForSelector(".list tbody tr");
    const name = await page.textContent(".list .kind-function");
    await page.fill("[aria-label='function to find']", name);
    await page.click("text=find next");
    await until("found", async () => /took|none after/.test(await page.textContent(".find .status")));
    await shot("calls");
  },
  async "a store is searched, narrowed and sorted"() {
    await open("s=2");
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
    await open("s=2&q=duration+%3E");
    await page.waitForSelector(".mistake");
    assert.match(await page.textContent(".mistake"), /\^ .*column 10/);
    await shot("store-mistake");
    await open("s=2");
    await page.waitForSelector(".facet .link");
    await page.click(".facet .link");
    await until("narrowed", () => /q=type/.test(hash()));
  },
  async "a trace shows calls, chart, methods and spans"() {
    await open("s=2");
    await page.click(".results tbody tr:nth-child(3) .link");
    await page.waitForSelector("table[role=treegrid] .kind-function");
    await shot("trace");
    for (const [tab, sign] of [["chart", ".flame canvas"], ["methods", ".list td"], ["spans", ".span-bar"]]) {
      await page.click(`[role=tab]:has-text("${tab === "chart" ? "Flame chart" : tab === "methods" ? "Methods" : "Spans"}")`);
      await page.waitForSelector(sign);
      await shot(`trace-${tab}`);
    }
    await open("s=2&v=flame");
    await page.waitForSelector(".flame canvas");
    await shot("store-flame");
  },
  async "help opens and closes, dark and wide work"() {
    await open("v=top-down");
    await page.waitForSelector(".tree");
    await page.keyboard.press("?");
    await page.waitForSelector("[role=dialog]");
    await shot("help");
    await page.click("[role=dialog] .close");
    await page.click("[aria-label='light or dark']");
    assert.ok(await page.evaluate(() => document.documentElement.dataset.theme));
    await page.setViewportSize({ width: 3840, height: 2160 });
    await page.waitForTimeout(200);
    await shot("wide-dark");
    const overflows = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.ok(!overflows, "the page is wider than the window");
    await page.setViewportSize({ width: 1280, height: 800 });
  },
  async "names are text, never markup"() {
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.evaluate(() => document.querySelectorAll("main script, main img").length), 0);
  },
};

let failed = 0;
for (const [name, run] of Object.entries(tests)) {
  try {
    await run();
    console.log(`ok: ${name}`);
  } catch (error) {
    failed++;
    console.log(`failed: ${name}: ${error.message}`);
    await shot(`failed-${failed}`).catch(() => undefined);
  }
}
if (complaints.length > 0) {
  failed++;
  console.log(`failed: the browser complained: ${complaints.join("; ")}`);
}
await browser.close();
await rm(profile, { recursive: true, force: true });
server.kill("SIGTERM");
process.exit(failed > 0 ? 1 : 0);
