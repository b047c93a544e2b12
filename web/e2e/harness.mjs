// A server and a browser that looks at it: what every file of tests here needs.
//
// A test is a function that is given what open() returns; a file of tests exports them by
// name as `tests`. They share one page, in the order they are written down.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium";
const PATIENCE_MS = 10000;

export const hasBrowser = () => existsSync(BROWSER);

async function startServer(cairn, paths) {
  const server = spawn(cairn, ["serve", "-q", ...paths], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve) => {
    createInterface({ input: server.stdout }).once("line", resolve);
  });
  return { server, url };
}

// Opens the page of a server that shows `paths`; pictures go to the folder `shots`.
export async function open(cairn, shots, paths) {
  const { server, url } = await startServer(cairn, paths);
  const profile = await mkdtemp(join(tmpdir(), "cairn-e2e-"));
  await mkdir(shots, { recursive: true });
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: BROWSER,
    viewport: { width: 1280, height: 800 },
    // Whoever looks at the viewer has this protection: too many addresses are ignored.
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
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  // The mistakes that tests make on purpose are answered with 400; a source may be missing.
  const isMeant = (message) =>
    /503|400/.test(message.text()) || /\/source\?/.test(message.location().url);
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !isMeant(message)) complaints.push(message.text());
  });
  await page.goto(url);

  const hash = () => new URL(page.url()).hash;
  return {
    page,
    cairn,
    url,
    paths,
    shots,
    complaints,
    hash,
    // The state of the page, as in its address.
    async show(state) {
      await page.evaluate((next) => {
        location.hash = next;
      }, state);
      await page.waitForTimeout(50);
    },
    // The page's policy forbids the evaluation that waitForFunction() needs.
    async until(what, holds) {
      for (const begin = Date.now(); Date.now() - begin < PATIENCE_MS;) {
        if (await holds()) return;
        await page.waitForTimeout(50);
      }
      assert.fail(`${what}: never happened, at ${hash()}`);
    },
    // The address follows what is shown a moment later.
    async settledHash() {
      await page.waitForTimeout(200);
      return hash();
    },
    shot: (name) => page.screenshot({ path: join(shots, `${name}.png`) }),
    kill: () => server.kill("SIGTERM"),
    async close() {
      await browser.close();
      await rm(profile, { recursive: true, force: true });
      server.kill("SIGTERM");
    },
  };
}
