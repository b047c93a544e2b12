// A dialog takes the focus while it is open, and gives it back. It does so before the next key,
// which may come before the next frame is drawn.

import { useLayoutEffect, type MutableRef } from "preact/hooks";

export function useTakeFocus(element: MutableRef<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    element.current?.focus();
    return () => before?.focus?.();
  }, []);
}
