// A server, a browser, and pages that show what the server shows.
//
// A file of tests exports them by name as `tests`. A test is a function that gets what open()
// returns. The tests of a file share a page, in the order in which they are written; files share
// nothing but the server.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

// The shell draws pages as Chromium does, in two thirds of the processor time.
const BROWSERS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
const BROWSER = process.env.CHROMIUM ?? BROWSERS.find(existsSync);
const PATIENCE_MS = 30000;

export const hasBrowser = () => BROWSER !== undefined && existsSync(BROWSER);

// Starts a server that shows `paths`, and a browser; pictures go to the folder `shots`.
export async function start(cairn, shots, paths) {
  // The browser first: what the server does at its start can be seen then.
  const browser = await launch();
  const server = spawn(cairn, ["serve", "-q", ...paths], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve, reject) => {
    const lines = createInterface({ input: server.stdout });
    lines.once("line", resolve);
    lines.once("close", () => reject(new Error("the server ended without an address")));
  });
  await mkdir(shots, { recursive: true });
  return {
    open: () => open(browser, { cairn, shots, paths, url }),
    kill: () => server.kill("SIGTERM"),
    async close() {
      await browser.close();
      server.kill("SIGTERM");
    },
  };
}

export function launch() {
  return chromium.launch({
    executablePath: BROWSER,
    // Users of the viewer have this protection: it ignores addresses that change too often.
    ignoreDefaultArgs: ["--disable-ipc-flooding-protection"],
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

// Everything that the browser reports as an error. The only ones that need no test to expect them
// are answers "not-ready": the viewer asks again.
const ANSWER_MS = 5000;
const late = (ms) => new Promise((_, reject) => setTimeout(reject, ms));

function watchErrors(page) {
  const errors = []; // {text, url}
  const unready = new Set(); // addresses that were answered so
  const reading = [];
  page.on("pageerror", (error) => errors.push({ text: error.message, url: "" }));
  page.on("console", (message) => {
    if (message.type() === "error")
      errors.push({ text: message.text(), url: message.location().url });
  });
  page.on("response", (response) => {
    if (response.status() !== 503) return;
    reading.push(
      Promise.race([response.text(), late(ANSWER_MS)]).then(
        (text) => text.includes('"not-ready"') && unready.add(response.url()),
        () => unready.add(response.url()), // given up by the page: some texts never come
      ),
    );
  });
  // Takes the errors so far; throws unless they are those that the test expects.
  return async function settle(expected) {
    await Promise.all(reading.splice(0));
    const all = errors
      .splice(0)
      .filter(({ text, url }) => !(text.includes("503") && unready.has(url)));
    const lines = all.map(({ text, url }) => `${text} ${url}`);
    const isExpected = (line) => expected.some((pattern) => pattern.test(line));
    const surprises = lines.filter((line) => !isExpected(line));
    assert.deepEqual(surprises, [], "the browser reported errors");
    for (const pattern of expected)
      assert.ok(
        lines.some((line) => pattern.test(line)),
        `expected an error like ${pattern}`,
      );
  };
}

// The questions that the page asked, and those without an answer.
function watchQuestions(page) {
  const seen = { count: 0, open: new Set() };
  let document = "";
  let isLoading = false;
  page.on("request", (request) => {
    isLoading ||= request.isNavigationRequest() && request.frame() === page.mainFrame();
    if (!request.url().includes("/api/")) return;
    seen.count++;
    seen.open.add(request);
  });
  // Of what a page asked until the next one took its place, no end is reported.
  page.on("framenavigated", (frame) => {
    const [path] = frame.url().split("#");
    if (frame !== page.mainFrame() || (path === document && !isLoading)) return;
    document = path;
    isLoading = false;
    seen.open.clear();
  });
  for (const event of ["requestfinished", "requestfailed"])
    page.on(event, (request) => seen.open.delete(request));
  return seen;
}

// In the page: ends when it has been drawn twice and no animation runs, so that what an event changed is there.
async function drawnInPage() {
  for (let i = 0; i < 2; i++) await new Promise((resolve) => requestAnimationFrame(resolve));
  const ends = document
    .getAnimations()
    .filter((one) => Number.isFinite(one.effect?.getComputedTiming().endTime))
    .map((one) => one.finished.catch(() => undefined));
  await Promise.all(ends);
}

// In the page: ends after its timers that are due earlier. The clock of this process may be ahead of those.
const timersInPage = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function open(browser, { cairn, shots, paths, url }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const settle = watchErrors(page);
  const questions = watchQuestions(page);
  const expected = [];
  await page.goto(url);

  const hash = () => new URL(page.url()).hash;
  // The page's policy forbids the evaluation that waitForFunction() needs.
  const until = async (what, holds) => {
    for (const begin = Date.now(); Date.now() - begin < PATIENCE_MS;) {
      if (await holds()) return;
      await page.waitForTimeout(50);
    }
    const waiting = [...questions.open].map((request) => request.url().slice(-80));
    const pending = await page.locator(".pending.shown").count();
    const why = `${waiting.length} questions are open (${waiting.join(", ")}), ${pending} bars are shown`;
    assert.fail(`${what}: never happened, at ${page.url().slice(0, 40)} ${hash()}; ${why}`);
  };
  const drawn = () => page.evaluate(drawnInPage);
  return {
    page,
    cairn,
    url,
    paths,
    shots,
    hash,
    // The running test causes an error in the console that matches `pattern`, "TEXT ADDRESS".
    expectError: (pattern) => expected.push(pattern),
    settleErrors: () => settle(expected.splice(0)),
    // The state of the page, as in its address.
    async show(state) {
      await page.evaluate((next) => {
        location.hash = next;
      }, state);
      await drawn();
    },
    // The page was drawn after what was done last.
    drawn,
    // So it was with all answers to what it asked.
    settled: () =>
      until("all answers are drawn", async () => {
        // A page without a server asks its own worker: the bar is there after 100 ms.
        if (page.url().startsWith("file:")) await page.evaluate(timersInPage, 120);
        const { count, open: unanswered } = questions;
        if (unanswered.size > 0) return false;
        await drawn();
        if (unanswered.size > 0 || questions.count !== count) return false;
        return (await page.locator(".pending.shown").count()) === 0;
      }),
    until,
    // The address follows what is shown a moment later, 100 ms at most.
    async settledHash() {
      await page.evaluate(timersInPage, 110);
      return hash();
    },
    shot: (name) => page.screenshot({ path: join(shots, `${name}.png`) }),
    close: () => context.close(),
  };
}
