// An answer and threads that the tests of the timeline share.
import type { Shown } from "../src/timeline/geometry";
import type { Choice } from "../src/timeline/tracks";
import type { NestedTimeline, Thread } from "../generated/answers";

// main > {work > leaf, rest}; 9 is waiting.
export const answer: NestedTimeline = {
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

export const thread = (profile: number, group: string, name: string, samples = 5): Thread => ({
  profile,
  label: `${group} ${name}`,
  values: 1,
  selector: String(profile),
  samples,
  group,
  name,
});
export const plain: Choice = {
  filter: "",
  pinned: [],
  moved: [],
  opened: new Map(),
  shut: new Set(),
};
export const heights = { group: 20, strip: 10, level: 15, gap: 5, counter: 40 };

export function shownWith(
  layout: Shown["layout"],
  frame: Shown["frame"],
  sizes: Shown["sizes"],
): Shown {
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
