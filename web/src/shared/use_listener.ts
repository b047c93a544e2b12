// Listens to an event of the window while a component is shown, with the newest function it was
// given. It does so before the next event, which may come before the next frame is drawn.

import { useLayoutEffect, useRef } from "preact/hooks";

declare global {
  interface WindowEventMap {
    searchstep: CustomEvent<number>; // to the next match, or with -1 to the previous one
    statechange: Event; // of the state in the address
  }
}

export function useListener<Name extends keyof WindowEventMap>(
  name: Name,
  listen: (event: WindowEventMap[Name]) => void,
  isCapturing = false,
): void {
  const latest = useRef(listen);
  latest.current = listen;
  useLayoutEffect(() => {
    const call = (event: WindowEventMap[Name]) => latest.current(event);
    addEventListener(name, call, isCapturing);
    return () => removeEventListener(name, call, isCapturing);
  }, []);
}
