// Pages written by cairn export-html: opened from disk, without a server.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Writes a page of `path`, opens it and looks at it; nothing may be asked of any network.
async function withPage(viewer, path, look) {
  const { page, cairn } = viewer;
  const folder = await mkdtemp(join(tmpdir(), "cairn-export-"));
  const file = join(folder, "page.html");
  const asked = [];
  const note = (request) => asked.push(request.url());
  execFileSync(cairn, ["export-html", path, file], { stdio: "pipe" });
  const back = page.url();
  await page.goto("about:blank");
  page.on("request", note);
  try {
    await page.goto(`file://${file}`);
    await page.waitForSelector(".overview-table tbody a");
    await page.keyboard.press("2");
    await page.waitForSelector(".tree-row .kind-function");
    await look();
    assert.deepEqual(
      asked.filter((url) => !url.startsWith("file:")),
      [],
      "the page asked for something",
    );
  } finally {
    page.off("request", note);
    await page.goto(back);
    await rm(folder, { recursive: true });
  }
}

async function lookAtAll({ page, show, until, shot }, name, path) {
  await shot(`exported-${name}`);
  const tabs = await page.locator("header [role=tab]").allTextContents();
  assert.deepEqual(tabs, ["Overview", "Top-down", "Bottom-up", "Flat", "Flame graph", "Timeline"]);
  await page.click(".tree-row .kind");
  await until("what is not exported", async () =>
    ((await page.textContent(".panel").catch(() => "")) ?? "").includes(
      `Not in this export. Run: cairn view ${path}`,
    ),
  );
  for (const view of ["bottom-up", "flat"]) {
    await show(`v=${view}`);
    await page.waitForSelector(
      `[role=tab][aria-selected=true]:has-text("${view === "flat" ? "Flat" : "Bottom-up"}") >> nth=0`,
    );
    await page.waitForSelector(".tree-row[aria-level='1'] .kind");
  }
  await show("v=flame&q=.");
  await page.waitForSelector(".flame canvas");
  await page.waitForSelector("text=matches: 100.0 %");
  await page.focus(".flame canvas");
  for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  await until("zoomed", () => /zoom=/.test(page.url()));
  await show("v=timeline");
  await page.waitForSelector(".track-label");
  await page.waitForSelector(".swatches td");
  await shot(`exported-${name}-timeline`);
}

export const tests = {
  async "an exported database opens from disk, with tree, flame graph and timeline"(viewer) {
    await withPage(viewer, viewer.paths[0], () => lookAtAll(viewer, "database", viewer.paths[0]));
  },
  async "an exported recording opens from disk"(viewer) {
    const { page, show, until } = viewer;
    await withPage(viewer, viewer.paths[1], async () => {
      await lookAtAll(viewer, "recording", viewer.paths[1]);
      const status = (pattern) => async () =>
        pattern.test((await page.textContent(".flame .status").catch(() => "")) ?? "");
      await show("v=flame");
      await until("running time", status(/total 3\.1 µs, cpu time/));
      await page.click("label:has-text('Waits')");
      await until("all time", status(/total 3\.49 µs, time/));
    });
  },
  async "an exported store opens from disk, and names are text in it"(viewer) {
    const { page } = viewer;
    await withPage(viewer, viewer.paths[2], async () => {
      await lookAtAll(viewer, "store", viewer.paths[2]);
      await viewer.show("v=bottom-up");
      await page.waitForSelector(".tree-row .kind-function:has-text('<img src=x')");
      assert.equal(await page.evaluate(() => window.hacked), undefined);
      assert.equal(
        await page.evaluate(() => document.querySelectorAll("main img, main script").length),
        0,
      );
    });
  },
};
