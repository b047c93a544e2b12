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
