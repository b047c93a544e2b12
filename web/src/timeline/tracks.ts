// The tracks of the timeline: which threads, in which order, how high each one is.

import { matcher } from "../flame/flame_layout";
import type { CounterName, Thread } from "../../generated/answers";

// Streams of GPUs are strips of their operations; opened, they have the paths of launches.
const IS_STREAM = /^GPU \d+, stream /;

export interface Choice {
  filter: string; // of labels: a regular expression, or plain text
  pinned: number[]; // profiles
  moved: [number, number][]; // profile, and its index in its group
  opened: Map<number, boolean>; // by profile: threads that were opened, or closed
  shut: Set<string>; // closed groups
}

export interface Heights {
  group: number;
  strip: number;
  level: number; // of one call
  gap: number; // with the line of states
  counter: number;
}

export interface GroupTrack {
  kind: "group";
  group: string;
  label: string;
  profiles: number[];
  cost: number; // of its threads
  share: number; // of that of all threads
  isStreams: boolean; // of a GPU, which have no cost in the metric of threads
  isShut: boolean;
  top: number;
  height: number;
  isFixed: boolean;
}

export interface ThreadTrack {
  kind: "thread";
  thread: Thread;
  name: string; // in its group
  index: number; // in its group, or among the pinned ones
  isOpen: boolean;
  cutLevels: number; // of its calls, which the track has no room for
  isPinned: boolean;
  isInside: boolean; // of a group with a title
  top: number;
  height: number;
  isFixed: boolean; // it stays at the top while others scroll
}

export interface CounterTrack {
  kind: "counter";
  counter: CounterName;
  label: string; // its thread
  top: number;
  height: number;
  isFixed: false;
}

// What ran on a processor.
export interface CpuTrack {
  kind: "cpu";
  number: number;
  top: number;
  height: number;
  isFixed: false;
}

export type Track = GroupTrack | ThreadTrack | CounterTrack | CpuTrack;

export const CPUS = "Processors"; // the name of their group, closed if there are many
const CPUS_OPEN_MAX = 8;
const CPU_GAP = 4; // pixels
export const COUNTERS = "Counters"; // the name of their group
export const RATES = "Calls and samples per second"; // and of rates, closed unless it was opened

export interface Layout {
  tracks: Track[]; // fixed ones first; their tops count from the top of the window
  fixedHeight: number;
  height: number; // of the others
}

const collator = new Intl.Collator("en", { numeric: true });
export const compareNaturally = (a: string, b: string): number => collator.compare(a, b);

const OPEN_ALL_MAX = 6; // threads
const OPEN_SHARE = 0.6; // of the window, for the calls of one of many threads
const QUIET_SHARE = 0.01; // of the cost of the busiest thread: one with less is quiet
const OPEN_LEVELS = 16; // at least, where not all levels have room
const OPEN_COST = 1 / 8; // of that of the busiest thread: one with less is closed at first
const QUIET_MIN = 3; // fewer quiet threads are listed among the others

interface Group {
  name: string;
  threads: Thread[];
  isQuiet: boolean; // closed unless it was opened
}

// The name of the group of all quiet threads, and of those in another group.
export const QUIET = "quiet";
const quietOf = (group: string) => `${QUIET} ${group}`;

// Without costs, the number of samples tells how busy a thread is.
export const costOf = (thread: Thread): number => thread.cost ?? 0;

// Streams of GPUs have no cost in the metric of threads.
function quietAmong(threads: Thread[]): (thread: Thread) => boolean {
  const most = Math.max(0, ...threads.map(costOf));
  return (thread) => costOf(thread) < QUIET_SHARE * most && !IS_STREAM.test(thread.label);
}

const sumOf = (threads: Thread[]): number => threads.reduce((sum, one) => sum + costOf(one), 0);

// The busiest first; those that differ by less than two times are in natural order.
const levelOf = (cost: number, most: number): number =>
  cost > 0 && most > 0 ? Math.floor(Math.log2((most * (1 + 1e-9)) / cost)) : Infinity;

function byActivity<T>(
  list: T[],
  cost: (one: T) => number,
  natural: (a: T, b: T) => number,
  isExact = false,
): T[] {
  const most = Math.max(0, ...list.map(cost));
  const compare = (a: T, b: T) => {
    const [x, y] = [a, b].map((one) => (isExact ? -cost(one) : levelOf(cost(one), most))) as [
      number,
      number,
    ];
    return x === y ? natural(a, b) : x - y;
  };
  return [...list].sort(compare);
}

// The node in front of ranks, "NODE 0x7f0101 ", if all groups are on one.
export function commonNode(names: string[]): string {
  const node = /^NODE \S+ /.exec(names[0] ?? "")?.[0] ?? "";
  return names.every((name) => name.startsWith(node)) ? node : "";
}

// Ranks go by their names; threads of processes by their numbers, as they were started.
const processOf = (thread: Thread): string => /(?:^| )process (\d+)$/.exec(thread.group)?.[1] ?? "";
const isProcess = (thread: Thread): boolean => processOf(thread) !== "";

function compareThreads(a: Thread, b: Thread): number {
  if (isProcess(a) && isProcess(b)) return a.profile - b.profile;
  return compareNaturally(a.label, b.label);
}

const firstOf = (group: { threads: Thread[] }): Thread =>
  group.threads.reduce((first, thread) => (compareThreads(thread, first) < 0 ? thread : first));

// The threads of a group in their order; those that were moved are where they were moved to.
function orderThreads(threads: Thread[], choice: Choice): Thread[] {
  const ordered = byActivity(threads, costOf, compareThreads);
  for (const [profile, index] of choice.moved) {
    const from = ordered.findIndex((thread) => thread.profile === profile);
    if (from >= 0) ordered.splice(index, 0, ...ordered.splice(from, 1));
  }
  return ordered;
}

// Threads with data by group, the busiest first; quiet ones of a group follow it, and groups that are quiet
// are one at the end, with the quiet threads of all processes. A process with one thread is no group.
export function groupThreads(threads: Thread[], choice: Choice): Group[] {
  const matches = matcher(choice.filter) ?? (() => true);
  const isQuiet = quietAmong(threads);
  const byName = new Map<string, Thread[]>();
  for (const thread of threads) {
    if (thread.samples === 0 || !matches(thread.label)) continue;
    const list = byName.get(thread.group) ?? [];
    if (list.length === 0) byName.set(thread.group, list);
    list.push(thread);
  }
  const all = [...byName].map(([name, list]) => ({ name, threads: list }));
  const isBusy = (group: { threads: Thread[] }) => !group.threads.every(isQuiet);
  const areProcesses = all.every((group) => group.threads.every(isProcess));
  const quiet = areProcesses
    ? all.flatMap((group) => group.threads.filter(isQuiet))
    : all.filter((group) => !isBusy(group)).flatMap((group) => group.threads);
  const isOneQuiet =
    all.filter((group) => !isBusy(group)).flatMap((group) => group.threads).length >= QUIET_MIN &&
    all.some(isBusy);
  const left = (group: { name: string; threads: Thread[] }) =>
    areProcesses
      ? { ...group, threads: group.threads.filter((thread) => !isQuiet(thread)) }
      : group;
  const listed = byActivity(
    isOneQuiet ? all.filter(isBusy).map(left) : all,
    (group) => sumOf(group.threads),
    (a, b) => compareThreads(firstOf(a), firstOf(b)),
    areProcesses,
  );
  const groups = listed.flatMap(({ name, threads: list }): Group[] => {
    const calm = list.filter(isQuiet);
    const isSplit = calm.length >= QUIET_MIN && calm.length < list.length;
    const busy = isSplit ? list.filter((thread) => !isQuiet(thread)) : list;
    const first = { name, threads: orderThreads(busy, choice), isQuiet: false };
    const rest = { name: quietOf(name), threads: orderThreads(calm, choice), isQuiet: true };
    return isSplit ? [first, rest] : [first];
  });
  const last = { name: QUIET, threads: orderThreads(quiet, choice), isQuiet: true };
  return isOneQuiet ? [...groups, last] : groups;
}

// A group of one thread is a thread, unless quiet ones follow it.
const hasHead = (groups: Group[], index: number): boolean => {
  const group = groups[index] as Group;
  const next = groups[index + 1];
  return (
    group.isQuiet ||
    (group.name !== "" && (group.threads.length > 1 || next?.name === quietOf(group.name)))
  );
};

const NO_CHOICE: Choice = {
  filter: "",
  pinned: [],
  moved: [],
  opened: new Map(),
  shut: new Set(),
};

// Labels without what says nothing: the node that all threads run on and, where every rank has one
// thread, " THREAD 0".
export function labelOf(threads: Thread[]): (label: string) => string {
  const common = commonNode(threads.map((thread) => thread.label)).length;
  const tail = / THREAD \d+$/.exec(threads[0]?.label ?? "")?.[0] ?? "";
  const isSingle =
    threads.length > 1 && threads.every(({ label, group }) => group !== "" && label.endsWith(tail));
  const hasOneEach = new Set(threads.map(({ group }) => group)).size === threads.length;
  return (label) =>
    isSingle && hasOneEach && label.endsWith(tail)
      ? label.slice(common, label.length - tail.length)
      : label.slice(common);
}

// The name of a thread in its group: with its number only if another one has the same name, and without that of its
// process.
function nameInGroup(threads: Thread[]): (thread: Thread) => string {
  const bare = (thread: Thread) => {
    if (!isProcess(thread)) return thread.name;
    const [, name = thread.name, number = ""] = /^(.*\S) (\d+)$/.exec(thread.name) ?? [];
    if (!thread.group.endsWith(`${name} process ${processOf(thread)}`)) return name;
    return number === processOf(thread) ? "main thread" : `thread ${number}`;
  };
  const counts = new Map<string, number>();
  for (const thread of threads) counts.set(bare(thread), (counts.get(bare(thread)) ?? 0) + 1);
  return (thread) => (counts.get(bare(thread)) === 1 ? bare(thread) : thread.name);
}

// The rows of a map of all threads: in the order of tracks, with the name of their group.
export function mapRows(threads: Thread[]): Map<number, { index: number; label: string }> {
  const short = labelOf(threads);
  const rows = groupThreads(threads, NO_CHOICE).flatMap((group) =>
    group.threads.map((thread) => ({
      profile: thread.profile,
      label: group.threads.length === 1 || group.isQuiet ? short(thread.label) : short(group.name),
    })),
  );
  return new Map(rows.map(({ profile, label }, index) => [profile, { index, label }]));
}

// The threads of a map with `rows` rows, the busiest if not all have a row, in their order; and how many there are.
// Streams of GPUs cost no time of the program, and come first.
export function mapThreads(threads: Thread[], rows: number): { profiles: number[]; count: number } {
  const known = threads.filter(({ samples }) => samples > 0);
  const rank = (thread: Thread) => (IS_STREAM.test(thread.label) ? Infinity : costOf(thread));
  const shown =
    known.length <= rows
      ? known
      : [...known].sort((a, b) => Number(rank(b) > rank(a)) - Number(rank(b) < rank(a)));
  const chosen = new Set(shown.slice(0, Math.max(1, rows)));
  return {
    profiles: known.filter((thread) => chosen.has(thread)).map(({ profile }) => profile),
    count: known.length,
  };
}

// What decides which tracks are open at first: the height of the window, and the levels of calls
// of each thread in the whole time, which do not change with the zoom.
export interface Room {
  height: number;
  levelsOf: (profile: number) => number | undefined; // undefined: not known
}

const WHOLE = Infinity; // levels of a track that is not cut

const wholly = (threads: Thread[]) =>
  new Map(threads.map(({ profile }): [number, number] => [profile, WHOLE]));

// All of few threads are open, else the busiest one whose calls leave room for others; and of the others the busiest,
// as long as the window has room for them beside the strips of all others. None that costs little beside the busiest.
// The busiest of those that are too deep is cut to the room that is left. The most levels of each open track.
function openByRule(
  groups: Group[],
  heights: Heights,
  room: Room | null,
  below: number, // height of tracks that are no threads
): Map<number, number> {
  const all = groups.filter((group) => !group.isQuiet).flatMap((group) => group.threads);
  const most = Math.max(0, ...all.map(costOf));
  const byCost = all
    .filter((thread) => costOf(thread) >= OPEN_COST * most)
    .sort((a, b) => costOf(b) - costOf(a) || b.samples - a.samples);
  if (!room) return wholly(all.length <= OPEN_ALL_MAX ? byCost : byCost.slice(0, 1));
  if (all.length === 1) return wholly(byCost);
  const more = ({ profile }: Thread) =>
    (room.levelsOf(profile) ?? Infinity) * heights.level - heights.strip;
  const isModest = (thread: Thread) =>
    room.height === 0 || more(thread) <= OPEN_SHARE * room.height;
  const least = OPEN_LEVELS * heights.level - heights.strip;
  const widest = room.height === 0 ? WHOLE : Math.max(least, OPEN_SHARE * room.height);
  const levelsIn = (height: number) => Math.floor((height + heights.strip) / heights.level);
  const open = new Map<number, number>();
  const heads = groups.filter((_, i) => hasHead(groups, i)).length;
  let left = room.height - all.length * (heights.gap + heights.strip) - heads * heights.group;
  const add = (thread: Thread) => {
    open.set(thread.profile, levelsIn(widest));
    left -= Math.min(more(thread), widest);
  };
  // Of few threads, one with a deep recursion does not take the window of the others.
  if (all.length <= OPEN_ALL_MAX)
    byCost.filter((one) => more(one) === Infinity || isModest(one)).forEach(add);
  else {
    const busiest = byCost.find(isModest) ?? byCost.find((one) => more(one) === Infinity);
    if (busiest) add(busiest);
    for (const thread of busiest ? byCost : [])
      if (!open.has(thread.profile) && more(thread) <= left) add(thread);
  }
  const deep = byCost.find(({ profile }) => !open.has(profile));
  const spare = Math.min(left - below, widest);
  if (deep && spare >= least) open.set(deep.profile, levelsIn(spare));
  return open;
}

// Closed groups are named, and quiet ones that were opened.
const isShutIn = (choice: Choice, group: Group): boolean =>
  choice.shut.has(group.name) !== group.isQuiet;

const quietLabel = (group: Group): string =>
  group.threads.length === 1 ? "quiet thread" : "quiet threads";

export function layOut(
  threads: Thread[],
  choice: Choice,
  heights: Heights,
  levelsOf: (profile: number) => number,
  counters: CounterName[] = [],
  room: Room | null = null,
  processors: number[] = [],
): Layout {
  const groups = groupThreads(threads, choice);
  const short = labelOf(threads);
  const hasCpus = processors.length > 0 && choice.filter === "";
  const areCpusShut = choice.shut.has(CPUS) !== processors.length > CPUS_OPEN_MAX;
  const cpuHeight = heights.strip + CPU_GAP;
  const heightOfCpus = heights.group + (areCpusShut ? 0 : processors.length * cpuHeight);
  const openThreads = openByRule(groups, heights, room, hasCpus ? heightOfCpus : 0);
  const layout: Layout = { tracks: [], fixedHeight: 0, height: 0 };
  const place = (track: Track) => {
    if (track.isFixed) {
      track.top = layout.fixedHeight;
      layout.fixedHeight += track.height;
    } else {
      track.top = layout.height;
      layout.height += track.height;
    }
    layout.tracks.push(track);
  };
  const threadTrack = (
    thread: Thread,
    name: string,
    index: number,
    isOpen: boolean,
    where: { isFixed: boolean; isInside: boolean },
  ) => {
    const levels = Math.max(1, levelsOf(thread.profile));
    const isChosen = where.isFixed || choice.opened.has(thread.profile);
    const shown = isChosen ? levels : Math.min(levels, openThreads.get(thread.profile) ?? levels);
    place({
      kind: "thread",
      thread,
      name,
      index,
      isOpen,
      cutLevels: isOpen ? levels - shown : 0,
      isPinned: where.isFixed,
      ...where,
      top: 0,
      height: heights.gap + (isOpen ? shown * heights.level : heights.strip),
    });
  };
  choice.pinned.forEach((profile, index) => {
    const thread = threads.find((one) => one.profile === profile);
    if (!thread) return;
    const isOpen = choice.opened.get(profile) ?? true;
    threadTrack(thread, short(thread.label), index, isOpen, { isFixed: true, isInside: false });
  });
  const placeTitle = (title: string, isShut: boolean) =>
    place({
      kind: "group",
      group: title,
      label: title,
      profiles: [],
      cost: 0,
      share: 0,
      isStreams: false,
      isShut,
      top: 0,
      height: heights.group,
      isFixed: false,
    });
  const placeProcessors = () => {
    if (!hasCpus) return;
    placeTitle(CPUS, areCpusShut);
    for (const number of areCpusShut ? [] : processors)
      place({ kind: "cpu", number, top: 0, height: cpuHeight, isFixed: false });
  };
  // Of several processes, what shares processors is seen first.
  const hasProcesses = groups.filter((_, i) => hasHead(groups, i)).length > 1;
  if (hasProcesses) placeProcessors();
  const whole = sumOf(threads);
  groups.forEach((group, i) => {
    const isShut = isShutIn(choice, group);
    const hasTitle = hasHead(groups, i);
    const cost = sumOf(group.threads);
    if (hasTitle)
      place({
        kind: "group",
        group: group.name,
        label: group.isQuiet ? quietLabel(group) : short(group.name).replace(/ process /, " "),
        profiles: group.threads.map((thread) => thread.profile),
        cost,
        share: whole > 0 ? cost / whole : 0,
        isStreams: cost === 0 && group.threads.every(({ label }) => IS_STREAM.test(label)),
        isShut,
        top: 0,
        height: heights.group,
        isFixed: false,
      });
    if (isShut && hasTitle) return;
    const nameOf = nameInGroup(group.threads);
    group.threads.forEach((thread, index) => {
      if (choice.pinned.includes(thread.profile)) return;
      const isOpen =
        choice.opened.get(thread.profile) ??
        (openThreads.has(thread.profile) && !IS_STREAM.test(thread.label));
      const label = short(thread.label);
      const name = !hasTitle || group.name === QUIET ? label : nameOf(thread) || label;
      threadTrack(thread, name, index, isOpen, { isFixed: false, isInside: hasTitle });
    });
  });
  if (!hasProcesses) placeProcessors();
  const placeCounters = (title: string, list: CounterName[], isShut: boolean) => {
    if (list.length === 0) return;
    placeTitle(title, isShut);
    for (const counter of isShut ? [] : list)
      place({
        kind: "counter",
        counter,
        label: short(counter.label),
        top: 0,
        height: heights.counter,
        isFixed: false,
      });
  };
  const isRate = ({ name }: CounterName) => name.endsWith("/s");
  placeCounters(
    COUNTERS,
    counters.filter((counter) => !isRate(counter)),
    choice.shut.has(COUNTERS),
  );
  placeCounters(RATES, counters.filter(isRate), !choice.shut.has(RATES));
  return layout;
}

// Where a track is in the window, given how far the others are scrolled.
export const topInWindow = (layout: Layout, track: Track, scrolled: number): number =>
  track.isFixed ? track.top : layout.fixedHeight + track.top - scrolled;

// The tracks that scroll, between two of their heights.
export function tracksBetween({ tracks }: Layout, from: number, to: number): Track[] {
  let [low, high] = [0, tracks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const track = tracks[middle] as Track;
    if (track.isFixed || track.top + track.height <= from) low = middle + 1;
    else high = middle;
  }
  const found: Track[] = [];
  for (let track = tracks[low]; track && track.top < to; track = tracks[++low]) found.push(track);
  return found;
}

export function pinnedTracks({ tracks }: Layout): Track[] {
  const count = tracks.findIndex((track) => !track.isFixed);
  return count < 0 ? tracks : tracks.slice(0, count);
}

// The tracks that can be seen, at least in part.
export function visibleTracks(layout: Layout, scrolled: number, height: number): Track[] {
  return [
    ...pinnedTracks(layout).filter((track) => track.top < height),
    ...tracksBetween(layout, scrolled, scrolled + height - layout.fixedHeight),
  ];
}

// The track at a height of the window.
export function trackAt(layout: Layout, scrolled: number, y: number): Track | null {
  const isAt = (track: Track) => y >= track.top && y < track.top + track.height;
  if (y < layout.fixedHeight) return pinnedTracks(layout).find(isAt) ?? null;
  const at = y - layout.fixedHeight + scrolled;
  return tracksBetween(layout, at, at + 1).find(({ top }) => top <= at) ?? null;
}

// Opened threads in the address: closed ones are negative.
export const parseOpened = (text: string | undefined): Map<number, boolean> =>
  new Map(
    (text ?? "")
      .split(",")
      .filter((part) => /^-?\d+$/.test(part))
      .map((part) => [Math.abs(Number(part)), !part.startsWith("-")]),
  );

export const printOpened = (opened: Map<number, boolean>): string =>
  [...opened].map(([profile, isOpen]) => (isOpen ? profile : -profile)).join(",");

// Lists of numbers in the address.
export const parseList = (text: string | undefined): number[] =>
  (text ?? "")
    .split(",")
    .filter((part) => /^\d+$/.test(part))
    .map(Number);

export const toggled = <T>(list: Iterable<T>, item: T): T[] => {
  const all = [...list];
  return all.includes(item) ? all.filter((other) => other !== item) : [...all, item];
};

export const parseMoves = (text: string | undefined): [number, number][] =>
  (text ?? "")
    .split(",")
    .map((part) => part.split(":").map(Number))
    .filter((pair): pair is [number, number] => pair.length === 2 && pair.every(Number.isInteger));

// A further move of a thread replaces the one before.
export function movedTo(
  moved: [number, number][],
  profile: number,
  index: number,
): [number, number][] {
  return [...moved.filter(([other]) => other !== profile), [profile, Math.max(0, index)]];
}

// The track at a height of the window that a dragged one can take the place of: a pinned one that of
// a pinned one, others that of one in their group.
export function dropTarget(
  layout: Layout,
  scrolled: number,
  dragged: ThreadTrack,
  y: number,
): ThreadTrack | null {
  const over = trackAt(layout, scrolled, y);
  if (over?.kind !== "thread" || over.thread.profile === dragged.thread.profile) return null;
  if (over.isPinned !== dragged.isPinned) return null;
  return over.isPinned || over.thread.group === dragged.thread.group ? over : null;
}

// What moves a track: pinned ones have an order of their own.
export function moveTrack(choice: Choice, track: ThreadTrack, index: number): Partial<Choice> {
  const { profile } = track.thread;
  if (!track.isPinned) return { moved: movedTo(choice.moved, profile, index) };
  const pinned = choice.pinned.filter((other) => other !== profile);
  pinned.splice(Math.max(0, index), 0, profile);
  return { pinned };
}

export const printMoves = (moved: [number, number][]): string =>
  moved.map((pair) => pair.join(":")).join(",");
