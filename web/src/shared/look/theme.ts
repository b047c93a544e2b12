// Light or dark: as the system has it, unless the reader chose the other one. The choice stays for the next visit.

import { isDark } from "./colors";
import { load, save } from "../saved";

const KEY = "cairn.theme";
const DARK = "(prefers-color-scheme: dark)";

const ofSystem = (): string => (matchMedia(DARK).matches ? "dark" : "light");

function chosen(): string | null {
  const value = load(KEY);
  return value === "dark" || value === "light" ? value : null;
}

export function showTheme(theme: string): void {
  document.documentElement.dataset["theme"] = theme;
  dispatchEvent(new Event("statechange"));
  dispatchEvent(new Event("resize"));
}

export function switchTheme(): void {
  const next = isDark() ? "light" : "dark";
  save(KEY, next === ofSystem() ? null : next);
  showTheme(next);
}

// Before the first drawing; then whenever the system changes.
export function startTheme(): void {
  document.documentElement.dataset["theme"] = chosen() ?? ofSystem();
  matchMedia(DARK).addEventListener("change", () => {
    if (chosen() === null) showTheme(ofSystem());
  });
}
