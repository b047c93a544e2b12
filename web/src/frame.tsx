// What all pages have around them: the header, the line of waiting, help and palette, and their keys.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { StopButton } from "./engine/stop_button";
import { nextColor } from "./flame/flame_colors";
import { onPending } from "./shared/api";
import { isDark } from "./shared/look/colors";
import { flagChange } from "./shared/flag";
import { mainOfView, passToView, takeFocus } from "./shared/focus";
import { Help } from "./shared/help";
import { Icon, Logo } from "./shared/look/icons";
import { Palette, usePalette } from "./shared/palette";
import { printable } from "./shared/names/printable";
import { currentState, go, isOn, type StateName } from "./shared/state";
import { showTheme, switchTheme } from "./shared/look/theme";
import { stepSearch } from "./shared/table/tree_search";
import { useListener } from "./shared/use_listener";
import type { Source } from "../generated/answers";

export type Views = readonly (readonly [name: string, title: string])[];

interface Props {
  name: string; // of the page, in the title of the window
  header: ComponentChildren; // between the brand and the buttons
  children: ComponentChildren; // the page
  help: string | undefined; // title of the keys that help shows first
  view: string; // whose keys work; "": those of all pages alone
  views: Views; // to choose from, in the palette and by number
  path: string | null; // of a source whose functions and threads the palette finds
  sources: Source[];
}

export function Frame(props: Props) {
  const [hasHelp, setHasHelp] = useState(false);
  const [isPalette, setIsPalette] = usePalette();
  useKeys(props.view, props.views, () => setHasHelp((before) => !before));
  useEffect(() => {
    document.title = `${printable(props.name)} – cairn`;
  }, [props.name]);
  return (
    <>
      <Pending />
      <header>
        <strong class="brand">
          <Logo /> cairn
        </strong>
        {props.header}
        <HeaderButtons onHelp={() => setHasHelp(true)} onPalette={() => setIsPalette(true)} />
      </header>
      {props.children}
      {hasHelp && <Help first={props.help} onClose={() => setHasHelp(false)} />}
      {isPalette && (
        <Palette
          path={props.path}
          views={props.views}
          sources={props.sources}
          onClose={() => setIsPalette(false)}
        />
      )}
    </>
  );
}

function HeaderButtons(props: { onHelp: () => void; onPalette: () => void }) {
  return (
    <span class="header-buttons">
      <button
        class="go-to"
        aria-label="go to a view, function, thread or source"
        title="go to a view, function, thread or source (Ctrl-K)"
        onClick={props.onPalette}
      >
        <Icon name="search" />
        <span>
          Go to… <kbd>Ctrl K</kbd>
        </span>
      </button>
      <button
        class="plain"
        aria-label="keyboard shortcuts"
        title="keyboard shortcuts (?)"
        onClick={props.onHelp}
      >
        <Icon name="help" />
      </button>
      <button
        class="plain"
        aria-label="switch theme"
        title="light or dark theme (t)"
        onClick={switchTheme}
      >
        <Icon name={isDark() ? "sun" : "moon"} />
      </button>
    </span>
  );
}

// A line at the top of the page while an answer takes longer than 100 ms.
function Pending() {
  const [isShown, setIsShown] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  useEffect(
    () =>
      onPending((pending) => {
        if (pending > 0) {
          timer.current ??= setTimeout(() => setIsShown(true), 100);
          return;
        }
        clearTimeout(timer.current);
        timer.current = undefined;
        setIsShown(false);
      }),
    [],
  );
  return (
    <>
      <div
        class={isShown ? "pending shown" : "pending"}
        role="progressbar"
        aria-label="waiting for the server"
        aria-hidden={!isShown}
      />
      <StopButton />
    </>
  );
}

// Paper is light, whatever the screen is: canvases are drawn again for it.
export function usePaper(): void {
  const before = useRef<string>();
  useListener("beforeprint", () => {
    before.current = document.documentElement.dataset["theme"];
    showTheme("light");
  });
  useListener("afterprint", () => showTheme(before.current ?? "light"));
}

// Keys that switch a flag, in some views; with it, names are cleared that mean nothing any more.
const FLAG_KEYS: Record<string, { views: string[]; name: StateName; clears?: StateName[] }> = {
  i: { views: ["flame"], name: "inv" },
  u: { views: ["flame"], name: "up", clears: ["zoom", "box"] },
  k: { views: ["flame"], name: "chron", clears: ["zoom", "box"] },
  r: { views: ["flame", "top-down"], name: "fold", clears: ["zoom", "box", "open"] },
  w: { views: ["flame", "top-down", "bottom-up", "flat"], name: "w", clears: ["sort", "rev"] },
  p: { views: ["top-down", "bottom-up", "flat"], name: "p" },
  a: { views: ["top-down", "bottom-up", "flat"], name: "asm" },
  l: { views: ["top-down", "flat", "flame"], name: "skip", clears: ["root", "zoom", "box"] },
};

function useKeys(view: string, views: Views, toggleHelp: () => void): void {
  useListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (
      target.matches("input:not([type=checkbox]), select, textarea") ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    ) {
      if (event.key === "Escape") leaveField(event, target);
      return;
    }
    const numbered = view === "" ? undefined : views[Number(event.key) - 1];
    const flagKey = FLAG_KEYS[event.key];
    if (numbered) go({ v: numbered[0], open: "", root: "" });
    else if (event.key === "/") document.getElementById("search")?.focus();
    else if (event.key === "m") document.getElementById("metric")?.focus();
    else if (event.key === "t") switchTheme();
    else if (event.key === "?") toggleHelp();
    else if (event.key === "n" || event.key === "N") stepSearch(event.key === "n" ? 1 : -1);
    else if (event.key === "c" && view === "flame")
      go({ col: nextColor(currentState().col, isOn(currentState(), "w")) });
    else if (flagKey?.views.includes(view))
      go(flagChange(flagKey.name, !isOn(currentState(), flagKey.name), flagKey.clears));
    else if (target !== document.body || !passToView(event)) return;
    event.preventDefault();
  });
}

// The browser would empty a search field. The next key is one of the view.
function leaveField(event: KeyboardEvent, field: HTMLElement): void {
  event.preventDefault();
  field.blur();
  takeFocus(mainOfView());
}
