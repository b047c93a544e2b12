// The database view: trees, their columns, the flame graph, the timeline.
import assert from "node:assert/strict";

export const tests = {
  async "the overview shows what is known while views are computed"({ page, url, until }) {
    const isOverview = /\/sources\/0\/overview/;
    let isComputing = true;
    await page.route(isOverview, async (route) => {
      const response = await route.fetch();
      const { hotPath, imbalance, columns, functions, ...known } = await response.json();
      const isWhole = hotPath !== undefined && imbalance !== undefined && columns && functions;
      await route.fulfill(
        isComputing && isWhole ? { response, json: { ...known, isPartial: true } } : { response },
      );
    });
    await page.goto("about:blank");
    await page.goto(url);
    await page.waitForSelector("text=computing…");
    assert.ok((await page.locator(".facts dt").count()) > 1);
    isComputing = false;
    await page.waitForSelector(".hot-path li");
    await until("all cards", async () => (await page.locator("text=computing…").count()) === 0);
    await page.unroute(isOverview, { behavior: "wait" });
  },
  async "the first page is an overview, whose links open the views"({
    page,
    shot,
    url,
    until,
    hash,
  }) {
    await page.goto(url);
    await page.waitForSelector(".overview-table tbody tr");
    assert.ok(!page.url().includes("token"), "the token stays in the address");
    assert.match(
      await page.locator(".facts dt").first().textContent(),
      /^wall time(, [\d.]+ (of \d+ )?cores busy)?$/,
    );
    await page.locator(".facts a").first().click();
    await until("the timeline", () => /v=timeline/.test(hash()));
    await page.goBack();
    await page.waitForSelector(".overview-table tbody tr");
    await shot("overview");
    const name = await page.locator(".overview-table tbody a").first().textContent();
    await page.locator(".overview-table tbody a").first().click();
    await until("v=top-down", () => /v=top-down/.test(hash()));
    await page.waitForSelector(".tree-row.selected");
    assert.equal(await page.textContent(".panel h2"), name);
    await page.goBack();
    await page.waitForSelector(".overview-table tbody tr");
    await page.click(".hot-path + p a:has-text('Flame graph')");
    await page.waitForSelector(".flame canvas");
    await page.keyboard.press("2");
    await page.waitForSelector(".tree-row .kind-function");
    await shot("tree");
  },
  async "the overview of a wide window has the flame graph, in the height that is left"({
    page,
    show,
    settled,
    until,
    hash,
  }) {
    await page.setViewportSize({ width: 1920, height: 1080 });
    await show("s=0&skip=1&t=1");
    await page.waitForSelector(".overview-flames canvas");
    await settled();
    const [card, window] = await page.$eval(".overview-flames", (graph) => [
      graph.closest(".card").getBoundingClientRect().bottom,
      innerHeight,
    ]);
    assert.ok(card <= window, `${card} of ${window}`);
    await page.click(".overview-flames canvas", { position: { x: 20, y: 30 } });
    await until("the flame graph", () => /v=flame/.test(hash()) && /zoom=/.test(hash()));
    await page.waitForSelector(".flame-minimap");
    await page.setViewportSize({ width: 1280, height: 800 });
    await show("s=0");
    await page.waitForSelector(".overview-table tbody tr");
    assert.equal(await page.locator(".overview-flames").count(), 0);
    await show("s=0&v=top-down");
    await page.waitForSelector(".tree-row .kind-function");
  },
  async "the keyboard walks the tree and opens details"(viewer) {
    const { page, settled, settledHash, shot } = viewer;
    await page.focus(".tree");
    await page.keyboard.press("Home");
    await page.keyboard.press("h");
    await page.waitForSelector(".panel h2");
    await settled(); // the first row was chosen on the way
    assert.match(await settledHash(), /open=/);
    const name = await page.textContent(".panel h2");
    assert.ok(name && name.length > 0);
    await shot("context");
    const link = page.url();
    await page.goto("about:blank");
    await page.goto(link);
    await page.waitForSelector(".panel h2");
    await settled();
    assert.equal(await page.textContent(".panel h2"), name, "a link reopens the same view");
  },
  async "search marks rows in the tree"({ page, show, shot }) {
    await show("v=top-down");
    const label = await page.textContent(".tree-row .kind-function");
    await page.keyboard.press("/");
    await page.keyboard.type(label.replace(/[^\w]/g, "."));
    await page.waitForSelector(".tree-row.hit");
    await shot("search");
    await show("v=top-down");
  },
  async "bottom-up and flat show rows, columns sort"({ page, show, shot }) {
    for (const view of ["bottom-up", "flat"]) {
      await show(`v=${view}`);
      await page.waitForSelector(
        `[role=tab][aria-selected=true]:has-text("${view === "flat" ? "Flat" : "Bottom-up"}")`,
      );
      await page.waitForSelector(".tree-row .kind-function");
      await page.waitForSelector(".tree-head .number:nth-child(2)[aria-sort=descending]");
      await page.click(".tree-head .number:nth-child(1) button");
      await page.waitForSelector(".tree-head .number:nth-child(1)[aria-sort=descending]");
      await shot(view);
    }
    await page.selectOption("select[aria-label='group functions by']", "language");
    await page.waitForSelector(".tree-row .kind-language");
    assert.equal(await page.locator(".tree-row .kind-function").count(), 0, "languages are closed");
    await show("v=flat");
  },
  async "several metrics are columns beside each other"({ page, show, until, shot, hash }) {
    await show("s=1&v=top-down");
    await page.waitForSelector(".tree-row[aria-level='1']");
    const before = await page.locator(".tree-head .number").count();
    await page.click("main .menu summary");
    await page.click("main .menu label.metric >> nth=0");
    await until(
      "a column more",
      async () => (await page.locator(".tree-head .number").count()) > before,
    );
    await page.waitForSelector(".tree-row[aria-level='1']");
    assert.match(hash(), /more=/);
    await page.click("main .menu summary");
    const left = (selector) =>
      page
        .locator(selector)
        .first()
        .boundingBox()
        .then((box) => box.x);
    assert.ok(
      Math.abs(
        (await left(".tree-head .number:nth-child(4)")) -
          (await left(".tree-row[aria-level='1'] .number:nth-child(4)")),
      ) < 2,
      "titles stand above their columns",
    );
    await shot("columns");
    await show("s=0&v=top-down");
    await page.waitForSelector(".tree-row[aria-level='1']");
  },
  async "the flame graph zooms, searches and turns"({ page, show, settled, until, shot, hash }) {
    await show("v=flame");
    const canvas = await page.waitForSelector(".flame canvas");
    await settled();
    const box = await canvas.boundingBox();
    await page.mouse.click(box.x + 30, box.y + 30);
    await page.waitForSelector(".pinned h2");
    await page.keyboard.press("Escape");
    await page.mouse.dblclick(box.x + 30, box.y + 30);
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
    await show("v=flame&q=.");
    await page.waitForSelector("text=matches: 100.0 %");
    await shot("flame");
  },
  async "the timeline zooms, moves, selects, and shows stacks"({ page, show, until, shot, hash }) {
    await show("v=timeline");
    await page.waitForSelector(".swatches td");
    const canvas = await page.waitForSelector(".tracks canvas");
    const box = await canvas.boundingBox();
    await shot("timeline");
    await page.focus(".timeline-canvas");
    await page.keyboard.press("w");
    await until("zoom", () => hash().includes("from="));
    await page.keyboard.press("d");
    await until("hover", async () => {
      await page.mouse.move(box.x + 290, box.y + 30);
      await page.mouse.move(box.x + 300, box.y + 34);
      return (await page.locator(".panel .at").count()) > 0;
    });
    await page.waitForSelector(".stack li");
    await page.keyboard.down("Shift");
    await page.mouse.down();
    await page.mouse.move(box.x + 600, box.y + 34, { steps: 5 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await page.waitForSelector("text=selected");
    await shot("timeline-selected");
    await page.click(".timeline .panel button:has-text('Flame graph')");
    await page.waitForSelector(".flame canvas");
    await until("/v=flame/", () => /v=flame/.test(hash()));
    await shot("flame-of-range");
  },
};
