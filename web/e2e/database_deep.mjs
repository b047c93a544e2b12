// A thread whose calls are deeper than the window: its track is cut, and shows all levels when it is asked to.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { start } from "./harness.mjs";

const LEVELS = 45; // a timeline draws 48

// Two threads as busy as each other, of which one is deep.
function chrome() {
  const call = (tid, depth, name) => ({
    ph: "X",
    pid: 1,
    tid,
    ts: 1000 + depth,
    dur: 100000 - 2 * depth,
    name,
  });
  const deep = Array.from({ length: LEVELS }, (_, i) => call(1, i, `level_${i}`));
  return JSON.stringify({ traceEvents: [...deep, call(2, 0, "shallow")] });
}

export const tests = {
  async "a track that is cut to the window shows all its levels on demand"({ cairn, shots }) {
    const folder = await mkdtemp(join(tmpdir(), "cairn-deep-"));
    const file = join(folder, "deep.json");
    await writeFile(file, chrome());
    const server = await start(cairn, shots, [file]);
    try {
      const viewer = await server.open();
      const { page, show, settled, until, hash } = viewer;
      await page.setViewportSize({ width: 1280, height: 720 });
      await show("v=timeline");
      await page.waitForSelector(".more-levels");
      await settled();
      const height = () =>
        page
          .locator(".track-label", { has: page.locator("[aria-expanded=true]") })
          .evaluateAll((all) => Math.max(...all.map((one) => one.getBoundingClientRect().height)));
      const cut = await height();
      assert.ok(cut > 200 && cut < 500, `${cut} pixels`);
      const more = Number(/^(\d+) more levels$/.exec(await page.textContent(".more-levels"))?.[1]);
      assert.ok(more > 20 && more < LEVELS, `${more} more levels`);
      await page.click(".more-levels");
      await until("all levels", async () => (await height()) > cut + 10 * more);
      assert.equal(await page.locator(".more-levels").count(), 0);
      assert.match(hash(), /flip=/);
      await page.goBack();
      await page.waitForSelector(".more-levels");
      await page.fill("#search", "level_40");
      await settled();
      await page.keyboard.press("Enter");
      await until("a match opens all levels", async () => (await height()) > cut + 10 * more);
      await viewer.settleErrors();
      await viewer.close();
    } finally {
      await server.close();
      await rm(folder, { recursive: true });
    }
  },
};
