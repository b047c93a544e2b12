// The page: the source, its views, and the choices that views share.

import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { engineOfPage, leftOutOfPage } from "./engine/client";
import { DropPage } from "./engine/drop_page";
import { StopButton } from "./engine/stop_button";
import { hasEngine, onPending, startEngine } from "./shared/api";
import { CallsView } from "./calls/calls_view";
import { ComparePage } from "./compare/compare_page";
import { Choices } from "./shared/choices";
import { isDark } from "./shared/colors";
import { nextColor } from "./flame/flame_colors";
import { FlamePage } from "./flame/flame_page";
import { Help } from "./shared/help";
import type { ViewProps } from "./shared/page";
import { flagChange } from "./shared/flag";
import { mainOfView, passToView, takeFocus } from "./shared/focus";
import { Palette, usePalette } from "./shared/palette";
import {
  currentState,
  go,
  isOn,
  linkTo,
  openSource,
  printState,
  useLocationState,
  type State,
  type StateName,
} from "./shared/state";
import { STORE_VIEWS, StorePage } from "./store/store_view";
import { OverviewPage } from "./overview/overview_page";
import { TimelinePage } from "./timeline/timeline_page";
import { SandwichPage } from "./tree/sandwich_page";
import { TreePage } from "./tree/tree_page";
import { stepSearch } from "./shared/tree_search";
import type { Info, Source, Sources } from "../generated/answers";
import { TabPanel, Tabs } from "./shared/tabs";
import { useAnswer } from "./shared/use_answer";
import { useListener } from "./shared/use_listener";

const VIEWS = [
  ["overview", "Overview"],
  ["top-down", "Top-down"],
  ["bottom-up", "Bottom-up"],
  ["flat", "Flat"],
  ["flame", "Flame graph"],
  ["timeline", "Timeline"],
  ["calls", "Calls"],
  ["sandwich", "Sandwich"],
] as const;

const NO_VIEWS: readonly (readonly [string, string])[] = [];

// Views of one function or comparison: links lead there, and their tab appears with them.
const BY_LINK = new Set(["sandwich"]);

function availableViews(info: Info) {
  return VIEWS.filter(
    ([name]) =>
      (info.isReady || name === "calls") &&
      (name !== "timeline" || info.hasTimelines) &&
      (name !== "calls" || info.tasks),
  );
}

function App() {
  const state = useLocationState();
  usePaper();
  const sources = useAnswer<Sources>("sources");
  const chosen = sources.value?.sources[Number(state.s ?? 0)];
  if (!sources.value)
    return (
      <main class="status" role="status">
        {sources.error ?? "loading…"} <StopButton />
      </main>
    );
  if (!chosen) return <NoSource sources={sources.value.sources} />;
  if (state.v === "compare")
    return <CompareFrame sources={sources.value} source={chosen} state={state} />;
  if (chosen.kind === "store")
    return <StoreFrame source={chosen} sources={sources.value} state={state} />;
  return <SourcePage key={chosen.id} source={chosen} sources={sources.value} state={state} />;
}

function NoSource(props: { sources: Source[] }) {
  return (
    <main class="status">
      <p>The address names a source that is not open. Open:</p>
      <ul>
        {props.sources.map((source) => (
          <li key={source.id}>
            <a href={printState({ s: String(source.id) })}>{source.name}</a>
          </li>
        ))}
      </ul>
    </main>
  );
}

function CompareFrame(props: { source: Source; sources: Sources; state: State }) {
  const [hasHelp, setHasHelp] = useState(false);
  const [isPalette, setIsPalette] = usePalette();
  useKeys(null, "", () => setHasHelp((before) => !before));
  useEffect(() => {
    document.title = "comparison – cairn";
  }, []);
  return (
    <>
      <Pending />
      <header>
        <strong class="brand">cairn</strong>
        <span class="title">Comparison</span>
        <span class="space" />
        <button onClick={() => openSource(String(props.source.id))}>
          Back to {props.source.name}
        </button>
        <HeaderButtons onHelp={() => setHasHelp(true)} onPalette={() => setIsPalette(true)} />
      </header>
      <main>
        <ComparePage sources={props.sources.sources} state={props.state} />
      </main>
      {hasHelp && (
        <Help first={HELP_TITLES[props.state.ct ?? ""]} onClose={() => setHasHelp(false)} />
      )}
      {isPalette && (
        <Palette
          path={null}
          views={NO_VIEWS}
          sources={props.sources.sources}
          onClose={() => setIsPalette(false)}
        />
      )}
    </>
  );
}

// Without other sources, threads of one source are compared; a store with another one, or with itself.
function CompareLink(props: { source: Source; sources: Sources }) {
  const { source, sources } = props;
  const stores = sources.sources.filter(({ kind }) => kind === "store");
  const other = stores.find(({ id }) => id !== source.id) ?? source;
  return (
    <a
      class="compare-link"
      href={linkTo({ v: "compare", ...(source.kind === "store" ? { cb: String(other.id) } : {}) })}
      title="compare with another source"
    >
      Compare…
    </a>
  );
}

function StoreFrame(props: { source: Source; sources: Sources; state: State }) {
  const [hasHelp, setHasHelp] = useState(false);
  const [isPalette, setIsPalette] = usePalette();
  useKeys(null, "", () => setHasHelp((before) => !before));
  useEffect(() => {
    document.title = `${props.source.name} – cairn`;
  }, [props.source.name]);
  return (
    <>
      <Pending />
      <header>
        <strong class="brand">cairn</strong>
        <SourceChooser sources={props.sources.sources} chosen={props.source.id} />
        <span class="space" />
        <CompareLink source={props.source} sources={props.sources} />
        <HeaderButtons onHelp={() => setHasHelp(true)} onPalette={() => setIsPalette(true)} />
      </header>
      <StorePage path={`sources/${props.source.id}`} state={props.state} />
      {hasHelp && (
        <Help
          first={props.state.key ? "Trace" : props.state.v === "flame" ? "Flame graph" : "Store"}
          onClose={() => setHasHelp(false)}
        />
      )}
      {isPalette && (
        <Palette
          path={null}
          views={STORE_VIEWS}
          sources={props.sources.sources}
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
        aria-label="go to a view, function, thread or source"
        title="go to a view, function, thread or source (Ctrl-K)"
        onClick={props.onPalette}
      >
        ⌕
      </button>
      <button aria-label="keyboard shortcuts" title="keyboard shortcuts (?)" onClick={props.onHelp}>
        ?
      </button>
      <button aria-label="switch theme" title="light or dark theme (t)" onClick={switchTheme}>
        ◐
      </button>
    </span>
  );
}

function SourcePage(props: { source: Source; sources: Sources; state: State }) {
  const { source, state } = props;
  const path = `sources/${source.id}`;
  const { value: info, error } = useAnswer<Info>(`${path}/info`, {}, (answer) => !answer.isReady);
  const [hasHelp, setHasHelp] = useState(false);
  const [isPalette, setIsPalette] = usePalette();
  // During the analysis of a recording, only its calls can be shown.
  const asked = state.v ?? "overview";
  const view =
    !info || availableViews(info).some(([name]) => name === asked)
      ? asked
      : (availableViews(info)[0]?.[0] ?? "calls");
  useKeys(info, view, () => setHasHelp((before) => !before));
  useStayWithCalls(info !== null && !info.isReady);
  useEffect(() => {
    document.title = `${source.name} – cairn`;
  }, [source.name]);
  return (
    <>
      <Pending />
      <header>
        <strong class="brand">cairn</strong>
        <SourceChooser sources={props.sources.sources} chosen={source.id} />
        {info && (
          <Tabs
            group="view"
            label="views"
            tabs={availableViews(info).filter(([name]) => !BY_LINK.has(name) || name === view)}
            chosen={view}
            onChoose={(name) => go({ v: name, open: "", root: "" })}
          />
        )}
        <span class="space" />
        {info && !info.isReady && <Analysis id={source.id} />}
        {info && view !== "calls" && <Choices info={info} state={state} path={path} view={view} />}
        {view === "overview" && <CompareLink source={props.source} sources={props.sources} />}
        <HeaderButtons onHelp={() => setHasHelp(true)} onPalette={() => setIsPalette(true)} />
      </header>
      {info ? (
        <main>
          <TabPanel group="view" chosen={view}>
            <ViewOf source={source} path={path} info={info} view={view} state={state} />
          </TabPanel>
        </main>
      ) : (
        <main class="status" role="status">
          {error ?? "loading…"}
        </main>
      )}
      {hasHelp && <Help first={HELP_TITLES[view]} onClose={() => setHasHelp(false)} />}
      {isPalette && (
        <Palette
          path={info?.isReady ? path : null}
          views={info ? availableViews(info) : NO_VIEWS}
          sources={props.sources.sources}
          onClose={() => setIsPalette(false)}
        />
      )}
    </>
  );
}

// A user who works with the calls during the analysis stays there when other views appear.
function useStayWithCalls(isWorking: boolean): void {
  const stay = () => isWorking && go({ v: "calls" }, true);
  useListener("pointerdown", stay);
  useListener("keydown", stay);
  useListener("wheel", stay);
}

// The progress of the analysis of a recording.
function Analysis(props: { id: number }) {
  const { value } = useAnswer<Sources>("sources", {}, () => true);
  const source = value?.sources[props.id];
  const percent = Math.round(100 * (source?.shareDone ?? 0));
  if (source?.state === "failed") return <span class="status error">{source.failure}</span>;
  return (
    <label class="status">
      analysing the recording: <progress max={100} value={percent} /> {percent} %
    </label>
  );
}

function SourceChooser(props: { sources: Source[]; chosen: number }) {
  if (props.sources.length === 1) return <span class="title">{props.sources[0]?.name}</span>;
  return (
    <select
      class="sources"
      aria-label="source"
      value={props.chosen}
      onChange={(event) => openSource(event.currentTarget.value)}
    >
      {props.sources.map((source) => (
        <option key={source.id} value={source.id}>
          {source.name} ({source.kind})
        </option>
      ))}
    </select>
  );
}

function ViewOf(props: ViewProps) {
  switch (props.view) {
    case "overview":
      return <OverviewPage {...props} />;
    case "sandwich":
      return <SandwichPage {...props} />;
    case "flame":
      return <FlamePage {...props} />;
    case "timeline":
      return <TimelinePage {...props} />;
    case "calls":
      return (
        <CallsView
          path={props.path}
          tasks={props.info.tasks ?? []}
          isReady={props.info.isReady}
          state={props.state}
        />
      );
    default:
      return <TreePage {...props} />;
  }
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

function setTheme(theme: string | undefined): void {
  const { dataset } = document.documentElement;
  if (theme === undefined) delete dataset["theme"];
  else dataset["theme"] = theme;
  dispatchEvent(new Event("statechange"));
  dispatchEvent(new Event("resize"));
}

const switchTheme = (): void => setTheme(isDark() ? "light" : "dark");

// Paper is light, whatever the screen is: canvases are drawn again for it.
function usePaper(): void {
  const before = useRef<string>();
  useListener("beforeprint", () => {
    before.current = document.documentElement.dataset["theme"];
    setTheme("light");
  });
  useListener("afterprint", () => setTheme(before.current));
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

// The title of the keys of a view in the help, also of the forms of a comparison.
const HELP_TITLES: Record<string, string> = {
  "top-down": "Tree",
  "bottom-up": "Tree",
  flat: "Tree",
  sandwich: "Tree",
  tree: "Tree",
  callers: "Tree",
  flame: "Flame graph",
  timeline: "Timeline",
  timelines: "Timeline",
  calls: "Calls",
};

function useKeys(info: Info | null, view: string, toggleHelp: () => void): void {
  useListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (
      target.matches("input:not([type=checkbox]), select") ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    ) {
      if (event.key === "Escape") leaveField(event, target);
      return;
    }
    const views = info ? availableViews(info) : [];
    const number = Number(event.key) - 1;
    const flagKey = FLAG_KEYS[event.key];
    if (event.key >= "1" && event.key <= "9" && views[number])
      go({ v: views[number][0], open: "", root: "" });
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

startEngine();
const root = document.getElementById("app");
if (root) {
  root.textContent = "";
  if (engineOfPage() !== "" && !hasEngine())
    render(
      <DropPage>
        <App />
      </DropPage>,
      root,
    );
  else
    render(
      <>
        {leftOutOfPage() !== "" && <p class="left-out">Not in this page: {leftOutOfPage()}</p>}
        <App />
      </>,
      root,
    );
}
