// A recording: its calls around a moment, looking for some of them, the timeline that leads
// there.
import assert from "node:assert/strict";

const CALLS = "s=1&v=calls";
const list = ".call-list .vtable-body";
const texts = (page) =>
  page
    .locator(`${list} [role=row]`)
    .evaluateAll((rows) => rows.map((row) => row.lastElementChild.textContent));

export const tests = {
  async "a recording has a list of calls with arguments and results"({ page, show, until, shot }) {
    await show(CALLS);
    await page.waitForSelector(`${list} .kind-function`);
    await until("arguments", async () =>
      (await texts(page)).some((text) =>
        /work\(-2, "abc\\n", 'w', 1\.500000, &main\) = 0xbeef/.test(text),
      ),
    );
    // Times have one unit, each duration has its own.
    assert.match(await page.textContent(".call-list .vtable-head"), /time \(ns\)\s*duration/);
    const durations = await page
      .locator(".call-list .duration")
      .evaluateAll((all) => all.map((one) => one.textContent).filter((text) => text !== ""));
    assert.ok(durations.length > 3);
    for (const text of durations) assert.match(text, /^(open |≥ )?\d{1,4}\.\d{3}(µs|ms|s)$/);
    await shot("calls");
  },
  async "calls are found forwards and backwards"({ page, show, until, hash }) {
    await show(CALLS);
    await page.waitForSelector(`${list} .kind-function`);
    await page.fill("[aria-label^='function to find']", "fork");
    await page.click("text=find next");
    await until("found", async () => /, duration /.test(await page.textContent(".find .status")));
    const time = /time=(\d+)/.exec(hash())[1];
    await page.waitForSelector(`${list} .here:has-text("fork")`);
    await page.click("text=find next");
    await until("the end", async () =>
      /no later match/.test(await page.textContent(".find .status")),
    );
    await page.fill("[aria-label^='function to find']", "^wo");
    await page.click(".find button:has-text('previous')");
    await until("before", async () => /, duration /.test(await page.textContent(".find .status")));
    assert.ok(Number(/time=(\d+)/.exec(hash())?.[1] ?? 0) < Number(time));
    await page.focus(".call-list");
    await page.keyboard.press("N");
    await until("none", async () =>
      /no earlier match/.test(await page.textContent(".find .status")),
    );
  },
  async "only calls that are looked for are listed, and a link says which"({
    page,
    show,
    until,
    hash,
  }) {
    await show(CALLS);
    await page.waitForSelector(`${list} .kind-function`);
    const before = (await texts(page)).length;
    await page.fill("[aria-label='maximum depth']", "0");
    await page.click("text=Only matches");
    await until("fewer", async () => (await texts(page)).length < before);
    const some = await texts(page);
    assert.ok(some.length > 0 && some.every((text) => text.startsWith("main")), some.join());
    const link = page.url();
    await page.goto("about:blank");
    await page.goto(link);
    await page.waitForSelector(`${list} .kind-function`);
    await until("the same", async () => (await texts(page)).join() === some.join());
    await page.fill("[aria-label='minimum duration']", "1h");
    await page.waitForSelector("text=no matching calls here");
    assert.match(hash(), /only=1/);
  },
  async "waiting counts if the box is checked, as a state of the call that waits"({
    page,
    show,
    until,
    shot,
    hash,
  }) {
    const titles = () => page.locator(".tree [role=columnheader]").allTextContents();
    await show("s=1&v=bottom-up");
    await page.waitForSelector(".tree-row .kind-function:has-text('plugin_run')");
    assert.match((await titles()).join(), /^cpu time total.*,cpu time self[^,]*,context$/);
    assert.match(
      await page.getAttribute(".toolbar .state-bar", "aria-label"),
      /3\.49 µs: running 3\.1 µs, blocked 390 ns/,
    );
    await page.keyboard.press("w");
    await until("all time", async () => (await titles())[2] === "blocked total (ns)");
    await page.waitForSelector(".tree-row:has-text('plugin_run'):has-text('390')");
    assert.equal(await page.locator(".tree-row:has-text('linux:schedule')").count(), 0);
    assert.match(hash(), /w=1/);
    await shot("waits-bottom-up");
    await page.click("[role=tab]:has-text('Flame graph')");
    await until("the same in the flame graph", async () =>
      /total 3\.49 µs, time/.test(await page.textContent(".flame .status")),
    );
    await shot("waits-flame");
    await page.click("label:has-text('Waits')");
    await until("running time", async () =>
      /total 3\.1 µs, cpu time/.test(await page.textContent(".flame .status")),
    );
    await page.selectOption("#metric", "calls");
    await until("no switch", async () => (await page.locator("text=Waits").count()) === 0);
  },
  async "a click in the timeline shows the calls of that thread and time"({
    page,
    show,
    until,
    shot,
    hash,
  }) {
    await show("s=1&v=timeline");
    await page.waitForSelector(".swatches td");
    const canvas = await page.waitForSelector(".tracks canvas");
    const box = await canvas.boundingBox();
    const label = await page.locator(".track-label").nth(1).boundingBox();
    await until("a cursor", async () => {
      await page.mouse.move(box.x + 400, label.y + 8);
      await page.mouse.move(box.x + 402, label.y + 10);
      return (await page.locator(".panel .at").count()) > 0;
    });
    await page.mouse.down();
    await page.mouse.up();
    await page.waitForSelector(`${list} .here`);
    assert.match(hash(), /task=1/);
    await shot("timeline-calls");
    await page.click("[aria-label='close the calls']");
    await until("closed", async () => (await page.locator(".call-list").count()) === 0);
    await page.focus(".timeline-canvas");
    await page.keyboard.press(".");
    await page.keyboard.press("c");
    await page.waitForSelector(`${list} .here`);

    // The only call of it is long after what is loaded.
    const from = () => Number(new URLSearchParams(hash().slice(1)).get("from"));
    await show("s=1&v=timeline&from=0&to=300&q=plugin_run");
    await page.waitForSelector(".swatches td");
    await page.keyboard.press("n");
    await until("the time of the match", () => from() > 1300 && from() < 2000);
    await page.waitForSelector(".panel .at");
  },
  async "g follows the flow from a call to another thread, G leads back"({
    page,
    show,
    until,
    shot,
  }) {
    const cursor = () => page.textContent(".panel .at");
    await page.mouse.move(5, 5); // not on the tracks
    await show("s=5&v=timeline");
    await until("the legend", async () =>
      /1 visible/.test((await page.textContent(".panel")) ?? ""),
    );
    await page.keyboard.press(".");
    await page.waitForSelector(".track-overlay .flow .line", { state: "attached" });
    assert.match(
      await page.textContent(".flow-tip"),
      /^message: send on main.* → receive on worker.*, 10 µs$/,
    );
    await page.keyboard.press("g");
    await until("the other end", async () => /70 µs worker/.test(await cursor()));
    await shot("flow");
    await page.keyboard.press("G");
    await until("back", async () => /60 µs main/.test(await cursor()));
    await page.click(".flow-list button");
    await until("a link", async () => /70 µs worker/.test(await cursor()));
  },
};
