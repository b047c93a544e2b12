// A store of traces: the query, and views of what matches: traces and spans with histogram and facets,
// durations over time, operations, services, the flame graph; SQL; or one trace.

import { useIsNarrow } from "../shared/narrow";
import { go, type State } from "../shared/state";
import { TabPanel, Tabs } from "../shared/tabs";
import { SqlPage } from "../sql/sql_page";
import type { Source } from "../../generated/answers";
import { Durations } from "./durations";
import { Operations } from "./operations";
import { ServiceColors } from "./service_colors";
import { ServicesView } from "./services";
import { Facets } from "./store_facets";
import { HitsFlame } from "./store_flame";
import { TimeHistogram } from "./store_histogram";
import { Results } from "./store_results";
import { SearchBox } from "./store_search";
import { TracePage } from "./trace_page";

interface Props {
  path: string;
  state: State;
  source: Source;
  sources: Source[];
}

export const STORE_VIEWS = [
  ["traces", "Traces"],
  ["spans", "Spans"],
  ["scatter", "Durations"],
  ["operations", "Operations"],
  ["services", "Services"],
  ["flame", "Flame graph"],
  ["sql", "SQL"],
] as const;

const viewOf = (state: State) => STORE_VIEWS.find(([name]) => name === state.v)?.[0] ?? "traces";

// In the header of the page, also of one trace: there they lead back.
export function StoreTabs(props: { state: State }) {
  return (
    <Tabs
      group="store"
      label="views of the store"
      tabs={STORE_VIEWS}
      chosen={viewOf(props.state)}
      onChoose={(name) =>
        go({
          v: name === "traces" ? "" : name,
          key: "",
          sel: "",
          tab: "",
          from: "",
          to: "",
          shut: "",
          find: "",
          zoom: "",
          top: "",
          row: "",
          sort: "",
          rev: "",
        })
      }
    />
  );
}

export function StorePage(props: Props) {
  const view = viewOf(props.state);
  return (
    <ServiceColors path={props.path}>
      {props.state.key ? (
        <TabPanel group="store" chosen={view}>
          <TracePage {...props} />
        </TabPanel>
      ) : (
        <main>
          {view !== "sql" && <SearchBox {...props} />}
          {props.state.cmp && (
            <p class="status">
              Open the trace to compare with {props.state.cmp}.{" "}
              <button class="link" onClick={() => go({ cmp: "" })}>
                Cancel
              </button>
            </p>
          )}
          <TabPanel group="store" chosen={view}>
            <View {...props} view={view} />
          </TabPanel>
        </main>
      )}
    </ServiceColors>
  );
}

function View(props: Props & { view: string }) {
  const isNarrow = useIsNarrow();
  switch (props.view) {
    case "flame":
      return <HitsFlame {...props} />;
    case "scatter":
      return <Durations {...props} />;
    case "operations":
      return <Operations {...props} />;
    case "services":
      return <ServicesView {...props} />;
    case "sql":
      return <SqlPage {...props} />;
  }
  return (
    <>
      <TimeHistogram {...props} />
      {isNarrow && (
        <details class="folded-facets">
          <summary>Facets</summary>
          <Facets {...props} />
        </details>
      )}
      <div class="columns">
        {!isNarrow && <Facets {...props} />}
        <Results key={props.view} {...props} />
      </div>
    </>
  );
}
