// The page: the source, its views, and the choices that views share.

import { render } from "preact";
import { useEffect } from "preact/hooks";
import { CallsView } from "./calls/calls_view";
import { ComparePage, CompareTabs } from "./compare/compare_page";
import { engineOfPage, leftOutOfPage } from "./engine/client";
import { DropPage } from "./engine/drop_page";
import { FlamePage } from "./flame/flame_page";
import { Frame, usePaper, type Views } from "./frame";
import { AnalysisLine, AnalysisPage, OpeningPage } from "./overview/analysis";
import { Card } from "./overview/card";
import { OverviewPage } from "./overview/overview_page";
import { hasEngine, startEngine } from "./shared/api";
import { Choices } from "./shared/choices";
import { CopyCommand, shellQuote } from "./shared/copy_command";
import { plural } from "./shared/format";
import type { ViewProps } from "./shared/page";
import { shorten } from "./shared/names/names";
import { showControls } from "./shared/names/printable";
import { rememberSource } from "./shared/recent";
import { go, linkTo, openSource, printState, useLocationState, type State } from "./shared/state";
import { Subject } from "./shared/subject";
import { TabPanel, Tabs } from "./shared/tabs";
import { startTheme } from "./shared/look/theme";
import { useAnswer } from "./shared/use_answer";
import { useListener } from "./shared/use_listener";
import { SqlPage } from "./sql/sql_page";
import { StoreSubject } from "./store/store_subject";
import { STORE_VIEWS, StorePage, StoreTabs } from "./store/store_view";
import { TimelinePage } from "./timeline/timeline_page";
import { SandwichPage } from "./tree/sandwich_page";
import { TreePage } from "./tree/tree_page";
import type { Info, Source, Sources } from "../generated/answers";

const VIEWS = [
  ["overview", "Overview"],
  ["top-down", "Top-down"],
  ["bottom-up", "Bottom-up"],
  ["flat", "Flat"],
  ["flame", "Flame graph"],
  ["timeline", "Timeline"],
  ["calls", "Calls"],
  ["sandwich", "Sandwich"],
  ["sql", "SQL"],
] as const;

const NO_VIEWS: Views = [];

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

// Views of one function or comparison: links lead there, and their tab appears with them.
const BY_LINK = new Set(["sandwich"]);

function availableViews(info: Info | null): Views {
  if (!info) return NO_VIEWS;
  return VIEWS.filter(
    ([name]) =>
      (info.isReady || name === "calls") &&
      (name !== "timeline" || info.hasTimelines) &&
      (name !== "calls" || info.tasks),
  );
}

interface PageProps {
  source: Source;
  sources: Source[];
  state: State;
}

function App() {
  const state = useLocationState();
  usePaper();
  const sources = useAnswer<Sources>("sources");
  const chosen = sources.value?.sources[Number(state.s ?? 0)];
  useEffect(() => chosen && rememberSource(chosen), [chosen?.path]);
  if (!sources.value) return <OpeningPage note={sources.error} />;
  if (!chosen) return <NoSource sources={sources.value.sources} asked={state.s ?? "0"} />;
  const page = { source: chosen, sources: sources.value.sources, state };
  if (state.v === "compare") return <Comparison {...page} />;
  return chosen.kind === "store" ? <Store {...page} /> : <Data key={chosen.id} {...page} />;
}

const SHOWN_MAX = 40; // characters of an address

const stateOf = ({ state, shareDone }: Source): string =>
  state === "working" ? `${Math.round(100 * shareDone)} % analysed` : state;

function NoSource(props: { sources: Source[]; asked: string }) {
  return (
    <Frame
      name="not open"
      header={<span class="space" />}
      help={undefined}
      view=""
      views={[]}
      path={null}
      sources={props.sources}
    >
      <main>
        <div class="scroll compare-offers">
          <h1>No source {shorten(props.asked, SHOWN_MAX)} is open</h1>
          <div class="offers">
            <Card
              title={plural(props.sources.length, "open source")}
              hint="addresses number them in the order of the command line"
            >
              <table class="overview-table source-list">
                <thead>
                  <tr>
                    <th scope="col">number</th>
                    <th scope="col">source</th>
                    <th scope="col">kind</th>
                    <th scope="col">state</th>
                  </tr>
                </thead>
                <tbody>
                  {props.sources.map((source) => (
                    <tr key={source.id}>
                      <td>{source.id}</td>
                      <th scope="row">
                        <span class="function-name">
                          <a href={printState({ s: String(source.id) })}>{source.name}</a>
                          {source.path !== source.name && (
                            <small class="location">{source.path}</small>
                          )}
                        </span>
                      </th>
                      <td>{source.kind}</td>
                      <td>{stateOf(source)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Card>
            <OpenMore sources={props.sources} />
          </div>
        </div>
      </main>
    </Frame>
  );
}

// The command that opens what is open now and more.
function OpenMore(props: { sources: Source[] }) {
  const command = ["cairn view", ...props.sources.map(({ path }) => shellQuote(path))].join(" ");
  if (hasEngine()) return null;
  return (
    <Card title="Open more" hint="add a path to the command">
      <p class="compare-command">
        <span class="faint">In a terminal</span>
        <code title={command}>{command} PATH</code>
        <CopyCommand text={command} />
      </p>
    </Card>
  );
}

function Comparison({ source, sources, state }: PageProps) {
  return (
    <Frame
      name="comparison"
      header={
        <>
          <span class="title">Comparison</span>
          <CompareTabs sources={sources} state={state} />
          <span class="space" />
          <button onClick={() => openSource(String(source.id))}>Back to {source.name}</button>
        </>
      }
      help={HELP_TITLES[state.ct ?? ""]}
      view=""
      views={NO_VIEWS}
      path={null}
      sources={sources}
    >
      <main>
        <ComparePage sources={sources} state={state} />
      </main>
    </Frame>
  );
}

function CompareLink() {
  return (
    <a
      class="compare-link"
      href={linkTo({ v: "compare", key: "", sel: "", tab: "" })}
      title="compare with another source"
    >
      Compare…
    </a>
  );
}

function Store({ source, sources, state }: PageProps) {
  return (
    <Frame
      name={source.name}
      header={
        <>
          <SourceChooser sources={sources} chosen={source.id} />
          <StoreTabs state={state} />
          <span class="space" />
          <CompareLink />
        </>
      }
      help={state.key ? "Trace" : state.v === "flame" ? "Flame graph" : "Store"}
      view=""
      views={STORE_VIEWS}
      path={null}
      sources={sources}
    >
      <StoreSubject path={`sources/${source.id}`} source={source} state={state} />
      <StorePage path={`sources/${source.id}`} state={state} source={source} sources={sources} />
    </Frame>
  );
}

function Data({ source, sources, state }: PageProps) {
  const path = `sources/${source.id}`;
  const { value: info, error } = useAnswer<Info>(`${path}/info`, {}, (answer) => !answer.isReady);
  const views = availableViews(info);
  // During the analysis of a recording, only its calls can be shown.
  const asked = state.v ?? "overview";
  const isThere = !info || views.some(([name]) => name === asked);
  const view = isThere ? asked : (views[0]?.[0] ?? "calls");
  useStayWithCalls(info !== null && !info.isReady);
  return (
    <Frame
      name={source.name}
      header={
        <>
          <SourceChooser sources={sources} chosen={source.id} />
          {info && (
            <Tabs
              group="view"
              label="views"
              tabs={views.filter(([name]) => !BY_LINK.has(name) || name === view)}
              chosen={view}
              onChoose={(name) => go({ v: name, open: "", root: "" })}
            />
          )}
          <span class="space" />
          {info && !info.isReady && <AnalysisLine id={source.id} />}
          {info && view !== "calls" && view !== "sql" && (
            <Choices info={info} state={state} path={path} view={view} />
          )}
          {view === "overview" && <CompareLink />}
        </>
      }
      help={HELP_TITLES[view]}
      view={view}
      views={views}
      path={info?.isReady ? path : null}
      sources={sources}
    >
      {info?.isReady && <Subject path={path} state={state} view={view} />}
      {info ? (
        <main>
          <TabPanel group="view" chosen={view}>
            <ViewOf
              source={source}
              sources={sources}
              path={path}
              info={info}
              view={view}
              state={state}
            />
          </TabPanel>
        </main>
      ) : (
        <Waiting source={source} note={error} />
      )}
    </Frame>
  );
}

// The analysis, or what else the first answer waits for or failed with.
function Waiting(props: { source: Source; note: string | null }) {
  if (props.source.state === "working")
    return (
      <main>
        <AnalysisPage {...props} />
      </main>
    );
  return (
    <main class="status" role="status">
      {props.note ?? "loading…"}
    </main>
  );
}

// A user who works with the calls during the analysis stays there when other views appear.
function useStayWithCalls(isWorking: boolean): void {
  const stay = () => isWorking && go({ v: "calls" }, true);
  useListener("pointerdown", stay);
  useListener("keydown", stay);
  useListener("wheel", stay);
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
      {[...new Set(props.sources.map(({ kind }) => kind))].map((kind) => (
        <optgroup key={kind} label={plural(2, kind).replace(/^2 /, "")}>
          {props.sources
            .filter((source) => source.kind === kind)
            .map((source) => (
              <option key={source.id} value={source.id}>
                {source.name}
              </option>
            ))}
        </optgroup>
      ))}
    </select>
  );
}

function ViewOf(props: ViewProps & { sources: Source[] }) {
  switch (props.view) {
    case "overview":
      return <OverviewPage {...props} />;
    case "sandwich":
      return <SandwichPage {...props} />;
    case "flame":
      return <FlamePage {...props} />;
    case "timeline":
      return <TimelinePage {...props} />;
    case "sql":
      return <SqlPage {...props} />;
    case "calls":
      return (
        <CallsView
          path={props.path}
          tasks={props.info.tasks ?? []}
          duration={props.info.duration}
          isReady={props.info.isReady}
          state={props.state}
        />
      );
    default:
      return <TreePage {...props} />;
  }
}

showControls();
startTheme();
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
