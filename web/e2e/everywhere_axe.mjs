// Roles, names, order and contrast in every view, light and dark, checked with axe-core.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

const VIEWS = [
  ["s=0", ".overview-table tbody tr"],
  ["s=0&v=top-down", ".tree-row"],
  ["s=1&v=sandwich", ".sandwich"],
  ["s=1&v=flame", ".flame canvas"],
  ["s=1&v=timeline", ".timeline-canvas canvas"],
  ["s=1&v=calls", ".call-list"],
  ["s=1&v=compare&cb=1&cat=1&cbt=2", ".overview-table tbody tr"],
  ["s=2", ".results"],
];

// Themes differ in colours alone.
const RULES = {
  light: { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] },
  dark: { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } },
};

async function violations(page, rules) {
  const found = await page.evaluate((chosen) => window.axe.run(document, chosen), rules);
  return found.violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .slice(0, 3)
        .map((node) => node.target.join(" "))
        .join(", ")}`,
  );
}

export const tests = {
  async "axe-core finds nothing in any view"({ page, show }) {
    const axe = await readFile(
      new URL("../node_modules/axe-core/axe.min.js", import.meta.url),
      "utf8",
    );
    await page.evaluate(axe);
    const found = [];
    for (const theme of ["light", "dark"])
      for (const [state, sign] of VIEWS) {
        await show(state);
        await page.waitForSelector(sign);
        await page.evaluate((name) => {
          document.documentElement.dataset.theme = name;
        }, theme);
        await page.waitForTimeout(100);
        for (const line of await violations(page, RULES[theme]))
          found.push(`${theme} ${state}: ${line}`);
      }
    assert.deepEqual(found, []);
  },
  async "Ctrl-K goes to views, functions and threads"({ page, show, until, hash }) {
    await show("s=0&v=top-down");
    await page.waitForSelector(".tree-row");
    await page.evaluate(() => {
      window.requestAnimationFrame = (draw) => setTimeout(draw, 100); // typed faster than drawn
    });
    await page.keyboard.press("Control+k");
    await page.keyboard.type("flame");
    await page.keyboard.press("Enter");
    await until("the flame graph", () => /v=flame/.test(hash()));
    await page.keyboard.press("Control+k");
    await page.keyboard.type("solve");
    await page.waitForSelector(".palette li:has-text('solve')");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".sandwich h2.middle:has-text('solve')");
    await page.goBack();
    await until("undone", () => /v=flame/.test(hash()));
    await page.goForward();
    await until("done again", () => /v=sandwich/.test(hash()));
    await page.keyboard.press("Control+k");
    await page.waitForSelector(".palette li >> nth=1");
    assert.match(await page.textContent(".palette li >> nth=0"), /solve/, "the last one is first");
    assert.match(await page.textContent(".palette li >> nth=1"), /Flame graph/);
    await page.keyboard.press("Escape");
    await show("s=2&q=errors&key=0.0");
    await page.waitForSelector(".trace-calls");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("operations");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".operations");
    assert.match(hash(), /q=errors/, "the query stays");
  },
};
