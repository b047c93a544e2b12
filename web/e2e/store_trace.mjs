// One trace of a store: calls, chart, methods, exceptions, spans.
import assert from "node:assert/strict";

async function openTrace({ page, show }, query, tab = "") {
  await show(`s=2&q=${encodeURIComponent(query)}`);
  await page.waitForSelector(".results .vtable-body .kind-function");
  await page.waitForTimeout(100);
  await page.click(".results .vtable-body [role=row]");
  await page.waitForSelector(".trace-calls .kind-function, .span-list .span-bar");
  if (tab !== "") await page.click(`[role=tab]:has-text("${tab}")`);
}

export const tests = {
  async "a trace of many calls grows as they are opened"(viewer) {
    const { page, until, shot, hash } = viewer;
    await openTrace(viewer, "uri = /deep");
    const rows = () => page.getAttribute(".trace-calls", "aria-rowcount").then(Number);
    assert.ok(
      (await page.locator(".trace-calls .vtable-body [role=row]").count()) < 60,
      "too many rows",
    );
    const before = await rows();
    await page.focus(".trace-calls");
    await page.keyboard.press("j");
    await page.waitForSelector(".trace-calls [aria-selected=true][aria-level='2']");
    await page.keyboard.press("ArrowRight");
    await until("a call more", async () => (await rows()) > before);
    await page.keyboard.press("ArrowLeft");
    await until("closed again", async () => (await rows()) === before);
    await page.keyboard.press("End");
    await until("the last call", () => /call=/.test(hash()));
    await shot("trace-deep");
    // A link to a call that is deep inside opens everything around it.
    const key = /key=([^&]*)/.exec(hash())[1];
    await viewer.show(`s=2&key=${key}&call=8060`);
    await page.waitForSelector(".trace-calls [aria-selected=true][aria-level='61']");
    await page.waitForSelector(".panel h2");
  },
  async "calls are found by name and by failure"(viewer) {
    const { page, until, hash } = viewer;
    await openTrace(viewer, "uri = /failing");
    await page.keyboard.press("/");
    await page.keyboard.type("img");
    await page.waitForSelector(".trace-calls .hit");
    await page.keyboard.press("Enter");
    await until("the next call", () => /call=1(&|$)/.test(hash()));
    await page.click(".find button:has-text('previous')");
    await until("the one before", () => !/call=/.test(hash()));
    await page.focus(".trace-calls");
    await page.keyboard.press("n");
    await until("the next call", () => /call=1(&|$)/.test(hash()));
    await page.keyboard.press("e");
    await until("the failed call", () => /call=3(&|$)/.test(hash()));
  },
  async "a failed call shows its exceptions with stacks"(viewer) {
    const { page, until, shot } = viewer;
    await openTrace(viewer, "uri = /failing");
    await page.click("text=next error");
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
    await until(
      "the row is on the screen",
      async () => (await page.locator(".trace-calls [aria-selected=true].failed").count()) === 1,
    );
    await shot("trace");
  },
  async "a stack that came as text is shown, and its causes"(viewer) {
    const { page, shot } = viewer;
    await openTrace(viewer, "service = mailer");
    await page.waitForSelector(".exception");
    assert.deepEqual(await page.locator(".exception h3").allTextContents(), [
      "mail.SendError",
      "caused by java.io.IOException",
    ]);
    assert.deepEqual((await page.textContent(".exception pre")).split("\n"), [
      "mail.Smtp.send(Smtp.java:77)",
      "mail.Job.run(Job.java:12)",
      "... 4 more",
    ]);
    await shot("trace-stack-text");
  },
  async "the chart of a trace zooms into a call and back"(viewer) {
    const { page, until, shot, hash } = viewer;
    await openTrace(viewer, "uri = /deep", "Flame chart");
    const canvas = await page.waitForSelector(".flame canvas");
    await page.waitForSelector(".time-axis span");
    await shot("trace-chart");
    await canvas.focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "Enter"])
      await page.keyboard.press(key);
    await until("zoomed", () => /zoom=\d/.test(hash()));
    await page.waitForSelector("text=Zoom to caller");
    const link = page.url();
    const shown = await page.textContent(".scroll .toolbar .status");
    await page.goto("about:blank");
    await page.goto(link);
    await page.waitForSelector("text=Zoom to caller");
    assert.equal(await page.textContent(".scroll .toolbar .status"), shown);
    await page.click("text=Reset zoom");
    await until("all of it", () => !/zoom=/.test(hash()));
  },
  async "methods of a trace are sorted and lead to their calls"(viewer) {
    const { page, until, shot, hash } = viewer;
    await openTrace(viewer, "service = gateway", "Methods");
    await page.waitForSelector(".methods .vtable-body .kind-function");
    assert.equal(await page.locator(".methods .vtable-body [role=row]").count(), 3);
    await page.click(".methods [role=columnheader] button:has-text('total')");
    await page.waitForSelector(".methods [aria-sort=descending]:nth-child(2)");
    assert.equal(
      await page.textContent(".methods .vtable-body [role=row] .kind-function"),
      "get /cart",
    );
    await shot("trace-methods");
    await page.dblclick(".methods .vtable-body [role=row]:nth-child(2)");
    await until("its calls", () => /tab=calls/.test(hash()) && /find=/.test(hash()));
    await page.waitForSelector(".trace-calls .hit");
  },
  async "spans of several services share an axis"(viewer) {
    const { page, until, shot, hash } = viewer;
    await openTrace(viewer, "service = gateway");
    assert.match(hash(), /tab=spans/, "spans first");
    await page.waitForSelector(".span-bar");
    assert.match(await page.textContent(".spans .status"), /^3 spans of 3 services, 120/);
    const names = await page.locator(".span-list .vtable-body strong").allTextContents();
    assert.deepEqual(names, ["gateway", "cart", "database"]);
    assert.equal(await page.locator(".span-axis .flow.ends").count(), 2, "arrows");
    const boxes = await page
      .locator(".span-bar")
      .evaluateAll((bars) =>
        bars.map((bar) => bar.getBoundingClientRect()).map((box) => [box.left, box.right]),
      );
    assert.ok(boxes[0][0] < boxes[1][0] && boxes[1][0] < boxes[2][0], "each begins later");
    assert.ok(boxes[2][1] < boxes[1][1] && boxes[1][1] < boxes[0][1], "and ends earlier");
    await shot("trace-spans");
    await page.click(".span-list .vtable-body [role=row]:nth-child(3)");
    await page.waitForSelector(".panel h2:text-is('select')");
    await page.dblclick(".span-list .vtable-body [role=row]:nth-child(2)");
    await until("its calls", () => /tab=calls/.test(hash()));
    await until("the service", async () =>
      /cart/.test(await page.textContent("main .toolbar .status")),
    );
  },
  async "a trace has one duration, in lists and titles"(viewer) {
    const { page, until } = viewer;
    await openTrace(viewer, "service = front");
    const title = () => page.textContent("main .toolbar strong + span");
    await until("the title", async () => (await title()) === "100 ms");
    assert.match(
      await page.textContent(".spans .status"),
      /^7 spans of 3 services, 100 ms, 130 ms to the last end/,
    );
    // On the page of another service too, where bars are shares of the trace.
    await page.dblclick(".span-list .vtable-body [role=row]:has-text('get /price')");
    await page.waitForSelector("main .toolbar:has-text('› get /price, 46 ms')");
    await until("the title", async () => (await title()) === "100 ms");
    const width = await page.getAttribute(".trace-calls .bar", "style");
    assert.match(width, /width: 46%/);
    await viewer.show("s=2&q=service+%3D+front");
    await page.waitForSelector(".results .vtable-body .kind-function");
    assert.match(await page.textContent(".results .vtable-body [role=row]"), /100/);
  },
  async "parallel calls are in lanes, and services have one colour"(viewer) {
    const { page, shot } = viewer;
    await openTrace(viewer, "service = front");
    const legend = () =>
      page
        .locator(".legend")
        .evaluateAll((items) =>
          items.map((item) => [
            item.textContent.trim(),
            getComputedStyle(item.querySelector("i")).backgroundColor,
          ]),
        );
    const ofSpans = Object.fromEntries(await legend());
    assert.deepEqual(Object.keys(ofSpans).sort(), ["front", "price", "stock"]);
    await page.click(`[role=tab]:has-text("Flame chart")`);
    await page.waitForSelector(".flame canvas");
    await page.waitForTimeout(100);
    await shot("trace-lanes");
    assert.deepEqual(Object.fromEntries(await legend()), ofSpans);
    // The colours of a column of the chart, near the begin of boxes, where no text is: 58 ms of 130.
    const column = await page
      .locator(".flame canvas")
      .last()
      .evaluate((canvas) => {
        const context = canvas.getContext("2d");
        const row = canvas.height / 7;
        return Array.from({ length: 7 }, (_, i) => {
          const at = [Math.floor((canvas.width * 56) / 130), Math.floor((i + 0.15) * row)];
          const [red, green, blue, alpha] = context.getImageData(...at, 1, 1).data;
          return alpha === 0 ? "" : `rgb(${red}, ${green}, ${blue})`;
        });
      });
    const { front, stock, price } = ofSpans;
    assert.deepEqual(column, [front, front, front, stock, column[4], front, price]);
    assert.ok(![front, stock, price].includes(column[4]), "a lane has a row above it");
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
    await until("no failure", async () => !/error/.test((await page.textContent("main")) ?? ""));
  },
};
