// An answer of the server inside a component: asked for again when the question changes. The
// previous answer stays until the next one is there, so that nothing jumps.

import { useEffect, useState } from "preact/hooks";
import { getWhenReady, pause, query, type Parameters } from "./api";

export interface Answer<T> {
  value: T | null;
  error: string | null;
  isLoading: boolean;
}

const PROVISIONAL_MS = 400;
const PARTIAL_MS = 20;

function isPartial(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    (value as { isPartial?: boolean }).isPartial === true
  );
}

// An answer that is partial, or that is provisional by `isProvisional`, is shown and asked for
// again.
export function useAnswer<T>(
  path: string | null,
  parameters: Parameters = {},
  isProvisional?: (value: T) => boolean,
  turn = 0, // when it changes, the question is asked again
): Answer<T> {
  const key = path === null ? null : path + query(parameters);
  const [answer, setAnswer] = useState<Answer<T>>({ value: null, error: null, isLoading: true });
  useEffect(() => {
    if (path === null) return;
    const stop = new AbortController();
    const { signal } = stop;
    const onWait = (error: string) =>
      setAnswer((before) => ({ ...before, error, isLoading: true }));
    const load = async () => {
      for (;;) {
        setAnswer((before) => ({ ...before, isLoading: true }));
        const value = await getWhenReady<T>(path, parameters, { signal, onWait });
        if (signal.aborted) return;
        setAnswer({ value, error: null, isLoading: false });
        if (isPartial(value)) await pause(PARTIAL_MS, signal);
        else if (isProvisional?.(value)) await pause(PROVISIONAL_MS, signal);
        else return;
      }
    };
    load().catch((error: unknown) => {
      if (signal.aborted) return;
      const text = error instanceof Error ? error.message : String(error);
      setAnswer((before) => ({ ...before, error: text, isLoading: false }));
    });
    return () => stop.abort();
  }, [key, turn]);
  return answer;
}
