// Keys that move through a list also work before the list was clicked.

import { useListener } from "../shared/use_listener";

const KEYS = new Set(
  "ArrowDown ArrowUp ArrowLeft ArrowRight PageDown PageUp Home End Enter j k".split(" "),
);

export function useListKeys(selector: string): void {
  useListener("keydown", (event) => {
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
  });
}
