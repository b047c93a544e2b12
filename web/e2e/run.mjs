// Drives the viewer in a real browser: node e2e/run.mjs [--only NAME] CAIRN SHOTS DATABASE
// RECORDING STORE SOURCED WIDE
//
// SOURCED is a database with copies of its sources, WIDE one of many functions.
//
// Every view is opened, searched and zoomed; pictures go to the folder SHOTS. The tests of
// one view are one file; --only runs one of them, or the tests whose names contain NAME.
// Ends with status 77 where there is no browser.
import { readdir } from "node:fs/promises";
import { basename } from "node:path";
import { hasBrowser, open } from "./harness.mjs";

const words = process.argv.slice(2);
const only = words[0] === "--only" ? words.splice(0, 2)[1] : "";
const [cairn, shots, ...paths] = words;

if (!hasBrowser()) {
  console.log("skipped: there is no browser");
  process.exit(77);
}

const ORDER = ["database", "recording", "store", "everywhere", "export"];
const rank = (file) => ORDER.findIndex((name) => basename(file, ".mjs").startsWith(name));

const here = new URL(".", import.meta.url);
const files = (await readdir(here)).filter((name) => rank(name) >= 0).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
const viewer = await open(cairn, shots, paths);
let failed = 0;

for (const file of files) {
  const { tests } = await import(new URL(file, here));
  for (const [name, run] of Object.entries(tests)) {
    if (!file.startsWith(only) && !name.includes(only)) continue;
    try {
      await run(viewer);
      console.log(`ok: ${name}`);
    } catch (error) {
      failed++;
      console.log(`failed: ${name}: ${error.message}`);
      await viewer.shot(`failed-${failed}`).catch(() => undefined);
    }
  }
}
if (viewer.complaints.length > 0) {
  failed++;
  console.log(`failed: the browser complained: ${viewer.complaints.join("; ")}`);
}
await viewer.close();
process.exit(failed > 0 ? 1 : 0);
