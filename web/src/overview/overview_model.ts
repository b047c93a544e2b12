// What the overview says, from the answers of the server.

import {
  formatNs,
  formatPercent,
  formatValue,
  isSeconds,
  metricTitle,
  plural,
} from "../shared/format";
import { shortName } from "../shared/names/short_name";
import type { State } from "../shared/state";
import type {
  Column,
  FunctionRow,
  GpuGap,
  GpuUse,
  Imbalance,
  Info,
  MemoryUse,
  Overview,
  Row,
  States,
  Thread,
} from "../../generated/answers";

export interface Fact {
  value: string;
  label: string;
  to?: State; // the view that shows it
  isBad?: boolean;
}

export interface Note {
  subject: string; // printed in bold; "": none
  text: string;
  link?: { title: string; to: State };
  isBad?: boolean;
}

const seconds = (value: number) => formatNs(value * 1e9);

export const stateSeconds = (info: Info, name: string): number | null =>
  info.states.find((state) => state.name === name)?.seconds ?? null;

export function columnIndex(columns: Column[], metric: string, side: Column["side"]): number {
  return columns.findIndex(
    (column) => column.metric === metric && column.side === side && !column.isPercentile,
  );
}

export const percentileIndex = (columns: Column[], name: string): number =>
  columns.findIndex((column) => column.isPercentile && column.title.startsWith(name));

// The number of processors that were online, from the facts of a recording.
export function coreCount(info: Info): number | null {
  const text = info.facts?.find(([key]) => key === "cpuinfo:nr_cpus")?.[1];
  const count = Number(/^\s*(\d+)/.exec(text ?? "")?.[1] ?? NaN);
  return Number.isFinite(count) && count > 0 ? count : null;
}

// Processes of which calls were recorded.
export function processCount(info: Info): number | null {
  const measured = info.tasks?.filter((task) => task.profile !== undefined);
  return measured ? new Set(measured.map((task) => task.pid)).size : null;
}

// Labels without the words that all of them begin with: "NODE 1 THREAD 3" becomes "THREAD 3".
export function shortLabels(labels: [number, string][]): [number, string, string][] {
  const words = labels.map(([, label]) => label.split(" "));
  const first = words[0] ?? [];
  let common = 0;
  while (
    words.length > 1 &&
    common + 2 < first.length &&
    words.every((list) => list[common] === first[common] && list[common + 1] === first[common + 1])
  )
    common += 2;
  return labels.map(([profile, label], i) => [
    profile,
    words[i]?.slice(common).join(" ") ?? label,
    label,
  ]);
}

export function wholeOf(overview: Overview): number {
  return overview.threads.reduce((sum, thread) => sum + thread[1], 0);
}

export interface ProcessCost {
  group: string;
  label: string; // "gzip 4711"
  profiles: number[];
  cost: number;
}

// A peak is that of a process: what processes have together was never there at once.
const isPeak = (metric: string): boolean => / peak \(/.test(metric);

function factOfCost(overview: Overview, processes: ProcessCost[]): Fact {
  const allocating = processes.filter(({ cost }) => cost > 0).length;
  const sum = isPeak(overview.metric) && allocating > 1;
  return {
    value: formatValue(wholeOf(overview), overview.metric),
    label: `${overview.base ?? metricTitle(overview.metric)}${sum ? `, peaks of ${allocating} processes added up` : ""}`,
    to: { v: "flame" },
  };
}

// What threads cost together, by process, the busiest first; threads of no process are in none.
export function processesOf(overview: Overview, threads: Thread[]): ProcessCost[] {
  const costs = new Map(overview.threads.map(([profile, cost]) => [profile, cost]));
  const processes = new Map<string, ProcessCost>();
  for (const { profile, group } of threads) {
    const [, name = "", number = ""] = /^(?:(.*) )?process (\d+)$/.exec(group) ?? [];
    const cost = costs.get(profile);
    if (number === "" || cost === undefined || / of$/.test(name)) continue;
    const label = name ? `${name} ${number}` : `process ${number}`;
    const process = processes.get(group) ?? { group, label, profiles: [], cost: 0 };
    processes.set(group, process);
    process.profiles.push(profile);
    process.cost += cost;
  }
  return [...processes.values()].sort((a, b) => b.cost - a.cost);
}

// Waiting of all threads: of calls alone until the states of threads are there.
function factOfWaiting(info: Info, states: States | null): Fact | null {
  const known = new Map<string, number>(states?.states);
  const ofState = (name: string) =>
    known.has(name) ? (known.get(name) ?? 0) / 1e9 : stateSeconds(info, name);
  const blocked = ofState("blocked");
  const preempted = ofState("pre-empted");
  if (blocked === null || preempted === null) return null;
  const outside = states?.waitingOutside ?? 0;
  return {
    value: seconds(blocked + preempted),
    label: [
      states && info.costTimes ? "waiting, recorded" : "waiting",
      `${formatPercent(preempted, blocked + preempted) || "0 %"} pre-empted`,
      ...(outside > 0 ? [`${formatNs(outside)} outside calls`] : []),
    ].join(", "),
    to: { v: "bottom-up", w: "1" },
  };
}

export const THREAD_STATES = [
  "running",
  "outside calls",
  "recording",
  "blocked",
  "pre-empted",
  "no data",
] as const;

// What each thread did with the wall time, in seconds, in the order of these states. Running time is
// that of trees and flame graphs; what runs outside of calls, and the cost of recording where costs
// are corrected, are parts of their own.
export function threadTimes(overview: Overview, states: States | null): Map<number, number[]> {
  const known = states?.threads?.map((thread): [number, number[]] => {
    const [profile, running, blocked, preempted, noData, , recording, outside] = thread;
    const ns = [running - recording - outside, outside, recording, blocked, preempted, noData];
    return [profile, ns.map((value) => value / 1e9)];
  });
  return new Map(
    known ??
      overview.threads.map(([profile, running, ...waits]) => [
        profile,
        waits.length > 0 ? [running, 0, 0, ...waits.map((wait) => wait ?? 0)] : [running],
      ]),
  );
}

// The time that shares of threads are of, in seconds; null where costs are no part of the wall time:
// corrected ones alone, or others than times.
export function wallOf(info: Info, overview: Overview, states: States | null): number | null {
  if (!isSeconds(overview.metric)) return null;
  const ns = states?.wall ?? (info.costTimes === "corrected" ? 0 : info.duration);
  return ns > 0 ? ns / 1e9 : null;
}

const BUSY_MIN = 0.005; // less is printed as 0.00
const MANY_CORES = 100; // busy ones are whole numbers

// The processors that were busy, recording included, over the wall time; null where only corrected
// costs are known, which are no part of the recorded wall time.
export function busyCores(info: Info, overview: Overview, states: States | null): number | null {
  const running = states?.states.find(([name]) => name === "running")?.[1];
  if (running !== undefined && states?.wall) return running / states.wall;
  const isComparable = isSeconds(overview.metric) && info.costTimes !== "corrected";
  return isComparable && info.duration > 0 ? (wholeOf(overview) * 1e9) / info.duration : null;
}

const toTimeline = (info: Info): { to?: State } =>
  info.hasTimelines ? { to: { v: "timeline" } } : {};

// Streams of GPUs are no threads.
const threadCountOf = (info: Info, overview: Overview): number =>
  (overview.gpus ?? []).reduce((rest, { streams }) => rest - streams, info.threadCount);

function threadFact(info: Info, overview: Overview): Fact {
  const threadCount = threadCountOf(info, overview);
  const processes = processCount(info);
  const inProcesses = processes ? ` in ${plural(processes, "process", "processes")}` : "";
  const measured = overview.threads.length;
  const withCosts =
    measured < threadCount ? `, ${measured.toLocaleString("en-US")} with costs` : "";
  return {
    value: threadCount.toLocaleString("en-US"),
    label: `${threadCount === 1 ? "thread" : "threads"}${inProcesses}${withCosts}`,
    ...toTimeline(info),
  };
}

// From the first record to the last, scheduler events included; most of it may be outside calls.
function factOfWall(info: Info, overview: Overview, states: States | null): Fact {
  const measured = info.duration;
  const all = Math.max(states?.wall ?? 0, measured);
  const what = info.metrics.some(({ name }) => name === "calls") ? "calls" : "samples";
  const part = measured < 0.99 * all ? `, ${what} in ${formatNs(measured)}` : "";
  const cores = coreCount(info);
  const busy = busyCores(info, overview, states);
  const used =
    busy !== null && busy >= BUSY_MIN
      ? `, ${busy < MANY_CORES ? busy.toFixed(2) : Math.round(busy)}${cores ? ` of ${cores}` : ""} cores busy`
      : "";
  return {
    value: all > 0 ? formatNs(all) : "unknown",
    label: `wall time${info.costTimes ? ", recorded" : ""}${part}${used}`,
    ...toTimeline(info),
  };
}

// The functions that are called most: recording them costs most.
function mostCalled(columns: Column[]): State {
  const column = columns[columnIndex(columns, "calls", "inclusive")];
  return { v: "bottom-up", ...(column ? { more: "calls", sort: column.name } : {}) };
}

const GPUS_MAX = 2; // that facts and notes tell of
const NAME_LETTERS = 48; // of kernels and functions in a sentence; the timeline has the whole name
const BUSY_ENOUGH = 0.75; // of the time of a GPU

const factOfGpu = (gpu: GpuUse): Fact => ({
  value: formatPercent(gpu.busy, gpu.span),
  label: `GPU ${gpu.number} busy of ${formatNs(gpu.span)}, ${plural(gpu.streams, "stream")}`,
  to: { v: "timeline" },
});

// The functions that launched what ended a gap; without them, the call itself.
function launcherOf({ launch, path }: GpuGap): string {
  const names = path[path.length - 1] === launch || launch === "" ? path : [...path, launch];
  const short = names.map((name) => shortName(name, NAME_LETTERS));
  return short.length > 0 ? `, launched by ${short.join(" > ")}` : ", whose launch is unknown";
}

// A GPU that waits for the program: how long, and which call path left it idle.
function noteOfGpu(gpu: GpuUse): Note | null {
  const gap = gpu.gaps[0];
  if (!gap || gpu.busy > BUSY_ENOUGH * gpu.span) return null;
  const length = gap.end - gap.begin;
  const around = Math.round(length / 4);
  return {
    subject: `GPU ${gpu.number}`,
    text: ` busy ${formatPercent(gpu.busy, gpu.span)} of ${formatNs(gpu.span)}, idle in ${plural(gpu.gapCount, "gap")}: the longest, ${formatNs(length)}, ended with ${shortName(gap.operation, NAME_LETTERS)}${launcherOf(gap)}.`,
    link: {
      title: "Timeline",
      to: {
        v: "timeline",
        from: String(Math.max(0, gap.begin - around)),
        to: String(gap.end + around),
        first: String(gap.profile),
      },
    },
  };
}

const MEMORY_WHEN: Record<string, string> = {
  "live at peak (B)": "live at the peak",
  "live at end (B)": "not freed at the end",
};

// Which function allocated most of what was live.
function noteOfMemory({ metric, total, self, top }: MemoryUse): Note | null {
  const first = top[0];
  if (!first || total <= 0) return null;
  return {
    subject: first.row.label,
    text: ` itself allocated ${formatPercent(self, total)} of the ${formatValue(total, metric)} ${MEMORY_WHEN[metric] ?? metric}.`,
    link: { title: "Flame graph", to: { v: "flame", m: metric } },
  };
}

export function factsOf(
  info: Info,
  overview: Overview,
  states: States | null = null,
  processes: ProcessCost[] = [],
): Fact[] {
  const { columns } = overview;
  const facts: Fact[] = [];
  facts.push(factOfWall(info, overview, states));
  facts.push(factOfCost(overview, processes));
  const waiting = factOfWaiting(info, states);
  if (waiting) facts.push(waiting);
  facts.push(threadFact(info, overview));
  for (const gpu of (overview.gpus ?? []).slice(0, GPUS_MAX)) facts.push(factOfGpu(gpu));
  const calls = columns ? columns[columnIndex(columns, "calls", "inclusive")]?.total : null;
  if (calls)
    facts.push({
      value: calls.toLocaleString("en-US"),
      label: `calls of ${plural(overview.functionCount ?? 0, "function")}`,
      to: mostCalled(columns ?? []),
    });
  else if (info.sampleCount > 0)
    facts.push({
      value: info.sampleCount.toLocaleString("en-US"),
      label: "samples",
      ...toTimeline(info),
    });
  if (overview.lostRecords !== undefined)
    facts.push({
      value: overview.lostRecords.toLocaleString("en-US"),
      label: "lost records",
      isBad: overview.lostRecords > 0,
      ...(overview.lostRecords > 0 ? { to: { v: "calls" } } : {}),
    });
  if (overview.callCost)
    facts.push({
      value: formatNs(overview.callCost),
      label: info.costTimes === "corrected" ? "cost a call, subtracted" : "cost a call",
      to: mostCalled(columns ?? []),
    });
  return facts;
}

const IN_PATH = new Set(["function", "entry", "other"]);

export interface Step {
  row: Row; // of the first of equal ones
  path: string[];
  times: number;
}

// The functions of the hot path. Equal neighbours, as recursion and unknown functions have, are one.
export function foldSteps(hotPath: Row[]): Step[] {
  const steps: Step[] = [];
  hotPath.forEach((row, i) => {
    if (!IN_PATH.has(row.kind)) return;
    const last = steps[steps.length - 1];
    if (last?.row.label === row.label) last.times++;
    else steps.push({ row, path: hotPath.slice(0, i + 1).map(({ id }) => id), times: 1 });
  });
  return steps;
}

const STEPS_FIRST = 3; // of a long hot path
const STEPS_LAST = 8;

// The steps that are listed: of a long path the first and the last ones, and the number of those
// between.
export function listedSteps(steps: Step[]): (Step | number)[] {
  const between = steps.length - STEPS_FIRST - STEPS_LAST;
  return between < 2
    ? steps
    : [...steps.slice(0, STEPS_FIRST), between, ...steps.slice(-STEPS_LAST)];
}

const openTree = (path: string[]): State => ({ v: "top-down", open: path.join(".") });

function noteOfImbalance(overview: Overview, imbalance: Imbalance): Note | null {
  const { by, count, function: work, most, max, mean } = imbalance;
  if (mean <= 0 || max <= mean) return null;
  const { hotPath, labels, metric } = overview;
  const top = hotPath?.[0];
  const thread = shortLabels(labels).find(([profile]) => profile === most)?.[1];
  return {
    subject: by === "rank" ? `Rank ${most}` : (thread ?? `Thread ${most}`),
    text: ` has ${formatValue(max, metric)} in ${work}, ${(max / mean).toFixed(1)} × the mean of the ${count} ${by}s that do the same: if all wait for it, ${formatPercent(max - mean, max)} of their time is waiting.`,
    ...(top ? { link: { title: `Cost on each ${by}`, to: openTree([top.id]) } } : {}),
  };
}

const HOT_SHARE = 0.05; // of all cost: no function with less is hot

function noteOfHottest(overview: Overview): Note | null {
  const { columns, functions } = overview;
  const top = functions?.[0];
  if (!columns || !top) return null;
  const self = columnIndex(columns, overview.metric, "exclusive");
  const calls = top.row.values[columnIndex(columns, "calls", "exclusive")];
  const cost = top.row.values[self] ?? null;
  const whole = columns[self]?.total ?? null;
  const share = formatPercent(cost, whole);
  if (share === "" || share === "0.0 %") return null;
  if ((cost ?? 0) < HOT_SHARE * (whole ?? 0))
    return {
      subject: "",
      text: `No function itself has more than ${share} of all ${metricTitle(overview.metric)}.`,
      link: { title: "Flame graph", to: { v: "flame" } },
    };
  return {
    subject: top.row.label,
    text: ` itself has ${share} of all ${metricTitle(overview.metric)}${calls ? ` in ${plural(calls, "call")}` : ""}.`,
    link: { title: "Flame graph", to: { v: "flame", zoom: top.path.join(".") } },
  };
}

function noteOfCores(info: Info, overview: Overview, states: States | null): Note | null {
  const cores = coreCount(info);
  const busy = busyCores(info, overview, states);
  if (!cores || busy === null || busy < BUSY_MIN || !info.hasTimelines) return null;
  const usable = Math.min(cores, threadCountOf(info, overview));
  if (busy > 0.75 * usable) return null;
  return {
    subject: "",
    text: `${busy.toFixed(2)} of ${plural(usable, "core")} used that its threads could use.`,
    link: { title: "Timeline", to: { v: "timeline" } },
  };
}

const PREEMPTED_SHARE = 0.1; // of the time that threads wanted to run

// Threads that were ready to run and did not, although they are not blocked by anything.
function noteOfPreemption(info: Info, states: States | null): Note | null {
  const ofState = (name: "running" | "pre-empted") =>
    states?.states.find(([state]) => state === name)?.[1] ?? (stateSeconds(info, name) ?? 0) * 1e9;
  const running = ofState("running");
  const preempted = ofState("pre-empted");
  if (running <= 0 || preempted <= 0) return null; // unknown, as in stacks without times
  if (preempted < PREEMPTED_SHARE * (running + preempted) || preempted < SLOW_SHARE * info.duration)
    return null;
  return {
    subject: "Pre-empted",
    text: ` for ${formatNs(preempted)}, ${(preempted / running).toFixed(1)} × the ${formatNs(running)} that threads ran: they were ready to run, but other threads or programs had the processors.`,
    link: { title: "Timeline", to: { v: "timeline" } },
  };
}

const SLOW_SHARE = 0.001; // of all time of threads: what slow calls must take to be worth a look

function noteOfSlow(info: Info, overview: Overview, { path, row }: FunctionRow): Note | null {
  const { columns = [], callCost = 0 } = overview;
  const p50 = row.values[percentileIndex(columns, "p50")] ?? 0;
  const p99 = row.values[percentileIndex(columns, "p99")] ?? 0;
  const calls = row.values[columnIndex(columns, "calls", "exclusive")] ?? 0;
  const whole = isSeconds(overview.metric) ? wholeOf(overview) : info.duration / 1e9;
  const all = stateSeconds(info, "all") ?? whole;
  if (((p99 - p50) * calls) / 100 < SLOW_SHARE * all || p99 * 1e9 <= callCost) return null;
  // The quotient of a duration that is shorter than the cost of recording it means nothing.
  const ratio = p50 * 1e9 > callCost ? p99 / p50 : null;
  return {
    subject: row.label,
    text:
      ratio === null
        ? `: p99 ${seconds(p99)}, but half of its calls take less than ${formatNs(Math.max(1, callCost))}.`
        : `: p99 ${seconds(p99)} is ${ratio.toFixed(ratio < 10 ? 1 : 0)} × its p50, ${seconds(p50)}.`,
    link: { title: "Distribution", to: openTree(path) },
  };
}

// Calls that are as short as what recording one costs: what is left of them after that was subtracted is uncertain.
function noteOfShortCalls(overview: Overview): Note | null {
  const { columns = [], functions = [], callCost = 0 } = overview;
  const self = columnIndex(columns, overview.metric, "exclusive");
  const counts = columnIndex(columns, "calls", "exclusive");
  const p50s = percentileIndex(columns, "p50");
  if (callCost === 0 || counts < 0 || p50s < 0 || !isSeconds(overview.metric)) return null;
  const cost = ({ row }: FunctionRow) => ((row.values[counts] ?? 0) * callCost) / 1e9;
  const whole = columns[self]?.total ?? 0;
  const short = functions
    .filter((other) => (other.row.values[p50s] ?? Infinity) * 1e9 <= callCost)
    .filter((other) => cost(other) > SHORT_SHARE * whole)
    .sort((a, b) => cost(b) - cost(a))[0];
  if (!short) return null;
  const { row, path } = short;
  return {
    subject: row.label,
    text: ` is called ${(row.values[counts] ?? 0).toLocaleString("en-US")} times, half of them no longer than the ${formatNs(callCost)} that recording a call costs, ${seconds(cost(short))} in all: its times are uncertain.`,
    link: { title: "Distribution", to: openTree(path) },
  };
}

const SHORT_SHARE = 0.1; // of all time: what recording short calls must cost to be worth a look
const NOTES_MAX = 5;
const DAMAGE_MAX = 2; // the header tells of all
const WARNINGS_MAX = 2;

// What samples are by their nature is no flaw of the data.
const isEstimate = (text: string): boolean => / is estimated from /.test(text);

// Damage first: it puts all other statements in doubt. What is unknown, and the slowest calls, are the last to be told.
export function notesOf(info: Info, overview: Overview, states: States | null = null): Note[] {
  const { columns, slow } = overview;
  const told = overview.warnings.map((warning) => ({
    subject: warning.isDamage ? "Damage" : isEstimate(warning.text) ? "Estimated" : "Warning",
    text: `: ${warning.text}`,
    isBad: warning.isDamage,
  }));
  const damage = told.filter(({ isBad }) => isBad);
  const lost = overview.lostRecords
    ? [
        {
          subject: plural(overview.lostRecords, "record"),
          text: " lost while recording: counts and times of calls are too small. Record again with a larger --buffer.",
          link: { title: "Calls", to: { v: "calls" } },
          isBad: true,
        },
      ]
    : [];
  return [
    ...[...lost, ...damage].slice(0, DAMAGE_MAX),
    noteOfHottest(overview),
    ...(overview.gpus ?? []).slice(0, GPUS_MAX).map(noteOfGpu),
    ...(overview.memory ?? []).map(noteOfMemory),
    noteOfPreemption(info, states),
    noteOfCores(info, overview, states),
    overview.imbalance ? noteOfImbalance(overview, overview.imbalance) : null,
    noteOfShortCalls(overview),
    ...told.filter(({ isBad }) => !isBad).slice(0, WARNINGS_MAX),
    ...(columns && slow ? slow.map((other) => noteOfSlow(info, overview, other)) : []),
  ]
    .filter((note): note is Note => Boolean(note))
    .slice(0, NOTES_MAX);
}
