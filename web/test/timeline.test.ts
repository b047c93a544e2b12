import assert from "node:assert/strict";
import { test } from "node:test";
import { flameOverTime, listThreads, waitingIn } from "../src/flame/flame_over_time";
import { layOut as layOutFlame } from "../src/flame/flame_layout";
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
import {
  boxAt,
  measuredRange,
  nextMatch,
  threadsBetween,
  timeAt,
  type Shown,
} from "../src/timeline/geometry";
import { chooseDepth, cut, levelsWithRoom, parseNested, stripOf } from "../src/timeline/nested";
import { findInTime } from "../src/timeline/find_in_time";
import { moved } from "../src/timeline/track_tiles";
import { counterScale, isFromZero } from "../src/timeline/track_draw";
import { shorten } from "../src/timeline/timeline_panel";
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
import { firstColumns, joined } from "../src/timeline/use_tracks";
import type { NestedTimeline, Thread } from "../generated/answers";

// main > {work > leaf, rest}; 9 is waiting.
const answer: NestedTimeline = {
  base: "recorded running time",
  threadCount: 1,
  first: 0,
  begin: 0,
  end: 100,
  columns: 10,
  depthMax: 3,
  idle: 9,
  hasGaps: false,
  waiting: 20,
  isEstimate: false,
  isPending: false,
  frames: [
    [1, null, 0],
    [2, 1, 1],
    [3, 2, 2],
    [4, 3, 3],
    [5, 2, 4],
  ],
  names: [
    [0, "<main thread>"],
    [1, "main"],
    [2, "work"],
    [3, "leaf"],
    [4, "rest"],
  ],
  nameCodes: [null, 0, 0, 0, 0],
  codes: [["c", "mine"]],
  functions: [["leaf", 30]],
  others: [0, 0],
  rows: [
    {
      profile: 7,
      label: "THREAD 0",
      runs: [
        [1, null, 0, 0],
        [2, 4, 100, 5],
        [2, 9, 100, 1],
        [1, 3, 50, 1],
        [2, 5, 100, 1],
        [1, 9, 100, 1],
        [1, null, 0, 0],
      ],
    },
  ],
};

test("calls last as long as their stacks have them, also while they wait", () => {
  const row = parseNested(answer).rows.get(7);
  assert.deepEqual(
    row?.boxes.map((box) => [box.depth, box.name, box.begin, box.end]),
    [
      [0, "<main thread>", 1, 8],
      [1, "main", 1, 8],
      [2, "work", 1, 6],
      [3, "leaf", 1, 3],
      [2, "rest", 6, 8],
    ],
  );
  assert.equal(row?.levels, 3);
  assert.deepEqual(
    row?.states.map((state) => [state.name, state.begin, state.end]),
    [
      ["no data", 0, 1],
      ["running", 1, 3],
      ["waiting", 3, 5],
      ["running", 5, 8],
      ["waiting", 8, 9],
      ["no data", 9, 10],
    ],
  );
});

test("the call of a long wait is drawn", () => {
  const runs: [number, number | null, number, number][] = [
    [2, 5, 100, 1],
    [6, 9, 100, 1],
    [2, 5, 100, 1],
  ];
  const row = parseNested({
    ...answer,
    rows: [{ profile: 7, label: "", runs, waits: [[2, 7, 3]] }],
  }).rows.get(7);
  assert.deepEqual(
    row?.boxes.map((box) => [box.name, box.begin, box.end]),
    [
      ["<main thread>", 0, 10],
      ["main", 0, 10],
      ["rest", 0, 2],
      ["work", 2, 7],
      ["rest", 8, 10],
    ],
  );
  assert.deepEqual(
    row?.runs.map((run) => run.isWaiting),
    [false, true, false],
  );
});

test("calls that are open around waiting at the ends of a frame are drawn", () => {
  const boxes = (runs: [number, number | null, number, number][], held: [number, number]) =>
    parseNested({ ...answer, rows: [{ profile: 7, label: "", runs, held }] })
      .rows.get(7)
      ?.boxes.map((box) => [box.name, box.begin, box.end]);
  assert.deepEqual(boxes([[10, 9, 100, 1]], [3, 3]), [
    ["<main thread>", 0, 10],
    ["main", 0, 10],
    ["work", 0, 10],
  ]);
  assert.deepEqual(
    boxes(
      [
        [4, 9, 100, 1],
        [2, 5, 100, 1],
        [4, 9, 100, 1],
      ],
      [2, 5],
    ),
    [
      ["<main thread>", 0, 10],
      ["main", 0, 10],
      ["rest", 4, 10],
    ],
  );
});

test("a track has room for thin levels, but not for all of a deep one", () => {
  const depth = 40;
  const frames = Array.from({ length: depth }, (_, i): [number, number | null, number] => [
    10 + i,
    i === 0 ? null : 9 + i,
    1,
  ]);
  const levels = (thin: number) => {
    const runs: [number, number | null, number, number][] = [
      [1000 - thin, 13, 100, 1],
      [thin, 9 + depth, 100, 1],
    ];
    const columns = 1000;
    const row = parseNested({
      ...answer,
      columns,
      frames,
      rows: [{ profile: 7, label: "", runs }],
    }).rows.get(7);
    return row && levelsWithRoom(row, columns);
  };
  assert.deepEqual([levels(0), levels(1), levels(40), levels(50)], [3, 7, 7, 39]);
});

test("a strip shows one depth, of shallow stacks the innermost call", () => {
  const frame = parseNested(answer);
  assert.equal(cut(["<main thread>", "main", "work"], 1), "main");
  assert.equal(cut(["<main thread>", "main", "work"], 5), "work");
  assert.equal(cut(["<main thread>", "main", "launch", "<gpu kernel>", "scale"], 1), "scale");
  assert.equal(chooseDepth(frame), 2);
  const row = frame.rows.get(7);
  assert.deepEqual(row && stripOf(row, 1).map((run) => [run.name, run.begin, run.end]), [
    ["main", 1, 3],
    [null, 3, 5],
    ["main", 5, 8],
    [null, 8, 9],
  ]);
});

const thread = (profile: number, group: string, name: string, samples = 5): Thread => ({
  profile,
  label: `${group} ${name}`,
  values: 1,
  selector: String(profile),
  samples,
  group,
  name,
});
const plain: Choice = { filter: "", pinned: [], moved: [], opened: new Map(), shut: new Set() };
const heights = { group: 20, strip: 10, level: 15, gap: 5, counter: 40 };
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
  const closed = layOut(many, plain, heights, deepest, [], { height: 400, levelsOf: deepest });
  assert.ok(closed.tracks.every((track) => track.kind !== "thread" || !track.isOpen));
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

test("a map without room for all threads has none that is quiet", () => {
  const list = [9, 0.001, 5, 0.001, 3, 2].map((cost, i) =>
    costly(i + 1, `prog process ${i + 1}`, `prog ${i + 1}`, cost),
  );
  assert.deepEqual(mapThreads(list, 6), { every: 1, profiles: [1, 2, 3, 4, 5, 6], isAll: true });
  assert.deepEqual(mapThreads(list, 4), { every: 1, profiles: [1, 3, 5, 6], isAll: false });
  assert.deepEqual(mapThreads(list, 2), { every: 2, profiles: [1, 5], isAll: false });
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

function shownWith(layout: Shown["layout"], frame: Shown["frame"], sizes: Shown["sizes"]): Shown {
  return {
    layout,
    scrolled: 0,
    frame,
    range: { begin: 0, end: 100 },
    width: 1000,
    sizes,
    depth: 1,
  };
}

test("points of the window are times, calls and threads", () => {
  const frame = parseNested(answer);
  const one = { ...thread(7, "RANK 0", "THREAD 0"), label: "RANK 0 THREAD 0" };
  const layout = layOut([one, thread(8, "RANK 0", "THREAD 1")], plain, heights, () => 3);
  const shown = shownWith(layout, frame, { label: 50, states: 3, level: 15 });
  assert.equal(timeAt(shown, 550), 50);
  assert.equal(boxAt(shown, 50 + 250, 20 + 5 + 16)?.name, "work");
  assert.equal(boxAt(shown, 50 + 950, 20 + 5 + 16), null);
  assert.equal(threadsBetween(shown, -5, 300), "");
  assert.equal(threadsBetween(shown, 25, 30), "7");
  assert.equal(threadsBetween(shown, 100, 25), "7-8");
});

test("matches are found in order of time, both ways", () => {
  const frame = parseNested(answer);
  const find = (from: number, by: number) =>
    nextMatch(frame, (name) => name === "work" || name === "rest", from, by)?.time;
  assert.equal(find(-1, 1), 35);
  assert.equal(find(35, 1), 70);
  assert.equal(find(70, 1), undefined);
  assert.equal(find(Infinity, -1), 70);
  assert.deepEqual(measuredRange([9], { time: 4, profile: 1 }), { begin: 4, end: 9 });
  assert.deepEqual(measuredRange([9, 2], { time: 40, profile: 1 }), { begin: 2, end: 9 });
});

test("short functions are one line", () => {
  const functions = Array.from({ length: 30 }, (_, i): [string, number] => [
    `f${i}`,
    i < 5 ? 1e6 : 1,
  ]);
  const short = shorten({ functions, others: [100, 7] });
  assert.equal(short.functions.length, 5);
  assert.deepEqual(short.others, [125, 32]);
});

test("a flame graph in the order of time has its boxes at the times of calls", () => {
  const flame = flameOverTime(parseNested(answer), 7, { begin: 20, end: 100 });
  const boxes = layOutFlame(flame).map((box) => [
    box.depth,
    box.name,
    Math.round(box.begin * 1e9),
    Math.round(box.value * 1e9),
    Math.round(box.self * 1e9),
    box.parent < 0 ? "" : flame.names[flame.nodes[box.parent]?.[1] ?? -1],
  ]);
  assert.deepEqual(boxes, [
    [0, "<main thread>", 0, 60, 0, ""],
    [1, "main", 0, 60, 0, "<main thread>"],
    [2, "work", 0, 40, 30, "main"],
    [3, "leaf", 0, 10, 10, "work"],
    [2, "rest", 40, 20, 20, "main"],
  ]);
  assert.equal(Math.round(flame.total * 1e9), 80);
  const work = layOutFlame(flame)[2];
  assert.equal(work && Math.round(waitingIn(flame, work) * 1e9), 20);
});

test("threads of a flame graph in the order of time have samples, in natural order", () => {
  const listed = listThreads([
    thread(1, "RANK 10", "THREAD 0"),
    thread(2, "RANK 2", "THREAD 1", 0),
    thread(3, "RANK 2", "THREAD 9"),
  ]);
  assert.deepEqual(
    listed.map((one) => one.profile),
    [3, 1],
  );
});

test("a drawing lies where its time is while the range moves", () => {
  const drawn = { begin: 10, end: 20 };
  assert.deepEqual(moved(drawn, drawn, 500), { left: 0, scale: 1 });
  assert.deepEqual(moved(drawn, { begin: 15, end: 25 }, 500), { left: -250, scale: 1 });
  assert.deepEqual(moved(drawn, { begin: 5, end: 25 }, 500), { left: 125, scale: 0.5 });
});

test("rows that are loaded again stay the same unless they look different", () => {
  const before = parseNested(answer);
  const first = before.rows.get(7);
  assert.equal(joined(before, parseNested(answer)).rows.get(7), first);
  const [row] = answer.rows;
  const busy = "0123456789".slice(0, answer.columns).padEnd(answer.columns, "f");
  const other = parseNested({ ...answer, rows: [{ ...row!, busy }] });
  assert.equal(joined(before, other).rows.get(7), other.rows.get(7));
  const next = parseNested({ ...answer, rows: [{ ...row!, profile: 8 }] });
  assert.deepEqual([...joined(before, next).rows.keys()], [7, 8]);
  assert.deepEqual([...joined(before, { ...next, end: 200 }).rows.keys()], [8]);
});

test("how much of a column a thread ran, and gaps", () => {
  const row = { profile: 7, label: "t" };
  const runs: [number, number | null, number, number][] = [
    [2, 1, 100, 2],
    [2, 9, 0, 0],
    [2, 1, 100, 2],
    [8, 9, 0, 0],
    [1, 1, 100, 1],
  ];
  const made = {
    ...answer,
    columns: 15,
    idle: 9,
    frames: [[1, null, 1]] as [number, number | null, number][],
    rows: [{ ...row, runs, busy: "f800f8000000004" }],
  };
  const known = parseNested(made).rows.get(7)!;
  assert.deepEqual(
    known.busy.map(({ begin, end, share }) => [begin, end, Math.round(15 * share)]),
    [
      [0, 1, 15],
      [1, 2, 8],
      [2, 4, 0],
      [4, 5, 15],
      [5, 6, 8],
      [6, 14, 0],
      [14, 15, 4],
    ],
  );
  assert.equal(known.boxes.length, 1, "a call that is open around waiting is one");
  const gaps = parseNested({ ...made, hasGaps: true }).rows.get(7)!;
  assert.equal(gaps.boxes.length, 2, "what happens in a gap is not known");
  assert.deepEqual(
    gaps.states.map(({ name, end }) => [name, end]),
    [
      ["running", 2],
      ["no data", 4],
      ["running", 6],
      ["no data", 14],
      ["running", 15],
    ],
  );
});

test("the more threads, the fewer columns has the first answer", () => {
  assert.equal(firstColumns(1200, 1), 1200);
  assert.equal(firstColumns(1200, 40), 500);
  assert.equal(firstColumns(1200, 2000), 150);
  assert.equal(firstColumns(100, 2000), 100);
});

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

test("a search goes on in time that is not loaded", async () => {
  const calls = [
    [120, 130],
    [4_000_000, 4_000_400],
    [9_000_000, 9_000_001],
  ];
  let asked = 0;
  const has = ({ begin, end }: { begin: number; end: number }) => {
    asked++;
    return Promise.resolve(calls.some(([from = 0, to = 0]) => from < end && to > begin));
  };
  const first = await findInTime(has, { begin: 1000, end: 10_000_000 }, 1, 100);
  assert.ok(first && first.begin <= 4_000_000 && first.end > 4_000_000, JSON.stringify(first));
  assert.ok(first.end - first.begin <= 100);
  assert.ok(asked < 25, `${asked} questions`);
  const last = await findInTime(has, { begin: 0, end: 10_000_000 }, -1, 100);
  assert.ok(last && last.begin <= 9_000_000 && last.end > 9_000_000, JSON.stringify(last));
  assert.equal(await findInTime(has, { begin: 5_000_000, end: 6_000_000 }, 1, 100), null);
  assert.equal(await findInTime(has, { begin: 7, end: 7 }, 1, 100), null);
});
