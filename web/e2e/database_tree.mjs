// The tree table: folding, columns, sorting, search, and more rows than fit in a page.
import assert from "node:assert/strict";
import { opened } from "./rows.mjs";

const labels = (page) => page.locator(".tree-row .kind").allTextContents();

export const tests = {
  async "recursion is folded, and unfolded again"(viewer) {
    const { page, until, shot, hash } = viewer;
    await opened(viewer, "v=top-down&q=fib");
    await until(
      "fib below fib",
      async () => (await labels(page)).filter((name) => name.startsWith("fib(")).length === 3,
    );
    await page.focus(".tree");
    await page.keyboard.press("r");
    await until("folded", () => /fold=1/.test(hash()));
    await until(
      "one fib",
      async () => (await labels(page)).filter((name) => name.startsWith("fib(")).length === 1,
    );
    const row = page.locator(".tree-row", { hasText: "fib(unsigned long)" }).first();
    assert.match(await row.textContent(), /7\.5000?.*7\.5000?/, "total and self are equal");
    await shot("folded");
    await page.click("text=fold recursion");
    await until("unfolded", () => !/fold=1/.test(hash()));
  },
  async "rows that the server still computes are not asked for any more in another view"(viewer) {
    const { page, until, show } = viewer;
    await opened(viewer, "v=bottom-up");
    let asked = 0;
    const isOfRow = (url) => url.pathname.endsWith("/rows") && url.searchParams.has("row");
    await page.route(isOfRow, (route) => {
      asked++;
      const error = { kind: "not-ready", text: "computing: 1 % done" };
      return route.fulfill({ status: 503, json: { error } });
    });
    await page.click(".twist[aria-label=open]:not(:disabled) >> nth=-1");
    await until("asked again", () => asked > 2).finally(() => show("v=timeline"));
    await viewer.settled();
    const before = asked;
    await page.waitForTimeout(400);
    await page.unroute(isOfRow);
    assert.equal(asked, before);
  },
  async "columns sort both ways, and can be hidden"(viewer) {
    const { page, until, shot, hash } = viewer;
    await opened(viewer, "v=bottom-up");
    const first = async () => (await labels(page))[0];
    await page.waitForSelector(".tree-head .number:nth-child(2)[aria-sort=descending]");
    const most = await first();
    await page.click(".tree-head .number:nth-child(2) button");
    await page.waitForSelector(".tree-head .number:nth-child(2)[aria-sort=ascending]");
    await until("another order", async () => (await first()) !== most);
    assert.match(hash(), /rev=1/);
    await page.click("main .menu summary");
    await page.click("main .menu label >> nth=1");
    await until("one column", async () => (await page.locator(".tree-head .number").count()) === 1);
    assert.match(hash(), /hide=/);
    await shot("hidden-column");
    await page.click("main .menu summary");
  },
  async "rows of lines are left out, a row becomes the root, columns change places"(viewer) {
    const { page, until, hash } = viewer;
    await opened(viewer, "v=top-down");
    const isLine = async () => (await page.locator(".tree-row .kind-line").count()) > 0;
    await until("lines", isLine);
    await page.focus(".tree");
    await page.keyboard.press("l");
    await until("no lines", async () => /skip=1/.test(hash()) && !(await isLine()));
    await page.locator(".tree-row .kind-function").first().click();
    await page.keyboard.press("z");
    await until("a root", () => /root=/.test(hash()));
    await page.waitForSelector("nav[aria-label='root of the tree']");
    await page.keyboard.press("Backspace");
    await until("one up", async () => (await page.locator(".tree-row .kind-function").count()) > 0);
    await page.click("text=Whole tree");
    await until("no root", () => !/root=/.test(hash()));
    const titles = () => page.locator(".tree-head .number").allTextContents();
    await page.waitForSelector(".tree-row");
    const before = await titles();
    await page.click("main .menu summary");
    await page.click("[aria-label^='move'] >> nth=1");
    await until("another order", async () => (await titles())[0]?.startsWith(before[1] ?? "?"));
    await page.fill("[aria-label^='derived metric']", "half=nosuch/2");
    await page.keyboard.press("Enter");
    viewer.expectError(/404.*derive/);
    await page.waitForSelector("main .menu .mistake:has-text('no metric')");
    assert.ok(!/derive=/.test(hash()), "a wrong formula is not in the address");
    await page.fill("[aria-label^='derived metric']", "half=CPU/2");
    await page.click("main .menu button:has-text('Add')");
    await until("a derived column", async () => (await titles()).some((t) => /half/.test(t)));
    await page.click("main .menu summary");
    await page.locator(".tree-row .kind-function").first().click();
    await page.keyboard.press("s");
    await page.waitForSelector(".sandwich h2");
    await viewer.shot("sandwich");
  },
  async "a root has a name in every view"(viewer) {
    const { page, until } = viewer;
    for (const view of ["top-down", "bottom-up", "flat&grp=module"]) {
      await opened(viewer, `v=${view}`);
      await page.focus(".tree");
      await page.keyboard.press("Home");
      const name = await page.textContent(".tree-row.selected .kind");
      await page.keyboard.press("z");
      await until(`${name} in ${view}`, async () =>
        (await page.textContent("nav[aria-label='root of the tree'] .status")).includes(name),
      );
    }
  },
  async "percentiles are columns"(viewer) {
    const { page, until } = viewer;
    await opened(viewer, "s=1&v=top-down");
    await page.focus(".tree");
    await page.keyboard.press("p");
    await until("p99", async () =>
      (await page.locator(".tree-head").textContent()).includes("p99"),
    );
    await page.waitForSelector(".tree-row[aria-level='2']");
    await viewer.shot("percentiles");
  },
  async "n and N move through matches in every view"(viewer) {
    const { page, until, shot } = viewer;
    for (const view of ["top-down", "top-down&fold=1", "bottom-up", "flat"]) {
      await opened(viewer, `v=${view}&q=solve`);
      await page.waitForSelector(".tree-row.hit");
      await page.focus("#search");
      await page.keyboard.press("Enter");
      await until("the first match", async () =>
        /^match 1 of/.test(await page.textContent(".matches")),
      );
      await until(
        "selected",
        async () => (await page.locator(".tree-row.selected.hit").count()) === 1,
      );
      const first = await viewer.settledHash();
      await page.focus(".tree");
      await page.keyboard.press("n");
      await page.keyboard.press("N");
      await until(
        "back",
        async () =>
          /^match 1 of/.test(await page.textContent(".matches")) && viewer.hash() === first,
      );
    }
    await shot("matches");
  },
  async "a search that cannot be understood says so"(viewer) {
    const { page, until } = viewer;
    viewer.expectError(/400 .*\/search\?.*q=solve%28/);
    await opened(viewer, "v=top-down&q=solve(");
    await until("an error", async () =>
      /solve\(/.test(await page.textContent(".matches").catch(() => "")),
    );
  },
  async "only visible rows are in the page, however many there are"(viewer) {
    const { page, until, shot } = viewer;
    await opened(viewer, "s=4&v=bottom-up");
    const count = Number(await page.getAttribute(".tree", "aria-rowcount"));
    assert.ok(count > 5000, `${count} rows`);
    assert.ok((await page.locator(".tree-row").count()) < 80);
    await page.focus(".tree");
    await page.keyboard.press("End");
    await until(
      "the last row",
      async () =>
        (await page.locator(`.tree-row.selected[aria-rowindex="${count}"]`).count()) === 1,
    );
    await page.keyboard.press("PageUp");
    await until(
      "up",
      async () =>
        Number(await page.getAttribute(".tree-row.selected", "aria-rowindex")) < count - 5,
    );
    await page.evaluate(() => {
      const tree = document.querySelector(".tree");
      tree.scrollTop = tree.scrollHeight / 2;
    });
    await until("rows in the middle", async () => {
      const index = Number(
        await page
          .locator(".tree-row[aria-level]")
          .first()
          .getAttribute("aria-rowindex", { timeout: 500 })
          .catch(() => 0),
      );
      return (
        Math.abs(index - count / 2) < 100 &&
        (await page.locator(".tree-row[aria-busy]").count()) === 0
      );
    });
    assert.ok((await page.locator(".tree-row").count()) < 80);
    await shot("many-rows");
    await page.keyboard.press("Home");
    await until(
      "the first row",
      async () => (await page.getAttribute(".tree-row.selected", "aria-rowindex")) === "2",
    );
    assert.ok(
      await page
        .locator(`#${await page.getAttribute(".tree", "aria-activedescendant")}.selected`)
        .count(),
    );
  },
  async "threads are chosen by number and by kind"(viewer) {
    const { page, until, hash } = viewer;
    await opened(viewer, "v=top-down");
    const total = await page.textContent(".tree-row[aria-level='1'] .number");
    await page.fill("#threads", "THREAD 1");
    await page.keyboard.press("Enter");
    await until("in the address", () => /t=THREAD/.test(hash()));
    await until(
      "other numbers",
      async () =>
        (await page.textContent(".tree-row[aria-level='1'] .number").catch(() => total)) !== total,
    );
    await page.fill("#threads", "");
    await page.keyboard.press("Enter");
    await until("all", () => !/t=/.test(hash()));
  },
};
