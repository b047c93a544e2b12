// Asks the engine in the worker of a page what the tests asked servers, and compares the answers
// byte for byte: node e2e/engine.mjs CAIRN FOLDER
//
// FOLDER has a file for each server, {load, questions: [[address, answer]]}, of
// tests/server/service.py, and one with hostile data, {damaged: [load]}, which ends in answers and
// messages, never in a worker that has stopped. One page asks all of them.
import { execFileSync } from "node:child_process";
import { readFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasBrowser, launch } from "./harness.mjs";

const [cairn, folder] = process.argv.slice(2);
const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".json"));
if (!hasBrowser() || names.length === 0) {
  console.log(`skipped: there is no ${hasBrowser() ? "list of questions" : "browser"}`);
  process.exit(77);
}

// In the page: the worker of the viewer answers this test instead.
function catchWorker() {
  const Native = Worker;
  window.Worker = class extends Native {
    constructor(url) {
      super(url);
      window.caught = this;
    }
    addEventListener(type, listener) {
      super.addEventListener(type, (event) => window.answered?.(event) ?? listener(event));
    }
  };
}

// In the page: what its worker answers to a message, and to data with its blocks.
function makeAsk() {
  const send = (message) => window.caught.postMessage(message);
  window.askWorker = (message) =>
    new Promise((resolve) => {
      // Steps on the way are no answers.
      window.answered = (event) => {
        if (!event.data.step) resolve(event.data);
        return true;
      };
      send(message);
    });
  window.loadWorker = ({ blocks, ...load }) => {
    const engine = document.getElementById("cairn-engine").textContent;
    send({ load: { ...load, engine, dropped: [] } });
    for (const packed of blocks) send({ packed });
    return window.askWorker({ isWhole: true });
  };
}

// In the page: what stopped the engine, of each load; "" if nothing did.
async function endure(loads) {
  const stops = [];
  for (const load of loads) {
    let { stopped } = await window.loadWorker(load);
    for (const question of ["info", "overview", "rows", "timeline", "calls", "traces"])
      if (!stopped)
        ({ stopped } = await window.askWorker({ address: `/api/v1/sources/0/${question}` }));
    stops.push(stopped ?? "");
  }
  return stops;
}

// In the page: answers that differ, [address, expected, answer].
async function compare({ load, questions }) {
  const ask = window.askWorker;
  const opened = await window.loadWorker(load);
  if (opened.failures?.length !== 0) return [["open", "", JSON.stringify(opened)]];
  const differences = [];
  for (const [address, expected] of questions) {
    let { text, stopped } = await ask({ address });
    for (let i = 0; i < 100 && /"(isPending|isPartial)": true/.test(text); i++)
      ({ text, stopped } = await ask({ address }));
    if (text === expected) continue;
    const answer = text ?? `stopped: ${stopped}`;
    let at = 0;
    while (at < expected.length && expected[at] === answer[at]) at++;
    const from = Math.max(0, at - 40);
    differences.push([address, expected.slice(from, at + 160), answer.slice(from, at + 160)]);
  }
  return differences;
}

const scratch = await mkdtemp(join(tmpdir(), "cairn-engine-"));
const file = join(scratch, "viewer.html");
execFileSync(cairn, ["export-html", "-q", "--empty", file], { stdio: "inherit" });
const browser = await launch();
process.on("exit", () => browser.process?.()?.kill());
const page = await browser.newPage();
await page.addInitScript(catchWorker);
await page.addInitScript(makeAsk);
await page.goto(`file://${file}`);
await page.setInputFiles(".welcome label:nth-child(1) input", [
  { name: "a.folded", mimeType: "text/plain", buffer: Buffer.from("main;work 7\n") },
]);
await page.waitForSelector(".overview-table tbody a:has-text('work')");
let count = 0;
let failed = 0;
let endured = 0;
for (const name of names) {
  const asked = JSON.parse(await readFile(join(folder, name), "utf8"));
  for (const [i, stopped] of (await page.evaluate(endure, asked.damaged ?? [])).entries()) {
    endured++;
    if (stopped === "") continue;
    failed++;
    console.log(`${name}: ${JSON.stringify(asked.damaged[i].files)}: stopped: ${stopped}`);
  }
  if (asked.damaged) continue;
  for (const [address, expected, answer] of await page.evaluate(compare, asked)) {
    failed++;
    console.log(`${name}: ${address}\n  server: ${expected}\n  engine: ${answer}`);
  }
  count += asked.questions.length;
}
console.log(
  `${count} questions about ${names.length} servers, ${endured} hostile inputs, ${failed} failures`,
);
await browser.close();
await rm(scratch, { recursive: true });
process.exit(failed > 0 ? 1 : 0);
