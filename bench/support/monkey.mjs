// Uses the viewer at random, and reports every error of the page: node monkey.mjs CAIRN SECONDS SEED PATH...
//
// Clicks, keys, wheel, drags, texts, sizes of the window, Back and Forward, and addresses that are changed at random. An
// error is a script that fails, a message of the console other than a refused question, an answer 500, a page that
// is empty, is larger than its window or hangs, and a server that ends. Each is printed with the steps before it; the
// same seed begins the same way. Ends with status 1 after any error.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { launch } from "../../web/e2e/harness.mjs";

const [cairn, seconds, seed, ...paths] = process.argv.slice(2);
const SETTLE_MS = 3000; // on a machine that does much else
const HANG_MS = 30000;
const STEPS_SHOWN = 25;

let state = Number(seed) >>> 0;
// mulberry32
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let x = Math.imul(state ^ (state >>> 15), 1 | state);
  x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
  return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
}
const below = (count) => Math.floor(random() * count);
const one = (list) => list[below(list.length)];

const KEYS = [
  ..."123456789?/nNjkhrlzwpsamudfgGxeoc[]+-0,.iITt",
  ...["Enter", "Enter", "Escape", "Escape", "Tab", "Shift+Tab", "Backspace", "Space", "Home", "End"],
  ...["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown"],
  ...["Control+k", "Control+Enter", "Shift+ArrowRight", "Delete"],
];
const TEXTS = [
  ...["main", "e", "(", "[a-z]+", "errors", "duration > 1ms", "duraton > 1", "service = ", "not", '"'],
  ...["SELECT * FROM report", "SELECT name, calls FROM report", "SELECT thread, name, begin_ns, total_ns FROM calls"],
  ...["0", "-1", "1-3", "1 ms - 2 ms", "99999999999999999999", "<b>x</b>", "\u202e", "é".repeat(300), ""],
];
const VIEWS = [
  ...["", "overview", "top-down", "bottom-up", "flat", "sandwich", "flame", "timeline", "calls", "sql", "compare"],
  ...["spans", "scatter", "operations", "services", "sideways"],
];
const NAMES = [
  ...["q", "sel", "open", "root", "zoom", "m", "t", "b", "e", "from", "to", "key", "tab", "call", "find", "row", "top"],
  ...["by", "live", "sql", "sf", "cb", "ca", "cat", "cbt", "car", "cbr", "caq", "cbq", "ct", "cw", "shut", "pin", "ord"],
];
const VALUES = ["", "0", "1", "2", "7", "-1", "0.0", "0.1", "1.2.3", "1-2", "1000-2000", "chart", "plot", "tracks"]
  .concat(["flame", "tree", "facets", "timelines", "1e99", "NaN", "x", "%", "__proto__", "SELECT 1", "errors"]);
const SIZES = [
  [400, 800],
  [1280, 720],
  [1920, 1080],
  [700, 300],
];
const USABLE =
  "button, a[href], select, input, textarea, summary, canvas, svg, [role=row], [role=tab], [role=option], [tabindex='0']";

// In the page: where something that can be used is, and what it is.
function usable({ selector, at }) {
  const shown = [...document.querySelectorAll(selector)].filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && box.top < innerHeight && box.left < innerWidth && box.bottom > 0;
  });
  const element = shown[Math.floor(at * shown.length)];
  if (!element) return null;
  const { left, top, width, height } = element.getBoundingClientRect();
  const name = element.getAttribute("aria-label") ?? element.textContent ?? "";
  return { left, top, width, height, kind: element.tagName, name: name.trim().slice(0, 40) };
}

// In the page: what is wrong with it.
function look() {
  const { scrollWidth, scrollHeight } = document.documentElement;
  const found = [];
  if (document.querySelector("main") === null && document.querySelector("[role=dialog]") === null)
    found.push("the page is empty");
  if (scrollWidth > innerWidth + 1 || scrollHeight > innerHeight + 1)
    found.push(`the page has ${scrollWidth} x ${scrollHeight} in ${innerWidth} x ${innerHeight}`);
  return found;
}

const ACTIONS = [
  [
    10,
    async (page) => {
      const found = await page.evaluate(usable, { selector: USABLE, at: random() });
      if (!found) return "nothing to click";
      const [x, y] = [found.left + found.width * random(), found.top + found.height * random()];
      const button = random() < 0.05 ? "right" : "left";
      await page.mouse.click(x, y, { button, clickCount: random() < 0.15 ? 2 : 1 });
      return `${button} click at ${x.toFixed()},${y.toFixed()}: ${found.kind} "${found.name}"`;
    },
  ],
  [
    8,
    async (page) => {
      const key = one(KEYS);
      await page.keyboard.press(key);
      return `key ${key}`;
    },
  ],
  [
    2,
    async (page) => {
      const found = await page.evaluate(usable, { selector: "input, textarea", at: random() });
      if (!found) return "no field";
      const text = one(TEXTS);
      await page.mouse.click(found.left + found.width / 2, found.top + found.height / 2);
      await page.keyboard.insertText(text);
      if (random() < 0.7) await page.keyboard.press("Enter");
      return `"${text.slice(0, 40)}" into "${found.name}"`;
    },
  ],
  [
    2,
    async (page) => {
      const choices = page.locator("select:visible");
      const count = await choices.count();
      if (count === 0) return "no choice";
      const choice = choices.nth(below(count));
      const values = await choice.locator("option").evaluateAll((list) => list.map(({ value }) => value));
      const value = one(values);
      await choice.selectOption(value, { timeout: 2000 });
      return `choose ${value}`;
    },
  ],
  [
    3,
    async (page) => {
      const found = await page.evaluate(usable, { selector: "canvas, svg, main", at: random() });
      if (!found) return "nothing to move";
      const at = () => [found.left + found.width * random(), found.top + found.height * random()];
      const [from, to] = [at(), at()];
      await page.mouse.move(...from);
      if (random() < 0.5) {
        await page.mouse.wheel(below(3) * 50 - 50, below(1600) - 800);
        return `wheel at ${from.map(Math.round)}`;
      }
      const shift = random() < 0.3;
      if (shift) await page.keyboard.down("Shift");
      await page.mouse.down();
      await page.mouse.move(...to, { steps: 4 });
      await page.mouse.up();
      if (shift) await page.keyboard.up("Shift");
      return `drag from ${from.map(Math.round)} to ${to.map(Math.round)}`;
    },
  ],
  [
    1,
    async (page) => {
      await page.evaluate((by) => history.go(by), random() < 0.7 ? -1 : 1);
      return "history";
    },
  ],
  [
    1,
    async (page) => {
      const [width, height] = one(SIZES);
      await page.setViewportSize({ width, height });
      return `${width} x ${height}`;
    },
  ],
  [
    3,
    async (page) => {
      const next = new URLSearchParams({ s: String(below(paths.length)), v: one(VIEWS) });
      while (random() < 0.6) next.set(one(NAMES), one(VALUES));
      await page.evaluate((hash) => {
        location.hash = hash;
      }, next.toString());
      return `#${next}`;
    },
  ],
];
const WEIGHT = ACTIONS.reduce((sum, [weight]) => sum + weight, 0);

function choose() {
  let at = random() * WEIGHT;
  for (const [weight, act] of ACTIONS) if ((at -= weight) < 0) return act;
  return ACTIONS[0][1];
}

const server = spawn(cairn, ["serve", "-q", ...paths], { stdio: ["ignore", "pipe", "inherit"] });
process.on("exit", () => server.kill("SIGTERM"));
let isEnding = false;
const steps = [];
const errors = new Map(); // text: how often
function report(text) {
  const kind = text.replace(/\d+/g, "N");
  errors.set(kind, (errors.get(kind) ?? 0) + 1);
  if (errors.get(kind) > 1) return;
  console.log(`error: ${text}`);
  for (const step of steps) console.log(`    ${step}`);
}
server.on("exit", (status, signal) => isEnding || report(`the server ended: ${status ?? signal}`));
const url = await new Promise((resolve) => {
  createInterface({ input: server.stdout }).once("line", resolve);
});

const browser = await launch();
async function openPage() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, acceptDownloads: false });
  const page = await context.newPage();
  page.setDefaultTimeout(HANG_MS);
  page.on("pageerror", (error) => report(`script: ${error.message} ${(error.stack ?? "").split("\n")[1] ?? ""}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !/Failed to load resource/.test(message.text())) report(message.text());
  });
  page.on("response", (answer) => {
    if (answer.status() >= 500 && answer.status() !== 503) report(`${answer.status()} ${answer.url()}`);
  });
  page.on("dialog", (dialog) => void dialog.dismiss());
  await page.goto(url);
  return page;
}

let page = await openPage();
let count = 0;
const end = Date.now() + Number(seconds) * 1000;
while (Date.now() < end) {
  const act = choose();
  count++;
  let timer;
  const hang = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("hangs")), HANG_MS);
  });
  try {
    const work = async () => {
      steps.push(await act(page));
      if (steps.length > STEPS_SHOWN) steps.shift();
      if (count % 5 === 0) {
        await page.waitForTimeout(100);
        // A page that is loaded again is empty until its script ran: what is wrong stays wrong.
        const before = await page.evaluate(look);
        if (before.length > 0) await page.waitForTimeout(SETTLE_MS);
        const after = before.length > 0 ? await page.evaluate(look) : [];
        for (const what of after) if (before.includes(what)) report(what);
      }
    };
    await Promise.race([work(), hang]);
  } catch (error) {
    if (/hangs|crashed|closed/.test(error.message)) report(`the page ${error.message.split("\n")[0]}`);
    steps.push(`not done: ${error.message.split("\n")[0].slice(0, 80)}`);
    if (/hangs|crashed|closed/.test(error.message)) {
      await Promise.race([page.context().close(), new Promise((done) => setTimeout(done, 5000))]).catch(() => undefined);
      page = await openPage();
    }
  } finally {
    clearTimeout(timer);
  }
  // A navigation that a step began may end later, and stops this one: the next step goes back.
  if (!page.url().startsWith(url)) await page.goto(url).catch(() => undefined);
}
isEnding = true;
await browser.close();
console.log(`${count} steps in ${seconds} s, seed ${seed}: ${errors.size} kinds of errors`);
for (const [text, times] of errors) console.log(`${times} times: ${text}`);
process.exit(errors.size > 0 ? 1 : 0);
