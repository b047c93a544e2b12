// The keys of the timeline work wherever the focus is, except where text is typed.

import { useListener } from "../shared/use_listener";

export type Keys = Record<string, () => void>;

// Keys that move in a slider or a list of tabs belong to it.
const OWN_KEYS = /^(Arrow|Page|Home|End)/;

function isTakenBy(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest("[role=dialog], .calls, textarea, select")) return true;
  if (target.matches("input:not([type=range]):not([type=checkbox])")) return true;
  if (target.matches("input[type=range], [role=tab]") && OWN_KEYS.test(key)) return true;
  return target.matches("button, a") && (key === "Enter" || key === " ");
}

export function useTimelineKeys(keys: Keys): void {
  const onKeyDown = (event: KeyboardEvent) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTakenBy(event.target, event.key)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    action();
  };
  useListener("keydown", onKeyDown, true);
}
