// The page: what is open, which view of it, and the choices that views share.

import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { onPending, type Parameters } from "./api";
import { CallsView } from "./calls_view";
import { ContextPanel } from "./context_panel";
import { FlameView } from "./flame_view";
import { formatNs } from "./format";
import { Help } from "./help";
import { loadOffline } from "./offline";
import { go, parseState, useLocationState, type State } from "./state";
import { StorePage } from "./store_view";
import { TimelineView } from "./timeline_view";
import { TreeView } from "./tree_view";
import type { Flame, Info, Source, Sources, Thread } from "./types";
import { useAnswer } from "./use_answer";

const VIEWS = [
  ["top-down", "Top-down"],
  ["bottom-up", "Bottom-up"],
  ["flat", "Flat"],
  ["flame", "Flame graph"],
  ["timeline", "Timeline"],
  ["calls", "Calls"],
] as const;

function availableViews(info: Info) {
  return VIEWS.filter(
    ([name]) =>
      (info.isReady || name === "calls") && (name !== "timeline" || info.hasTimelines) && (name !== "calls" || info.tasks),
  );
}

function App() {
  const state = useLocationState();
  const sources = useAnswer<Sources>("sources");
  const chosen = sources.value?.sources[Number(state["s"] ?? 0)];
  if (!sources.value)
    return (
      <main class="status" role="status">
        {sources.error ?? "loading…"}
      </main>
    );
  if (!chosen) return <main class="status">nothing is open under this number</main>;
  if (chosen.kind === "store") return <StoreFrame source={chosen} sources={sources.value} state={state} />;
  return <SourcePage key={chosen.id} source={chosen} sources={sources.value} state={state} />;
}

function StoreFrame(props: { source: Source; sources: Sources; state: State }) {
  const [hasHelp, setHasHelp] = useState(false);
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
        <HeaderButtons onHelp={() => setHasHelp(true)} />
      </header>
      <StorePage path={`sources/${props.source.id}`} state={props.state} />
      {hasHelp && <Help onClose={() => setHasHelp(false)} />}
    </>
  );
}

function HeaderButtons(props: { onHelp: () => void }) {
  return (
    <>
      <button aria-label="keys" title="keys (?)" onClick={props.onHelp}>
        ?
      </button>
      <button aria-label="light or dark" title="light or dark (t)" onClick={switchTheme}>
        ◐
      </button>
    </>
  );
}

function SourcePage(props: { source: Source; sources: Sources; state: State }) {
  const { source, state } = props;
  const path = `sources/${source.id}`;
  const { value: info, error } = useAnswer<Info>(`${path}/info`, {}, (answer) => !answer.isReady);
  const [hasHelp, setHasHelp] = useState(false);
  // Calls can be listed while they are still being added up.
  const view = info && !info.isReady ? "calls" : (state["v"] ?? "top-down");
  useKeys(info, view, () => setHasHelp((before) => !before));
  useEffect(() => {
    document.title = `${source.name} – cairn`;
  }, [source.name]);
  return (
    <>
      <Pending />
      <header>
        <strong class="brand">cairn</strong>
        <SourceChooser sources={props.sources.sources} chosen={source.id} />
        {info && <ViewTabs info={info} view={view} />}
        <span class="space" />
        {info && !info.isReady && <Analysis id={source.id} />}
        {info && view !== "calls" && <Choices info={info} state={state} path={path} view={view} />}
        <HeaderButtons onHelp={() => setHasHelp(true)} />
      </header>
      {info ? (
        <ViewOf source={source} path={path} info={info} view={view} state={state} />
      ) : (
        <main class="status" role="status">
          {error ?? "loading…"}
        </main>
      )}
      {hasHelp && <Help onClose={() => setHasHelp(false)} />}
    </>
  );
}

// How far the analysis of a recording is.
function Analysis(props: { id: number }) {
  const { value } = useAnswer<Sources>("sources", {}, () => true);
  const source = value?.sources[props.id];
  const percent = Math.round(100 * (source?.shareDone ?? 0));
  if (source?.state === "failed") return <span class="status error">{source.failure}</span>;
  return (
    <label class="status">
      tree, flame graph and timeline are being made: <progress max={100} value={percent} /> {percent} %
    </label>
  );
}

function SourceChooser(props: { sources: Source[]; chosen: number }) {
  if (props.sources.length === 1) return <span class="title">{props.sources[0]?.name}</span>;
  return (
    <select aria-label="what is shown" value={props.chosen} onChange={(event) => go({ ...Object.fromEntries(Object.keys(parseState(location.hash)).map((name) => [name, ""])), s: event.currentTarget.value })}>
      {props.sources.map((source) => (
        <option key={source.id} value={source.id}>
          {source.name} ({source.kind})
        </option>
      ))}
    </select>
  );
}

function ViewTabs(props: { info: Info; view: string }) {
  return (
    <nav role="tablist" aria-label="views">
      {availableViews(props.info).map(([name, title]) => (
        <button key={name} role="tab" aria-selected={props.view === name} onClick={() => go({ v: name, open: "" })}>
          {title}
        </button>
      ))}
    </nav>
  );
}

function Choices(props: { info: Info; state: State; path: string; view: string }) {
  const { info, state } = props;
  const threads = useAnswer<Thread[]>(info.threadCount > 1 ? `${props.path}/threads` : null, { count: 2000 });
  return (
    <>
      <input
        id="search"
        type="search"
        placeholder="search (/)"
        aria-label="search by name, a regular expression"
        value={state["q"] ?? ""}
        onInput={(event) => go({ q: event.currentTarget.value }, true)}
      />
      {props.view !== "timeline" && (
        <select id="metric" aria-label="metric" value={state["m"] ?? ""} onChange={(event) => go({ m: event.currentTarget.value, sort: "" })}>
          {info.metrics
            .filter((metric) => metric.isVisible)
            .map((metric, i) => (
              <option key={metric.name} value={i === 0 ? "" : metric.name}>
                {metric.name}
              </option>
            ))}
        </select>
      )}
      {threads.value && threads.value.length > 1 && (
        <select aria-label="threads" value={state["t"] ?? ""} onChange={(event) => go({ t: event.currentTarget.value })}>
          <option value="">all {info.threadCount} threads</option>
          {threads.value.map((thread) => (
            <option key={thread.profile} value={String(thread.profile)}>
              {thread.label}
            </option>
          ))}
        </select>
      )}
    </>
  );
}

interface ViewProps {
  source: Source;
  path: string;
  info: Info;
  view: string;
  state: State;
}

const MORE = "\n"; // between the names of further metrics in the address

const moreMetrics = (state: State) => (state["more"] ?? "").split(MORE).filter((name) => name !== "");

// The metric that rows are sorted by, then those shown beside it.
function chosenMetrics(info: Info, state: State): string | string[] | undefined {
  const first = state["m"] ?? info.metrics.find((metric) => metric.isVisible)?.name;
  const more = moreMetrics(state).filter((name) => name !== first && info.metrics.some((metric) => metric.name === name));
  return first === undefined || more.length === 0 ? state["m"] : [first, ...more];
}

function MoreColumns(props: { info: Info; state: State }) {
  const first = props.state["m"] ?? props.info.metrics.find((metric) => metric.isVisible)?.name;
  const chosen = moreMetrics(props.state);
  const others = props.info.metrics.filter((metric) => metric.isVisible && metric.name !== first);
  if (others.length === 0) return null;
  const flip = (name: string, isOn: boolean) =>
    go({ more: (isOn ? [...chosen, name] : chosen.filter((other) => other !== name)).join(MORE) });
  return (
    <details class="more-columns">
      <summary>more columns{chosen.length > 0 ? ` (${chosen.length})` : ""}</summary>
      <div>
        {others.map((metric) => (
          <label key={metric.name}>
            <input type="checkbox" checked={chosen.includes(metric.name)} onChange={(event) => flip(metric.name, event.currentTarget.checked)} /> {metric.name}
          </label>
        ))}
      </div>
    </details>
  );
}

function costParameters(props: ViewProps): Parameters {
  const { state, info } = props;
  return {
    metric: props.view === "flame" ? state["m"] : chosenMetrics(info, state),
    thread: state["t"],
    percentiles: state["p"] === "1" && info.hasLatencies ? 1 : undefined,
  };
}

function ViewOf(props: ViewProps) {
  switch (props.view) {
    case "flame":
      return <FlamePage {...props} />;
    case "timeline":
      return <TimelinePage {...props} />;
    case "calls":
      return <CallsPage {...props} />;
    default:
      return <TreePage {...props} />;
  }
}

function TreePage(props: ViewProps) {
  const { state, info, view } = props;
  const parameters = { ...costParameters(props), view, sort: state["sort"] };
  const row = (state["open"] ?? "").split(".").pop() ?? "";
  return (
    <main>
      {(info.hasLatencies || info.metrics.filter((metric) => metric.isVisible).length > 1) && (
        <div class="toolbar">
          {info.hasLatencies && (
            <label>
              <input type="checkbox" checked={state["p"] === "1"} onChange={(event) => go({ p: event.currentTarget.checked ? "1" : "" })} /> percentiles
            </label>
          )}
          <MoreColumns info={info} state={state} />
        </div>
      )}
      <div class="columns">
        <TreeView
          key={JSON.stringify(parameters)}
          path={props.path}
          parameters={parameters}
          open={state["open"] ?? ""}
          search={view === "top-down" ? (state["q"] ?? "") : ""}
          onSelect={(path) => go({ open: path.join(".") }, true)}
          onSort={(column) => go({ sort: column })}
        />
        {view === "top-down" && row !== "" && (
          <ContextPanel
            path={props.path}
            parameters={costParameters(props)}
            row={row}
            onSelect={(path) => go({ open: path.join(".") })}
            onClose={() => go({ open: "" })}
          />
        )}
      </div>
    </main>
  );
}

function FlamePage(props: ViewProps) {
  const { state } = props;
  const hasRange = state["b"] !== undefined && state["e"] !== undefined;
  const { value, error } = useAnswer<Flame>(
    `${props.path}/${hasRange ? "range" : "flame"}`,
    hasRange
      ? { begin: state["b"], end: state["e"], thread: state["t"] }
      : { ...costParameters(props), view: state["up"] === "1" ? "bottom-up" : "top-down" },
  );
  const flag = (name: string, title: string) => (
    <label>
      <input type="checkbox" checked={state[name] === "1"} onChange={(event) => go({ [name]: event.currentTarget.checked ? "1" : "", ...(name === "up" ? { zoom: "" } : {}) })} /> {title}
    </label>
  );
  return (
    <main>
      <div class="toolbar">
        {flag("inv", "upside down")}
        {flag("mod", "colour by module")}
        {!hasRange && flag("up", "callers instead of callees")}
        {hasRange && (
          <>
            <strong>
              {formatNs(Number(state["b"]))} – {formatNs(Number(state["e"]))}
            </strong>
            <button onClick={() => go({ b: "", e: "", zoom: "" })}>all of the time</button>
          </>
        )}
        {state["zoom"] && <button onClick={() => go({ zoom: "" })}>show all</button>}
      </div>
      <div class="scroll">
        {value ? (
          <FlameView
            flame={value}
            search={state["q"] ?? ""}
            isInverted={state["inv"] === "1"}
            byModule={state["mod"] === "1"}
            zoom={state["zoom"] ?? ""}
            onZoom={(id) => go({ zoom: id })}
            {...(state["up"] === "1" ? {} : { onOpen: (id: string) => go({ v: "top-down", open: id }) })}
          />
        ) : (
          <p class="status">{error ?? "loading…"}</p>
        )}
      </div>
    </main>
  );
}

function TimelinePage(props: ViewProps) {
  const { state, info } = props;
  const range = { begin: Number(state["from"] ?? 0), end: Number(state["to"] ?? info.duration) };
  const selection = state["b"] !== undefined && state["e"] !== undefined ? { begin: Number(state["b"]), end: Number(state["e"]) } : null;
  return (
    <main>
      <TimelineView
        path={props.path}
        duration={info.duration}
        range={range}
        depth={Number(state["d"] ?? 0)}
        first={Number(state["first"] ?? 0)}
        thread={state["t"] ?? ""}
        selection={selection}
        onChange={(change) =>
          go(
            {
              ...(change.range ? { from: String(change.range.begin), to: String(change.range.end) } : {}),
              ...(change.depth !== undefined ? { d: String(change.depth) } : {}),
              ...(change.first !== undefined ? { first: String(change.first) } : {}),
              ...(change.selection === undefined
                ? {}
                : change.selection === null
                  ? { b: "", e: "" }
                  : { b: String(Math.floor(change.selection.begin)), e: String(Math.ceil(change.selection.end)) }),
            },
            true,
          )
        }
        onFlame={(part) => go({ v: "flame", b: String(Math.floor(part.begin)), e: String(Math.ceil(part.end)), zoom: "" })}
        {...(info.tasks ? { onCalls: (time: number) => go({ v: "calls", time: String(time) }) } : {})}
      />
    </main>
  );
}

function CallsPage(props: ViewProps) {
  const { state } = props;
  return (
    <main>
      <CallsView
        path={props.path}
        tasks={props.info.tasks ?? []}
        task={Number(state["task"] ?? 0)}
        time={Number(state["time"] ?? 0)}
        onChange={(change) =>
          go({
            ...(change.task !== undefined ? { task: String(change.task) } : {}),
            ...(change.time !== undefined ? { time: String(change.time) } : {}),
          })
        }
      />
    </main>
  );
}

// A line at the top while an answer takes longer than 300 ms.
function Pending() {
  const [isShown, setIsShown] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  useEffect(
    () =>
      onPending((pending) => {
        clearTimeout(timer.current);
        if (pending === 0) setIsShown(false);
        else timer.current = setTimeout(() => setIsShown(true), 300);
      }),
    [],
  );
  return <div class={isShown ? "pending shown" : "pending"} role="progressbar" aria-label="waiting for the server" aria-hidden={!isShown} />;
}

function switchTheme(): void {
  const root = document.documentElement;
  const isDark = root.dataset["theme"] ? root.dataset["theme"] === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset["theme"] = isDark ? "light" : "dark";
  dispatchEvent(new Event("statechange"));
  dispatchEvent(new Event("resize"));
}

function useKeys(info: Info | null, view: string, toggleHelp: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (target.matches("input:not([type=checkbox]), select") || event.ctrlKey || event.metaKey || event.altKey) {
        if (event.key === "Escape") target.blur();
        return;
      }
      const views = info ? availableViews(info) : [];
      const number = Number(event.key) - 1;
      const state = new URLSearchParams(location.hash.slice(1));
      const flip = (name: string) => go({ [name]: state.get(name) === "1" ? "" : "1" });
      if (event.key >= "1" && event.key <= "9" && views[number]) go({ v: views[number][0], open: "" });
      else if (event.key === "/") document.getElementById("search")?.focus();
      else if (event.key === "m") document.getElementById("metric")?.focus();
      else if (event.key === "t") switchTheme();
      else if (event.key === "?") toggleHelp();
      else if (event.key === "i" && view === "flame") flip("inv");
      else if (event.key === "c" && view === "flame") flip("mod");
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [info, view]);
}

loadOffline();
const root = document.getElementById("app");
if (root) {
  root.textContent = "";
  render(<App />, root);
}
