// A recording that takes a while to be analysed: its calls are there at once, and the rest
// comes without another look.
import assert from "node:assert/strict";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { start } from "./harness.mjs";

const LEVELS = 16;
const FUNCTIONS = [0x401018, 0x401104]; // main and work of the small recording

// A tree of calls with two in each: every call has a context self.
function manyCalls() {
  const bytes = Buffer.alloc((2 ** (LEVELS + 1) - 1) * 32);
  let at = 0;
  let time = 1000000030;
  const put = (kind, depth, address) => {
    bytes.writeUInt32LE((time += 7), at);
    bytes.writeUInt32LE((address % 65536) * 65536 + depth * 64 + 0x28 + kind, at + 8);
    bytes.writeUInt32LE(Math.floor(address / 65536), at + 12);
    at += 16;
  };
  const grow = (depth, address) => {
    put(0, depth, address);
    if (depth < LEVELS) for (const called of FUNCTIONS) grow(depth + 1, called);
    put(1, depth, address);
  };
  grow(0, FUNCTIONS[0]);
  return bytes;
}

export const tests = {
  async "calls can be read while the rest of a recording is being made"({ cairn, paths, shots }) {
    const folder = await mkdtemp(join(tmpdir(), "cairn-working-"));
    const recording = join(folder, "recording");
    await cp(paths[1], recording, { recursive: true });
    await writeFile(join(recording, "100.dat"), manyCalls());
    const server = await start(cairn, shots, [recording]);
    const viewer = await server.open();
    const { page, until, hash } = viewer;
    try {
      await page.waitForSelector("header progress");
      await page.waitForSelector(".call-list .kind-function");
      assert.deepEqual(await page.locator("header [role=tab]").allTextContents(), ["Calls"]);
      await viewer.shot("working");
      await page.evaluate(() => {
        window.isTheSamePage = true;
      });
      await page.fill("[aria-label^='function to find']", "work");
      await page.click("text=find next");
      await until("found while working", async () =>
        /, duration/.test(await page.textContent(".find .status")),
      );
      await page.waitForSelector("header [role=tab]:has-text('Timeline')", { timeout: 300000 });
      assert.match(hash(), /v=calls/, "who reads calls stays with them");
      assert.equal(await page.locator("header progress").count(), 0);
      await page.click("header [role=tab]:has-text('Top-down')");
      await page.waitForSelector(".tree-row .kind-function");
      assert.ok(await page.evaluate(() => window.isTheSamePage), "the page was loaded again");
      await page.click("header [role=tab]:has-text('Calls')");
      await page.waitForSelector(".call-list .kind-function");
      await page.focus(".call-list");
      await page.keyboard.press("End");
      const rows = () => page.getAttribute(".call-list", "aria-rowcount").then(Number);
      const before = await rows();
      await until("more calls by scrolling", async () => {
        await page.keyboard.press("End");
        return (await rows()) > before;
      });
      await viewer.settleErrors();
    } finally {
      await server.close();
      await rm(folder, { recursive: true });
    }
  },
};
