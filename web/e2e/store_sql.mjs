// SQL in the page: completion, results as a table, a plot and tracks, mistakes, and pages without a server.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const state = (source, statement, more = "") =>
  `s=${source}&v=sql&sql=${encodeURIComponent(statement)}${more}`;

export const tests = {
  async "tables are listed for whatever is open, and examples run"({
    page,
    show,
    until,
    hash,
    shot,
  }) {
    for (const [source, table] of [
      [0, "contexts"],
      [1, "calls"],
      [2, "spans"],
    ]) {
      await show(`s=${source}&v=sql`);
      await page.waitForSelector(`.sql-tables summary:text-is("${table}")`);
      await page.click(".sql-begin button");
      await until("in the address", () => /sql=SELECT/.test(hash()));
      await page.waitForSelector(".sql-rows .vtable-body [role=row]");
    }
    await shot("sql");
  },
  async "words are completed, a statement is run, and a link reopens it"({
    page,
    show,
    until,
    hash,
  }) {
    await show("s=1&v=sql");
    await page.waitForSelector(".sql-tables summary");
    await page.click(".sql-box textarea");
    const offered = () => page.locator("#sql-completions [role=option]").allTextContents();
    await page.keyboard.type("SELECT * FROM rep");
    await until("a table", async () => (await offered()).some((word) => /^report/.test(word)));
    await page.keyboard.press("Tab");
    assert.equal(await page.inputValue(".sql-box textarea"), "SELECT * FROM report ");
    await page.keyboard.type("ORDER BY sel");
    await until("a column", async () => (await offered()).some((word) => /^self_ns/.test(word)));
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.keyboard.type("DESC");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector(".sql-rows .vtable-body [role=row]");
    assert.match(decodeURIComponent(hash()), /ORDER\+BY\+self_ns\+DESC/);
    const text = () => page.textContent(".sql-rows .vtable-body");
    const shown = await text();
    const link = page.url();
    await page.goto("about:blank");
    await page.goto(link);
    await page.waitForSelector(".sql-rows .vtable-body [role=row]");
    assert.equal(await text(), shown);
    // Sorted in the page; numbers as numbers.
    await page.click(".sql-rows [role=columnheader]:has-text('calls') button");
    await page.waitForSelector(".sql-rows [aria-sort=descending]:has-text('calls')");
    const counts = await page
      .locator(".sql-rows .vtable-body [role=row] [role=gridcell]:nth-child(2)")
      .allTextContents();
    const numbers = counts.map((one) => Number(one.replaceAll(",", "")));
    assert.deepEqual(
      numbers,
      [...numbers].sort((a, b) => b - a),
    );
    await page.selectOption("[aria-label='recent statements']", { index: 1 });
    await page.waitForSelector(".sql-rows .vtable-body [role=row]");
    await page.click(".sql-tables details[open] li .link");
    assert.match(await page.inputValue(".sql-box textarea"), /name|key|id/);
  },
  async "a result is a plot or tracks with one click, and the form is in the address"({
    page,
    show,
    settled,
    until,
    hash,
    shot,
  }) {
    await show(state(1, "SELECT name, calls, self_ns FROM report ORDER BY calls DESC"));
    await page.click("[role=tab]:has-text('Plot')");
    await page.waitForSelector(".sql-bars .measured-track i");
    await until("in the address", () => /sf=plot/.test(hash()));
    await page.selectOption("[aria-label='column of the plot']", { label: "self_ns" });
    await shot("sql-bars");
    await show(
      state(1, "SELECT begin_ns / 1000 AS us, count(*) AS calls FROM calls GROUP BY 1", "&sf=plot"),
    );
    await page.waitForSelector(".sql-lines path");
    const plot = await (await page.$(".sql-lines svg")).boundingBox();
    await page.mouse.move(plot.x + plot.width / 2, plot.y + 20);
    await page.waitForSelector(".sql-lines .legend strong");
    await show(state(1, "SELECT thread, name, begin_ns, total_ns FROM calls"));
    await page.click("[role=tab]:has-text('Tracks')");
    const canvas = await page.waitForSelector(".sql-tracks canvas");
    const pixels = () =>
      canvas.evaluate((element) => {
        const { data } = element.getContext("2d").getImageData(0, 0, element.width, element.height);
        return data.reduce((sum, one, i) => sum + one * (i % 97), 0);
      });
    await settled();
    const before = await pixels();
    await shot("sql-tracks");
    await canvas.focus();
    await page.keyboard.press("w");
    await until("zoomed", async () => (await pixels()) !== before);
    await page.keyboard.press("0");
    await until("all of it", async () => (await pixels()) === before);
    const box = await canvas.boundingBox();
    for (let y = 50; y < Math.min(box.height, 400); y += 12) {
      await page.mouse.move(box.x + box.width / 2, box.y + y);
      if ((await page.locator(".tooltip").count()) > 0) break;
    }
    await page.waitForSelector(".tooltip:has-text('begin_ns')");
  },
  async "mistakes are said, and nothing but reading is allowed"({ page, show, expectError }) {
    expectError(/400 .*sql\?/);
    await show(state(1, "SELECT nowhere FROM report"));
    await page.waitForSelector(".mistake:has-text('no such column: nowhere')");
    await show(state(1, "DELETE FROM report"));
    await page.waitForSelector(".mistake:has-text('may not be modified')");
    await show(state(1, "SELECT 1 AS one"));
    await page.waitForSelector(".sql-rows .vtable-body [role=row]");
    assert.equal(await page.locator(".mistake").count(), 0);
  },
  async "two sources are joined by their numbers"({ page, show }) {
    await show(
      state(
        1,
        "SELECT (SELECT count(*) FROM report) AS own, (SELECT count(*) FROM s2.spans) AS other",
      ),
    );
    const body = ".sql-rows .vtable-body [role=gridcell]"; // a table of another answer has other columns
    await page.waitForSelector(".sql-rows [role=columnheader]:has-text('other')");
    await page.locator(body).nth(1).waitFor();
    const spans = await page.evaluate(() =>
      fetch("/api/v1/sources/2/traces?spans=1&limit=1").then((one) => one.json()),
    );
    const cells = await page.locator(body).allTextContents();
    assert.equal(cells[1].replaceAll(",", ""), String(spans.count));
  },
  async "a page without a server says how to ask"({ page, cairn, paths, url }) {
    const folder = await mkdtemp(join(tmpdir(), "cairn-sql-"));
    const file = join(folder, "page.html");
    try {
      execFileSync(cairn, ["export-html", "-q", paths[1], file], { stdio: "pipe" });
    } catch (error) {
      assert.match(String(error.stderr), /built without the engine/);
      await rm(folder, { recursive: true });
      return;
    }
    await page.goto(`file://${file}#v=sql`);
    await page.waitForSelector("h2:has-text('SQL needs cairn')");
    assert.match(await page.textContent(".sql-begin pre"), /^cairn sql .* 'SELECT/);
    await page.goto(url);
    await rm(folder, { recursive: true });
  },
};
