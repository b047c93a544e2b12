// What is shown, stored in the address: a link reopens the same view.

import { useState } from "preact/hooks";
import { useListener } from "./use_listener";

// Every name in the address, and what its value means.
const NAMES = {
  s: "index of the source",
  v: "view: overview, top-down, bottom-up, flat, sandwich, flame, timeline, calls, sql or compare",
  q: "search pattern; the query of a store",

  // Costs
  m: "metric",
  more: "further metrics, one per line",
  t: "selection of threads",
  w: "flag: waiting counts",
  p: "flag: percentiles",
  fold: "flag: recursion folded",

  // Filters, each one per line as in the API
  mine: "flag: my code, all other functions are hidden",
  fh: "functions that are hidden",
  fc: "libraries that are collapsed",
  ff: "functions that paths must go through",
  fx: "functions whose paths are dropped",
  fp: "functions below which nothing is shown",

  // Tree
  sort: "name of the column that is sorted by",
  rev: "flag: ascending",
  hide: "names of hidden columns, one per line",
  cols: "names of columns in the order in which they are shown, one per line",
  unit: "unit of values: auto, ns, % or scientific",
  derive: "derived metrics, one NAME=FORMULA per line",
  skip: "flag: rows of lines and loops are left out",
  grp: "how functions of the flat view are grouped: module or language; default: a list",
  root: "ids from the top to the row whose rows are shown, joined by dots",
  open: "ids from the top to the selected row, joined by dots",
  at: "a context of the function whose callers and callees are shown",
  src: "flag: source shown; 0: not, where it is shown at first",
  asm: "flag: instructions shown",
  plot: "sorted: threads plotted by value",

  // Flame graph
  zoom: "ids from the top to the zoomed box, joined by dots; of a trace, a call",
  box: "id of the pinned box",
  inv: "flag: upside down",
  col: "what colours mean: function, module, package, self or waiting",
  up: "flag: callers instead of callees",
  chron: "flag: boxes of one thread in the order of time, not largest first",
  lane: "number of that thread",

  // Timeline; times in nanoseconds
  from: "begin of the visible time",
  to: "end of the visible time",
  d: "call depth of strips",
  first: "number of the first visible thread",
  tf: "filter of thread names",
  pin: "numbers of pinned threads",
  ord: "threads that were moved, each with its index in its group: 7:0",
  flip: "threads that were opened; negative: closed",
  shut: "closed groups, one per line; of a trace, numbers of closed calls, joined by dots",
  mk: "marked times",
  ov: "flag: map of all threads",
  cp: "flag: critical path",
  b: "begin of the selection",
  e: "end of the selection",
  st: "selected threads",

  // Comparison of the source, A, with another one
  ca: "further runs of side A: indices of sources, joined by dots",
  cb: "runs of side B, likewise",
  cat: "threads of side A",
  cbt: "threads of side B",
  car: 'time of side A, "BEGIN-END" in nanoseconds',
  cbr: "time of side B",
  caq: "query of side A, of a store",
  cbq: "query of side B, of a store",
  ct: "form: flame, tree, flat, callers, timelines or facets; default: the explanation",
  cw: "a: boxes are as wide as their cost in A, not in B",

  // Calls of a recording
  task: "index of the task",
  time: "time of the selected call, in nanoseconds",
  fn: "function to find",
  fa: "text in the arguments or the result of the calls to find",
  fl: "minimum duration of the calls to find",
  fd: "maximum depth of the calls to find",
  only: "flag: only the calls to find are listed",

  // Store
  top: "index of the first visible trace",
  row: "index of the selected trace",
  by: "facets, one per line",
  all: "facet whose values are all listed",
  most: "number of traces in the flame graph",
  live: "flag: new traces are shown as they arrive",
  cmp: "id of the trace that another one is compared with",

  // SQL
  sql: "statement",
  sf: "form of its result: plot or tracks; default: a table",

  // Trace
  key: "key of the trace",
  tab: "chart, methods or calls; default: the waterfall",
  sel: "selected call of the waterfall and the chart: the key of its record, a slash, and its number there",
  call: "number of the selected call among those of one record",
  find: "method to find",
  msort: "name of the column that methods are sorted by",
  mrev: "flag: methods ascending",
} as const;

export type StateName = keyof typeof NAMES;
export type State = { readonly [name in StateName]?: string };

// A change of the state: an empty value removes it.
export type Change = State;

export function parseState(hash: string): State {
  const search = new URLSearchParams(hash.replace(/^#/, ""));
  return Object.fromEntries([...search].filter(([name]) => Object.hasOwn(NAMES, name)));
}

export function printState(state: State): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) if (value !== "") search.set(name, value);
  return `#${search.toString()}`;
}

// Names in the address, one per line.
export function splitList(text: string | undefined): string[] {
  return (text ?? "").split("\n").filter((name) => name !== "");
}

export const isOn = (state: State, name: StateName): boolean => state[name] === "1";
export const flag = (on: boolean): string => (on ? "1" : "");

// Browsers ignore addresses that change too often, as they would during a drag: the newest state
// waits here until it is written.
const PACE_MS = 100;
let ahead: string | null = null;
let pace: ReturnType<typeof setTimeout> | undefined;

const shownHash = () => ahead ?? location.hash;

export const currentState = (): State => parseState(shownHash());

function writeAddress(): void {
  clearTimeout(pace);
  pace = undefined;
  if (ahead === null) return;
  history.replaceState(null, "", ahead);
  ahead = null;
  pace = setTimeout(writeAddress, PACE_MS);
}

// Change some of the state. With `replace`, the change is no step in the browser's history.
export function go(change: Change, replace = false): void {
  const next = printState({ ...currentState(), ...change });
  if (next === shownHash()) return;
  if (replace) {
    ahead = next;
    if (pace === undefined) writeAddress();
  } else {
    gesture = null;
    writeAddress();
    history.pushState(null, "", next);
  }
  dispatchEvent(new Event("statechange"));
}

// What moves a view: the wheel, a key that is held, a drag until the button is released.
const GESTURE_MS = 600; // between its changes
let gesture: { name: string; at: number } | null = null;
let isPressed = false; // a button

// The same, where all changes of one gesture are one step.
export function goOn(change: Change, name: string): void {
  const now = performance.now();
  const isOne = gesture?.name === name && (isPressed || now - gesture.at < GESTURE_MS);
  const before = shownHash();
  go(change, isOne);
  if (shownHash() !== before) gesture = { name, at: now };
}

// The address of a changed state, for links: they begin without selection, zoom and order.
const OF_ONE_VIEW: StateName[] = ["open", "zoom", "box", "root", "sort", "rev", "q"];

export function linkTo(change: Change): string {
  const cleared = Object.fromEntries(OF_ONE_VIEW.map((name) => [name, ""]));
  return printState({ ...currentState(), ...cleared, ...change });
}

// Open another source: nothing else of the state applies to it.
export function openSource(source: string): void {
  const cleared = Object.keys(currentState()).map((name) => [name, ""]);
  go({ ...Object.fromEntries(cleared), s: source });
}

export function useLocationState(): State {
  const [state, setState] = useState(currentState);
  const update = () => setState(currentState());
  // The user chose an address: it is newer than the state that was not written yet.
  const adopt = () => {
    ahead = null;
    gesture = null;
    update();
  };
  const press = ({ type }: PointerEvent) => {
    isPressed = type === "pointerdown";
    gesture = null;
  };
  useListener("hashchange", adopt);
  useListener("popstate", adopt);
  useListener("statechange", update);
  useListener("pagehide", writeAddress);
  useListener("pointerdown", press, true);
  useListener("pointerup", press, true);
  useListener("pointercancel", press, true);
  return state;
}
