import assert from "node:assert/strict";
import { test } from "node:test";
import { addressesOf, fetchFile, nameOf, refusalOf, SIZE_MAX } from "../src/engine/remote";

test("the address of the page names files, of https or of this machine", () => {
  assert.deepEqual(addressesOf("?url=https%3A%2F%2Fa%2Fb&url=&url=http://localhost:1/c"), [
    "https://a/b",
    "http://localhost:1/c",
  ]);
  assert.deepEqual(addressesOf(""), []);
  for (const address of ["https://host/x", "http://127.0.0.1:8000/x", "http://localhost/x"])
    assert.equal(refusalOf(address), null);
  for (const address of [
    "http://host/x",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:,x",
    "blob:x",
    "x",
    "",
  ])
    assert.ok(refusalOf(address), address);
});

test("a file has the last name of its path", () => {
  assert.equal(nameOf("https://host/a/run%201.data?x=y#z"), "run 1.data");
  assert.equal(nameOf("https://host/"), "data");
  assert.equal(nameOf("https://host/%E0%A4%A"), "%E0%A4%A");
  assert.equal(nameOf("https://host/a%2F..%2Fb"), "a_.._b");
});

// What a server answers.
function answerWith(answer: () => Response): string[] {
  const asked: string[] = [];
  globalThis.fetch = (address, options) => {
    asked.push(`${String(address)} ${options?.credentials} ${options?.referrerPolicy}`);
    return Promise.resolve(answer());
  };
  return asked;
}

test("a file is fetched without credentials, and its progress is said", async () => {
  const before = globalThis.fetch;
  try {
    const asked = answerWith(
      () => new Response("main;work 7", { headers: { "Content-Length": "11" } }),
    );
    const said: string[] = [];
    const { path, file } = await fetchFile("https://host/a.folded", (text) => said.push(text));
    assert.deepEqual([path, await file.text()], ["a.folded", "main;work 7"]);
    assert.deepEqual(asked, ["https://host/a.folded omit no-referrer"]);
    assert.equal(said.length, 1);
  } finally {
    globalThis.fetch = before;
  }
});

test("what is not there, too large or not allowed is named", async () => {
  const before = globalThis.fetch;
  const none = () => undefined;
  try {
    answerWith(() => new Response("", { status: 404 }));
    await assert.rejects(
      fetchFile("https://host/a", none),
      /https:\/\/host\/a: the server answered 404/,
    );
    answerWith(() => new Response("x", { headers: { "Content-Length": String(SIZE_MAX + 1) } }));
    await assert.rejects(fetchFile("https://host/a", none), /more than 1024.0 MiB/);
    // The length is a claim: what comes is counted.
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 64 << 20;
        controller.enqueue(new Uint8Array(64 << 20));
      },
    });
    answerWith(() => new Response(endless));
    await assert.rejects(fetchFile("https://host/a", none), /more than 1024.0 MiB/);
    assert.ok(sent < SIZE_MAX + (256 << 20));
    globalThis.fetch = () => Promise.reject(new TypeError("Failed to fetch"));
    await assert.rejects(fetchFile("https://host/a", none), /Access-Control-Allow-Origin/);
    await assert.rejects(fetchFile("file:///etc/passwd", none), /only https/);
  } finally {
    globalThis.fetch = before;
  }
});
