// Whether the window is narrow: lists leave out columns, and facets are folded.

import { useEffect, useState } from "preact/hooks";

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
