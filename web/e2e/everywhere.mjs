// In every view: help, light and dark, any width, names as text.
import assert from "node:assert/strict";

const VIEWS = [
  ["s=0", ".overview-table tbody tr"],
  ["s=1&v=top-down&p=1", ".tree-row"],
  ["s=1&v=flame", ".flame canvas"],
  ["s=1&v=timeline", ".timeline-canvas canvas"],
  ["s=1&v=calls", ".call-list .vtable-body [role=row]"],
  ["s=1&v=sandwich", ".sandwich"],
  ["s=0&v=compare&cb=0", "[role=tabpanel] > *"],
  ["s=2", ".results"],
  ["s=2&v=operations", ".operations"],
  ["s=2&v=services", ".service-calls"],
  ["s=2&v=scatter", ".scatter"],
  ["s=2&v=sql", ".sql-tables summary"],
  ["s=1&v=compare", ".compare-offers a"],
  ["s=2&key=0.0", ".waterfall .vtable-body [role=row]"],
  ["s=2&key=0.0&tab=chart", ".trace-chart canvas"],
];

// The view after the smallest is opened in that: each is opened small, and made large and small.
const SIZES = [
  [1440, 900],
  [1024, 768],
  [600, 800],
  [900, 300],
  [400, 300],
];

export const tests = {
  async "no page is larger than the window"({ page, show, settled, drawn }) {
    const found = [];
    for (const [state, sign] of VIEWS) {
      await show(state);
      await page.waitForSelector(sign);
      await settled();
      for (const [width, height] of SIZES) {
        await page.setViewportSize({ width, height });
        await drawn();
        const size = await page.evaluate(() => {
          const { scrollWidth, scrollHeight } = document.documentElement;
          return [scrollWidth, scrollHeight];
        });
        if (size[0] > width || size[1] > height)
          found.push(`${state} at ${width} x ${height}: ${size}`);
        const header = await page.locator("header").boundingBox();
        if (width === 1440 && header.height > 50) found.push(`${state}: a header of two lines`);
      }
    }
    assert.deepEqual(found, []);
  },
  async "the panel of a span is inside a narrow window"({ page, show }) {
    await page.setViewportSize({ width: 600, height: 800 });
    await show("s=2&key=0.0");
    await page.click(".waterfall .vtable-body [role=row]");
    const box = await page.locator("aside.panel h2").boundingBox();
    assert.ok(box.y + box.height <= 800, `at ${box.y}`);
    await page.setViewportSize({ width: 1280, height: 800 });
  },
  async "a menu ends inside a low window, also one that became low"({ page, show, settled }) {
    const room = () => page.evaluate(() => innerHeight - document.documentElement.scrollHeight);
    await show("s=1&v=top-down");
    await page.waitForSelector(".tree-row");
    await page.click("summary:has-text('Filter')");
    await page.setViewportSize({ width: 700, height: 300 });
    await settled();
    assert.ok((await room()) >= 0, "the page is larger than the window that became low");
    await page.keyboard.press("Escape");
    await page.click("summary:has-text('Filter')");
    await page.waitForSelector(".menu[open]");
    assert.ok((await room()) >= 0, "the page is larger than the window");
    await page.keyboard.press("Escape");
    await page.setViewportSize({ width: 1280, height: 800 });
  },
  async "on a phone, numbers and bars are below names, and nothing is scrolled aside"({
    page,
    show,
    shot,
  }) {
    await page.setViewportSize({ width: 400, height: 800 });
    for (const [state, table, cell] of [
      ["s=1&v=top-down", ".tree", ".tree-row .indented"],
      ["s=1&v=bottom-up", ".tree", ".tree-row .indented"],
      ["s=2&key=0.0", ".waterfall", ".wf-bars"],
    ]) {
      await show(state);
      await page.waitForSelector(`${table} .vtable-body ${cell}`);
      const [scrolled, room] = await page
        .locator(`.vtable${table}`)
        .evaluate((element) => [element.scrollWidth, element.clientWidth]);
      assert.ok(scrolled <= room, `${state}: ${scrolled} pixels in ${room}`);
      const { width } = await page.locator(`${table} .vtable-body ${cell}`).first().boundingBox();
      assert.ok(width > 350, `${state}: ${width} pixels`);
    }
    await shot("phone");
    await page.setViewportSize({ width: 1280, height: 800 });
  },
  async "help opens and closes, dark and wide work"({ page, show, settled, shot }) {
    await show("v=top-down");
    await page.waitForSelector(".tree");
    await page.keyboard.press("?");
    await page.waitForSelector("[role=dialog]");
    await shot("help");
    await page.click("[role=dialog] .close");
    await page.click("[aria-label='switch theme']");
    assert.ok(await page.evaluate(() => document.documentElement.dataset.theme));
    await page.setViewportSize({ width: 3840, height: 2160 });
    await settled();
    await shot("wide-dark");
    const overflows = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.ok(!overflows, "the page is wider than the window");
    await page.setViewportSize({ width: 1280, height: 800 });
  },
  async "an address of a source that is not open leads to those that are"({
    page,
    show,
    until,
    hash,
  }) {
    await show("s=77&v=flame");
    assert.match(await page.textContent(".compare-command code"), /^cairn view .* PATH$/);
    await page.click("main a >> nth=1");
    await until("another source", () => hash() === "#s=1");
    await page.waitForSelector(".overview .overview-table tbody tr");
  },
  async "an analysis shows what is done and what is left, then the views"({
    page,
    show,
    until,
    shot,
  }) {
    const steps = [
      { what: "reading samples", done: 1000, total: 40000, unit: "records" },
      { what: "reading samples", done: 30000, total: 40000, unit: "records" },
      { what: "adding up costs", done: 0, total: 1, unit: "" },
    ];
    let at = 0;
    await page.route(/\/api\/v1\/sources$/, async (route) => {
      const response = await route.fetch();
      const answer = await response.json();
      Object.assign(answer.sources[0], { state: "working", step: steps[at] });
      await route.fulfill({ response, json: answer });
    });
    await page.route(/\/sources\/0\/info$/, (route) =>
      route.fulfill({
        status: 503,
        json: { error: { kind: "not-ready", text: "analysing" } },
      }),
    );
    await show("s=0");
    await page.reload();
    await page.waitForSelector(".analysis progress");
    assert.match(await page.textContent(".steps"), /reading samples3 %: 1,000 of 40,000 records/);
    await page.waitForTimeout(1100);
    at = 1;
    await until("what is left", async () =>
      /75 %: 30,000 of 40,000 records, about \d+ s left/.test(await page.textContent(".steps")),
    );
    await shot("analysis");
    at = 2;
    await until("the next step", async () =>
      /reading samples [\d.]+ m?s.*adding up costs$/.test(await page.textContent(".steps")),
    );
    await page.unroute(/\/sources\/0\/info$/);
    await page.waitForSelector(".overview .overview-table tbody tr");
    await page.unroute(/\/api\/v1\/sources$/);
    await page.reload();
    await page.waitForSelector(".overview .overview-table tbody tr");
  },
  async "paper is light, has all rows that are loaded, and says how many are not"({
    page,
    show,
    settled,
    until,
  }) {
    await show("s=4&v=flat&grp=module");
    await page.waitForSelector(".tree-row[aria-level='3']");
    const onScreen = await page.locator(".tree-row[aria-level]").count();
    await page.evaluate(() => {
      document.documentElement.dataset.theme = "dark";
      addEventListener("beforeprint", () =>
        setTimeout(() => {
          window.printed = {
            theme: document.documentElement.dataset.theme,
            rows: document.querySelectorAll(".tree-row[aria-level]").length,
            note: document.querySelector(".printed-note")?.textContent,
          };
        }),
      );
      dispatchEvent(new Event("beforeprint"));
    });
    await until("printed", () => page.evaluate(() => window.printed !== undefined));
    const { theme, rows, note } = await page.evaluate(() => window.printed);
    assert.equal(theme, "light");
    assert.ok(rows > onScreen, `${rows} rows of ${onScreen}`);
    assert.match(note, /^rows 1 to [\d,]+ of 6,0\d\d; the others are not printed$/);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await settled();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    assert.equal(await page.locator(".tree-row[aria-level]").count(), onScreen);
  },
  async "tracks are printed"({ page, show, until }) {
    await show("s=1&v=timeline");
    await page.waitForSelector(".tracks canvas");
    const height = async () => (await page.locator(".tracks").boundingBox()).height;
    const before = await height();
    await page.emulateMedia({ media: "print" });
    await until("high", async () => (await height()) > before / 2);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 1280, `${wide} pixels wide`);
    await page.emulateMedia({ media: "screen" });
  },
  async "names are text, never markup"({ page }) {
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(
      await page.evaluate(() => document.querySelectorAll("main script, main img").length),
      0,
    );
  },
};
