// The flame graph: keys, tooltip, search, folding, and loading small boxes.
import assert from "node:assert/strict";

async function graph(viewer, state) {
  await viewer.show("s=0&v=top-down");
  await viewer.show(`s=0&v=flame&${state}`);
  const canvas = await viewer.page.waitForSelector(".flame canvas");
  await viewer.settled();
  return canvas;
}

export const tests = {
  async "a tooltip shows the values of a box"(viewer) {
    const { page, shot } = viewer;
    const box = await (await graph(viewer, "")).boundingBox();
    await page.mouse.move(box.x + 40, box.y + 30);
    await page.waitForSelector(".tooltip");
    assert.match(await page.textContent(".tooltip"), /main.*total28\.31 s80\.2 %/);
    await shot("flame-tooltip");
    await page.mouse.move(2, 2);
    await page.waitForSelector(".tooltip", { state: "detached" });
  },
  async "keys turn it, colour it, ask for callers and fold recursion"(viewer) {
    const { page, until, hash } = viewer;
    const canvas = await graph(viewer, "");
    await canvas.focus();
    for (const [key, sign] of [
      ["i", /inv=1/],
      ["c", /col=module/],
      ["r", /fold=1/],
      ["u", /up=1/],
    ]) {
      await page.keyboard.press(key);
      await until(`${key}`, () => sign.test(hash()));
    }
    await viewer.settled();
    await viewer.shot("flame-callers");
    for (const [key, name] of [
      ["i", "inv"],
      ["u", "up"],
      ["r", "fold"],
    ]) {
      await page.keyboard.press(key);
      await until(`${key} again`, () => !hash().includes(`${name}=`));
    }
    for (const color of ["package", "language", "code", "self", ""]) {
      await page.keyboard.press("c");
      await until(color || "as before", () => (/col=(\w+)/.exec(hash())?.[1] ?? "") === color);
    }
  },
  async "in the order of time, a click zooms to the time of a call"(viewer) {
    const { page, until, hash } = viewer;
    await graph(viewer, "");
    await page.selectOption("[aria-label='order of boxes']", "1");
    await until("ordered", () => /chron=1/.test(hash()));
    await page.waitForSelector(".time-axis");
    await page.selectOption("[aria-label^='thread whose']", { index: 1 });
    await until("other thread", () => /lane=\d/.test(hash()));
    const canvas = await page.waitForSelector(".flame canvas");
    await viewer.settled();
    const box = await canvas.boundingBox();
    await page.mouse.click(box.x + box.width * 0.2, box.y + box.height - 8);
    await until("zoomed", () => /from=\d+.*to=\d+/.test(hash()));
    await viewer.shot("flame-over-time");
    await page.keyboard.press("Escape");
    await page.keyboard.press("k");
    await until("largest first", () => !/chron/.test(hash()));
  },
  async "a pinned box is in the address, and Esc unpins it"(viewer) {
    const { page, until, hash } = viewer;
    await (await graph(viewer, "")).focus();
    for (const key of ["ArrowDown", "ArrowDown", "Space"]) await page.keyboard.press(key);
    await until("pinned", () => /box=/.test(hash()));
    const name = await page.textContent("aside.pinned h2");
    await page.reload();
    await page.waitForSelector("aside.pinned h2");
    assert.equal(await page.textContent("aside.pinned h2"), name);
    await page.focus("aside.pinned button");
    await page.keyboard.press("Escape");
    await until("unpinned", () => !/box=/.test(hash()));
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await until("keys work", () => /box=/.test(hash()));
    await page.keyboard.press("u");
    await until("callers have other boxes", () => !/box=/.test(hash()));
  },
  async "folding makes it as deep as functions are, not calls"(viewer) {
    const tall = (await (await graph(viewer, "")).boundingBox()).height;
    const folded = (await (await graph(viewer, "fold=1")).boundingBox()).height;
    assert.ok(folded <= tall, `${folded} of ${tall}`);
    await viewer.shot("flame-folded");
  },
  async "n moves through matches, and zooming goes in and out by one"(viewer) {
    const { page, until, hash } = viewer;
    const canvas = await graph(viewer, "q=solve");
    await canvas.focus();
    await page.keyboard.press("n");
    await until("a match", async () =>
      /^solve: 20\.25 s/.test(await page.textContent(".flame .status")),
    );
    await page.keyboard.press("Enter");
    await until("zoomed", () => /zoom=/.test(hash()));
    const zoom = new URLSearchParams(hash().slice(1)).get("zoom");
    assert.ok(zoom.split(".").length > 2, "the address has the path");
    await page.keyboard.press("Backspace");
    await until(
      "one out",
      () =>
        new URLSearchParams(hash().slice(1)).get("zoom") === zoom.split(".").slice(0, -1).join("."),
    );
    await page.keyboard.press("o");
    await until("details", () => /v=top-down/.test(hash()));
    await until(
      "the context",
      async () => (await page.textContent(".panel h2").catch(() => "")) === "solve",
    );
  },
  async "zooming asks for what was too small to be seen"(viewer) {
    const { page, until } = viewer;
    await viewer.show("s=4&v=flame");
    const canvas = await page.waitForSelector(".flame canvas");
    const asked = [];
    const note = (request) => asked.push(request.url());
    page.on("request", note);
    await viewer.settled();
    const box = await canvas.boundingBox();
    await page.mouse.dblclick(box.x + 60, box.y + 30);
    await until("asked", () => asked.some((url) => /flame\?.*row=/.test(url)));
    page.off("request", note);
  },
};
