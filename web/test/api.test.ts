import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { ApiError, getWhenReady, pause } from "../src/shared/api";

test("a pause ends in time, and leaves nothing at its signal", async () => {
  const { signal } = new AbortController();
  for (let i = 0; i < 3; i++) await pause(1, signal);
  assert.deepEqual(getEventListeners(signal, "abort"), []);
});

test("a pause is given up with its signal", async () => {
  const stop = new AbortController();
  const { signal } = stop;
  const paused = pause(60_000, signal);
  stop.abort(new Error("enough"));
  await assert.rejects(paused, /enough/);
  await assert.rejects(pause(60_000, signal), /enough/);
});

const answer = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
const notReady = () => answer(503, { error: { kind: "not-ready", text: "38 % done" } });

test("what is not ready is asked for again, until the signal ends it", async (t) => {
  const stop = new AbortController();
  const { signal } = stop;
  const answers = [notReady(), notReady(), answer(200, { count: 7 })];
  const fetching = t.mock.method(globalThis, "fetch", async () => answers.shift() ?? notReady());
  const told: string[] = [];
  const onWait = (text: string) => told.push(text);
  assert.deepEqual(await getWhenReady("x", {}, { signal, onWait }), { count: 7 });
  assert.deepEqual(told, ["38 % done", "38 % done"]);
  const waiting = getWhenReady("x", {}, { signal });
  setTimeout(() => stop.abort(new Error("enough")), 100);
  await assert.rejects(waiting, /enough/);
  const asked = fetching.mock.callCount();
  await pause(100);
  assert.equal(fetching.mock.callCount(), asked);
});

test("any other failure is told at once", async (t) => {
  t.mock.method(globalThis, "fetch", async () =>
    answer(422, { error: { kind: "limit", text: "more than 50000 contexts" } }),
  );
  await assert.rejects(
    getWhenReady("x"),
    (error) => error instanceof ApiError && error.kind === "limit",
  );
});
