// Keys that move through a list also work before the list was clicked.

import { useEffect } from "preact/hooks";

const KEYS = new Set(
  "ArrowDown ArrowUp ArrowLeft ArrowRight PageDown PageUp Home End Enter j k".split(" "),
);

export function useListKeys(selector: string): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (
        event.target !== document.body ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        !KEYS.has(event.key)
      )
        return;
      const list = document.querySelector<HTMLElement>(`.vtable${selector}`);
      if (!list) return;
      event.preventDefault();
      list.focus({ preventScroll: true });
      list.dispatchEvent(new KeyboardEvent("keydown", { key: event.key, bubbles: false }));
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [selector]);
}
