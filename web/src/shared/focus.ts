// Keys work without a click: the main part of a view takes the focus, unless something else has it.
// The ring around it appears with the first key, not with the page.
export function takeFocus(element: HTMLElement | null | undefined): void {
  if (!element || document.activeElement !== document.body) return;
  element.focus({ preventScroll: true });
  element.dataset["quiet"] = "";
  const end = () => {
    delete element.dataset["quiet"];
    for (const name of ["keydown", "blur"]) element.removeEventListener(name, end);
  };
  for (const name of ["keydown", "blur"]) element.addEventListener(name, end);
}

// The part of the view that has keys, if any.
export const mainOfView = (): HTMLElement | null =>
  document.querySelector<HTMLElement>("[data-keys]");

// Keys that are pressed while nothing has the focus, as after a click beside everything, are those of
// the view. False if it has no such key.
export function passToView(event: KeyboardEvent): boolean {
  const main = mainOfView();
  const copy = new KeyboardEvent("keydown", { key: event.key, cancelable: true });
  if (!main || main.dispatchEvent(copy)) return false;
  takeFocus(main);
  return true;
}

// Esc inside a panel closes it; the next key is one of the view.
export function closeOnEscape(event: KeyboardEvent, close: () => void): void {
  if (event.key !== "Escape" || event.defaultPrevented) return;
  event.preventDefault();
  close();
  mainOfView()?.focus();
}
