// Keys work without a click: the main part of a view takes the focus, unless something else has it.
export function takeFocus(element: HTMLElement | null | undefined): void {
  if (document.activeElement === document.body) element?.focus({ preventScroll: true });
}
