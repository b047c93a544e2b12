// The timeline: keys, the stack under the cursor, and exactly what was selected.
import assert from "node:assert/strict";

async function timeline(viewer, state = "") {
  const { page, show } = viewer;
  await show("s=1&v=flat");
  await show(`s=1&v=timeline&${state}`);
  const canvas = await page.waitForSelector(".tracks canvas");
  await page.waitForSelector(".swatches td");
  await page.waitForSelector(".track-label");
  return canvas.boundingBox();
}

// The middle of the label of a thread.
async function labelAt(page, index) {
  const box = await page.locator(".track-label").nth(index).boundingBox();
  return box.y + Math.min(box.height, 20) / 2;
}

const number = (hash, name) => Number(new URLSearchParams(hash.slice(1)).get(name));

async function selectWithShift(page, from, to) {
  await page.keyboard.down("Shift");
  await page.mouse.move(from[0], from[1]);
  await page.mouse.down();
  await page.mouse.move(to[0], to[1], { steps: 6 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
}

const labelOf = (text) => text.replace(/: (one strip|nested calls)$/, "");

export const tests = {
  async "the cursor goes by keys and shows the stack there"(viewer) {
    const { page, until, shot } = viewer;
    await timeline(viewer);
    await page.keyboard.press(".");
    await until("a cursor", async () => (await page.locator(".panel .at").count()) > 0);
    const before = await page.textContent(".panel .at");
    for (let i = 0; i < 10; i++) await page.keyboard.press(",");
    await until("moved", async () => (await page.textContent(".panel .at")) !== before);
    await until("a stack", async () => /no data|for /.test(await page.textContent(".panel")));
    await page.keyboard.press("ArrowDown");
    await shot("timeline-cursor");
  },
  async "depth is chosen by keys and with the slider"(viewer) {
    const { page, until, hash } = viewer;
    await timeline(viewer);
    await page.keyboard.press("+");
    await until("deeper", () => number(hash(), "d") >= 2);
    const depth = number(await viewer.settledHash(), "d");
    await page.keyboard.press("-");
    await until("less deep", () => number(hash(), "d") === depth - 1);
    await page.locator("[aria-label='call depth']").fill("2");
    await until("slider", () => number(hash(), "d") === 2);
  },
  async "it zooms from all of the time to nanoseconds, and back"(viewer) {
    const { page, until, hash } = viewer;
    await timeline(viewer);
    for (let i = 0; i < 40; i++) await page.keyboard.press("w");
    await until("nanoseconds", () => number(hash(), "to") - number(hash(), "from") <= 12);
    await viewer.settled();
    await viewer.shot("timeline-nanoseconds");
    const from = number(hash(), "from");
    await page.keyboard.press("a");
    await until("moved", () => number(hash(), "from") < from);
    await page.keyboard.press("0");
    await until("all", () => number(hash(), "from") === 0);
  },
  async "a little scrolling and the cursor draw nothing again"(viewer) {
    const { page, until } = viewer;
    await page.setViewportSize({ width: 1280, height: 240 });
    const box = await timeline(viewer, "shut=Counters");
    await page.mouse.move(2, 2);
    await viewer.settled();
    await page.evaluate(() => {
      const { clearRect } = CanvasRenderingContext2D.prototype;
      const drawn = new Set(document.querySelectorAll("canvas"));
      window.drawings = [];
      CanvasRenderingContext2D.prototype.clearRect = function (...area) {
        if (drawn.has(this.canvas)) window.drawings.push(this.canvas.parentElement.className);
        return clearRect.apply(this, area);
      };
    });
    const before = await page.locator(".track-label").first().boundingBox();
    await page.evaluate(() => document.querySelector(".tracks").scrollTo(0, 30));
    await viewer.settled();
    const after = await page.locator(".track-label").first().boundingBox();
    assert.equal(after.y, before.y - 30);
    await page.mouse.move(box.x + 300, box.y + 30);
    await page.mouse.move(box.x + 310, box.y + 30);
    await until("a cursor", async () => (await page.locator(".panel .at").count()) > 0);
    assert.deepEqual(await page.evaluate(() => window.drawings), []);
    await page.setViewportSize({ width: 1280, height: 800 });
  },
  async "Back and Forward go from gesture to gesture"(viewer) {
    const { page, until } = viewer;
    const box = await timeline(viewer);
    const shown = async () => {
      const state = new URLSearchParams((await viewer.settledHash()).slice(1));
      return ["from", "to", "b", "e"].map((name) => state.get(name)).join(" ");
    };
    const keys = async (key, count) => {
      for (let i = 0; i < count; i++) await page.keyboard.press(key);
    };
    await page.mouse.move(box.x + 300, box.y + 40);
    const steps = [await shown()];
    for (const gesture of [
      // At once: on a busy machine, separate turns may be further apart than gestures are.
      () =>
        page.evaluate(
          ([x, y]) => {
            const at = document.elementFromPoint(x, y);
            const turn = { deltaY: -40, clientX: x, clientY: y, bubbles: true, cancelable: true };
            for (let i = 0; i < 5; i++) at.dispatchEvent(new WheelEvent("wheel", turn));
          },
          [box.x + 300, box.y + 40],
        ),
      async () => {
        await page.mouse.down();
        for (let i = 1; i < 5; i++) await page.mouse.move(box.x + 300 - 20 * i, box.y + 40);
        await page.waitForTimeout(700); // held for longer than a pause between gestures
        await page.mouse.move(box.x + 200, box.y + 40);
        await page.mouse.up();
      },
      () => keys("w", 4),
      () => selectWithShift(page, [box.x + 100, box.y + 30], [box.x + 400, box.y + 30]),
      () => keys("f", 1),
      () => keys("0", 1),
    ]) {
      await gesture();
      await until("a change", async () => (await shown()) !== steps.at(-1));
      steps.push(await shown());
    }
    assert.equal(new Set(steps.slice(0, -1)).size, steps.length - 1);
    for (const step of steps.slice(0, -1).reverse()) {
      await page.goBack();
      await until(`back at ${step}`, async () => (await shown()) === step);
    }
    await page.waitForSelector(".timeline .status:has-text('0 ns –')");
    for (const step of steps.slice(1)) {
      await page.goForward();
      await until(`again at ${step}`, async () => (await shown()) === step);
    }
  },
  async "dragging moves, the map too"(viewer) {
    const { page, until, hash } = viewer;
    const box = await timeline(viewer);
    for (let i = 0; i < 3; i++) await page.keyboard.press("w");
    await until("zoomed", () => number(hash(), "from") > 0);
    const from = number(await viewer.settledHash(), "from");
    await page.mouse.move(box.x + 600, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + 500, box.y + 40, { steps: 4 });
    await page.mouse.up();
    await until("moved on", () => number(hash(), "from") > from);
    const map = await page.locator(".minimap").boundingBox();
    await page.mouse.click(map.x + 180, map.y + 10);
    await until("to the start", () => number(hash(), "from") === 0);
  },
  async "a selection has its time and its threads, in flame graph and tables"(viewer) {
    const { page, until, shot, hash } = viewer;
    const box = await timeline(viewer);
    await selectWithShift(
      page,
      [box.x + 200, await labelAt(page, 0)],
      [box.x + 600, await labelAt(page, 1)],
    );
    await page.waitForSelector(".toolbar >> text=of 2 threads");
    await page.waitForSelector(".panel h2:text-is('Selection')");
    await until("in the address", () => /st=/.test(hash()));
    await shot("timeline-two-threads");
    await page.click("button:text-is('Table')");
    await page.waitForSelector(".chosen-range");
    await page.waitForSelector(".tree-row[aria-level='1']");
    const sum = async () => {
      const rows = await page
        .locator(".tree-row[aria-level='1'] small:first-of-type")
        .allTextContents();
      return rows
        .filter((_, i) => i % 2 === 0)
        .reduce((total, text) => total + Number(text.replace(" %", "")), 0);
    };
    assert.ok(Math.abs((await sum()) - 100) < 1, `top rows have ${await sum()} %`);
    await shot("table-of-range");
    await page.focus(".tree");
    await page.keyboard.press("ArrowDown");
    await page.waitForSelector("aside.panel .crumbs");
    assert.match(await page.textContent("aside.panel"), /self.*This row in the whole time/s);
    await page.keyboard.press("3");
    await until("bottom-up", () => /v=bottom-up/.test(hash()));
    await page.waitForSelector(".chosen-range");
    await page.waitForSelector(".tree-row[aria-level='1']");
    await page.keyboard.press("5");
    await page.waitForSelector(".flame canvas");
    await page.waitForSelector(".flame .status:has-text('cpu time')");
    await page.click("text=Whole time");
    await until("given up", () => !/st=|b=/.test(hash()));
  },
  async "a selection from the axis has all threads; keys select too"(viewer) {
    const { page, until, hash } = viewer;
    const box = await timeline(viewer);
    await selectWithShift(page, [box.x + 200, box.y - 8], [box.x + 600, box.y + 30]);
    await until("selected", () => /b=/.test(hash()) && !/st=/.test(hash()));
    await page.keyboard.press("Escape");
    await until("given up", () => !/b=/.test(hash()));
    await page.mouse.move(2, 2);
    await page.keyboard.press(".");
    await page.keyboard.press("[");
    for (let i = 0; i < 5; i++) await page.keyboard.press(".");
    await page.keyboard.press("]");
    await until("selected", () => number(hash(), "e") > number(hash(), "b"));
    await page.keyboard.press("Enter");
    await until("flame graph", () => /v=flame/.test(hash()));
  },
  async "tracks are filtered, opened, pinned, moved and marked, all in the address"(viewer) {
    const { page, until, hash, shot } = viewer;
    const box = await timeline(viewer);
    const labels = () => page.locator(".track-label .open .name").allTextContents();
    // A pinned one has its whole label, without the head of its group.
    const wholeLabel = () => page.locator(".track-label .open").first().getAttribute("aria-label");
    const [before, whole] = [await labels(), await wholeLabel()];
    await page
      .locator("[aria-label^=move][aria-label$=down]")
      .first()
      .evaluate((b) => b.click());
    await until("moved", async () => (await labels())[1] === before[0]);
    const [from, to] = await Promise.all(
      [1, 0].map((i) => page.locator(".track-label .open .name").nth(i).boundingBox()),
    );
    await page.mouse.move(from.x + 2, from.y + 4);
    await page.mouse.down();
    await page.mouse.move(to.x + 2, to.y + 8, { steps: 4 });
    await page.waitForSelector(".drop-above");
    await page.mouse.up();
    await until("dragged back", async () => (await labels())[0] === before[0]);
    await page
      .locator("[aria-label^=move][aria-label$=down]")
      .first()
      .evaluate((b) => b.click());
    await until("moved again", async () => (await labels())[1] === before[0]);
    await page
      .locator("[aria-label^=pin]")
      .nth(1)
      .evaluate((button) => button.click());
    await until("pinned", () => /pin=\d/.test(hash()));
    await until("at the top", async () => labelOf(await wholeLabel()) === labelOf(whole));
    await page.locator(".track-label .open").first().click();
    await until("closed", () => /flip=-\d/.test(hash()));
    await page.mouse.move(box.x + 300, await labelAt(page, 0));
    await page.keyboard.press("m");
    await until("marked", () => /mk=\d+/.test(hash()));
    await page.waitForSelector(".marks li");
    await page.keyboard.press("e");
    for (const x of [250, 450]) await page.mouse.click(box.x + x, box.y + 60);
    await shot("timeline-tracks");
    await page.keyboard.press("Escape");
    await page.keyboard.press("o");
    await until("overview", () => /ov=1/.test(hash()));
    await page.fill(".thread-filter", "no such thread");
    await until("none", async () => /· 1 thread/.test(await page.textContent(".timeline .status")));
  },
};
