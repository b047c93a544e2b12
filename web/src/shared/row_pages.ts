// Rows of a long list, asked for a page at a time as they come near the screen.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { get, query, type Parameters } from "./api";

const PAGE = 100;
const AHEAD = 60; // rows
const PAGES_KEPT = 100;

export interface RowPages<T> {
  count: number | null; // null: nothing has been answered yet
  at: (index: number) => T | undefined;
  want: (first: number, last: number) => void;
  error: string | null;
}

interface Kept<T> {
  key: string;
  pages: Map<number, T[]>;
  asked: Set<number>;
  stop: AbortController;
}

const begin = <T>(key: string): Kept<T> => ({
  key,
  pages: new Map(),
  asked: new Set(),
  stop: new AbortController(),
});

// Which pages hold these rows and those a little before and after.
export function pagesAround(first: number, last: number, count: number): number[] {
  const from = Math.floor(Math.max(0, first - AHEAD) / PAGE);
  const to = Math.floor(Math.min(Math.max(count - 1, 0), last + AHEAD) / PAGE);
  return Array.from({ length: Math.max(1, to - from + 1) }, (_, i) => from + i);
}

// The rows of the question before stay until those of the next one are there.
export function useRowPages<T>(
  path: string,
  parameters: Parameters,
  pick: (answer: never) => { count: number; rows: T[] },
): RowPages<T> {
  const key = path + query(parameters);
  const [shown, setShown] = useState<{ kept: Kept<T>; count: number | null; error: string | null }>(
    () => ({ kept: begin<T>(""), count: null, error: null }),
  );
  const current = useRef<Kept<T>>(shown.kept);

  const load = useCallback(
    (kept: Kept<T>, page: number) => {
      if (kept.asked.has(page)) return;
      kept.asked.add(page);
      get<never>(path, { ...parameters, offset: page * PAGE, limit: PAGE }, kept.stop.signal).then(
        (answer) => {
          if (kept !== current.current) return;
          const { count, rows } = pick(answer);
          kept.pages.set(page, rows);
          for (const old of kept.pages.keys()) {
            if (kept.pages.size <= PAGES_KEPT) break;
            kept.pages.delete(old);
            kept.asked.delete(old);
          }
          setShown({ kept, count, error: null });
        },
        (error: unknown) => {
          if (kept !== current.current) return;
          kept.asked.delete(page);
          setShown((before) => ({
            ...before,
            error: error instanceof Error ? error.message : String(error),
          }));
        },
      );
    },
    [key],
  );

  useEffect(() => {
    const kept = begin<T>(key);
    current.current.stop.abort();
    current.current = kept;
    load(kept, 0);
    return () => kept.stop.abort();
  }, [key]);

  const want = useCallback(
    (first: number, last: number) => {
      const kept = current.current;
      if (kept.key !== key || shown.count === null) return;
      for (const page of pagesAround(first, last, shown.count)) load(kept, page);
    },
    [key, shown.count, load],
  );
  return {
    count: shown.count,
    at: (index) => shown.kept.pages.get(Math.floor(index / PAGE))?.[index % PAGE],
    want,
    error: shown.error,
  };
}
