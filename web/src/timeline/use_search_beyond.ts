// Steps of a search to matches in time, or in threads, that are not loaded: the engine finds the time, then the calls
// around it have the match.

import { useEffect, useRef } from "preact/hooks";
import { getWhenReady, type Parameters } from "../shared/api";
import type { Range } from "../shared/range";
import type { Hits, NestedTimeline } from "../../generated/answers";
import { findInTime } from "./find_in_time";
import { nextMatch } from "./geometry";
import { parseNested } from "./nested";
import type { Cursor } from "./track_draw";

const SHORT = 1 / 1000; // of the visible time: about a pixel
const COLUMNS = 100; // of the calls around a match
const THREADS = 200; // of an answer

interface Props {
  path: string;
  lens: Parameters;
  thread: string; // selection of threads
  search: string;
  matches: ((name: string) => boolean) | null;
  span: number; // visible time
  onMatch: (match: Cursor) => void;
}

export function useSearchBeyond(props: Props): (within: Range, by: number) => void {
  const { path, matches } = props;
  const stop = useRef<AbortController>();
  const shared = { ...props.lens, thread: props.thread || undefined };
  useEffect(() => () => stop.current?.abort(), [JSON.stringify([path, shared, props.search])]);
  return (within, by) => {
    stop.current?.abort();
    if (!matches) return;
    const { signal } = (stop.current = new AbortController());
    const has = async (range: Range) => {
      const asked = { ...shared, ...range, view: "bottom-up", q: props.search, limit: 1 };
      return (await getWhenReady<Hits>(`${path}/search`, asked, { signal })).count > 0;
    };
    const find = async () => {
      const range = await findInTime(has, within, by, props.span * SHORT);
      if (!range) return;
      const from = by > 0 ? range.begin - 1 : range.end + 1;
      const asked = { ...shared, ...range, nested: 1, columns: COLUMNS, count: THREADS };
      for (let first = 0, all = 1; first < all; first += THREADS) {
        const calls = await getWhenReady<NestedTimeline>(
          `${path}/timeline`,
          { ...asked, first },
          { signal },
        );
        all = calls.threadCount;
        const match = nextMatch(parseNested(calls), matches, from, by);
        if (match) return props.onMatch(match);
      }
    };
    find().catch(() => undefined); // a newer search, or a pattern that is none
  };
}
