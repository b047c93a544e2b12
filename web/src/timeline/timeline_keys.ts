// The keys of the timeline work wherever the focus is, except where text is typed.

import { useEffect, useRef } from "preact/hooks";

export type Keys = Record<string, () => void>;

// Keys that move in a slider or a list of tabs belong to it.
const OWN_KEYS = /^(Arrow|Page|Home|End)/;

function isTakenBy(target: HTMLElement, key: string): boolean {
  if (target.closest?.("[role=dialog], .calls, textarea, select")) return true;
  if (target.matches?.("input:not([type=range]):not([type=checkbox])")) return true;
  if (target.matches?.("input[type=range], [role=tab]") && OWN_KEYS.test(key)) return true;
  return target.matches?.("button, a") === true && (key === "Enter" || key === " ");
}

export function useTimelineKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const action = latest.current[event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTakenBy(event.target as HTMLElement, event.key)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      action();
    };
    addEventListener("keydown", onKeyDown, true);
    return () => removeEventListener("keydown", onKeyDown, true);
  }, []);
}
