// Stops the engine while it computes for long.

import { useEffect, useState } from "preact/hooks";
import { hasEngine, onPending, stopEngine } from "../shared/api";

const SHOWN_AFTER_MS = 2000;

export function StopButton() {
  const [isShown, setIsShown] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const unsubscribe = onPending((pending) => {
      if (pending === 0) {
        clearTimeout(timer);
        timer = undefined;
        setIsShown(false);
      } else {
        timer ??= setTimeout(() => setIsShown(true), SHOWN_AFTER_MS);
      }
    });
    return () => {
      clearTimeout(timer);
      unsubscribe();
    };
  }, []);
  if (!isShown || !hasEngine()) return null;
  return (
    <button class="stop" onClick={stopEngine}>
      Stop
    </button>
  );
}
