// Drives the viewer in a real browser: node e2e/run.mjs [--only NAME]... CAIRN SHOTS DATABASE
// RECORDING STORE SOURCED WIDE FLOWS
//
// SOURCED is a database with copies of its sources, WIDE one of many functions, FLOWS a Chrome trace
// with a flow between two threads.
//
// Every view is opened, searched and zoomed; pictures go to the folder SHOTS. The tests of
// one view are one file, with a page self; --only runs files that begin with NAME, or the tests
// whose names contain it. Ends with status 77 where there is no browser.
import { readdir } from "node:fs/promises";
import { basename } from "node:path";
import { hasBrowser, start } from "./harness.mjs";

const words = process.argv.slice(2);
const only = [];
while (words[0] === "--only") only.push(words.splice(0, 2)[1]);
const [cairn, shots, ...paths] = words;

if (!hasBrowser()) {
  console.log("skipped: there is no browser");
  process.exit(77);
}

// Keys and questions have no limit of their own: a browser that hangs ends the run here.
const LIMIT_MS = 240000;
class Stuck extends Error {}

function limited(work, ms = LIMIT_MS) {
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(
      () => reject(new Stuck(`the browser hangs: no end after ${ms / 1000} s`)),
      ms,
    );
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

const ORDER = ["database", "recording", "store", "everywhere", "export", "hostile"];
const rank = (file) => ORDER.findIndex((name) => basename(file, ".mjs").startsWith(name));

const here = new URL(".", import.meta.url);
const files = (await readdir(here))
  .filter((name) => rank(name) >= 0)
  .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
const server = await start(cairn, shots, paths);
let failed = 0;

async function runTest(viewer, name, run) {
  const begin = Date.now();
  try {
    await limited(run(viewer));
    await limited(viewer.settleErrors());
    console.log(`ok: ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`failed: ${name}: ${error.message}`);
    if (error instanceof Stuck) process.exit(1);
    await limited(viewer.shot(`failed-${failed}`), 10000).catch(() => undefined);
    await limited(viewer.settleErrors(), 10000).catch(() => undefined);
  }
}

// The server and the browser end with this process, however it ends.
process.on("exit", () => server.kill());
for (const file of files) {
  const { tests } = await import(new URL(file, here));
  const isChosen = (name) => only.some((one) => file.startsWith(one) || name.includes(one));
  const chosen = Object.entries(tests).filter(([name]) => only.length === 0 || isChosen(name));
  if (chosen.length === 0) continue;
  const viewer = await limited(server.open());
  for (const [name, run] of chosen) await runTest(viewer, name, run);
  await limited(viewer.close(), 20000);
}
await limited(server.close(), 20000).catch((error) => console.log(`at the end: ${error.message}`));
process.exit(failed > 0 ? 1 : 0);
