// An answer of the server inside a component: asked for again when the question changes,
// the previous one kept until the next is there, so that nothing jumps.

import { useEffect, useState } from "preact/hooks";
import { ApiError, get, query, type Parameters } from "./api";

export interface Answer<T> {
  value: T | null;
  error: string | null;
  isLoading: boolean;
}

const RETRY_MS = 400;
const AGAIN_MS = 100; // after the server has waited for the work itself
const MORE_MS = 20; // before the next part of an answer that says it is not complete

// An answer that is a part is shown, and the next one is asked for.
function isPartial(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    (value as { isPartial?: boolean }).isPartial === true
  );
}

// With `isProvisional`, an answer for which it holds is shown and asked for again.
export function useAnswer<T>(
  path: string | null,
  parameters: Parameters = {},
  isProvisional?: (value: T) => boolean,
): Answer<T> {
  const key = path === null ? null : path + query(parameters);
  const [answer, setAnswer] = useState<Answer<T>>({ value: null, error: null, isLoading: true });
  useEffect(() => {
    if (path === null) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = () => {
      setAnswer((before) => ({ ...before, isLoading: true }));
      get<T>(path, parameters, stop.signal).then(
        (value) => {
          if (stop.signal.aborted) return;
          setAnswer({ value, error: null, isLoading: false });
          if (isPartial(value)) timer = setTimeout(load, MORE_MS);
          else if (isProvisional?.(value)) timer = setTimeout(load, RETRY_MS);
        },
        (error: unknown) => {
          if (stop.signal.aborted) return;
          const text = error instanceof Error ? error.message : String(error);
          const isWorking = error instanceof ApiError && error.kind === "not-ready";
          setAnswer((before) => ({ ...before, error: text, isLoading: isWorking }));
          if (isWorking) timer = setTimeout(load, AGAIN_MS);
        },
      );
    };
    load();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [key]);
  return answer;
}
