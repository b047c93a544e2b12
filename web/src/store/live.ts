// A number that changes every two seconds while new traces are shown as they arrive.

import { useEffect, useState } from "preact/hooks";
import { isOn, type State } from "../shared/state";

const EVERY_MS = 2000;

export function useLive(state: State): number {
  const [turn, setTurn] = useState(0);
  const isLive = isOn(state, "live");
  useEffect(() => {
    if (!isLive) return;
    const timer = setInterval(() => setTurn((before) => before + 1), EVERY_MS);
    return () => clearInterval(timer);
  }, [isLive]);
  return isLive ? turn : 0;
}
