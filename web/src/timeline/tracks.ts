// The tracks of the timeline: which threads, in which order, how high each one is.

import { matcher } from "../flame/flame_layout";
import type { CounterName, Thread } from "../../generated/answers";

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
  isPinned: boolean;
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

export type Track = GroupTrack | ThreadTrack | CounterTrack;

export const COUNTERS = "Counters"; // the name of their group

export interface Layout {
  tracks: Track[]; // fixed ones first; their tops count from the top of the window
  fixedHeight: number;
  height: number; // of the others
}

const collator = new Intl.Collator("en", { numeric: true });
export const compareNaturally = (a: string, b: string): number => collator.compare(a, b);

const OPEN_ALL_MAX = 6; // threads
const OPEN_FIRST_MAX = 8; // groups

interface Group {
  name: string;
  threads: Thread[];
}

// The node in front of ranks, "NODE 0x7f0101 ", if all groups are on one.
export function commonNode(names: string[]): string {
  const node = /^NODE \S+ /.exec(names[0] ?? "")?.[0] ?? "";
  return names.every((name) => name.startsWith(node)) ? node : "";
}

// Ranks go by their names; threads of processes by their numbers, as they were started.
const isProcess = (thread: Thread): boolean => /(^| )process \d+$/.test(thread.group);

function compareThreads(a: Thread, b: Thread): number {
  if (isProcess(a) && isProcess(b)) return a.profile - b.profile;
  return compareNaturally(a.label, b.label);
}

const firstOf = (group: Group): Thread =>
  group.threads.reduce((first, thread) => (compareThreads(thread, first) < 0 ? thread : first));

// Threads with data by group, in natural order. Groups of one thread each are none.
export function groupThreads(threads: Thread[], choice: Choice): Group[] {
  const matches = matcher(choice.filter) ?? (() => true);
  const groups = new Map<string, Thread[]>();
  for (const thread of threads) {
    if (thread.samples === 0) continue;
    const list = groups.get(thread.group) ?? [];
    if (list.length === 0) groups.set(thread.group, list);
    list.push(thread);
  }
  const isGrouped = [...groups.values()].some((list) => list.length > 1) && groups.size > 0;
  const found = isGrouped
    ? [...groups].map(([name, list]) => ({ name, threads: list }))
    : [{ name: "", threads: [...groups.values()].flat() }];
  for (const group of found) {
    group.threads = group.threads.filter((thread) => matches(thread.label));
    group.threads.sort(compareThreads);
    for (const [profile, index] of choice.moved) {
      const from = group.threads.findIndex((thread) => thread.profile === profile);
      if (from >= 0) group.threads.splice(index, 0, ...group.threads.splice(from, 1));
    }
  }
  return found
    .filter((group) => group.threads.length > 0)
    .sort((a, b) => compareThreads(firstOf(a), firstOf(b)));
}

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

// The rows of a map of all threads: in the order of tracks, with the name of their group.
export function mapRows(threads: Thread[]): Map<number, { index: number; label: string }> {
  const short = labelOf(threads);
  const rows = groupThreads(threads, NO_CHOICE).flatMap((group) =>
    group.threads.map((thread) => ({
      profile: thread.profile,
      label: group.name === "" ? short(thread.label) : short(group.name),
    })),
  );
  return new Map(rows.map(({ profile, label }, index) => [profile, { index, label }]));
}

// What decides which tracks are open at first: the height of the window, and the levels of calls
// of each thread in the whole time, which do not change with the zoom.
export interface Room {
  height: number;
  levelsOf: (profile: number) => number | undefined; // undefined: not known
}

// All of few threads are open, else the first of each of few groups, else the very first; and of
// the others, those with most samples, as long as the window has room for them.
function openByRule(groups: Group[], heights: Heights, room: Room | null): Set<number> {
  const all = groups.flatMap((group) => group.threads);
  if (all.length <= OPEN_ALL_MAX) return new Set(all.map((thread) => thread.profile));
  const firsts = groups
    .slice(0, groups.length <= OPEN_FIRST_MAX ? groups.length : 1)
    .flatMap((group) => group.threads.slice(0, 1));
  const open = new Set(firsts.map((thread) => thread.profile));
  if (!room) return open;
  const more = ({ profile }: Thread) =>
    (room.levelsOf(profile) ?? Infinity) * heights.level - heights.strip;
  let left = room.height - all.length * (heights.gap + heights.strip);
  if (groups.some((group) => group.name !== "")) left -= groups.length * heights.group;
  for (const thread of firsts) left -= more(thread);
  for (const thread of [...all].sort((a, b) => b.samples - a.samples)) {
    if (open.has(thread.profile) || more(thread) > left) continue;
    open.add(thread.profile);
    left -= more(thread);
  }
  return open;
}

export function layOut(
  threads: Thread[],
  choice: Choice,
  heights: Heights,
  levelsOf: (profile: number) => number,
  counters: CounterName[] = [],
  room: Room | null = null,
): Layout {
  const groups = groupThreads(threads, choice);
  const short = labelOf(threads);
  const openThreads = openByRule(groups, heights, room);
  const layout: Layout = { tracks: [], fixedHeight: 0, height: 0 };
  const heightOf = (profile: number, isOpen: boolean) =>
    heights.gap + (isOpen ? Math.max(1, levelsOf(profile)) * heights.level : heights.strip);
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
    isFixed: boolean,
  ) =>
    place({
      kind: "thread",
      thread,
      name,
      index,
      isOpen,
      isPinned: isFixed,
      isFixed,
      top: 0,
      height: heightOf(thread.profile, isOpen),
    });
  choice.pinned.forEach((profile, index) => {
    const thread = threads.find((one) => one.profile === profile);
    if (!thread) return;
    const isOpen = choice.opened.get(profile) ?? true;
    threadTrack(thread, short(thread.label), index, isOpen, true);
  });
  groups.forEach((group) => {
    const isShut = choice.shut.has(group.name);
    if (group.name !== "")
      place({
        kind: "group",
        group: group.name,
        label: short(group.name),
        profiles: group.threads.map((thread) => thread.profile),
        isShut,
        top: 0,
        height: heights.group,
        isFixed: false,
      });
    if (isShut) return;
    group.threads.forEach((thread, index) => {
      if (choice.pinned.includes(thread.profile)) return;
      const isOpen = choice.opened.get(thread.profile) ?? openThreads.has(thread.profile);
      const label = short(thread.label);
      const name = group.name === "" ? label : thread.name || label;
      threadTrack(thread, name, index, isOpen, false);
    });
  });
  if (counters.length > 0)
    place({
      kind: "group",
      group: COUNTERS,
      label: COUNTERS,
      profiles: [],
      isShut: choice.shut.has(COUNTERS),
      top: 0,
      height: heights.group,
      isFixed: false,
    });
  for (const counter of choice.shut.has(COUNTERS) ? [] : counters)
    place({
      kind: "counter",
      counter,
      label: short(counter.label),
      top: 0,
      height: heights.counter,
      isFixed: false,
    });
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
