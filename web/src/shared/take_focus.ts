// A dialog takes the focus while it is open, and gives it back, or to the view if nothing had it. It
// does so before the next key, which may come before the next frame is drawn.

import { useLayoutEffect, type MutableRef } from "preact/hooks";
import { mainOfView, takeFocus } from "./focus";

export function useTakeFocus(element: MutableRef<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    element.current?.focus();
    return () => {
      (document.activeElement as HTMLElement | null)?.blur();
      if (before?.isConnected) before.focus();
      takeFocus(mainOfView());
    };
  }, []);
}
