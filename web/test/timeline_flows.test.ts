import assert from "node:assert/strict";
import { test } from "node:test";
import { drawnPath, explained, parseBars } from "../src/timeline/critical_path";
import {
  along,
  callAt,
  curvesOf,
  describe,
  flowsAt,
  parseFlows,
  reachOf,
  startsOf,
} from "../src/timeline/flows";
import { parseNested } from "../src/timeline/nested";
import { layOut, topInWindow } from "../src/timeline/tracks";
import { answer, heights, plain, shownWith, thread } from "./timeline_answer";

test("flows of the call at the cursor, their curves, and the way along them", () => {
  const frame = parseNested({
    ...answer,
    rows: [...answer.rows, { ...answer.rows[0]!, profile: 8, label: "THREAD 1" }],
  });
  const threads = [thread(7, "RANK 0", "THREAD 0"), thread(8, "RANK 0", "THREAD 1")];
  const layout = layOut(threads, plain, heights, () => 3);
  const shown = shownWith(layout, frame, { label: 100, states: 3, level: 10 });
  const flows = parseFlows({
    count: 3,
    flows: [
      [7, 65, "rest", 8, 15, "leaf", "back in time"],
      [7, 20, "leaf", 8, 75, "rest", ""],
      [7, 97, null, 9, 98, null, "no track"],
    ],
  });
  const cursor = { profile: 7, time: 75 };
  assert.deepEqual(callAt(frame, cursor), { begin: 60, end: 80 });
  assert.equal(callAt(frame, { profile: 7, time: 95 }), null);
  const reach = reachOf(shown, cursor);
  assert.deepEqual(flowsAt(flows, cursor, reach), [flows[0]]);
  assert.deepEqual(along(flows, cursor, reach, 1), flows[0]?.to);
  assert.equal(along(flows, cursor, reach, -1), null);
  const there = { profile: 8, time: 75 };
  assert.deepEqual(along(flows, there, reachOf(shown, there), -1), flows[1]?.from);
  const outside = { profile: 7, time: 97.2 };
  assert.deepEqual(flowsAt(flows, outside, reachOf(shown, outside)), [flows[2]]);
  assert.equal(
    describe(flows[0]!, (profile) => `t${profile}`),
    "back in time: rest on t7 → leaf on t8, 50 ns before",
  );
  const curves = curvesOf(flows, shown);
  const top = (number: number) =>
    topInWindow(
      layout,
      layout.tracks.find((t) => t.kind === "thread" && t.thread.profile === number)!,
      0,
    );
  assert.deepEqual(
    curves.map(({ from, to }) => [from.x, from.y - top(7), to.x, to.y - top(8)]),
    [
      [650, 5 + 15, 150, 5 + 25],
      [200, 5 + 25, 750, 5 + 15],
    ],
  );
  assert.deepEqual(curvesOf(flows, { ...shown, range: { begin: 80, end: 90 } }), []);
  assert.deepEqual(startsOf([{ ...threads[1]!, creator: 7, start: 40 }])[0]?.to.time, 40);
});

test("bars of the critical path lie at the lower ends of tracks, with steps between threads", () => {
  const frame = parseNested(answer);
  const threads = [thread(7, "RANK 0", "THREAD 0"), thread(8, "RANK 0", "THREAD 1")];
  const layout = layOut(threads, plain, heights, () => 3);
  const shown = shownWith(layout, frame, { label: 100, states: 3, level: 10 });
  const bars = parseBars({
    profile: 7,
    parts: 5,
    bars: [
      [0, 20, 7, "running", 1],
      [20, 60, 8, "running", 2],
      [60, 100, 7, "disk", 1],
      [60, 61, 9, "running", 1],
    ],
  });
  const { lines, steps } = drawnPath(bars, shown);
  const end = (number: number) => {
    const track = layout.tracks.find((t) => t.kind === "thread" && t.thread.profile === number)!;
    return topInWindow(layout, track, 0) + track.height - 2;
  };
  assert.deepEqual(
    lines.map(({ bar, x, end: right, y }) => [bar.profile, x, right, y]),
    [
      [7, 0, 200, end(7)],
      [8, 200, 600, end(8)],
      [7, 600, 1000, end(7)],
    ],
  );
  assert.deepEqual(steps, [
    { x: 200, from: end(7), to: end(8) },
    { x: 600, from: end(8), to: end(7) },
  ]);
  // Zoomed in, a bar ends at the edge of the window; one that is outside is left out.
  const zoomed = drawnPath(bars, { ...shown, range: { begin: 70, end: 90 } });
  assert.deepEqual(
    zoomed.lines.map(({ x, end: right }) => [x, right]),
    [[0, 1000]],
  );
  assert.deepEqual(explained(null), {});
  assert.deepEqual(explained({ begin: 1.5, end: 2.5, threads: "7" }), {
    begin: 1,
    end: 3,
    thread: "7",
  });
});
