// Whether there is little room: lists leave out or reorder columns, and facets are folded; or so much that views have
// panels beside them.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const NARROW = "(max-width: 900px)";
const PHONE = "(max-width: 640px)";
const WIDE = "(min-width: 1600px)";

// True while a condition of @media holds.
export function useMedia(condition: string): boolean {
  const [holds, setHolds] = useState(matchMedia(condition).matches);
  useEffect(() => {
    const media = matchMedia(condition);
    const update = () => setHolds(media.matches);
    media.addEventListener("change", update);
    return () => media.removeEventListener("change", update);
  }, [condition]);
  return holds;
}

export const useIsNarrow = (): boolean => useMedia(NARROW);
export const useIsPhone = (): boolean => useMedia(PHONE);
export const useIsWide = (): boolean => useMedia(WIDE);

// The width of an element in pixels; 0 until it is known.
export function useWidth<Of extends HTMLElement = HTMLDivElement>(isThere: boolean) {
  const element = useRef<Of>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const measure = () => setWidth(element.current?.clientWidth ?? 0);
    const observer = new ResizeObserver(measure);
    if (element.current) observer.observe(element.current);
    measure();
    return () => observer.disconnect();
  }, [isThere]);
  return { element, width };
}
