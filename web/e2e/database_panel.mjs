// The panel beside the tree: callers and callees, source, plots.
import assert from "node:assert/strict";
import { opened } from "./rows.mjs";

async function choose(viewer, label) {
  await viewer.page.locator(".tree-row", { hasText: label }).first().click();
  await viewer.until(label, async () =>
    ((await viewer.page.textContent(".panel h2").catch(() => "")) ?? "").includes(label),
  );
}

export const tests = {
  async "callers and callees are shown, and lead on"(viewer) {
    const { page, until, shot, hash } = viewer;
    await opened(viewer, "v=bottom-up");
    await choose(viewer, "solve");
    await page.waitForSelector(".others .link");
    const section = (title) =>
      page.locator(".panel section", { has: page.locator(`h3:text-is("${title}")`) });
    assert.match(await section("Callers").textContent(), /main/);
    assert.match(await section("Callees").textContent(), /say</);
    await shot("callers-and-callees");
    await section("Callers").locator(".link", { hasText: "main" }).click();
    await until("the caller", async () => (await page.textContent(".panel h2")) === "main");
    assert.match(hash(), /v=top-down/);
    await page.waitForSelector(".tree-row.selected");
    assert.match(await section("Callees").textContent(), /fib/);
  },
  async "the source of a row is shown at its line; functions are not lines"(viewer) {
    const { page, until, shot, hash } = viewer;
    await opened(viewer, "s=3&v=flat&q=^main$");
    await page.focus("#search");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".panel h2");
    await page.click(".panel p .link");
    await until("in the address", () => /src=1/.test(hash()));
    await page.waitForSelector(".source-line.here");
    assert.equal(await page.textContent(".source-line.here .line-number"), "12");
    assert.equal(await page.textContent(".source-line.here .line-cost"), "");
    assert.match(await page.textContent(".source-frame .status"), /measured per function/);
    assert.ok(
      (await page.locator(".source-line").count()) < 100,
      "only visible lines are in the page",
    );
    assert.ok(await page.locator(".source-line.here").isVisible());
    await shot("source");
  },
  async "a source that is missing says why"(viewer) {
    const { page, until } = viewer;
    viewer.expectError(/404 .*\/source\?/);
    await opened(viewer, "v=flat&src=1&q=solve");
    await page.focus("#search");
    await page.keyboard.press("Enter");
    await until("why", async () =>
      /has no copy of it/.test((await page.textContent(".panel").catch(() => "")) ?? ""),
    );
  },
  async "threads are plotted with an axis, and named under the pointer"(viewer) {
    const { page, until, settled, shot, hash } = viewer;
    await opened(viewer, "v=top-down");
    await page.focus(".tree");
    await page.keyboard.press("Home");
    await page.keyboard.press("h");
    // Each row that is passed has a plot, which moves while what is above it is loaded.
    await settled();
    assert.equal(await page.locator(".threads .plot-grid").count(), 3);
    await until("its name", async () => {
      const box = await page.locator(".threads svg").boundingBox();
      await page.mouse.move(box.x + box.width - 12, box.y + 40);
      return /RANK 1 THREAD/.test(await page.textContent(".threads figcaption"));
    });
    await page.click("text=Sort by value");
    await until("in the address", () => /plot=sorted/.test(hash()));
    await page.waitForSelector(".threads text:has-text('minimum')");
    await shot("threads");
  },
  async "how long calls took has an axis and percentiles"(viewer) {
    const { page, until, shot } = viewer;
    await opened(viewer, "s=1&v=top-down&m=calls");
    await choose(viewer, "ns::Box::get");
    const plot = await page.waitForSelector(".latency svg");
    const words = await page.textContent(".latency figcaption");
    assert.match(words, /p50 .* p90 .* p99 /);
    for (const name of ["p50", "p90", "p99"])
      assert.ok(await page.locator(`.latency text:text-is("${name}")`).count());
    const bar = await page.locator(".latency .plot-bar").first().boundingBox();
    await page.mouse.move(bar.x + bar.width / 2, bar.y + bar.height - 1);
    await until("a bucket", async () =>
      /calls/.test(await page.textContent(".latency figcaption")),
    );
    assert.ok(await plot.getAttribute("aria-label"));
    await shot("latency");
  },
  async "a wide window has the row that costs most beside the list, with graphs and source"(
    viewer,
  ) {
    const { page, until, show, settled, shot, hash } = viewer;
    const title = async () => await page.textContent(".panel.beside h2").catch(() => "");
    await page.setViewportSize({ width: 1920, height: 1080 });
    await opened(viewer, "s=3&v=flat");
    await page.waitForSelector(".panel.beside .source-line.here");
    const first = await title();
    const label = await page.locator(".tree-row .kind").first().textContent();
    assert.equal(first, label, "the first row");
    assert.ok(!hash().includes("open="), "nothing is selected");
    assert.equal(await page.locator(".panel.beside .close").count(), 0);
    await page.waitForSelector(".panel.beside .sandwich canvas:visible");
    await shot("beside");
    // Another row, and back.
    await page.locator(".tree-row .kind").nth(1).click();
    await until(
      "the selected row",
      async () => (await title()) !== first && (await title()) !== "",
    );
    await page.waitForSelector(".panel.beside .close");
    await page.click(".panel.beside .close");
    await until("the first row again", async () => (await title()) === first);
    // The source closes, and stays closed.
    await page.locator(".panel.beside .link[aria-expanded='true']").first().click();
    await until("no source", async () => (await page.locator(".source").count()) === 0);
    await until("in the address", () => /src=0/.test(hash()));
    // A box of the graphs leads to its function.
    const graph = page.locator(".panel.beside [aria-label='callees'] canvas:visible").first();
    const box = await graph.boundingBox();
    await page.mouse.click(box.x + 5, box.y + 5);
    await until("its function", () => /v=sandwich/.test(hash()));
    // The end of the hot path leads a tree; a narrow window has no panel without a selection.
    await show("s=3&v=top-down");
    await settled();
    await page.waitForSelector(".panel.beside .crumbs");
    const last = await page.locator(".panel.beside .crumbs .link").last().textContent();
    assert.equal(await title(), last);
    await page.setViewportSize({ width: 1280, height: 800 });
    await until("no panel", async () => (await page.locator(".panel").count()) === 0);
  },
};
