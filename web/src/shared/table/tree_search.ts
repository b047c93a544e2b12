// Search in a tree by name: the matches, and the current one.

import { useCallback, useLayoutEffect, useState } from "preact/hooks";
import { matcher } from "../../flame/flame_layout";
import { pause, type Waiting } from "../api";
import type { Hit, Hits } from "../../../generated/answers";
import { useListener } from "../use_listener";

export interface Search {
  hits: Hit[];
  count: number; // of all matches, listed or not
  at: number; // index of the current hit; -1: none yet
  error: string | null;
  matches: (label: string) => boolean;
  step: (by: number) => Hit | null;
}

const PAUSE_MS = 250; // after the last letter

export function useSearch(
  pattern: string,
  find: ((pattern: string, waiting: Waiting) => Promise<Hits>) | undefined,
): Search | null {
  const [answer, setAnswer] = useState<Hits | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [at, setAt] = useState(-1);
  useLayoutEffect(() => {
    setAt(-1);
    setError(null);
    setAnswer(null);
    if (pattern === "" || !find) return;
    const stop = new AbortController();
    const { signal } = stop;
    const load = async () => {
      await pause(PAUSE_MS, signal);
      for (let hits: Hits | null = null; !hits || hits.isPartial;) {
        hits = await find(pattern, { signal });
        if (signal.aborted) return;
        setAnswer(hits);
      }
    };
    load().catch((failure: Error) => {
      if (!signal.aborted) setError(failure.message);
    });
    return () => stop.abort();
  }, [pattern, find]);
  const hits = answer?.hits ?? [];
  const step = useCallback(
    (by: number) => {
      if (hits.length === 0) return null;
      const next = at < 0 ? (by > 0 ? 0 : hits.length - 1) : (at + by + hits.length) % hits.length;
      setAt(next);
      return hits[next] ?? null;
    },
    [hits, at],
  );
  if (!answer && !error) return null;
  const test = matcher(pattern);
  return {
    hits,
    count: answer?.count ?? 0,
    at,
    error,
    matches: (label) => test?.(label) ?? false,
    step,
  };
}

// Go to the next match, or with -1 to the previous one, from anywhere on the page.
export function stepSearch(by: number): void {
  dispatchEvent(new CustomEvent<number>("searchstep", { detail: by }));
}

export function useSearchSteps(onStep: (by: number) => void): void {
  useListener("searchstep", (event) => onStep(event.detail));
}
