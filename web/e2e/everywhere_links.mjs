// A link opens what it was copied from; waiting is visible; nothing jumps.
import assert from "node:assert/strict";

// States of every view, each with something that shows it was kept.
const STATES = [
  ["s=0&v=top-down&fold=1&q=fib", async (page) => page.waitForSelector(".tree-row.hit")],
  [
    "s=0&v=bottom-up&sort=cputime_sec_exclusive&rev=1",
    async (page) => page.waitForSelector("[aria-sort=ascending]"),
  ],
  [
    "s=0&v=flat&hide=cputime_sec_exclusive&more=cycles",
    async (page) => page.waitForSelector(".tree-head >> text=cycles total"),
  ],
  ["s=1&v=top-down&p=1&t=1-2", async (page) => page.waitForSelector(".tree-head >> text=p99")],
  ["s=0&v=flame&inv=1&mod=1&q=solve", async (page) => page.waitForSelector("text=matches:")],
  ["s=0&v=flame&up=1", async (page) => page.waitForSelector(".flame canvas")],
  [
    "s=1&v=timeline&d=1&from=100&to=5000&b=200&e=3000&st=1",
    async (page) => page.waitForSelector(".toolbar >> text=of 1 thread"),
  ],
  ["s=1&v=top-down&b=200&e=3000", async (page) => page.waitForSelector(".chosen-range")],
  ["s=1&v=flat&b=200&e=3000&st=1", async (page) => page.waitForSelector(".chosen-range")],
];

// The text of the page, when all answers are shown.
async function picture({ page, settled }) {
  await settled();
  return page.evaluate(() => document.querySelector("main").innerText);
}

// Waits until nothing was asked for a while.
async function quiet(page, until) {
  let last = Date.now();
  let open = 0;
  const begin = () => {
    open++;
  };
  const end = () => {
    open--;
    last = Date.now();
  };
  const events = [
    ["request", begin],
    ["requestfinished", end],
    ["requestfailed", end],
  ];
  for (const [name, listen] of events) page.on(name, listen);
  await until("nothing is asked", () => open <= 0 && Date.now() - last > 1500);
  for (const [name, listen] of events) page.off(name, listen);
}

export const tests = {
  async "every view is reopened from its address"(viewer) {
    const { page, show, hash, until } = viewer;
    for (const [state, sign] of STATES) {
      await show(state);
      await sign(page);
      const before = await picture(viewer);
      const link = page.url();
      await page.goto("about:blank");
      await page.goto(link);
      await sign(page);
      let after = "";
      await until("the same page", async () => (after = await picture(viewer)) === before).catch(
        () => assert.equal(after, before, `another page from ${link}`),
      );
      for (const [name, value] of new URLSearchParams(state))
        assert.equal(new URLSearchParams(hash().slice(1)).get(name), value);
    }
  },
  async "an unknown view is the first one"({ page, show }) {
    await show("s=0&v=sideways");
    await page.waitForSelector("[role=tab][aria-selected=true]:has-text('Overview')");
    await page.waitForSelector(".overview-table tbody tr");
  },
  async "waiting longer than a moment is visible, and only then"({ page, show, until }) {
    await show("s=0&v=top-down");
    await page.waitForSelector(".tree-row[aria-level='1']");
    await page.evaluate(() => {
      const bar = document.querySelector(".pending");
      new MutationObserver(() => {
        if (bar.classList.contains("shown")) window.shownAt = performance.now();
      }).observe(bar, { attributeFilter: ["class"] });
    });
    let answered = Promise.resolve();
    await page.route("**/api/v1/sources/0/**", async (route) => {
      await answered;
      await route.continue();
    });
    for (const view of ["bottom-up", "flame", "timeline"]) {
      await quiet(page, until);
      assert.equal(await page.locator(".pending.shown").count(), 0);
      let answer;
      answered = new Promise((resolve) => (answer = resolve));
      // Before any request of the view: a slow machine only makes the wait longer.
      await page.evaluate(() => (window.askedAt = performance.now()));
      await show(`s=0&v=${view}&t=1`);
      await page.waitForSelector(".pending.shown");
      const waited = await page.evaluate(() => window.shownAt - window.askedAt);
      assert.ok(waited >= 70, `${view}: shown after ${waited} ms`);
      assert.equal(await page.getAttribute(".pending", "aria-hidden"), "false");
      answer();
      await until("the answer", async () => (await page.locator(".pending.shown").count()) === 0);
    }
    await page.unroute("**/api/v1/sources/0/**");
  },
  async "nothing jumps while answers arrive"({ page, show, settled }) {
    await show("s=0&v=top-down");
    await page.waitForSelector(".tree-row[aria-level='1']");
    await page.evaluate(() => {
      window.shifts = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries())
          if (!entry.hadRecentInput) window.shifts += entry.value;
      }).observe({ type: "layout-shift" });
    });
    for (const state of ["v=bottom-up", "v=flat", "v=flame", "v=timeline", "v=top-down"]) {
      await show(`s=0&${state}`);
      await settled();
    }
    const shifts = await page.evaluate(() => window.shifts);
    assert.ok(shifts < 0.1, `things moved by ${shifts}`);
  },
  async "everything that can be used has a name"({ page, show, settled }) {
    for (const state of ["s=0&v=top-down", "s=0&v=flame", "s=0&v=timeline", "s=1&v=calls", "s=2"]) {
      await show(state);
      await settled();
      const nameless = await page.evaluate(() =>
        [
          ...document.querySelectorAll(
            "button, input, select, canvas:not([role=presentation]), svg, [tabindex='0'], [role=treegrid], table[role]",
          ),
        ]
          .filter((element) => {
            const label =
              element.getAttribute("aria-label") ||
              element.getAttribute("title") ||
              element.textContent.trim();
            return (
              !label &&
              !element.labels?.length &&
              !element.closest("[aria-hidden=true]") &&
              !element.disabled
            );
          })
          .map((element) => element.outerHTML.slice(0, 100)),
      );
      assert.deepEqual(nameless, [], state);
    }
  },
  async "it can be read at 1280 and at 3840 pixels, light and dark"({ page, show, settled, shot }) {
    for (const [width, height] of [
      [1280, 800],
      [3840, 2160],
    ]) {
      await page.setViewportSize({ width, height });
      for (const view of ["top-down", "flame", "timeline"]) {
        await show(`s=0&v=${view}`);
        await settled();
        assert.ok(
          !(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)),
          `${view} is wider than ${width}`,
        );
        await shot(`${view}-${width}`);
        await page.keyboard.press("t");
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  },
};
