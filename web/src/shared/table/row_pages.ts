// Rows of a long list of the server, loaded a page at a time as they come near the screen.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { getWhenReady, query, type Parameters } from "../api";
import { PAGE, Pager } from "./pager";

const AHEAD = 60; // rows
const PAGES_MAX = 50;

export interface RowPages<T> {
  count: number | null; // null: nothing has been answered yet
  at: (index: number) => T | undefined;
  want: (first: number, last: number) => void;
  error: string | null;
}

// The rows of one question.
interface List<T> {
  key: string;
  pages: Map<number, T[]>; // by their first row
  pager: Pager;
  stop: AbortController;
}

// The rows of the previous question stay until those of the next one are there.
export function useRowPages<T>(
  path: string,
  parameters: Parameters,
  pick: (answer: never) => { count: number; rows: T[] },
  turn = 0, // when it changes, the rows are asked for again
): RowPages<T> {
  const key = path + query(parameters);
  const [shown, setShown] = useState<{
    list: List<T> | null;
    count: number | null;
    error: string | null;
  }>({ list: null, count: null, error: null });
  const current = useRef<List<T> | null>(null);
  const wanted = useRef({ key: "", first: 0, last: 0 }); // rows near the screen

  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const pages = new Map<number, T[]>();
    const load = async (offset: number, limit: number) => {
      const answer = await getWhenReady<never>(path, { ...parameters, offset, limit }, { signal });
      const { count, rows } = pick(answer);
      pages.set(offset, rows);
      received = count;
      for (const oldest of pages.keys()) {
        if (pages.size <= PAGES_MAX) break;
        pages.delete(oldest);
        list.pager.drop(oldest);
      }
      if (current.current === list && isShown) setShown({ list, count, error: null });
    };
    const list: List<T> = { key, pages, pager: new Pager(load), stop };
    current.current = list;
    // Rows that are asked for again replace those on the screen all at once.
    let received = 0;
    let isShown = false;
    const first = async () => {
      const { last } = wanted.current;
      if (wanted.current.key === key)
        for (let i = wanted.current.first; i <= last + PAGE; i += PAGE)
          await list.pager.need(i).catch(() => undefined);
      await list.pager.need(0);
      isShown = true;
      if (current.current === list) setShown({ list, count: received, error: null });
    };
    first().catch((error: unknown) => {
      if (current.current === list)
        setShown((before) => ({
          ...before,
          error: error instanceof Error ? error.message : String(error),
        }));
    });
    return () => stop.abort();
  }, [key, turn]);

  const want = useCallback(
    (first: number, last: number) => {
      const list = current.current;
      if (list?.key !== key || shown.count === null) return;
      wanted.current = { key, first, last };
      const end = Math.min(shown.count - 1, last + AHEAD);
      for (let i = Math.max(0, first - AHEAD); i <= end; i += PAGE)
        list.pager.need(i).catch(() => undefined); // scrolling asks again
      if (end >= 0) list.pager.need(end).catch(() => undefined);
    },
    [key, shown.count],
  );
  return {
    count: shown.count,
    at: (index) => shown.list?.pages.get(index - (index % PAGE))?.[index % PAGE],
    want,
    error: shown.error,
  };
}
