// Pages written by cairn export-html: opened from disk, without a server.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Writes a page, opens it and looks at it; nothing may be asked of any network.
async function withPage(viewer, exported, first, look) {
  const { page, cairn } = viewer;
  const folder = await mkdtemp(join(tmpdir(), "cairn-export-"));
  const file = join(folder, "page.html");
  const asked = [];
  const note = (request) => asked.push(request.url());
  try {
    execFileSync(cairn, ["export-html", ...exported, file], { stdio: "pipe" });
  } catch (error) {
    await rm(folder, { recursive: true });
    assert.match(String(error.stderr), /built without the engine/);
    return;
  }
  const back = page.url();
  await page.goto("about:blank");
  page.on("request", note);
  try {
    await page.goto(`file://${file}`);
    await page.waitForSelector(first);
    await look();
    assert.deepEqual(
      asked.filter((url) => !/^(file|blob):/.test(url)),
      [],
      "the page asked for something",
    );
  } finally {
    page.off("request", note);
    await page.goto(back);
    await rm(folder, { recursive: true });
  }
}

// As a person drags them from another window: only so the page gets folders.
async function drop(page, files) {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"])
    await session.send("Input.dispatchDragEvent", { type, x: 300, y: 300, data });
  await session.detach();
}

// In the page: a worker that never answers, while the page says so.
function hangOnDemand() {
  const Native = Worker;
  window.Worker = class extends Native {
    postMessage(message) {
      if (!window.hangs || !("address" in message)) super.postMessage(message);
    }
  };
}

export const tests = {
  async "an exported recording has all views from disk"(viewer) {
    const { page, show, until, shot } = viewer;
    await withPage(viewer, [viewer.paths[1]], ".overview-table tbody a", async () => {
      const tabs = await page.locator("header [role=tab]").allTextContents();
      const all = ["Overview", "Top-down", "Bottom-up", "Flat", "Flame graph", "Timeline", "Calls"];
      assert.deepEqual(tabs, [...all, "SQL"]);
      await show("v=top-down");
      await page.waitForSelector(".tree-row .kind-function");
      await page.click(".tree-row .kind");
      await page.waitForSelector(".panel");
      await show("v=flat");
      await page.waitForSelector("[role='grid'] .tree-row .kind");
      await show("v=flame&q=.");
      await page.waitForSelector("text=matches: 100.0 %");
      const status = (pattern) => async () =>
        pattern.test((await page.textContent(".flame .status").catch(() => "")) ?? "");
      await show("v=flame");
      await until("running time", status(/total 3\.1 µs, cpu time/));
      await page.click("label:has-text('Waits')");
      await until("all time", status(/total 3\.49 µs, time/));
      await show("v=timeline");
      await page.waitForSelector(".track-label");
      await shot("exported-recording-timeline");
      await show("v=calls");
      await page.waitForSelector("text=linux:task-name");
    });
  },
  async "an exported store has its traces, and names are text in it"(viewer) {
    const { page, shot } = viewer;
    await withPage(viewer, [viewer.paths[2]], "text=<img src=x", async () => {
      await shot("exported-store");
      assert.equal(await page.evaluate(() => window.hacked), undefined);
      assert.equal(
        await page.evaluate(() => document.querySelectorAll("main img, main script").length),
        0,
      );
    });
  },
  async "files are opened in an empty viewer, and those that are not data are named"(viewer) {
    const { page, shot } = viewer;
    await withPage(viewer, ["--empty"], ".welcome", async () => {
      await shot("viewer-empty");
      await page.waitForSelector(".drop-area:has-text('Drop files or folders here')");
      await page.setInputFiles(".welcome label:nth-child(2) input", viewer.paths[1]);
      await page.waitForSelector(".overview-table tbody a");
      await page.reload();
      await page.setInputFiles(".welcome label:nth-child(1) input", [
        { name: "a.folded", mimeType: "text/plain", buffer: Buffer.from("main;work 7\n") },
        { name: "b.txt", mimeType: "text/plain", buffer: Buffer.from("\0") },
      ]);
      await page.waitForSelector(".overview-table tbody a:has-text('work')");
      await page.waitForSelector(".problems:has-text('b.txt: not a format cairn can read')");
    });
  },
  async "files and folders are dropped, several at once and more later"(viewer) {
    const { page, until } = viewer;
    await withPage(viewer, ["--empty"], ".welcome", async () => {
      const folder = await mkdtemp(join(tmpdir(), "cairn-drop-"));
      await writeFile(join(folder, "a.folded"), "main;work 7\n");
      await writeFile(join(folder, "b.txt"), "\0");
      await drop(page, [viewer.paths[1], join(folder, "a.folded"), join(folder, "b.txt")]);
      await page.waitForSelector(".overview-table tbody a");
      await page.waitForSelector(".problems:has-text('b.txt: not a format cairn can read')");
      const names = async () => {
        const all = await page.locator("header select >> nth=0 >> option").allTextContents();
        return all.map((name) => name.split(" ")[0]).join();
      };
      // The first is shown while the others are opened.
      await until("both", async () => (await names()) === "recording,a.folded");
      await drop(page, [viewer.paths[0]]);
      await until("a third", async () => (await names()) === "recording,a.folded,sample");
      await rm(folder, { recursive: true });
    });
  },
  async "samples that are dropped show how far they are read and analysed"(viewer) {
    const { page } = viewer;
    await withPage(viewer, ["--empty"], ".welcome", async () => {
      await page.evaluate(() => {
        window.steps = [];
        new MutationObserver(() => {
          const text = document.querySelector(".analysis")?.textContent;
          if (text) window.steps.push(text);
        }).observe(document.body, { subtree: true, childList: true, characterData: true });
      });
      await drop(page, [new URL("../examples/words.perf.data", import.meta.url).pathname]);
      await page.waitForSelector(".overview-table tbody a");
      const steps = await page.evaluate(() => window.steps);
      assert.match(steps.join("\n"), /Opening.*(reading samples|adding up costs|writing)/);
    });
  },
  async "an example is a click away: samples with names, and requests"(viewer) {
    const { page, shot } = viewer;
    await withPage(viewer, ["--empty"], ".welcome", async () => {
      await page.click(".examples button:has-text('A program')");
      await page.waitForSelector(".overview-table tbody a:has-text('similarity')");
      await shot("example-program");
      await page.reload();
      await page.click(".examples button:has-text('Requests')");
      await page.waitForSelector(".results .vtable-body .kind-function:has-text('POST /checkout')");
      assert.match(await page.textContent(".searchbox .status"), /^80 traces/);
      await page.click(".results .vtable-body [role=row]:has-text('POST /checkout')");
      await page.waitForSelector(".waterfall .wf-bar");
      await shot("example-requests");
      // What is open cannot be sent.
      const sent = await page.evaluate(() =>
        fetch("http://127.0.0.1:9/").then(
          () => "sent",
          (error) => error.message,
        ),
      );
      assert.match(sent, /Failed to fetch|violates/);
    });
    viewer.expectError(/Content Security Policy|Refused to connect/);
  },
  async "an address of another server is opened, if that allows it"(viewer) {
    const { page, until } = viewer;
    const content = "main;work 7\nmain;rest 3\n";
    const asked = [];
    const server = createServer((request, response) => {
      asked.push([request.url, request.headers.cookie, request.headers.referer]);
      const isAllowed = request.url !== "/forbidden.folded";
      response.writeHead(request.url === "/none.folded" ? 404 : 200, {
        ...(isAllowed ? { "Access-Control-Allow-Origin": "*" } : {}),
        "Content-Length": String(content.length),
      });
      response.end(content);
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const at = `http://127.0.0.1:${server.address().port}`;
    const folder = await mkdtemp(join(tmpdir(), "cairn-url-"));
    const file = join(folder, "viewer.html");
    try {
      execFileSync(viewer.cairn, ["export-html", "-q", "--empty", file], { stdio: "pipe" });
    } catch (error) {
      assert.match(String(error.stderr), /built without the engine/);
      server.close();
      return;
    }
    const back = page.url();
    try {
      await page.goto(`file://${file}?url=${encodeURIComponent(`${at}/run.folded`)}`);
      await page.waitForSelector(".overview-table tbody a:has-text('work')");
      assert.equal(await page.textContent("header .title"), "run.folded");
      assert.deepEqual(asked[0], ["/run.folded", undefined, undefined]);
      viewer.expectError(/CORS policy|ERR_FAILED|404/);
      for (const [name, reason] of [
        ["forbidden.folded", "Access-Control-Allow-Origin"],
        ["none.folded", "the server answered 404"],
      ]) {
        await page.goto("about:blank");
        await page.goto(`file://${file}?url=${encodeURIComponent(`${at}/${name}`)}`);
        await page.waitForSelector(`.problems:has-text('${reason}')`);
      }
      for (const wrong of ["http://example.org/x", "file:///etc/passwd", "javascript:alert(1)"]) {
        await page.goto("about:blank");
        await page.goto(`file://${file}?url=${encodeURIComponent(wrong)}`);
        await page.waitForSelector(".problems:has-text('only https')");
      }
      await page.fill(".address input", `${at}/typed.folded`);
      await page.click(".address button");
      await until(
        "opened",
        async () => (await page.textContent("header .title").catch(() => "")) === "typed.folded",
      );
    } finally {
      await page.goto(back);
      server.close();
      await rm(folder, { recursive: true });
    }
  },
  async "a question that takes long can be stopped, and the next one is answered"(viewer) {
    const { page, show, shot } = viewer;
    await page.addInitScript(hangOnDemand);
    await withPage(viewer, [viewer.paths[1]], ".overview-table tbody a", async () => {
      await page.evaluate(() => {
        window.hangs = true;
      });
      await show("v=flat");
      await page.click("button.stop");
      await page.waitForSelector(".status:has-text('stopped')");
      await shot("exported-stopped");
      await page.waitForSelector("button.stop", { state: "detached" });
      await page.evaluate(() => {
        window.hangs = false;
      });
      await show("v=top-down");
      await page.waitForSelector(".tree-row .kind-function");
    });
  },
};
