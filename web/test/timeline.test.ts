import assert from "node:assert/strict";
import { test } from "node:test";
import { boxAt, measuredRange, nextMatch, threadsBetween, timeAt } from "../src/timeline/geometry";
import { chooseDepth, cut, levelsWithRoom, parseNested, stripOf } from "../src/timeline/nested";
import { findInTime } from "../src/timeline/find_in_time";
import { moved } from "../src/timeline/track_tiles";
import { shorten } from "../src/timeline/timeline_panel";
import { firstColumns, joined } from "../src/timeline/use_tracks";
import { layOut } from "../src/timeline/tracks";
import { answer, heights, plain, shownWith, thread } from "./timeline_answer";

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

test("a search finds calls that are too deep to be drawn", () => {
  const deep = 60;
  const frame = parseNested({
    ...answer,
    names: [
      [0, "main"],
      [1, "fold"],
      [2, "leaf"],
    ],
    frames: Array.from({ length: deep }, (_, i): [number, number | null, number] => [
      i + 10,
      i === 0 ? null : i + 9,
      i === 0 ? 0 : i === deep - 1 ? 2 : 1,
    ]),
    rows: [
      {
        ...answer.rows[0]!,
        runs: [
          [4, 10, 0, 0],
          [4, deep + 9, 0, 0],
        ],
      },
    ],
  });
  const find = (name: string) => nextMatch(frame, (one) => one === name, -1, 1)?.time;
  const row = [...frame.rows.values()][0]!;
  assert.ok(row.levels < deep - 1, "it is not drawn");
  assert.ok(row.boxes.every(({ name }) => name !== "leaf"));
  assert.equal(row.runs[0]?.deeper, null);
  const columnNs = (frame.end - frame.begin) / frame.columns;
  assert.equal(find("leaf"), frame.begin + 6 * columnNs);
  assert.equal(find("nothing"), undefined);
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
