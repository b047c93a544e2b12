// One trace of a store: waterfall, flame chart, methods, all calls; exceptions, links, comparing.
import assert from "node:assert/strict";

async function openTrace({ page, show, settled }, query, tab = "") {
  await show("s=2&q=nothing+like+this");
  await page.waitForSelector(".results .vtable-body .kind-function", { state: "detached" });
  await show(`s=2&q=${encodeURIComponent(query)}`);
  await page.waitForSelector(".results .vtable-body .kind-function");
  await settled();
  await page.click(".results .vtable-body [role=row]");
  await page.waitForSelector(".waterfall .wf-bar");
  if (tab !== "") await page.click(`[role=tab]:has-text("${tab}")`);
}

const rows = (page, table) => page.getAttribute(table, "aria-rowcount").then((n) => Number(n) - 1);
const names = (page) => page.locator(".waterfall .vtable-body .kind-function").allTextContents();

export const tests = {
  async "the calls of all services are on one axis, in the order of time"(viewer) {
    const { page, shot } = viewer;
    await openTrace(viewer, "service = gateway");
    assert.deepEqual(await names(page), ["get /cart", "load cart", "select"]);
    const services = await page.locator(".wf-service").allTextContents();
    assert.deepEqual(services, ["gateway", "cart", "database"]);
    const boxes = await page
      .locator(".wf-bar")
      .evaluateAll((bars) =>
        bars.map((bar) => bar.getBoundingClientRect()).map((box) => [box.left, box.right]),
      );
    assert.ok(boxes[0][0] < boxes[1][0] && boxes[1][0] < boxes[2][0], "each begins later");
    assert.ok(boxes[2][1] < boxes[1][1] && boxes[1][1] < boxes[0][1], "and ends earlier");
    assert.ok((await page.locator(".wf-path").count()) >= 3, "the critical path");
    assert.match(await page.textContent(".trace-facts"), /^120.* ms\s*3 spans/);
    await shot("trace");
  },
  async "a trace has one duration, in lists and titles, and one colour a service"(viewer) {
    const { page, until, shot } = viewer;
    await openTrace(viewer, "service = front");
    const title = () => page.textContent(".trace-fact");
    assert.match(await title(), /^100 ms · 130 ms to the last end/);
    const colors = (selector) =>
      page.locator(selector).evaluateAll((items) =>
        Object.fromEntries(
          items.map((item) => [
            item.textContent
              .trim()
              .replace(/[\d<].*/, "")
              .trim(),
            getComputedStyle(item.querySelector("i")).backgroundColor,
          ]),
        ),
      );
    const ofTrace = await colors(".trace-services .service-name");
    assert.deepEqual(Object.keys(ofTrace).sort(), ["front", "price", "stock"]);
    assert.equal(new Set(Object.values(ofTrace)).size, 3);
    const ofBars = await page
      .locator(".wf-bar")
      .evaluateAll((bars) => bars.map((bar) => getComputedStyle(bar).backgroundColor));
    assert.deepEqual([...new Set(ofBars)].sort(), Object.values(ofTrace).sort());
    await shot("trace-parallel");
    await viewer.show("s=2&q=service+%3D+front");
    await page.waitForSelector(".results .vtable-body .kind-function");
    assert.match(await page.textContent(".results .vtable-body [role=row]"), /100/);
    await until("the same colours in the list", async () => {
      const ofList = await colors(".results .service-name");
      return Object.entries(ofList).every(([name, color]) => ofTrace[name] === color);
    });
    await viewer.show("s=2&v=services");
    await page.waitForSelector(".service-calls .service-name");
    const ofGraph = await colors(".service-calls .service-name");
    assert.equal(ofGraph.stock, ofTrace.stock);
  },
  async "rows are opened and closed, chosen and kept in the address"(viewer) {
    const { page, until, hash } = viewer;
    await openTrace(viewer, "service = front");
    const all = await rows(page, ".waterfall");
    await page.focus(".waterfall");
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowLeft");
    await until("closed", async () => (await rows(page, ".waterfall")) === 1);
    await page.waitForSelector(".waterfall small:has-text('inside')");
    await until("in the address", () => /shut=/.test(hash()));
    const link = page.url();
    await page.goto("about:blank");
    await page.goto(link);
    await page.waitForSelector(".waterfall .wf-bar");
    assert.equal(await rows(page, ".waterfall"), 1);
    await page.click(".waterfall .twist");
    await until("open", async () => (await rows(page, ".waterfall")) === all);
    await page.keyboard.press("j");
    await until("chosen", () => /sel=/.test(hash()));
    const chosen = await page.textContent(".waterfall [aria-selected=true] .kind-function");
    assert.equal(await page.textContent(".call-panel h2"), chosen);
    // A name has as much room as the reader wants.
    const width = () => page.$eval(".wf-name", (name) => name.parentElement.offsetWidth);
    const before = await width();
    await page.focus(".splitter");
    for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
    assert.ok((await width()) > before + 50, `${before} to ${await width()}`);
    const handle = await (await page.$(".splitter")).boundingBox();
    await page.mouse.move(handle.x + 4, handle.y + 8);
    await page.mouse.down();
    await page.mouse.move(handle.x - 150, handle.y + 8, { steps: 3 });
    await page.mouse.up();
    assert.ok((await width()) < before + 50);
    await page.dblclick(".splitter");
  },
  async "the map chooses a time, and keys move it"(viewer) {
    const { page, until, hash, shot } = viewer;
    await openTrace(viewer, "service = front");
    const map = await (await page.$(".trace-map-area")).boundingBox();
    const y = map.y + map.height / 2;
    await page.mouse.move(map.x + map.width / 4, y);
    await page.mouse.down();
    await page.mouse.move(map.x + map.width / 2, y, { steps: 4 });
    await page.mouse.up();
    await until("a time", () => /from=\d+/.test(hash()) && /to=\d+/.test(hash()));
    const time = () => /from=(\d+)&to=(\d+)/.exec(hash()).slice(1).map(Number);
    const [from, to] = time();
    assert.ok(Math.abs(from - 32.5e6) < 2e6 && Math.abs(to - 65e6) < 2e6, `${from} ${to}`);
    await shot("trace-zoomed");
    await page.focus(".waterfall");
    await page.keyboard.press("d");
    await until("later", () => time()[0] > from);
    await page.keyboard.press("w");
    await until("shorter", () => time()[1] - time()[0] < to - from - 1e6);
    // Dragged, the window moves.
    const middle = map.x + (map.width * (time()[0] + time()[1])) / 2 / 130e6;
    const before = time();
    await page.mouse.move(middle, y);
    await page.mouse.down();
    await page.mouse.move(middle + 60, y, { steps: 4 });
    await page.mouse.up();
    await until("moved", () => time()[0] > before[0] + 1e6);
    await page.keyboard.press("0");
    await page.focus(".waterfall");
    await page.keyboard.press("0");
    await until("all of it", () => !/from=/.test(hash()));
    await page.keyboard.press("f");
    await until("a call", () => /from=/.test(hash()));
    await page.goBack();
    await until("back", () => !/from=/.test(hash()));
  },
  async "parallel calls are side by side in the flame chart, which zooms to one and back"(viewer) {
    const { page, until, shot, hash } = viewer;
    await openTrace(viewer, "service = front", "Flame chart");
    const canvas = page.locator(".trace-chart canvas");
    await canvas.waitFor();
    await viewer.settled();
    await shot("trace-chart");
    // The colours of a column, near the left edge of boxes, where no text is: 56 ms of 130.
    const column = await canvas.evaluate((element) => {
      const context = element.getContext("2d");
      const at = Math.floor((element.width * 56) / 130);
      return Array.from({ length: Math.floor((element.height - 24) / 24) }, (_, i) => {
        const [red, green, blue, alpha] = context.getImageData(at, 24 + i * 24 + 2, 1, 1).data;
        return alpha === 0 ? "" : `rgb(${red}, ${green}, ${blue})`;
      });
    });
    const colors = Object.fromEntries(
      await page
        .locator(".trace-services .service-name")
        .evaluateAll((items) =>
          items.map((item) => [
            item.textContent.split(/[\d<]/)[0].trim(),
            getComputedStyle(item.querySelector("i")).backgroundColor,
          ]),
        ),
    );
    const { front, stock, price } = colors;
    const boxes = column.filter((color) => [front, stock, price].includes(color));
    assert.deepEqual(boxes, [front, front, front, stock, front, price], column.join());
    await canvas.focus();
    await page.keyboard.press("ArrowDown");
    await until("a call", () => /sel=/.test(hash()));
    const name = await page.textContent(".call-panel h2");
    await page.keyboard.press("Enter");
    await until("zoomed", () => /from=|to=/.test(hash()));
    await page.keyboard.press("Escape");
    await until("all of it", () => !/from=/.test(hash()) && /key=/.test(hash()));
    await page.keyboard.press("ArrowUp");
    await until("its caller", async () => (await page.textContent(".call-panel h2")) !== name);
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 40);
    await page.waitForSelector(".tooltip:has-text('duration')");
    await page.mouse.wheel(0, -400);
    await until("zoomed by the wheel", () => /from=/.test(hash()));
    const [from] = /from=(\d+)/.exec(hash()).slice(1).map(Number);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 80, box.y + 40, { steps: 4 });
    await page.mouse.up();
    await until("dragged", () => Number(/from=(\d+)/.exec(hash())?.[1] ?? 0) < from);
    await page.mouse.dblclick(box.x + 20, box.y + 40);
    await page.keyboard.press("0");
    await until("all of it", () => !/from=/.test(hash()));
    await page.mouse.click(box.x + box.width / 2, box.y + 30);
    await until("the first call", async () => (await names(page)).length === 0);
  },
  async "a call is beside typical ones, and its attributes lead to others"(viewer) {
    const { page, until, hash } = viewer;
    await openTrace(viewer, "uri = /item/1");
    await page.waitForSelector(".call-panel .attributes");
    const href = await page.getAttribute(
      ".attributes tr:has(th:text-is('uri')) .find-such",
      "href",
    );
    assert.match(decodeURIComponent(href), /uri = \/item\/1|uri\+=\+\/item\/1/);
    await page.click(".attributes tr:has(th:text-is('uri')) .find-such");
    await until("its traces", () => !/key=/.test(hash()) && /uri/.test(hash()));
    await page.waitForSelector(".results .vtable-body .kind-function");
  },
  async "a trace of many calls grows as they are opened"(viewer) {
    const { page, until, shot, hash } = viewer;
    await openTrace(viewer, "uri = /deep", "All calls");
    await page.waitForSelector(".trace-calls .kind-function");
    assert.ok(
      (await page.locator(".trace-calls .vtable-body [role=row]").count()) < 60,
      "too many rows",
    );
    const before = await rows(page, ".trace-calls");
    await page.focus(".trace-calls");
    await page.keyboard.press("j");
    await page.waitForSelector(".trace-calls [aria-selected=true][aria-level='2']");
    await page.keyboard.press("ArrowRight");
    await until("a call more", async () => (await rows(page, ".trace-calls")) > before);
    await page.keyboard.press("ArrowLeft");
    await until("closed again", async () => (await rows(page, ".trace-calls")) === before);
    await page.keyboard.press("End");
    await until("the last call", () => /call=/.test(hash()));
    await shot("trace-deep");
    // A link to a call that is deep inside opens everything around it.
    const key = /key=([^&]*)/.exec(hash())[1];
    await viewer.show(`s=2&key=${key}&tab=calls&call=8060`);
    await page.waitForSelector(".trace-calls [aria-selected=true][aria-level='61']");
    await page.waitForSelector(".panel h2");
  },
  async "calls are found by name and by failure, in rows and in the list of all"(viewer) {
    const { page, until, hash } = viewer;
    await openTrace(viewer, "uri = /failing");
    await page.keyboard.press("/");
    await page.keyboard.type("img");
    await page.waitForSelector(".waterfall .hit");
    await page.keyboard.press("Enter");
    await until("a match", async () => /\d of \d/.test(await page.textContent(".find .status")));
    await page.click(".find button:has-text('Next error')");
    await page.waitForSelector(".waterfall [aria-selected=true].failed");
    await page.click("[role=tab]:has-text('All calls')");
    await page.waitForSelector(".trace-calls .hit");
    await page.focus(".trace-calls");
    await page.keyboard.press("Home");
    await page.keyboard.press("n");
    await until("the next call", () => /call=1(&|$)/.test(hash()));
    await page.click(".find button:has-text('previous')");
    await until("the one before", () => !/call=/.test(hash()));
    await page.keyboard.press("e");
    await until("the failed call", () => /call=3(&|$)/.test(hash()));
  },
  async "a failed call shows its exceptions with stacks, and says so at its bar"(viewer) {
    const { page, shot } = viewer;
    await openTrace(viewer, "uri = /failing");
    await page.waitForSelector(".wf-event.failed:has-text('cannot save <b>it</b>')");
    await page.click("text=Next error");
    await page.waitForSelector(".exception");
    assert.deepEqual(await page.locator(".exception h3").allTextContents(), [
      "com.example.Failure",
      "caused by java.io.IOException",
    ]);
    assert.match(
      await page.textContent(".exception pre"),
      /^com\.example\.Dao\.query.*Dao\.java:40/,
    );
    assert.match(await page.textContent(".exception p"), /cannot save <b>it<\/b>/);
    await shot("trace-exception");
  },
  async "a stack that came as text is shown, and its causes"(viewer) {
    const { page } = viewer;
    await openTrace(viewer, "service = mailer");
    await page.waitForSelector(".exception");
    assert.deepEqual(await page.locator(".exception h3").allTextContents(), [
      "mail.SendError",
      "caused by java.io.IOException",
    ]);
    assert.deepEqual((await page.textContent(".exception pre")).trim().split("\n"), [
      "mail.Smtp.send(Smtp.java:77)",
      "mail.Job.run(Job.java:12)",
      "... 4 more",
    ]);
  },
  async "methods of a trace are sorted and lead to their calls"(viewer) {
    const { page, until, shot, hash } = viewer;
    await openTrace(viewer, "service = gateway", "Methods");
    await page.waitForSelector(".methods .vtable-body .kind-function");
    assert.equal(await page.locator(".methods .vtable-body [role=row]").count(), 3);
    await page.click(".methods [role=columnheader] button:has-text('total')");
    await page.waitForSelector(".methods [aria-sort=descending]:nth-child(3)");
    assert.equal(
      await page.textContent(".methods .vtable-body [role=row] .kind-function"),
      "get /cart",
    );
    await shot("trace-methods");
    await page.dblclick(".methods .vtable-body [role=row]:nth-child(2)");
    await until("its calls", () => /tab=calls/.test(hash()) && /find=/.test(hash()));
    await page.waitForSelector(".trace-calls");
    await page.keyboard.press("Escape");
    await until("the list", () => !/key=/.test(hash()));
  },
  async "two traces are compared"({ page, show, until, hash }) {
    await show("s=2&q=uri+%3D+%2Fitem%2F1");
    await page.waitForSelector(".results .vtable-body .kind-function");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.click("text=Compare with another…");
    await until("the list", () => /cmp=/.test(hash()) && !/key=/.test(hash()));
    // Rows of the first query stay until the next answer: a query without matches is between them.
    const list = hash().slice(1);
    await show(list.replace("item%2F1", "item%2Fnone"));
    await page.waitForSelector(".results .vtable-body .kind-function", { state: "detached" });
    await show(list.replace("item%2F1", "item%2F2"));
    await page.waitForSelector(".results .vtable-body .kind-function");
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.click("button:has-text('Compare with 0')");
    await until(
      "both",
      () => /v=compare/.test(hash()) && /caq=id/.test(hash()) && /cbq=id/.test(hash()),
    );
    await page.waitForSelector(".compare-sides");
    await page.waitForSelector(".verdict h1");
  },
};
