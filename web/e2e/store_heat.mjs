// More durations than are drawn as dots: a heat map.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { violations } from "./axe.mjs";
import { start } from "./harness.mjs";

const TRACES = 5200;

// One trace a millisecond; the longer one of each two takes twenty times as long.
function spans() {
  return JSON.stringify(
    Array.from({ length: TRACES }, (_, i) => ({
      traceId: (i + 1).toString(16).padStart(16, "0"),
      id: (i + 1).toString(16).padStart(16, "0"),
      kind: "SERVER",
      name: "work",
      timestamp: 1794873600000000 + i * 1000,
      duration: i % 2 === 0 ? 500 + (i % 50) : 10000 + i,
      localEndpoint: { serviceName: "shop" },
      tags: i % 100 === 0 ? { error: "full" } : {},
    })),
  );
}

export const tests = {
  async "a cell of the heat map is chosen with the mouse and the keyboard"({ cairn, shots }) {
    const folder = await mkdtemp(join(tmpdir(), "cairn-heat-"));
    const store = join(folder, "store");
    await writeFile(join(folder, "spans.json"), spans());
    execFileSync(cairn, ["store", "add", "-q", "--create", store, join(folder, "spans.json")]);
    const server = await start(cairn, shots, [store]);
    try {
      const viewer = await server.open();
      const { page, show, settled, until, hash, shot } = viewer;
      await show("v=scatter");
      await page.waitForSelector(".heat-canvas canvas");
      await settled();
      assert.match(await page.textContent(".heat-head"), /5,200 traces by time and duration/);
      assert.match(await page.textContent(".heat-legend"), /^1\d+ traces with errors$/);
      await shot("heat-map");
      assert.deepEqual(await violations(page, viewer.drawn), []);
      await page.focus(".scatter-area");
      for (const key of ["ArrowRight", "ArrowRight", "ArrowUp"]) {
        await page.keyboard.press(key);
        await page.waitForSelector(".heat-at");
      }
      const text = () => page.textContent(".heat-head [aria-live]");
      assert.match(await text(), /^2026-11-17 \S+, .* to .* ms: \d+ traces?/);
      await page.keyboard.press("Escape");
      await until("no cell", async () => /^5,200 traces/.test(await text()));
      await page.keyboard.press("ArrowRight"); // the cell of most traces
      const count = /: (\d+) traces/.exec(await text())?.[1];
      await page.keyboard.press("Enter");
      await until("the query has the cell", () => /q=.*duration/.test(hash()));
      await page.waitForSelector(`.store-status:has-text("${count} traces"), .scatter circle`);
      await settled();
      assert.equal(
        (await page.locator(".scatter-area circle, .scatter-area rect").count()) > 0,
        true,
      );
      await show("v=scatter");
      await page.waitForSelector(".heat-canvas canvas");
      await settled();
      const box = await page.locator(".scatter-area").boundingBox();
      await page.mouse.move(box.x + 0.2 * box.width, box.y + 0.2 * box.height);
      await page.mouse.down();
      await page.mouse.move(box.x + 0.6 * box.width, box.y + 0.9 * box.height, { steps: 3 });
      await page.waitForSelector(".brush");
      await page.mouse.up();
      await until("the query has the rectangle", () => /since.*until/.test(hash()));
      await viewer.settleErrors();
      await viewer.close();
    } finally {
      await server.close();
      await rm(folder, { recursive: true });
    }
  },
};
