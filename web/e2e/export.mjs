// A page written by cairn export-html: opened from disk, without a server.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const tests = {
  async "an exported page opens from disk, with tree, flame graph and timeline"(viewer) {
    const { page, show, shot, cairn, paths } = viewer;
    const folder = await mkdtemp(join(tmpdir(), "cairn-export-"));
    const file = join(folder, "page.html");
    const asked = [];
    const note = (request) => asked.push(request.url());
    execFileSync(cairn, ["export-html", paths[0], file], { stdio: "pipe" });
    const back = page.url();
    await page.goto("about:blank");
    page.on("request", note);
    try {
      await page.goto(`file://${file}`);
      await page.waitForSelector(".tree-row .kind-function");
      await shot("exported");
      await show("v=flame");
      await page.waitForSelector(".flame canvas");
      await show("v=timeline");
      await page.waitForSelector(".stack li");
      assert.deepEqual(asked.filter((url) => !url.startsWith("file:")), [], "the page asked for something");
    } finally {
      page.off("request", note);
      await page.goto(back);
      await rm(folder, { recursive: true });
    }
  },
};
