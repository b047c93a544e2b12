import assert from "node:assert/strict";
import { test } from "node:test";
import { counterScale, isFromZero } from "../src/timeline/track_draw";
import { cpuRunAt, parseCpus } from "../src/timeline/use_tracks";
import {
  layOut,
  dropTarget,
  mapRows,
  mapThreads,
  movedTo,
  moveTrack,
  parseMoves,
  parseOpened,
  printMoves,
  printOpened,
  topInWindow,
  trackAt,
  visibleTracks,
  type Choice,
  type ThreadTrack,
} from "../src/timeline/tracks";
import { type Thread } from "../generated/answers";
import { heights, plain, thread } from "./timeline_answer";

const threads = [
  thread(1, "RANK 10", "THREAD 0"),
  thread(2, "RANK 2", "THREAD 10"),
  thread(3, "RANK 2", "THREAD 9"),
  thread(4, "RANK 2", "THREAD 1", 0),
];
const shown = (choice: Partial<Choice>) =>
  layOut(threads, { ...plain, ...choice }, heights, () => 2).tracks.map((track) =>
    track.kind === "thread"
      ? `${track.name}${track.isOpen ? "" : " closed"}`
      : track.kind === "group"
        ? track.label
        : track.kind === "cpu"
          ? `CPU ${track.number}`
          : track.counter.name,
  );

test("tracks that are equally busy are in natural order, without threads that have no data", () => {
  assert.deepEqual(shown({}), ["RANK 2", "THREAD 9", "THREAD 10", "RANK 10 THREAD 0"]);
  assert.deepEqual(shown({ filter: "rank 10" }), ["RANK 10 THREAD 0"]);
  assert.deepEqual(shown({ shut: new Set(["RANK 2"]) }), ["RANK 2", "RANK 10 THREAD 0"]);
  assert.deepEqual(shown({ opened: parseOpened("3,-3") })[1], "THREAD 9 closed");
  assert.deepEqual(shown({ moved: [[3, 1]] }).slice(1, 3), ["THREAD 10", "THREAD 9"]);
  assert.deepEqual(shown({ pinned: [2] })[0], "RANK 2 THREAD 10");
});

const titles = (list: Thread[], choice: Partial<Choice> = {}) =>
  layOut(list, { ...plain, ...choice }, heights, () => 2).tracks.map((track) =>
    track.kind === "thread"
      ? `${track.name}${track.isOpen ? "" : " closed"}`
      : track.kind === "group"
        ? `${track.label}: ${track.profiles.length}, ${Math.round(100 * track.share)} %${track.isShut ? " shut" : ""}`
        : "",
  );
const costly = (profile: number, group: string, name: string, cost: number): Thread => ({
  ...thread(profile, group, name),
  label: name,
  cost,
});

test("the busiest tracks are first and open, quiet ones closed behind them", () => {
  const process = "java process 7";
  const list = [
    costly(1, process, "main 7", 0.001),
    costly(2, process, "GC 8", 0.002),
    costly(3, process, "worker-1 9", 1.1),
    costly(4, process, "worker-2 10", 1),
    costly(5, process, "signals 11", 0.003),
    costly(6, process, "compiler 12", 0.3),
  ];
  assert.deepEqual(titles(list), [
    "java 7: 3, 100 %",
    "worker-1",
    "worker-2",
    "compiler",
    "quiet threads: 3, 0 % shut",
  ]);
  const opened = titles(list, { shut: new Set([`quiet ${process}`]) });
  assert.deepEqual(opened.slice(-3), ["GC closed", "signals closed", "main closed"]);
});

test("threads of a process have their number where another one has the same name", () => {
  const list = ["work 8", "main 7", "work 9", "GPU 0"].map((name, i) =>
    costly(i, "prog process 7", name, 1),
  );
  assert.deepEqual(titles(list).slice(1), ["work 8", "main", "work 9", "GPU"]);
  const streams = ["GPU 0, stream 7", "GPU 0, stream 20"].map((name, i) => ({
    ...thread(i, "GPU 0 of 7", name),
    label: name,
  }));
  const tracks = layOut(streams, plain, heights, () => 2).tracks;
  assert.equal(tracks[0]?.kind === "group" && tracks[0].isStreams, true);
  assert.equal(tracks[1]?.kind === "thread" && tracks[1].name, "GPU 0, stream 7");
});

test("processes have totals, those that hardly run are one group, one thread is no group", () => {
  const list = [
    costly(1, "sh process 1", "sh 1", 0.001),
    costly(2, "make process 2", "make 2", 0.002),
    costly(3, "cc1 process 3", "cc1 3", 0.4),
    costly(4, "node process 4", "node 4", 2),
    costly(5, "node process 4", "helper 5", 1.6),
    costly(6, "as process 6", "as 6", 0.003),
    costly(7, "cc1 process 7", "cc1 7", 0.5),
    costly(8, "cc1 process 7", "cc1 8", 0.001),
  ];
  assert.deepEqual(titles(list), [
    "node 4: 2, 80 %",
    "main thread",
    "helper",
    "cc1 7",
    "cc1 3",
    "quiet threads: 4, 0 % shut",
  ]);
  assert.deepEqual(titles(list, { shut: new Set(["quiet"]) }).slice(-4), [
    "make 2 closed",
    "as 6 closed",
    "sh 1 closed",
    "cc1 8 closed",
  ]);
});

test("of many threads, the busiest are open, as long as there is room", () => {
  const many = [1, 2, 3, 4, 5, 6, 7, 8].map((i) => ({
    ...thread(i, "NODE 7 RANK 0", `THREAD ${i}`),
    cost: 1 + i / 100,
  }));
  const openWith = (height: number) =>
    layOut(many, plain, heights, () => 2, [], { height, levelsOf: () => 2 }).tracks.flatMap(
      (track) => (track.kind === "thread" && track.isOpen ? [track.thread.profile] : []),
    );
  assert.deepEqual(openWith(0), [8]);
  assert.deepEqual(openWith(20 + 8 * 15 + 20 + 45), [6, 7, 8]);
  assert.deepEqual(openWith(1000).length, 8);
  const deep = (profile: number) => (profile > 6 ? 100 : 2);
  const opened = layOut(many, plain, heights, deep, [], { height: 200, levelsOf: deep }).tracks;
  assert.deepEqual(
    opened.flatMap((one) => (one.kind === "thread" && one.isOpen ? [one.thread.profile] : [])),
    [4, 5, 6],
    "calls that fill the window hide all other threads",
  );
  const few = layOut(many.slice(4), plain, heights, deep, [], { height: 200, levelsOf: deep });
  assert.deepEqual(
    few.tracks.flatMap((one) => (one.kind === "thread" && one.isOpen ? [one.thread.profile] : [])),
    [5, 6],
    "nor are they open among few threads",
  );
  const names = layOut(many, plain, heights, () => 2).tracks.map((track) =>
    track.kind === "group" ? track.label : track.kind === "thread" ? track.name : "",
  );
  assert.deepEqual(names.slice(0, 2), ["RANK 0", "THREAD 1"]);
  const alone = [thread(1, "NODE 7 RANK 0", "THREAD 0"), thread(2, "NODE 7 RANK 1", "THREAD 0")];
  assert.deepEqual(
    layOut(alone, plain, heights, () => 2).tracks.map((t) => t.kind === "thread" && t.name),
    ["RANK 0", "RANK 1"],
  );
  assert.deepEqual(
    [...mapRows(threads)].map(([profile, row]) => `${profile} ${row.label}`),
    ["3 RANK 2", "2 RANK 2", "1 RANK 10 THREAD 0"],
  );
  assert.equal(printOpened(parseOpened("3,-5,x,3")), "3,-5");
});

test("a thread that costs little beside the busiest is closed, though there is room", () => {
  const room = { height: 2000, levelsOf: () => 2 };
  const openOf = (list: Thread[]) =>
    layOut(list, plain, heights, () => 2, [], room).tracks.flatMap((track) =>
      track.kind === "thread" && track.isOpen ? [track.thread.profile] : [],
    );
  const ofCosts = (...costs: number[]) =>
    costs.map((cost, i) => costly(i + 1, `prog process ${i + 1}`, `prog ${i + 1}`, cost));
  assert.deepEqual(openOf(ofCosts(8, 2, 0.9, 0.5)), [1, 2]);
  assert.deepEqual(openOf(ofCosts(80, 20, 9, 9, 9, 9, 9, 9, 9)), [1, 2]);
  const deepest = (profile: number) => (profile === 1 ? 1000 : 2);
  const many = ofCosts(80, 9, 9, 9, 9, 9, 9, 9, 9);
  const opened = (choice: Partial<Choice>, height: number) =>
    layOut(many, { ...plain, ...choice }, heights, deepest, [], {
      height,
      levelsOf: deepest,
    }).tracks.flatMap((track) =>
      track.kind === "thread" && track.isOpen
        ? [[track.thread.profile, track.height, track.cutLevels]]
        : [],
    );
  assert.deepEqual(opened({}, 300), [], "no room for a part of its calls that is of use");
  assert.deepEqual(opened({}, 400), [[1, 5 + 16 * 15, 984]], "cut to the room that is left");
  assert.deepEqual(opened({ opened: new Map([[1, true]]) }, 400), [[1, 5 + 1000 * 15, 0]]);
});

test("threads of a group are inside it, others are beside it", () => {
  const list = [
    costly(1, "node process 1", "node 1", 2),
    costly(2, "node process 1", "helper 2", 1),
    costly(3, "cc1 process 3", "cc1 3", 1),
  ];
  const inside = layOut(list, { ...plain, pinned: [2] }, heights, () => 2).tracks.flatMap(
    (track) => (track.kind === "thread" ? [[track.thread.profile, track.isInside]] : []),
  );
  assert.deepEqual(inside, [
    [2, false],
    [1, true],
    [3, false],
  ]);
});

test("streams of a GPU are shown, although they cost no processor time", () => {
  const stream = (profile: number, name: string) => ({
    ...costly(profile, "GPU 0 of 7", name, 0),
    label: name,
  });
  const list = [
    costly(1, "prog process 7", "prog 7", 2),
    stream(2, "GPU 0, stream 1"),
    stream(3, "GPU 0, stream 2"),
    stream(4, "GPU 0, stream 3"),
  ];
  assert.deepEqual(
    titles(list).map((title) => title.replace(/:.*/, "")),
    ["prog 7", "GPU 0 of 7", ...[1, 2, 3].map((n) => `GPU 0, stream ${n} closed`)],
  );
});

test("a map without room for all threads has the busiest, and their count", () => {
  const list = [9, 0.001, 5, 0.001, 3, 2].map((cost, i) =>
    costly(i + 1, `prog process ${i + 1}`, `prog ${i + 1}`, cost),
  );
  assert.deepEqual(mapThreads(list, 6), { profiles: [1, 2, 3, 4, 5, 6], count: 6 });
  assert.deepEqual(mapThreads(list, 4), { profiles: [1, 3, 5, 6], count: 6 });
  assert.deepEqual(mapThreads(list, 2), { profiles: [1, 3], count: 6 });
  const withStream = [
    ...list,
    { ...costly(7, "GPU 0", "GPU 0, stream 1", 0), label: "GPU 0, stream 1" },
  ];
  assert.deepEqual(mapThreads(withStream, 2), { profiles: [1, 7], count: 7 });
});

test("counters follow the threads, in a group of their own; that of rates is closed", () => {
  const counter = { profile: 1, label: "t 1", name: "cycles" };
  const rate = { ...counter, name: "calls/s" };
  const layout = layOut(threads, plain, heights, () => 2, [counter, rate]);
  assert.deepEqual(
    layout.tracks.slice(-3).map((track) => [track.kind, track.height]),
    [
      ["group", 20],
      ["counter", 40],
      ["group", 20],
    ],
  );
  assert.deepEqual(counterScale([[1, 5, 9, 7]]), { low: 5, high: 9 });
  assert.deepEqual(counterScale([[1, 5, 5, 5]]), { low: 4, high: 6 });
  assert.deepEqual(counterScale([[1, 5, 9, 7]], true), { low: 0, high: 9 });
  const named = (name: string) => isFromZero({ profile: 1, label: "", name });
  assert.deepEqual(["heap (B)", "calls/s", "VmRSS"].map(named), [true, true, false]);
});

test("moves are in the address, one a thread", () => {
  assert.equal(printMoves(movedTo(parseMoves("3:1,4:0,bad"), 3, 2)), "4:0,3:2");
});

test("a dragged track takes the place of one in its group, a pinned one that of a pinned one", () => {
  const layout = layOut(threads, { ...plain, pinned: [1] }, heights, () => 2);
  const at = (profile: number) =>
    layout.tracks.find(
      (track): track is ThreadTrack => track.kind === "thread" && track.thread.profile === profile,
    ) as ThreadTrack;
  const middle = (profile: number) => topInWindow(layout, at(profile), 0) + 5;
  assert.equal(dropTarget(layout, 0, at(3), middle(2))?.thread.profile, 2);
  assert.equal(dropTarget(layout, 0, at(3), middle(3)), null);
  assert.equal(dropTarget(layout, 0, at(3), middle(1)), null);
  const { index } = at(2);
  const choice = { ...plain, ...moveTrack(plain, at(3), index) };
  assert.deepEqual(shown(choice).slice(1, 3), ["THREAD 10", "THREAD 9"]);
  const pinned = { ...plain, pinned: [1, 2, 3] };
  assert.deepEqual(moveTrack(pinned, { ...at(1), index: 0 }, 2), { pinned: [2, 3, 1] });
});

test("pinned tracks stay, the others scroll below them", () => {
  const layout = layOut(threads, { ...plain, pinned: [2] }, heights, () => 2);
  assert.equal(layout.fixedHeight, 35);
  const [first] = visibleTracks(layout, 30, 100);
  assert.equal(first?.isFixed, true);
  const group = layout.tracks[1];
  assert.ok(group);
  assert.equal(topInWindow(layout, group, 30), 5);
  assert.equal((trackAt(layout, 30, 10) as ThreadTrack).thread.profile, 2);
  assert.equal((trackAt(layout, 30, 36) as ThreadTrack).thread.profile, 3);
});

test("processors follow threads, closed if there are many, and gaps are gaps", () => {
  const listed = (processors: number[], choice: Partial<Choice> = {}) =>
    layOut(threads, { ...plain, ...choice }, heights, () => 2, [], null, processors).tracks.flatMap(
      (track) => (track.kind === "cpu" ? [track.number] : []),
    );
  assert.deepEqual(listed([0, 3]), [0, 3]);
  assert.deepEqual(listed([0, 3], { shut: new Set(["Processors"]) }), []);
  const many = Array.from({ length: 9 }, (_, i) => i);
  assert.deepEqual(listed(many), []);
  assert.deepEqual(listed(many, { shut: new Set(["Processors"]) }), many);
  const cpus = parseCpus({
    isPending: false,
    begin: 1000,
    end: 2000,
    columns: 10,
    processors: [
      {
        number: 3,
        busy: 250,
        runs: [
          [1, 3, 7, 1],
          [3, 4, 8, 0.5],
        ],
      },
    ],
  });
  assert.equal(cpuRunAt(cpus, 3, 1050), null);
  assert.equal(cpuRunAt(cpus, 3, 1100)?.profile, 7);
  assert.equal(cpuRunAt(cpus, 3, 1399)?.profile, 8);
  assert.equal(cpuRunAt(cpus, 0, 1100), null);
  assert.equal(cpuRunAt(null, 3, 1100), null);
});
