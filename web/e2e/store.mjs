// A store of traces: search, histogram, facets, the list, and the flame graph of all hits.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const STORE = "s=2";
const count = async (page) => page.textContent(".searchbox .status");

export const tests = {
  async "a store is searched, narrowed and sorted"({ page, show, until, shot, hash }) {
    await show(STORE);
    await page.waitForSelector(".results .vtable-body .kind-function");
    await page.waitForSelector(".subject .whole:has-text('complete')");
    const facts = await page.locator(".subject-facts > span").allTextContents();
    assert.match(facts.join(" "), /store .*\d UTC [\d,]+ traces [\d,]+ spans/);
    await shot("store");
    await page.waitForSelector(".histogram .plot-bar");
    await page.click("#search");
    await page.keyboard.type("dur");
    await page.waitForSelector("#completions li");
    await page.keyboard.press("Tab");
    await page.keyboard.type("> 1us uri ends 7");
    await page.keyboard.press("Enter");
    await until("fewer traces", async () => /^15 traces/.test(await count(page)));
    const duration = ".results [role=columnheader]:has-text('duration')";
    await page.click(`${duration} button`);
    await until("sorted", () => /sort=duration/.test(hash()));
    await page.waitForSelector(`${duration}[aria-sort=descending]`);
    await page.click(`${duration} button`);
    await until("the other way round", () => /rev=1/.test(hash()));
    await page.waitForSelector(`${duration}[aria-sort=ascending]`);
    const titles = await page.locator(".results [role=columnheader]").allTextContents();
    assert.deepEqual(titles.slice(0, 3), ["root", "errors", "other services"]);
  },
  async "a mistake in a query is shown at its column"({ page, show, shot, expectError }) {
    expectError(/400 .*\?q=duration\+%3E&/);
    await show(`${STORE}&q=duration+%3E`);
    await page.waitForSelector(".mistake");
    assert.match(await page.textContent(".mistake"), /^duration >\n {9}\^ .*column 10/);
    assert.equal(await page.getAttribute("#search", "aria-invalid"), "true");
    await shot("store-mistake");
  },
  async "names, comparisons and values are completed, and queries remembered"({
    page,
    show,
    until,
    shot,
  }) {
    await show(STORE);
    const offered = () => page.locator("#completions [role=option]").allTextContents();
    await page.click("#search");
    await page.fill("#search", "");
    await page.keyboard.type("ur");
    await until("an attribute", async () => (await offered()).includes("uri"));
    await page.keyboard.press("Tab");
    await until("comparisons", async () => (await offered()).includes("contains"));
    await page.keyboard.type("= ");
    await until("values", async () => (await offered()).some((word) => word.startsWith("/item/")));
    await shot("store-values");
    await page.keyboard.type("deep");
    await until("the value", async () => (await offered()).join() === "/deep");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    assert.equal(await page.inputValue("#search"), "uri = /deep ");
    await page.keyboard.press("Enter");
    await until("one trace", async () => /^1 trace$/.test(await count(page)));
    await page.fill("#search", "");
    await page.keyboard.press("ArrowDown");
    await until("history", async () => (await offered())[0] === "uri = /deep");
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#completions").count(), 0);
  },
  async "only visible rows are in the page, and scrolling loads the rest"({
    page,
    show,
    until,
    hash,
  }) {
    await show(STORE);
    await page.waitForSelector(".results .vtable-body .kind-function");
    const rows = () => page.getAttribute(".results", "aria-rowcount").then(Number);
    await until("all traces", async () => (await rows()) > 100);
    const total = (await rows()) - 1;
    assert.ok(
      (await page.locator(".results .vtable-body [role=row]").count()) < 60,
      "too many rows",
    );
    await page.evaluate(() => {
      document.querySelector(".results").scrollTop = 1e6;
    });
    await page.waitForSelector(`.results [aria-rowindex='${total + 1}'] .kind-function`);
    await until("the place is in the address", () => /top=/.test(hash()));
    const link = page.url();
    const last = await page.textContent(`.results [aria-rowindex='${total + 1}']`);
    await page.goto("about:blank");
    await page.goto(link);
    await page.waitForSelector(`.results [aria-rowindex='${total + 1}'] .kind-function`);
    assert.equal(await page.textContent(`.results [aria-rowindex='${total + 1}']`), last);
  },
  async "the list is walked with the keyboard and leads to a trace and back"({
    page,
    show,
    until,
    hash,
  }) {
    await show(STORE);
    await page.waitForSelector(".results .vtable-body .kind-function");
    await page.focus(".results");
    for (const key of ["j", "j", "j", "k", "ArrowDown", "End", "Home", "PageDown"])
      await page.keyboard.press(key);
    await until("a row is selected", () => /row=\d/.test(hash()));
    await page.waitForSelector(".results [aria-selected=true]");
    assert.ok(await page.getAttribute(".results", "aria-activedescendant"));
    const row = await page.getAttribute(".results [aria-selected=true]", "aria-rowindex");
    assert.ok(Number(row) > 5, `row ${row} after a page`);
    await until("the address has it", () => hash().includes(`row=${Number(row) - 2}`));
    await page.keyboard.press("Enter");
    await page.waitForSelector(".waterfall");
    await page.keyboard.press("Escape");
    await page.waitForSelector(`.results [aria-selected=true][aria-rowindex='${row}']`);
  },
  async "a part of time is selected with the mouse and with the keyboard"({
    page,
    show,
    until,
    shot,
    hash,
  }) {
    await show(STORE);
    const plot = await page.waitForSelector(".histogram svg");
    await page.waitForSelector(".plot-bar");
    const all = await count(page);
    const box = await plot.boundingBox();
    await page.mouse.move(box.x + 5, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 5, box.y + 30, { steps: 4 });
    await shot("store-drag");
    await page.mouse.up();
    await until("times in the query", () => /since/.test(hash()) && /until/.test(hash()));
    await until(
      "fewer traces",
      async () => (await count(page)) !== all && /traces/.test(await count(page)),
    );
    await page.click("text=Whole time");
    await until("all again", async () => (await count(page)) === all);
    await page.focus(".histogram-plot");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Shift+ArrowRight");
    await page.waitForSelector(".plot-drag");
    await page.keyboard.press("Enter");
    await until("times in the query", () => /since/.test(hash()));
    await page.focus(".histogram-plot");
    await page.keyboard.press("0");
    await until("no times", () => !/since/.test(hash()));
  },
  async "facets add to the query, and take away again"({ page, show, until, hash }) {
    await show(STORE);
    await page.waitForSelector(".facet .link");
    const service = ".facet:has(caption:text('service')) .link:text-is('cart')";
    await page.click(service);
    await until("narrowed", () => hash().includes("service+%3D+cart"));
    await page.waitForSelector(".facet [aria-pressed=true]");
    await page.click(".facet [aria-pressed=true]");
    await until("not any more", () => !/q=/.test(hash()));
    await page.selectOption("[aria-label='add a facet']", "uri");
    await page.waitForSelector(".facet caption:has-text('uri')");
    assert.match(hash(), /by=/);
    await page.click(".facet:has(caption:text('uri')) .link:has-text('more')");
    await until(
      "all values",
      async () => (await page.locator(".facet:has(caption:text('uri')) tr").count()) > 50,
    );
    await page.click(".facet:has(caption:text('service')) .link:text-is('cart')", {
      modifiers: ["Shift"],
    });
    await until("all others", () => hash().includes("NOT+service"));
    await page.click("[aria-label='remove the facet uri']");
    await until(
      "one facet less",
      async () => (await page.locator(".facet caption:has-text('uri')").count()) === 0,
    );
  },
  async "the flame graph of all hits is searched and leads back to traces"({
    page,
    show,
    until,
    shot,
    hash,
  }) {
    await show(`${STORE}&q=service+exists&v=flame`);
    const canvas = await page.waitForSelector(".flame canvas");
    await page.fill("[aria-label^='find a method in the flame graph']", "select");
    await page.waitForSelector("text=matches:");
    await shot("store-flame");
    await canvas.focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "Enter"])
      await page.keyboard.press(key);
    await until("zoomed", () => /zoom=/.test(hash()));
    await page.click("button:has-text('traces that call')");
    await until("their traces", () => /method/.test(hash()) && !/v=flame/.test(hash()));
    await page.waitForSelector(".results .vtable-body .kind-function");
  },
  async "services and operations show the numbers of the server and lead to spans"({
    page,
    show,
    settled,
    until,
    shot,
    hash,
  }) {
    await show(`${STORE}&v=services`);
    await page.waitForSelector(".service-graph .service");
    const ask = (question) =>
      page.evaluate((path) => fetch(`/api/v1/sources/2/${path}`).then((a) => a.json()), question);
    const cells = (table) =>
      page.$$eval(`.${table} .vtable-body [role=row]`, (rows) =>
        rows.map((row) => [...row.children].map((cell) => cell.textContent)),
      );
    const { edges } = await ask("services");
    assert.deepEqual(
      (await cells("service-calls")).map((row) => [row[0], row[1], row[2]]),
      edges.map((edge) => [edge.caller ?? "not in the store", edge.callee, String(edge.count)]),
    );
    assert.ok(edges.some((edge) => edge.caller === "gateway" && edge.callee === "cart"));
    await shot("store-services");
    // Sizes of text grow with the window, as the drawing does, not once more.
    await page.setViewportSize({ width: 3840, height: 2160 });
    await settled();
    const overlapping = await page.$$eval(".service-graph .service", (boxes) =>
      boxes.flatMap((box) => {
        const lines = [...box.querySelectorAll("text")].filter((line) => line.textContent !== "");
        const [frame, ...sizes] = [box.firstElementChild.nextElementSibling, ...lines].map((one) =>
          one.getBoundingClientRect(),
        );
        const isOutside = sizes.some(
          ({ right, bottom }) => right > frame.right || bottom > frame.bottom,
        );
        const left = sizes.filter(({ left }) => left < frame.left + frame.width / 2);
        const isOver = left.some((one, i) => i > 0 && one.top + 1 < left[i - 1].bottom - 1);
        return isOutside || isOver ? [box.textContent] : [];
      }),
    );
    assert.deepEqual(overlapping, []);
    await page.setViewportSize({ width: 1280, height: 800 });
    await settled();
    await page.click(".service-graph .service[aria-label$=cart]");
    await page.waitForSelector(".latencies svg path", { state: "attached" });
    await until("one operation", async () => (await cells("operations")).length === 1);
    const { groups } = await ask("groups?by=operation&q=service%3Dcart");
    assert.deepEqual(
      (await cells("operations")).map((row) => [row[0], row[3]]),
      groups.map((group) => [group.value.replace(": ", ""), String(group.count)]),
    );
    assert.equal(await page.locator(".operations .sparkline").count(), 1);
    assert.equal(await page.textContent(".operations .measured-value"), "100.0 %");
    await shot("store-operations");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await until("its spans", () => /v=spans/.test(hash()) && /root/.test(hash()));
    await until("one span", async () => (await cells("results")).length === 1);
  },
  async "a name that no span has is said, and the nearest one is a click away"({
    page,
    show,
    until,
    hash,
  }) {
    await show(`${STORE}&q=${encodeURIComponent("errors urj = /failing")}`);
    await page.waitForSelector(".mistake:has-text(\"no attribute 'urj'; did you mean uri\")");
    await page.click(".mistake button:has-text('Use uri')");
    await until("mended", () => decodeURIComponent(hash()).includes("errors+uri+=+/failing"));
    await until("found", async () => /^1 trace$/.test((await count(page)).trim()));
    assert.equal(await page.locator(".mistake").count(), 0);
  },
  async "a time range is picked: the last hours, or from one time to another"({
    page,
    show,
    until,
    shot,
    hash,
  }) {
    await show(STORE);
    await page.waitForSelector(".results .vtable-body .kind-function");
    const all = await count(page);
    const summary = () => page.textContent(".time-picker summary");
    assert.match(await summary(), /all time/);
    await page.click(".time-picker summary");
    await shot("store-times");
    await page.click(".time-choices button:has-text('last hour')");
    await until("in the query", () => /last\+1h/.test(hash()));
    assert.match(await summary(), /last hour/);
    await page.click(".time-picker summary");
    await page.fill(".time-custom label:has-text('from') input", "2020-01-01T00:00");
    assert.ok(await page.isDisabled(".time-custom button"));
    await page.fill(".time-custom label:has-text('to') input", "2040-01-01T00:00");
    await page.click(".time-custom button");
    await until("both", () => /since/.test(hash()) && /until/.test(hash()));
    await until("all traces", async () => (await count(page)) === all);
    await page.click(".time-picker summary");
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".time-picker[open]").count(), 0);
    await page.click(".time-picker summary");
    await page.click(".time-choices button:has-text('all time')");
    await until("none", () => !/since/.test(hash()));
  },
  async "live, the rows that one looks at stay where they are"({
    page,
    show,
    settled,
    paths,
    cairn,
    until,
    hash,
  }) {
    await show(STORE);
    await page.waitForSelector(".results .vtable-body .kind-function");
    await page.evaluate(() => {
      document.querySelector(".results").scrollTop = 1200;
    });
    await settled();
    await page.focus(".results");
    await page.click("button.live");
    await until("live", () => /live=1/.test(hash()));
    const first = () =>
      page.evaluate(() => {
        const table = document.querySelector(".results").getBoundingClientRect();
        const row = [...document.querySelectorAll(".results .vtable-body [role=row]")].find(
          (one) => one.getBoundingClientRect().top >= table.top + 30,
        );
        return `${row.textContent} ${Math.round(row.getBoundingClientRect().top)}`;
      });
    const seen = await first();
    const rows = () => page.getAttribute(".results", "aria-rowcount").then(Number);
    const before = await rows();
    const at = BigInt(Date.now()) * 1000n;
    const folder = await mkdtemp(join(tmpdir(), "cairn-live-"));
    const spans = [0, 1, 2].map((i) => ({
      traceId: `00000000000000000000000000abc${100 + i}`,
      id: `000000000000a${100 + i}`,
      name: "arrived later",
      kind: "SERVER",
      timestamp: Number(at) + i,
      duration: 5000,
      localEndpoint: { serviceName: "late" },
    }));
    await writeFile(join(folder, "spans.json"), JSON.stringify(spans));
    execFileSync(cairn, ["store", "add", "-q", paths[2], join(folder, "spans.json")]);
    await rm(folder, { recursive: true });
    await until("three more", async () => (await rows()) === before + 3);
    await until("nothing moved", async () => (await first()) === seen);
    await page.click("button.live");
    await page.evaluate(() => {
      document.querySelector(".results").scrollTop = 0;
    });
    await page.waitForSelector(".results .kind-function:has-text('arrived later')");
  },
  async "a rectangle of durations becomes a query, which is saved"({ page, show, until, hash }) {
    await show(`${STORE}&v=scatter`);
    await page.waitForSelector(".scatter-area .dot");
    const box = await (await page.$(".scatter-area")).boundingBox();
    await page.mouse.move(box.x + 2, box.y + 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 2, box.y + box.height / 2, { steps: 3 });
    await page.mouse.up();
    await until("a query", () => /duration/.test(hash()) && /since/.test(hash()));
    await page.click("text=Save query");
    await page.waitForSelector(".saved-query.chosen");
    await page.click(".saved-query .remove");
    await until("removed", async () => (await page.locator(".saved-query").count()) === 0);
    await page.focus("#search");
    const query = await page.inputValue("#search");
    await page.keyboard.press("Escape");
    assert.equal(await page.inputValue("#search"), query);
  },
};
