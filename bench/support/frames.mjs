// Counts the frames of the timeline while it is moved: node frames.mjs CAIRN DATA
//
// Prints JSON: in "frames", for each movement the frames per second, the longest time without a frame and
// the time of the page's thread a frame, in ms. Events come 60 times a second, as from a mouse. In
// "paints", for each view, when a new page shows something, and when it shows what the server knows: half
// of the pages, in ms. The browser draws without a graphics processor.
import { createInterface } from "node:readline";
import { spawn } from "node:child_process";
import { launch } from "../../web/e2e/harness.mjs";

const [cairn, data] = process.argv.slice(2);
const [STEPS, STEP_MS, WARM_UP_MS, PAGES] = [120, 1000 / 60, 12000, 9];

// What each view shows of an answer.
const VIEWS = {
  overview: ".overview li",
  "top-down": "[role=treegrid] [role=row][aria-level]",
  flame: ".flame canvas",
  timeline: ".timeline-canvas",
};

const server = spawn(cairn, ["serve", "-q", data], { stdio: ["ignore", "pipe", "inherit"] });
process.on("exit", () => server.kill("SIGTERM")); // also when something fails
const url = await new Promise((resolve) => {
  createInterface({ input: server.stdout }).once("line", resolve);
});
const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
const session = await page.context().newCDPSession(page);
await session.send("Performance.enable");

// In the page: count frames from now on.
function begin() {
  const frames = [];
  const count = (time) => {
    frames.push(time);
    window.counting = requestAnimationFrame(count);
  };
  window.frames_seen = frames;
  window.counting = requestAnimationFrame(count);
}

function end() {
  cancelAnimationFrame(window.counting);
  return window.frames_seen;
}

async function busyTime() {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration").value * 1000;
}

async function measure(step) {
  const before = await busyTime();
  await page.evaluate(begin);
  const start = performance.now();
  const sent = [];
  for (let i = 0; i < STEPS; i++) {
    sent.push(step(i));
    const wait = start + (i + 1) * STEP_MS - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  }
  const times = await page.evaluate(end);
  const busy = (await busyTime()) - before;
  await Promise.all(sent);
  const gaps = times.slice(1).map((time, i) => time - times[i]);
  return {
    perSecond: (1000 * gaps.length) / (times.at(-1) - times[0]),
    longest: Math.max(...gaps),
    busy: busy / times.length,
  };
}

// A new page, without anything that the browser kept of another.
async function paint(view, selector) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const fresh = await context.newPage();
  await fresh.goto(`${url}#v=${view}`, { waitUntil: "commit" });
  await fresh.waitForSelector(selector);
  const times = await fresh.evaluate(
    () =>
      new Promise((resolve) => {
        const filled = performance.now();
        const look = () => {
          const first = performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
          if (first === undefined) requestAnimationFrame(look);
          else resolve({ first, filled });
        };
        look();
      }),
  );
  await context.close();
  return times;
}

async function paints(view, selector) {
  const all = [];
  for (let i = 0; i < PAGES; i++) all.push(await paint(view, selector));
  const half = (key) => all.map((times) => times[key]).sort((a, b) => a - b)[PAGES >> 1];
  return { first: half("first"), filled: half("filled") };
}

await page.goto(`${url}#v=timeline`);
await page.waitForSelector(".timeline-canvas");
await page.waitForTimeout(WARM_UP_MS);
const box = await page.locator(".timeline-canvas").boundingBox();
const middle = { x: box.x + box.width * 0.6, y: box.y + Math.min(box.height, 600) / 2 };
const mouse = (type, x, y, more = {}) =>
  session.send("Input.dispatchMouseEvent", { type, x, y, ...more });
const sway = (i, size) => size * Math.sin(i / 10);
const figures = {};
figures.cursor = await measure((i) => mouse("mouseMoved", middle.x + sway(i, 300), middle.y));
figures.zoom = await measure((i) =>
  mouse("mouseWheel", middle.x, middle.y, { deltaX: 0, deltaY: i % 60 < 30 ? -40 : 40 }),
);
figures.scroll = await measure((i) =>
  mouse("mouseWheel", box.x + 40, middle.y, { deltaX: 0, deltaY: i % 60 < 30 ? 40 : -40 }),
);
await mouse("mousePressed", middle.x, middle.y, { button: "left", buttons: 1 });
figures.drag = await measure((i) =>
  mouse("mouseMoved", middle.x + sway(i, 300), middle.y, { button: "left", buttons: 1 }),
);
await mouse("mouseReleased", middle.x, middle.y, { button: "left" });
const shown = {};
for (const [view, selector] of Object.entries(VIEWS)) shown[view] = await paints(view, selector);
console.log(JSON.stringify({ frames: figures, paints: shown }));
await browser.close();
process.exit();
