// Accessibility: visible focus, names of tables and drawings, keyboard access, an up-to-date address.
import assert from "node:assert/strict";

const VIEWS = [
  "s=0&v=top-down",
  "s=0&v=bottom-up",
  "s=0&v=flat",
  "s=0&v=flame",
  "s=0&v=timeline",
  "s=1&v=calls",
  "s=2",
  "s=2&v=flame",
];
const READY =
  ".tree-row[aria-level], .flame canvas, .timeline-canvas .nested[aria-label*=threads], .vtable-body [role=row]";

// What is wrong with the tables and drawings of the page, in words.
function complaintsOfPage() {
  const wrong = [];
  for (const table of document.querySelectorAll("[role=treegrid], [role=grid]")) {
    const name = table.getAttribute("aria-label");
    if (!name) wrong.push("a table without a name");
    if (!(Number(table.getAttribute("aria-rowcount")) > 0))
      wrong.push(`${name}: no number of rows`);
    if (!table.querySelector("[role=columnheader]")) wrong.push(`${name}: no heads of columns`);
    for (const row of table.querySelectorAll("[role=row]"))
      if (!row.getAttribute("aria-rowindex")) wrong.push(`${name}: a row without a number`);
    const isSortable = table.querySelector("[aria-sort]");
    if (isSortable && !table.querySelector("[aria-sort=ascending], [aria-sort=descending]"))
      wrong.push(`${name}: sorted by what?`);
  }
  for (const drawing of document.querySelectorAll(
    "canvas:not([role=presentation]), [role=img], svg:not([aria-hidden])",
  ))
    if (!drawing.getAttribute("aria-label") || !drawing.getAttribute("role"))
      wrong.push(`a drawing without a name: ${drawing.outerHTML.slice(0, 80)}`);
  return wrong;
}

function focusOfPage() {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const style = getComputedStyle(element);
  return {
    what: `${element.tagName} ${element.id || element.className} ${element.getAttribute("aria-label") ?? element.textContent.trim().slice(0, 30)}`,
    isSeen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
  };
}

export const tests = {
  async "tables and drawings say what they are"({ page, show }) {
    for (const state of VIEWS) {
      await show(state);
      await page.waitForSelector(READY);
      assert.deepEqual(await page.evaluate(complaintsOfPage), [], state);
    }
  },
  async "Tab reaches everything, and where it is can be seen"({ page, show }) {
    for (const [state, main] of [
      ["s=0&v=top-down", "treegrid"],
      ["s=0&v=flame", "flame graph"],
      ["s=0&v=timeline", "threads over time"],
      ["s=2", "traces"],
    ]) {
      await show(state);
      await page.waitForSelector(READY);
      await page.focus("header select, header button");
      const seen = [];
      for (let i = 0; i < 60; i++) {
        await page.keyboard.press("Tab");
        const focus = await page.evaluate(focusOfPage);
        if (!focus) break;
        assert.ok(focus.isSeen, `${state}: focus on ${focus.what} cannot be seen`);
        seen.push(focus.what);
      }
      const isReached =
        main === "treegrid"
          ? seen.some((what) => what.includes(" tree "))
          : seen.some((what) => what.includes(main));
      assert.ok(isReached, `${state}: Tab never came to ${main}, but to ${seen.join("; ")}`);
    }
  },
  async "on a phone, the tab of the view is in sight"({ page, show, until }) {
    await page.setViewportSize({ width: 400, height: 800 });
    for (const [state, name] of [
      ["s=1&v=calls", "calls"],
      ["s=1&v=overview", "overview"],
    ]) {
      await show(state);
      await until(name, async () => {
        const box = await page.locator(`#view-tab-${name}`).boundingBox();
        return box !== null && box.x >= 0 && box.x + box.width <= 400;
      });
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  },
  async "arrows, Home and End move between tabs, which name their panel"({ page, show, until }) {
    const chosen = () => page.textContent("[role=tab][aria-selected=true]");
    const panelName = () =>
      page.evaluate(() => {
        const panel = document.querySelector("[role=tabpanel]");
        const tab = document.getElementById(panel.getAttribute("aria-labelledby"));
        return tab.getAttribute("aria-controls") === panel.id ? tab.textContent : null;
      });
    await show("s=0&v=top-down");
    await page.waitForSelector(".tree-row");
    await page.focus("[role=tab][aria-selected=true]");
    for (const [key, title] of [
      ["ArrowRight", "Bottom-up"],
      ["End", "SQL"],
      ["ArrowRight", "Overview"],
      ["ArrowLeft", "SQL"],
      ["Home", "Overview"],
    ]) {
      await page.keyboard.press(key);
      await until(title, async () => (await chosen()) === title && (await panelName()) === title);
      assert.equal(await page.evaluate(() => document.activeElement.textContent), title);
    }
    assert.equal(await page.locator("header [role=tab][tabindex='0']").count(), 1);
    await show("s=2&key=0.0");
    await page.waitForSelector(".waterfall");
    await page.focus("main [role=tab][aria-selected=true]");
    await page.keyboard.press("ArrowRight");
    await page.waitForSelector(".trace-chart");
  },
  async "drawings describe the selected item in text"({ page, show, until }) {
    const said = (selector) => page.textContent(`${selector}[aria-live=polite]`);
    await show("s=0&v=flame");
    await page.waitForSelector(".flame canvas");
    await page.focus(".flame canvas");
    const whole = await said(".flame .status");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await until(
      "the box",
      async () =>
        (await said(".flame .status")) !== whole && /%\), self/.test(await said(".flame .status")),
    );
    await show("s=1&v=timeline");
    await page.waitForSelector(".timeline-canvas .nested[aria-label*=threads]");
    await page.focus(".timeline-canvas");
    await page.keyboard.press(".");
    await until("the stack", async () => /At .*s/.test(await said(".timeline .panel")));
  },
  async "time and threads are selected without a mouse"({ page, show, until, hash }) {
    await show("s=1&v=timeline");
    await page.waitForSelector(".timeline-canvas .nested[aria-label*=threads]");
    await page.focus(".timeline-canvas");
    for (const key of [",", ",", "[", ".", ".", ".", ".", "]", "x"]) await page.keyboard.press(key);
    await until(
      "one thread",
      () => /st=1(&|$)/.test(hash()) && /b=/.test(hash()) && /e=/.test(hash()),
    );
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("x");
    await until("two threads", () => /st=1-2/.test(hash()));
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("x");
    await until("the other one", () => /st=2(&|$)/.test(hash()));
    await page.keyboard.press("Enter");
    await page.waitForSelector(".chosen-range");
  },
  async "Esc closes the innermost thing, and the next key is one of the view"({
    page,
    show,
    hash,
  }) {
    const focus = () =>
      page.evaluate(() => document.activeElement.closest("[data-keys]")?.className ?? "");
    await show("s=0&v=flame");
    await show("s=0&v=top-down&q=solve");
    await page.waitForSelector(".matches");
    await page.keyboard.press("/");
    await page.keyboard.press("Escape");
    assert.match(hash(), /q=solve/, "Esc leaves the field and empties nothing");
    assert.equal(await page.inputValue("#search"), "solve");
    assert.match(await focus(), /tree/);
    for (const key of ["?", "Control+k"]) {
      await page.keyboard.press(key);
      await page.waitForSelector("[role=dialog]");
      await page.keyboard.press("Escape");
      await page.waitForSelector("[role=dialog]", { state: "detached" });
      assert.match(await focus(), /tree/, `after ${key}`);
    }
    await page.keyboard.press("ArrowDown");
    await page.waitForSelector("aside.panel");
    await page.focus("aside.panel .link");
    await page.keyboard.press("Escape");
    await page.waitForSelector("aside.panel", { state: "detached" });
    assert.match(await focus(), /tree/);
    assert.match(hash(), /q=solve/);
  },
  async "keys that nothing has the focus for are those of the view"({ page, show, until }) {
    for (const [state, list] of [
      ["s=0&v=bottom-up", ".tree"],
      ["s=2", ".results"],
      ["s=2&v=operations", ".operations"],
      ["s=2&key=0.0&tab=methods", ".methods"],
    ]) {
      await show(state);
      await page.waitForSelector(`${list} .vtable-body [role=row]`);
      await page.evaluate(() => document.activeElement.blur());
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      await until(`a row of ${list}`, () => page.$(`${list} [aria-selected=true]`));
    }
  },
  async "menus are walked with keys, and stay inside the window"({ page, show }) {
    const inMenu = () => page.evaluate(() => document.activeElement.closest("label")?.textContent);
    for (const width of [1440, 1024, 600]) {
      await page.setViewportSize({ width, height: 800 });
      await show("s=0&v=flat");
      await page.waitForSelector(".tree-row");
      for (const title of ["Columns", "Copy"]) {
        const menu = page.locator(`.menu:has(summary:text-is("${title}"))`);
        await menu.locator("summary").focus();
        await page.keyboard.press("ArrowDown");
        const box = await menu.locator("> div").boundingBox();
        assert.ok(box.x >= 0 && box.x + box.width <= width, `${title} at ${width}`);
        await page.keyboard.press("End");
        await page.keyboard.press("Escape");
        assert.equal(await menu.getAttribute("open"), null);
        assert.equal(await page.evaluate(() => document.activeElement.textContent), title);
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.focus("main .menu summary");
    await page.keyboard.press("ArrowDown");
    const first = await inMenu();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Home");
    assert.equal(await inMenu(), first);
    await page.mouse.click(640, 700);
    assert.equal(await page.locator(".menu[open]").count(), 0, "a click elsewhere closes it");
  },
  async "help begins with the keys of the view"({ page, show }) {
    for (const [state, title] of [
      ["s=0&v=flat", "Tree"],
      ["s=0&v=flame", "Flame graph"],
      ["s=1&v=timeline", "Timeline"],
      ["s=1&v=calls", "Calls"],
      ["s=2", "Store"],
      ["s=2&key=0.0", "Trace"],
      ["s=0", "Everywhere"],
    ]) {
      await show(state);
      await page.waitForSelector("[role=tabpanel]");
      await page.keyboard.press("?");
      assert.equal(await page.textContent(".sheet h3 >> nth=0"), title);
      await page.keyboard.press("Escape");
    }
  },
  // Browsers ignore what comes after some 200 changes of the address in a row.
  async "the address keeps up with hundreds of steps"({ page, show, until, hash }) {
    await show("s=1&v=timeline");
    await page.waitForSelector(".timeline-canvas .nested[aria-label*=threads]");
    await page.evaluate(async () => {
      const press = (key) =>
        document
          .querySelector(".timeline-canvas")
          .dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      press("w");
      for (let i = 0; i < 300; i++) {
        press(i % 2 === 0 ? "d" : "a");
        await new Promise((resolve) => setTimeout(resolve));
      }
      press("0");
    });
    await until("all of the time", () => /from=0(&|$)/.test(hash()));
    await page.waitForSelector(".timeline .status:has-text('0 ns –')");
  },
};
