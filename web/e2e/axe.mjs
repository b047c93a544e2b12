// What axe-core finds in a page as it is, light and dark.
import { readFile } from "node:fs/promises";

// Themes differ in colours alone. What passes is not described, which would take most of the time.
const resultTypes = ["violations"];
const RULES = {
  light: { resultTypes, runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] },
  dark: {
    resultTypes,
    runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] },
  },
};
const SOURCE = new URL("../node_modules/axe-core/axe.min.js", import.meta.url);

// `drawn` ends after the page was drawn.
export async function violations(page, drawn) {
  if (!(await page.evaluate(() => "axe" in window)))
    await page.evaluate(await readFile(SOURCE, "utf8"));
  const lines = [];
  for (const theme of ["light", "dark"]) {
    await page.evaluate((name) => {
      document.documentElement.dataset.theme = name;
    }, theme);
    await drawn();
    const found = await page.evaluate((chosen) => window.axe.run(document, chosen), RULES[theme]);
    for (const { id, nodes } of found.violations) {
      const places = nodes.slice(0, 3).map((node) => node.target.join(" "));
      lines.push(`${theme}: ${id}: ${places.join(", ")}`);
    }
  }
  return lines;
}
