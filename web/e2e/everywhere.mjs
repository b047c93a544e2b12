// In every view: help, light and dark, any width, names as text.
import assert from "node:assert/strict";

export const tests = {
  async "help opens and closes, dark and wide work"({ page, show, shot }) {
    await show("v=top-down");
    await page.waitForSelector(".tree");
    await page.keyboard.press("?");
    await page.waitForSelector("[role=dialog]");
    await shot("help");
    await page.click("[role=dialog] .close");
    await page.click("[aria-label='switch theme']");
    assert.ok(await page.evaluate(() => document.documentElement.dataset.theme));
    await page.setViewportSize({ width: 3840, height: 2160 });
    await page.waitForTimeout(200);
    await shot("wide-dark");
    const overflows = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.ok(!overflows, "the page is wider than the window");
    await page.setViewportSize({ width: 1280, height: 800 });
  },
  async "an address of a source that is not open leads to those that are"({
    page,
    show,
    until,
    hash,
  }) {
    await show("s=77&v=flame");
    await page.click("main a >> nth=1");
    await until("another source", () => hash() === "#s=1");
    await page.waitForSelector(".overview-table tbody tr");
  },
  async "names are text, never markup"({ page }) {
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(
      await page.evaluate(() => document.querySelectorAll("main script, main img").length),
      0,
    );
  },
};
