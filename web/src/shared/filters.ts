// What is left out of views, in the address: one's own code alone, functions that are hidden, collapsed, dropped, or
// that paths must go through. The server applies it to every view.

import type { Parameters } from "./api";
import { flag, isOn, splitList, type State, type StateName } from "./state";

// Each kind of filter: its name in the address, in the API, and on a chip.
const KINDS = [
  ["fh", "hide", "hide"],
  ["fc", "collapse", "collapse"],
  ["ff", "focus", "focus"],
  ["fx", "drop", "drop"],
  ["fp", "prune", "prune below"],
] as const;

export type FilterKind = (typeof KINDS)[number][1];

export interface Filter {
  kind: FilterKind | "mycode";
  title: string; // of the chip: "hide kernel"
  without: State; // the change that removes it
}

const nameOf = (kind: FilterKind): StateName =>
  KINDS.find(([, parameter]) => parameter === kind)?.[0] ?? "fh";

// As parameters of a question; those that nothing is left out of ignore them.
export function lensParameters(state: State): Parameters {
  const lists = KINDS.map(([name, parameter]): [string, string[]] => [
    parameter,
    splitList(state[name]),
  ]);
  return {
    ...(isOn(state, "mine") ? { mycode: 1 } : {}),
    ...Object.fromEntries(lists.filter(([, list]) => list.length > 0)),
  };
}

// "=NAME" is exactly that name.
const readable = (value: string): string => value.replace(/^=/, "").replace(/^module:\*\//, "");

export function filtersOf(state: State): Filter[] {
  const mine: Filter[] = isOn(state, "mine")
    ? [{ kind: "mycode", title: "my code", without: { mine: "" } }]
    : [];
  const others = KINDS.flatMap(([name, kind, title]) => {
    const list = splitList(state[name]);
    return list.map((value) => ({
      kind,
      title: `${title} ${readable(value)}`,
      without: { [name]: list.filter((other) => other !== value).join("\n") },
    }));
  });
  return [...mine, ...others];
}

// Rows and boxes that are selected may not be shown with another filter.
const NOT_KEPT: State = { zoom: "", box: "", root: "" };

// The change that adds a filter; one that is there already is removed.
export function toggleFilter(state: State, kind: FilterKind, value: string): State {
  const name = nameOf(kind);
  const list = splitList(state[name]);
  const next = list.includes(value) ? list.filter((other) => other !== value) : [...list, value];
  return { ...NOT_KEPT, [name]: next.join("\n") };
}

export const hasFilter = (state: State, kind: FilterKind, value: string): boolean =>
  splitList(state[nameOf(kind)]).includes(value);

export const toggleMine = (state: State): State => ({
  ...NOT_KEPT,
  mine: flag(!isOn(state, "mine")),
});

// The kinds of code that can be hidden, and what they are called.
export const CODE_KINDS: [name: string, title: string][] = [
  ["kernel", "kernel"],
  ["runtime", "run-times and interpreters"],
  ["library", "libraries"],
  ["startup", "startup of program and threads"],
];

// A function by its whole name, in a filter.
export const exactly = (name: string): string => `=${name}`;
