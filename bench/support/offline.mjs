// Times pages without a server in a browser: node offline.mjs EXPORTED VIEWER FOLDER <QUESTIONS
//
// EXPORTED is a page of data, VIEWER one without, into which FOLDER is put. QUESTIONS are addresses
// of the API, as JSON. Prints JSON: when the first view of either page was painted, and when the page was loaded
// or the folder given, in ms since the address was opened; until then the processor time in ms of all
// processes of the browser, and the memory of the largest of them; and the processor time of each
// question to the engine in the worker, the first time and after that.
import { readdirSync, readFileSync } from "node:fs";
import { launch } from "../../web/e2e/harness.mjs";

const [exported, viewer, folder] = process.argv.slice(2);
const questions = JSON.parse(readFileSync(0, "utf8"));
const FIRST_VIEW = ".overview-table tbody a";
const TICK_MS = 10;

// This process and all below it, but not itself: [processor time in ms, resident MB].
function spent() {
  const all = new Map();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, "utf8").split(") ").pop().split(" ");
      all.set(Number(name), {
        parent: Number(fields[1]),
        ms: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
        mb: (Number(fields[21]) * 4096) / 1e6,
      });
    } catch {
      // It has ended.
    }
  }
  const isMine = (pid) => pid > 1 && (pid === process.pid || isMine(all.get(pid)?.parent ?? 0));
  const mine = [...all].filter(([pid]) => pid !== process.pid && isMine(pid));
  const sum = (key) => mine.reduce((total, [, one]) => total + one[key], 0);
  return { ms: sum("ms"), mb: Math.max(...mine.map(([, one]) => one.mb)) };
}

// In the page: the worker of the viewer answers this program when it asks.
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

// In the page: ask until the answer is complete.
async function ask(address) {
  const once = () =>
    new Promise((resolve) => {
      window.answered = (event) => {
        resolve(event.data);
        return true;
      };
      window.caught.postMessage({ address });
    });
  let answer = await once();
  while (/"(isPending|isPartial)": true/.test(answer.text)) answer = await once();
}

// In the page: note when files were given, and when the first view was painted.
function noteTimes(selector) {
  const times = { given: 0, shown: 0 };
  window.times = times;
  document.addEventListener("change", () => (times.given = performance.now()), true);
  const watch = new MutationObserver(() => {
    if (!document.querySelector(selector)) return;
    watch.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => (times.shown = performance.now())));
  });
  watch.observe(document, { childList: true, subtree: true });
}

const readTimes = () => {
  const [load] = performance.getEntriesByType("navigation");
  return { ...window.times, loaded: load.loadEventEnd };
};

// A page with its own browser, so that nothing else counts.
async function open(file, fill, addresses) {
  const browser = await launch();
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  await page.addInitScript(catchWorker);
  await page.addInitScript(noteTimes, FIRST_VIEW);
  const before = spent();
  await page.goto(`file://${file}`);
  await fill(page);
  await page.waitForSelector(FIRST_VIEW);
  const now = spent();
  let at = await page.evaluate(readTimes);
  while (at.shown === 0) at = await page.evaluate(readTimes);
  const figures = {
    wall: at.shown,
    loaded: at.given || at.loaded,
    cpu: now.ms - before.ms,
    mb: now.mb,
  };
  const times = [];
  for (const address of addresses) {
    const laps = [spent().ms];
    for (let i = 0; i < 2; i++) {
      await page.evaluate(ask, address);
      laps.push(spent().ms);
    }
    times.push([laps[1] - laps[0], laps[2] - laps[1]]);
  }
  await browser.close();
  return { ...figures, times };
}

const { times, ...first } = await open(exported, async () => undefined, questions);
const second = await open(
  viewer,
  (page) => page.setInputFiles(".welcome label:nth-child(2) input", folder),
  [],
);
console.log(JSON.stringify({ exported: first, dropped: second, times }));
