// A store of traces: search box, and its views: traces and spans with histogram and facets, durations
// over time, operations, services, the flame graph of the matching traces; or one trace.

import { Facets } from "./store_facets";
import { HitsFlame } from "./store_flame";
import { TimeHistogram } from "./store_histogram";
import { useIsNarrow } from "../shared/narrow";
import { Operations } from "./operations";
import { Scatter } from "./scatter";
import { ServicesView } from "./services";
import { Results } from "./store_results";
import { SearchBox } from "./store_search";
import { go, type State } from "../shared/state";
import { TabPanel, Tabs } from "../shared/tabs";
import { TracePage } from "./trace_view";

interface Props {
  path: string;
  state: State;
}

export const STORE_VIEWS = [
  ["traces", "Traces"],
  ["spans", "Spans"],
  ["scatter", "Durations"],
  ["operations", "Operations"],
  ["services", "Services"],
  ["flame", "Flame graph"],
] as const;

export function StorePage(props: Props) {
  if (props.state.key) return <TracePage {...props} />;
  const view = STORE_VIEWS.find(([name]) => name === props.state.v)?.[0] ?? "traces";
  return (
    <main>
      <SearchBox {...props} />
      {props.state.cmp && (
        <p class="status">
          Open the trace to compare with {props.state.cmp}.{" "}
          <button class="link" onClick={() => go({ cmp: "" })}>
            Cancel
          </button>
        </p>
      )}
      <Tabs
        group="store"
        label="views of the store"
        tabs={STORE_VIEWS}
        chosen={view}
        onChoose={(name) =>
          go({ v: name === "traces" ? "" : name, zoom: "", top: "", row: "", sort: "", rev: "" })
        }
      />
      <TabPanel group="store" chosen={view}>
        <View {...props} view={view} />
      </TabPanel>
    </main>
  );
}

function View(props: Props & { view: string }) {
  const isNarrow = useIsNarrow();
  switch (props.view) {
    case "flame":
      return <HitsFlame {...props} />;
    case "scatter":
      return <Scatter {...props} />;
    case "operations":
      return <Operations {...props} />;
    case "services":
      return <ServicesView {...props} />;
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
