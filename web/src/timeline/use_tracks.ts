// The data of the timeline: all threads, the frame that is visible, and the map of all the time.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { getWhenReady, type Parameters } from "../shared/api";
import type { Range } from "../shared/range";
import type {
  CounterName,
  CounterNames,
  Counters,
  CounterTrack,
  Flows as FlowsAnswer,
  NestedTimeline,
  Processors,
  Thread,
} from "../../generated/answers";
import { useAnswer } from "../shared/use_answer";
import { parseFlows, type Flow } from "./flows";
import {
  chooseDepth,
  hasSameColumns,
  isSameRow,
  LEVEL_MAX,
  levelsWithRoom,
  parseNested,
  type NestedFrame,
} from "./nested";
import { printNumbers } from "./thread_numbers";
import { mapThreads, visibleTracks, type Layout } from "./tracks";

const PAGE = 2000; // threads a request
const ROWS_MAX = 200; // of a frame
const CELLS = 20000; // columns of all threads, of a first answer
const COLUMNS_MIN = 150;
const COLUMNS_MAX = 4000;
const MAP_COLUMNS_MAX = 1000;
const STEP = 8; // tracks: a little scrolling asks for nothing

const isPending = (answer: NestedTimeline) => answer.isPending;

// All threads that a selection contains, page after page.
export function useThreads(path: string, selection: string): Thread[] | null {
  const [threads, setThreads] = useState<Thread[] | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const load = async () => {
      const all: Thread[] = [];
      for (let first = 1; ;) {
        const page = await getWhenReady<Thread[]>(
          `${path}/threads`,
          { first, count: PAGE, thread: selection },
          { signal: stop.signal },
        );
        all.push(...page);
        if (stop.signal.aborted) return;
        setThreads([...all]);
        if (page.length < PAGE) return;
        first = (page[page.length - 1]?.profile ?? 0) + 1;
      }
    };
    load().catch(() => setThreads((before) => before ?? []));
    return () => stop.abort();
  }, [path, selection]);
  return threads;
}

// The threads of the tracks that are visible, and a few around them.
export function visibleProfiles(layout: Layout, scrolled: number, height: number): number[] {
  const visible = visibleTracks(layout, scrolled, height);
  const first = layout.tracks.indexOf(visible.find((track) => !track.isFixed) ?? visible[0]!);
  const last = layout.tracks.indexOf(visible[visible.length - 1]!, first);
  const near = layout.tracks.slice(
    Math.max(0, Math.floor(first / STEP) * STEP),
    Math.ceil((last + 1) / STEP) * STEP,
  );
  const fixed = layout.tracks.filter((track) => track.isFixed);
  const profiles = [...fixed, ...near].flatMap((track) =>
    track.kind === "thread" ? [track.thread.profile] : [],
  );
  return [...new Set(profiles)].slice(0, ROWS_MAX);
}

// Rows of the frame before stay, if it has the same columns: scrolling shows them at once, and what
// is equal is not drawn again.
export function joined(before: NestedFrame | null, next: NestedFrame): NestedFrame {
  if (!before || !hasSameColumns(before, next)) return next;
  const rows = new Map(before.rows);
  for (const [profile, row] of next.rows) {
    const known = rows.get(profile);
    if (!known || !isSameRow(known, row)) rows.set(profile, row);
  }
  return { ...next, rows };
}

// Columns of the first answer: the more threads, the fewer, so that it comes in time.
export function firstColumns(columns: number, threads: number): number {
  return Math.min(columns, Math.max(COLUMNS_MIN, Math.floor(CELLS / Math.max(1, threads))));
}

// True if an answer shows the threads of another one, in the same time, in no less detail.
function isFiner(
  value: NestedTimeline | null,
  first: NestedTimeline | null,
  range: Range,
): boolean {
  return (
    value !== null &&
    first !== null &&
    value.begin <= range.begin &&
    value.end >= range.end &&
    (value.end - value.begin) / value.columns <= (first.end - first.begin) / first.columns &&
    (value.end - value.begin) / value.columns > (first.end - first.begin) / first.columns / 5 &&
    value.rows.length === first.rows.length &&
    value.rows[0]?.profile === first.rows[0]?.profile
  );
}

// The first answer is quick: it may be an estimate, and of many threads it has fewer columns. The
// second one has all columns, and is exact where the sums of a job do not help.
function useTwoAnswers(
  path: string | null,
  question: Parameters,
  columns: number,
  threads: number,
  range: Range,
): { value: NestedTimeline | null; error: string | null } {
  const coarse = firstColumns(columns, threads);
  const first = useAnswer<NestedTimeline>(path, { ...question, columns: coarse }, isPending);
  const isThere = first.value !== null && !first.isLoading && !first.value.isPending;
  const isEstimate = first.value?.isEstimate === true;
  const needsMore = isThere && (isEstimate || coarse < columns);
  const second = useAnswer<NestedTimeline>(
    needsMore ? path : null,
    { ...question, columns, refine: isEstimate ? 1 : undefined },
    isPending,
  );
  const isBetter = needsMore && isFiner(second.value, first.value, range);
  return { value: isBetter ? second.value : first.value, error: first.error };
}

// Stacks that are not needed whole.
export interface Cut {
  depth: number;
  whole: number[]; // profiles that are not cut
}

export function useFrame(
  path: string,
  range: Range,
  columns: number,
  profiles: number[],
  lens: Parameters,
  cut?: Cut,
): { frame: NestedFrame | null; error: string | null } {
  // Rows that another lens shows are not those of this one.
  const last = useRef<{ frame: NestedFrame; lens: string } | null>(null);
  const { value, error } = useTwoAnswers(
    profiles.length > 0 ? `${path}/timeline` : null,
    {
      ...lens,
      nested: 1,
      snap: 1,
      begin: Math.floor(range.begin),
      end: Math.ceil(range.end),
      count: ROWS_MAX,
      thread: printNumbers(profiles),
      depth: cut?.depth,
      whole: cut && printNumbers(cut.whole),
    },
    Math.min(COLUMNS_MAX, columns),
    profiles.length,
    range,
  );
  const lensKey = JSON.stringify(lens);
  const frame = useMemo(() => {
    if (!value) return null;
    const before = last.current?.lens === lensKey ? last.current.frame : null;
    last.current = { frame: joined(before, parseNested(value)), lens: lensKey };
    return last.current.frame;
  }, [value]);
  return { frame, error };
}

const WHOLE: Range = { begin: 0, end: 0 }; // any answer contains it

export function useMap(
  path: string,
  threads: Thread[] | null,
  selection: string,
  columns: number,
  rows: number,
  lens: Parameters,
): { map: NestedFrame | null; shown: number; count: number; depth: number } {
  const { profiles, count } = useMemo(
    () => mapThreads(threads ?? [], Math.min(ROWS_MAX, rows)),
    [threads, rows],
  );
  const { value } = useTwoAnswers(
    threads ? `${path}/timeline` : null,
    {
      ...lens,
      nested: 1,
      snap: 1,
      count: ROWS_MAX,
      thread: profiles.length === count ? selection : printNumbers(profiles),
    },
    Math.min(MAP_COLUMNS_MAX, columns),
    profiles.length,
    WHOLE,
  );
  const map = useMemo(() => value && parseNested(value), [value]);
  const depth = useMemo(() => (map ? chooseDepth(map) : 1), [map]);
  return { map, shown: profiles.length, count, depth };
}

const NO_COUNTERS: CounterName[] = [];
const isReading = (answer: CounterNames) => answer.isPending;

// The names of all counters and rates.
export function useCounterList(path: string, thread: string): CounterName[] {
  const { value } = useAnswer<CounterNames>(`${path}/counters`, { list: 1, thread }, isReading);
  return value?.counters ?? NO_COUNTERS;
}

export const counterKey = ({ profile, name }: CounterName): string => `${profile} ${name}`;

export type Points = CounterTrack["points"];
export type CounterOf = (counter: CounterName) => CounterTrack | undefined;

// The points of the counters that are visible. Those of the range before stay until they are there.
export function useCounterPoints(
  path: string,
  range: Range,
  columns: number,
  visible: CounterName[],
): CounterOf {
  const { value } = useAnswer<Counters>(visible.length > 0 ? `${path}/counters` : null, {
    begin: Math.floor(range.begin),
    end: Math.ceil(range.end),
    columns: Math.min(COLUMNS_MAX, columns),
    thread: printNumbers([...new Set(visible.map((counter) => counter.profile))]),
    name: [...new Set(visible.map((counter) => counter.name))],
  });
  return useMemo(() => {
    const known = new Map(value?.counters.map((one) => [counterKey(one), one]));
    return (counter: CounterName) => known.get(counterKey(counter));
  }, [value]);
}

export interface CpuRun {
  begin: number; // columns
  end: number;
  profile: number;
  share: number; // of the time in which any thread ran
}

// What ran on processors in a time.
export interface Cpus extends Range {
  columns: number;
  runs: Map<number, CpuRun[]>; // by processor
  busy: Map<number, number>; // ns
}

// What ran on each processor in a time; the answer before stays until it is there. Null: not known.
export function useCpus(path: string, range: Range, columns: number): Cpus | null {
  const { value } = useAnswer<Processors>(
    `${path}/processors`,
    {
      begin: Math.max(0, Math.floor(range.begin)),
      end: Math.ceil(range.end),
      columns: Math.min(COLUMNS_MAX, columns),
    },
    ({ isPending: isRead }) => isRead,
  );
  return useMemo(() => (value && value.processors.length > 0 ? parseCpus(value) : null), [value]);
}

export function parseCpus(value: Processors): Cpus {
  return {
    begin: value.begin,
    end: value.end,
    columns: value.columns,
    runs: new Map(
      value.processors.map(({ number, runs }) => [
        number,
        runs.map(([begin, end, profile, share]) => ({ begin, end, profile, share })),
      ]),
    ),
    busy: new Map(value.processors.map(({ number, busy }) => [number, busy])),
  };
}

// The run on a processor at a time.
export function cpuRunAt(cpus: Cpus | null, number: number, time: number): CpuRun | null {
  if (!cpus) return null;
  const column = ((time - cpus.begin) / (cpus.end - cpus.begin)) * cpus.columns;
  return cpus.runs.get(number)?.find(({ begin, end }) => column >= begin && column < end) ?? null;
}

export interface Flows {
  list: Flow[];
  count: number; // of all in this time and of these threads
}

const NO_FLOWS: Flows = { list: [], count: 0 };

// The flows of some threads in a time. A recording without any is asked once.
export function useFlows(path: string | null, range: Range, profiles: number[]): Flows {
  const all = useAnswer<FlowsAnswer>(path && `${path}/flows`, { limit: 1 });
  const hasFlows = path !== null && (all.value?.count ?? 0) > 0;
  const { value } = useAnswer<FlowsAnswer>(
    hasFlows && profiles.length > 0 ? `${path}/flows` : null,
    {
      begin: Math.max(0, Math.floor(range.begin)),
      end: Math.ceil(range.end),
      thread: printNumbers(profiles),
    },
  );
  return useMemo(
    () => (hasFlows && value ? { list: parseFlows(value), count: value.count } : NO_FLOWS),
    [hasFlows, value],
  );
}

// The most levels of calls that each thread was seen to have: tracks do not shrink while zooming.
export function useLevels(...frames: (NestedFrame | null)[]): (profile: number) => number {
  const levels = useRef(new Map<number, number>());
  const [version, setVersion] = useState(0);
  useEffect(() => {
    let hasGrown = false;
    for (const frame of frames)
      for (const row of frame?.rows.values() ?? []) {
        const now = Math.min(levelsWithRoom(row, frame?.columns ?? 0), LEVEL_MAX);
        if (now <= (levels.current.get(row.profile) ?? 0)) continue;
        levels.current.set(row.profile, now);
        hasGrown = true;
      }
    if (hasGrown) setVersion((before) => before + 1);
  }, frames);
  return useMemo(() => (profile: number) => levels.current.get(profile) ?? 1, [version]);
}
