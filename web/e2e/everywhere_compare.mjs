// Comparisons: what is offered, the sentence and its causes, runs of each side, every form, stores.
import assert from "node:assert/strict";

const SIDES = "s=1&v=compare&cb=1&cat=1&cbt=2";

export const tests = {
  async "without a second side, what could be compared is offered"({
    page,
    show,
    until,
    shot,
    hash,
  }) {
    await show("s=1&v=compare");
    await page.waitForSelector(".compare-offers .offer-list a");
    for (const title of ["Times", "Threads"])
      await page.waitForSelector(`.compare-offers h2:text-is('${title} of the same run')`);
    const titles = await page.locator(".compare-offers h2").allTextContents();
    for (const title of [
      "Another run that is open",
      "Threads of the same run",
      "Times of the same run",
      "What was open before",
    ])
      assert.ok(titles.includes(title), `${title} in ${titles}`);
    await shot("compare-offers");
    await page.click(".card:has(h2:text-is('Threads of the same run')) a");
    await until("threads", () => /cat=/.test(hash()) && /cbt=/.test(hash()));
    await page.waitForSelector(".verdict h1");
    await show("s=1&v=compare");
    await page.click(".card:has(h2:text-is('Times of the same run')) a");
    await until("times", () => /car=0-/.test(hash()) && /cbr=/.test(hash()));
    await page.waitForSelector(".verdict h1");
    await show("s=2&v=compare");
    await page.click("a:has-text('traces without errors and with errors')");
    await until("queries", () => /caq=not\+errors/.test(hash()) && /cbq=errors/.test(hash()));
    await page.waitForSelector(".verdict h1");
  },
  async "the sentence of the server comes first, then at most three causes with evidence"({
    page,
    show,
    shot,
    until,
    hash,
  }) {
    await show(SIDES);
    await page.waitForSelector(".verdict h1");
    const answer = await page.evaluate(() =>
      fetch("/api/v1/diff?a=1&b=1&aThread=1&bThread=2&form=explain").then((one) => one.json()),
    );
    const said = answer.sentence.replace(/, -(?=\d)/, ", −"); // a terminal has no minus
    assert.equal(await page.textContent(".verdict h1"), said);
    const causes = await page.locator(".cause").count();
    assert.ok(causes >= 1 && causes <= 3);
    assert.equal(causes, Math.min(3, answer.lines.length));
    for (let i = 0; i < causes; i++) {
      const cause = page.locator(".cause").nth(i);
      assert.equal(await cause.locator(".cause-name").textContent(), answer.lines[i].label);
      assert.equal(await cause.locator(".pair-row").count(), 2, "a bar for each side");
      assert.match(await cause.locator(".cause-size strong").textContent(), /^[+−]/);
    }
    await page.waitForSelector(".compare-where .flame canvas");
    await shot("compare");
    await page.click(".cause-name");
    await until("where it is", () => /ct=flame/.test(hash()) && /cbt=2/.test(hash()));
    await page.waitForSelector(".flame canvas");
    await shot("compare-flame");
  },
  async "runs are added to a side and removed, and the sides are exchanged whole"({
    page,
    show,
    until,
    hash,
  }) {
    await show("s=1&v=compare&cb=3");
    await page.waitForSelector(".verdict h1");
    await page.selectOption("[aria-label='add a run to B']", "1");
    await until("two runs", () => /cb=3\.1/.test(hash()));
    await page.waitForSelector(".verdict h1, .compare-failed");
    assert.equal(await page.locator("[aria-label='side B'] .chip.run").count(), 2);
    await page.click("[aria-label='exchange A and B']");
    await until(
      "exchanged",
      () => /s=3/.test(hash()) && /ca=1/.test(hash()) && /cb=1/.test(hash()),
    );
    await page.click("[aria-label='side A'] .remove >> nth=1");
    await until("one run", () => !/ca=/.test(hash()));
    await page.fill("[aria-label='threads of B']", "2");
    await page.keyboard.press("Enter");
    await until("threads", () => /cbt=2/.test(hash()));
    await page.fill("[aria-label='time of A']", "1 us - 2 us");
    await page.keyboard.press("Enter");
    await until("a time", () => /car=1000-2000/.test(hash()));
  },
  async "every form has both sides, and a link holds them"({ page, show, until, hash }) {
    for (const form of ["tree", "flat", "callers"]) {
      await show(`${SIDES}&ct=${form}`);
      await page.waitForSelector(".tree-row .kind-function");
      const bars = await page.locator(".tree-row .bar-room i").count();
      assert.ok(bars > 0, `${form}: bars of differences`);
    }
    for (const side of ["A", "B"])
      await page.waitForSelector(`[aria-label='side ${side}'] .subject-facts .subject-program`);
    await page.click("header [role=tab]:has-text('Summary')");
    await until("the summary", () => !/ct=/.test(hash()));
    await page.waitForSelector(".verdict h1");
    await show("s=1&v=compare&cb=1&cat=1&cbt=1");
    await page.waitForSelector("text=All costs are equal.");
    await show("s=1&v=compare&cb=0&ct=timelines");
    await until("both", async () => (await page.locator(".compare-timeline canvas").count()) >= 2);
    assert.equal(await page.locator(".thread-filter").count(), 1, "one toolbar");
    const scales = await page
      .locator(".compare-timeline canvas[aria-label^='the whole time']")
      .evaluateAll((maps) => maps.map((map) => map.getAttribute("aria-label")));
    assert.equal(scales.length, 2);
    assert.equal(scales[0], scales[1], "one scale");
    await show("s=2&v=compare&cb=2&caq=not+errors&cbq=errors&ct=facets");
    await page.waitForSelector("text=What goes with one side");
  },
  async "a comparison says that data of a side is missing, and what cannot be compared"({
    page,
    show,
    expectError,
  }) {
    const isOfSides = (url) => url.pathname.endsWith("/diff");
    await page.route(isOfSides, async (route) => {
      const response = await route.fetch();
      const json = response.ok()
        ? { ...(await response.json()), damage: "run.data: cut" }
        : undefined;
      await route.fulfill({ response, json });
    });
    await show(SIDES);
    await page.waitForSelector(".verdict .failed >> text=run.data: cut");
    await page.unroute(isOfSides);
    expectError(/404 .*diff/);
    await show("s=1&v=compare&cb=1&cat=99&cbt=2");
    await page.waitForSelector(".compare-failed");
  },
};
