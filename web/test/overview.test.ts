import assert from "node:assert/strict";
import { test } from "node:test";
import {
  busyCores,
  factsOf,
  foldSteps,
  listedSteps,
  notesOf,
  processesOf,
  shortLabels,
  threadTimes,
} from "../src/overview/overview_model";
import type { Info, Overview, Row, States, Thread } from "../generated/answers";
import { bareName, foldTemplates, shorten } from "../src/shared/names/names";
import { formatDuration } from "../src/shared/format";
import { columnUnit, percentileUnit } from "../src/shared/units";

const row = (label: string, values: (number | null)[]): Row => ({
  id: label,
  kind: "function",
  label,
  context: label,
  module: null,
  file: null,
  line: 0,
  language: null,
  code: null,
  isLeaf: true,
  values,
});
const column = (metric: string, side: "inclusive" | "exclusive", total: number | null) => ({
  name: `${metric} ${side}`,
  title: metric,
  metric,
  side,
  isPercentile: false,
  total,
  hasShare: true,
});
const info = {
  duration: 2e9,
  threadCount: 2,
  sampleCount: 0,
  hasTimelines: true,
  metrics: [{ name: "calls" }],
  states: [],
  costTimes: "corrected",
  facts: [["cpuinfo:nr_cpus", "4 / 4 (online/possible)"]],
  tasks: [{ pid: 1, profile: 1 }, { pid: 1, profile: 2 }, { pid: 2 }],
} as unknown as Info;
const overview: Overview = {
  metric: "time (sec)",
  base: "corrected time with waiting",
  hotPath: [row("main", [2, 1])],
  columns: [
    column("time (sec)", "inclusive", 2),
    column("time (sec)", "exclusive", 2),
    column("calls", "inclusive", 1200),
    column("calls", "exclusive", 1200),
    { ...column("", "exclusive", null), title: "p50", isPercentile: true },
    { ...column("", "exclusive", null), title: "p99", isPercentile: true },
  ],
  functionCount: 1,
  functions: [{ path: ["main"], row: row("main", [2, 1.5, 1, 1, 1, 1]) }],
  waiting: [],
  slow: [
    { path: ["a"], row: row("a", [0, 0, 1000, 1000, 0.001, 0.01]) },
    { path: ["b"], row: row("b", [0, 0, 200, 200, 1e-9, 1e-7]) },
  ],
  threads: [
    [1, 1.6],
    [2, 0.4],
  ],
  labels: [
    [1, "NODE 0 THREAD 0"],
    [2, "NODE 0 THREAD 1"],
  ],
  imbalance: { by: "thread", function: "work", count: 2, most: 1, max: 1.6, mean: 1 },
  warnings: [{ text: "the tail is missing", isDamage: true }],
  lostRecords: 3,
  callCost: 26.5,
  isPartial: false,
};

test("a long hot path has its first and last steps", () => {
  const steps = (count: number) =>
    foldSteps(Array.from({ length: count }, (_, i) => row(`f${i}`, [1])));
  assert.equal(listedSteps(steps(12)).length, 12);
  const listed = listedSteps(steps(30));
  assert.equal(listed.length, 12);
  assert.equal(listed[3], 19);
});

test("the facts of a recording", () => {
  assert.deepEqual(
    factsOf(info, overview).map(({ value, label }) => `${value} ${label}`),
    [
      "2 s wall time, recorded",
      "2 s corrected time with waiting",
      "2 threads in 1 process",
      "1,200 calls of 1 function",
      "3 lost records",
      "26.5 ns cost a call, subtracted",
    ],
  );
  assert.deepEqual(
    factsOf(info, overview).map(({ to }) => to?.v),
    ["timeline", "flame", "timeline", "bottom-up", "calls", "bottom-up"],
  );
  const longer = { wall: 4e9, states: [] } as unknown as States;
  const labelOf = (of: Info) => factsOf(of, overview, longer)[0]?.label;
  assert.equal(labelOf(info), "wall time, recorded, calls in 2 s");
  assert.equal(labelOf({ ...info, metrics: [] }), "wall time, recorded, samples in 2 s");
  const unknown = factsOf({ ...info, duration: 0 }, overview)[0];
  assert.equal(unknown?.value, "unknown");
  const idle = factsOf({ ...info, threadCount: 5 }, overview)[2];
  assert.equal(idle?.label, "threads in 1 process, 2 with costs");
});

test("streams of GPUs are no threads that could use cores", () => {
  const gpu = { number: 0, streams: 3, busy: 1, span: 2, gapCount: 0, gaps: [] };
  const withGpu = { ...overview, gpus: [gpu] } as unknown as Overview;
  const four = { ...info, threadCount: 5 };
  const states = { wall: 2e9, states: [["running", 1e9]] } as unknown as States;
  assert.equal(factsOf(four, withGpu)[2]?.value, "2");
  assert.equal(factsOf(four, withGpu)[2]?.label, "threads in 1 process");
  const texts = notesOf(four, { ...withGpu, warnings: [], lostRecords: 0 }, states);
  assert.ok(texts.some(({ text }) => text.startsWith("0.50 of 2 cores used")));
});

test("kernels and what launched them have short names in the sentence about a GPU", () => {
  const kernel = `void at::native::kernel<4, ${"at::native::normal<float>, ".repeat(40)}>(int)`;
  const gap = { begin: 5, end: 9, profile: 1, operation: kernel, launch: "train", path: [kernel] };
  const gpu = { number: 0, streams: 1, busy: 1, span: 20, gapCount: 1, gaps: [gap] };
  const notes = notesOf(info, { ...overview, gpus: [gpu] });
  const short = "void at::native::kernel<…>(…)";
  assert.ok(
    notes.some(({ text }) => text.endsWith(`ended with ${short}, launched by ${short} > train.`)),
  );
});

test("the functions that allocated most of what was live are named with their share", () => {
  const of = (metric: string, self: number) => ({
    metric,
    total: 16 << 20,
    self,
    top: self > 0 ? [{ path: ["1"], row: { label: "copy" } }] : [],
  });
  const memory = [of("live at peak (B)", 4 << 20), of("live at end (B)", 0)];
  const notes = notesOf(info, { ...overview, memory } as unknown as Overview);
  const told = notes.filter(({ text }) => text.includes("live") || text.includes("freed"));
  assert.deepEqual(told, [
    {
      subject: "copy",
      text: " itself allocated 25.0 % of the 16 MiB live at the peak.",
      link: { title: "Flame graph", to: { v: "flame", m: "live at peak (B)" } },
    },
  ]);
});

test("processors are compared with the wall time in recorded time alone", () => {
  const states = {
    wall: 4e9,
    states: [
      ["running", 3e9],
      ["blocked", 5e9],
    ],
  } as unknown as States;
  const labelOf = (of: Info, known: States | null) => factsOf(of, overview, known)[0]?.label;
  assert.equal(busyCores(info, overview, null), null);
  assert.equal(busyCores({ ...info, costTimes: "recorded" }, overview, null), 1);
  assert.equal(
    labelOf({ ...info, duration: 4e9 }, states),
    "wall time, recorded, 0.75 of 4 cores busy",
  );
  const { costTimes, ...sampled } = info;
  assert.equal(costTimes, "corrected");
  assert.equal(labelOf(sampled, null), "wall time, 1.00 of 4 cores busy");
});

test("waiting of threads, in calls and outside", () => {
  const states: States = {
    isPending: false,
    wall: 2e9,
    states: [
      ["running", 2e9],
      ["blocked", 6e8],
      ["pre-empted", 2e8],
      ["no data", 12e8],
    ],
    waitingOutside: 5e8,
    recording: 4e8,
    threads: [
      [1, 16e8, 2e8, 2e8, 0, 1e8, 3e8, 0],
      [2, 4e8, 4e8, 0, 12e8, 4e8, 1e8, 1e8],
    ],
  };
  const known = {
    ...info,
    states: [
      { name: "blocked", seconds: 0.2 },
      { name: "pre-empted", seconds: 0.1 },
    ],
  } as unknown as Info;
  assert.equal(factsOf(known, overview)[2]?.value, "300 ms");
  assert.deepEqual(factsOf(known, overview, states)[2], {
    value: "800 ms",
    label: "waiting, recorded, 25.0 % pre-empted, 500 ms outside calls",
    to: { v: "bottom-up", w: "1" },
  });
  assert.deepEqual(threadTimes(overview, states).get(2), [0.2, 0.1, 0.1, 0.4, 0, 1.2]);
  assert.deepEqual(threadTimes(overview, null).get(2), [0.4]);
});

test("an overview is shown before its views are computed", () => {
  const { metric, threads, labels } = overview;
  const first: Overview = { metric, threads, labels, warnings: [], isPartial: true };
  assert.deepEqual(
    factsOf(info, first).map(({ label }) => label),
    ["wall time, recorded", "2 time", "threads in 1 process"].map((label) =>
      label.replace("2 time", "time"),
    ),
  );
  const imbalance = overview.imbalance ?? null;
  const notes = notesOf(info, { ...first, imbalance }, null);
  assert.deepEqual(
    notes.map(({ subject, link }) => [subject, link]),
    [["THREAD 0", undefined]],
  );
});

test("what is worth a look: damage first, small things not at all", () => {
  const states = { wall: 2e9, states: [["running", 2e9]] } as unknown as States;
  const notes = notesOf(info, overview, states).map(({ subject, text }) => subject + text);
  assert.equal(notes.length, 5, "the slowest calls have no room");
  assert.match(notes[0] ?? "", /^3 records lost/);
  assert.match(notes[1] ?? "", /^Damage: the tail/);
  assert.match(notes[2] ?? "", /^main itself has 75.0 % of all time in 1 call\./);
  assert.match(notes[3] ?? "", /^1.00 of 2 cores/);
  assert.match(notes[4] ?? "", /^THREAD 0 has 1.6 s in work, 1.6 × the mean of the 2 threads/);
  const estimate = { text: "memory is estimated from 41 sampled allocations", isDamage: false };
  const all = notesOf(info, { ...overview, warnings: [estimate], lostRecords: 0 }, states);
  assert.deepEqual(
    all.map(({ subject, isBad = false }) => [subject, isBad]),
    [
      ["main", false],
      ["", false],
      ["THREAD 0", false],
      ["Estimated", false],
      ["a", false],
    ],
    "no flaw of the data, and after what costs",
  );
  const whole = notesOf(info, { ...overview, warnings: [], lostRecords: 0 }, states);
  const last = whole.map(({ subject, text }) => subject + text).pop() ?? "";
  assert.match(last, /^a: p99 10 ms is 10 × its p50, 1 ms/);
});

test("calls as short as what recording them costs are worth a look if they are many", () => {
  const short = (calls: number, p50: number) => {
    const f = { path: ["f"], row: row("f", [1, 1, calls, calls, p50, 1e-6]) };
    const others = { ...overview, warnings: [], lostRecords: 0, slow: [], functions: [f] };
    return notesOf(info, others).some(({ text }) => text.includes("its times are uncertain"));
  };
  assert.equal(short(1e8, 20e-9), true);
  assert.equal(short(1e3, 20e-9), false);
  assert.equal(short(1e8, 200e-9), false);
});

test("peaks of several processes say that they are added up", () => {
  const memory = {
    ...overview,
    metric: "live at peak (B)",
    base: undefined,
  } as unknown as Overview;
  const process = (cost: number) => ({ group: "", label: "", profiles: [], cost });
  const labelOf = (costs: number[], of = memory) =>
    factsOf(info, of, null, costs.map(process))[1]?.label;
  assert.equal(labelOf([3, 2]), "live at peak, peaks of 2 processes added up");
  assert.equal(labelOf([3, 0]), "live at peak", "only one has allocated");
  assert.equal(labelOf([3, 2], { ...memory, metric: "allocated (B)" }), "allocated");
});

test("a duration below the cost of a call has no quotient", () => {
  const fast = { path: ["f"], row: row("f", [0, 0, 1e6, 1e6, 1e-9, 1e-3]) };
  const notes = notesOf(info, { ...overview, slow: [fast] });
  assert.equal(notes.pop()?.text, ": p99 1 ms, but half of its calls take less than 26.5 ns.");
});

test("equal neighbours of the hot path are one step", () => {
  const path = ["main", "fib", "fib", "fib", "leaf"].map((label, i) => ({
    ...row(label, [1]),
    id: String(i),
  }));
  const line = { ...row("a.c:7", [1]), id: "9", kind: "line" as const };
  assert.deepEqual(
    foldSteps([...path.slice(0, 2), line, ...path.slice(2)]).map((step) => [
      step.row.label,
      step.times,
      step.path.join("."),
    ]),
    [
      ["main", 1, "0"],
      ["fib", 3, "0.1"],
      ["leaf", 1, "0.1.9.2.3.4"],
    ],
  );
});

test("labels without what they have in common", () => {
  assert.deepEqual(
    shortLabels([
      [1, "NODE 0 RANK 1 THREAD 0"],
      [2, "NODE 0 RANK 2 THREAD 0"],
    ]).map((l) => l[1]),
    ["RANK 1 THREAD 0", "RANK 2 THREAD 0"],
  );
  assert.deepEqual(
    shortLabels([[1, "words 17"]]).map((label) => label[1]),
    ["words 17"],
  );
});

test("a duration that the clock does not resolve is less than that", () => {
  const { unit, print } = percentileUnit(22e-9, "auto", 3e-5);
  assert.equal(unit, "µs");
  assert.equal(print(22e-9), "< 0.022");
  assert.equal(percentileUnit(22e-9, "auto", 0.5).print(22e-9), "< 0.001");
  assert.equal(print(23e-9), "0.023");
  assert.equal(print(null), "");
  assert.equal(percentileUnit(undefined, "ns", 1).print(1e-9), "1");
  assert.equal(formatDuration(22, 22), "< 22 ns");
  assert.equal(formatDuration(23, 22), "23 ns");
  assert.equal(formatDuration(1), "1 ns");
});

test("a column has one unit", () => {
  const ms = columnUnit("time (sec)", 0.3261, "auto");
  assert.equal(ms.unit, "ms");
  assert.deepEqual([0.3261, 0.00039, 0, 1e-9, null].map(ms.print), [
    "326.10",
    "0.39",
    "0.00",
    "< 0.01",
    "",
  ]);
  assert.equal(columnUnit("time (sec)", 0.3261, "ns").print(0.3261), "326,100,000");
  assert.equal(columnUnit("time (sec)", 2, "%").print(0.5), "25.0");
  assert.equal(columnUnit("calls", 1234, "scientific").print(1234), "1.234e+3");
  assert.deepEqual([columnUnit("calls", 1234567, "auto").print(1234567)], ["1,234,567"]);
  assert.equal(columnUnit("sec", null, "auto").print(25e-9), "0.025");
});

test("long names are folded, then cut in the middle", () => {
  assert.equal(
    foldTemplates("std::map<int, std::vector<int> >::at(std::less<int> const&)"),
    "std::map<…>::at(std::less<…> const&)",
  );
  assert.equal(foldTemplates("a::operator<<(b<c>)"), "a::operator<<(b<…>)");
  assert.equal(foldTemplates("a < b"), "a < b");
  assert.equal(foldTemplates("<main thread>"), "<main thread>");
  assert.equal(bareName("std::map<int, a::b>::at(int const&)"), "at");
  assert.equal(bareName("a::operator<<(std::ostream&, b<c>)"), "operator<<");
  assert.equal(bareName("std::thread::~thread()"), "~thread");
  assert.equal(bareName("a::make_line::cxx11"), "make_line");
  assert.equal(bareName("com.example.Dao.query"), "Dao.query");
  assert.equal(bareName("lulesh.cc:2748"), "lulesh.cc:2748");
  assert.equal(bareName("[unknown] [git]"), "[unknown] [git]");
  assert.equal(shorten("short", 10), "short");
  assert.equal(shorten("abcdefghijklmnopqrstuvwxyz", 11), "abcd…uvwxyz");
  assert.equal(shorten("java.lang.Thread.run", 12), "….Thread.run");
  assert.equal(shorten("com.shop.checkout.Till.sell(java.lang.String)", 24), "com.….Till.sell(…)");
});

test("threads of a process cost together what its row says, the busiest process first", () => {
  const list = (
    [
      [1, "gzip process 7"],
      [2, "node process 8"],
      [3, "node process 8"],
      [4, "GPU 0 of process 8"],
      [5, "RANK 0"],
      [6, "process 9"],
      [7, "process 9"],
    ] as const
  ).map(([profile, group]) => ({ profile, group }) as Thread);
  const overview = { threads: [1, 2, 3, 4, 5, 6].map((profile) => [profile, profile]) };
  assert.deepEqual(
    processesOf(overview as unknown as Overview, list).map(({ label, profiles, cost }) => [
      label,
      profiles,
      cost,
    ]),
    [
      ["process 9", [6], 6],
      ["node 8", [2, 3], 5],
      ["gzip 7", [1], 1],
    ],
  );
});
