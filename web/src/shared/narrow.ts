// Whether there is little room: lists leave out or reorder columns, and facets are folded.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const NARROW = "(max-width: 900px)";

export function useIsNarrow(): boolean {
  const [isNarrow, setIsNarrow] = useState(matchMedia(NARROW).matches);
  useEffect(() => {
    const media = matchMedia(NARROW);
    const update = () => setIsNarrow(media.matches);
    media.addEventListener("change", update);
    return () => media.removeEventListener("change", update);
  }, []);
  return isNarrow;
}

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
