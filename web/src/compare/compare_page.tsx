// Two sides compared, each of one or several runs, or of a part of one: the sentence and the causes of the difference, a
// differential flame graph, trees with both sides, timeline over timeline, and for stores what goes with one
// side. Without a second side, what could be compared.

import { go, type State } from "../shared/state";
import { TabPanel, Tabs } from "../shared/tabs";
import { useAnswer } from "../shared/use_answer";
import { TimelinePage } from "../timeline/timeline_page";
import type { Info, Source } from "../../generated/answers";
import { CompareFacets } from "./compare_facets";
import { CompareFlame } from "./compare_flame";
import { sidesOf } from "./compare_model";
import { CompareOffers } from "./compare_offers";
import { CompareSides } from "./compare_sides";
import { CompareSummary } from "./compare_summary";
import { CompareTree } from "./compare_tree";

export interface CompareProps {
  sources: Source[];
  state: State;
}

const TABS = [
  ["explain", "Summary"],
  ["flame", "Flame graph"],
  ["tree", "Tree"],
  ["flat", "Functions"],
  ["callers", "Callers"],
  ["timelines", "Timelines"],
  ["facets", "Attributes"],
] as const;

export function tabsOf({ sources, state }: CompareProps) {
  const { a, b } = sidesOf(state, sources);
  const isStore = [...a, ...b].every((id) => sources[Number(id)]?.kind === "store");
  const hasStore = [...a, ...b].some((id) => sources[Number(id)]?.kind === "store");
  const tabs = TABS.filter(
    ([name]) => (name !== "facets" || isStore) && (name !== "timelines" || !hasStore),
  );
  return { tabs, tab: tabs.find(([name]) => name === state.ct)?.[0] ?? "explain" };
}

// In the header of the page.
export function CompareTabs(props: CompareProps) {
  const { tabs, tab } = tabsOf(props);
  if (sidesOf(props.state, props.sources).b.length === 0) return null;
  return (
    <Tabs
      group="compare"
      label="forms of the comparison"
      tabs={tabs}
      chosen={tab}
      onChoose={(name) => go({ ct: name === "explain" ? "" : name, zoom: "", open: "" })}
    />
  );
}

export function ComparePage(props: CompareProps) {
  const { tab } = tabsOf(props);
  if (sidesOf(props.state, props.sources).b.length === 0) return <CompareOffers {...props} />;
  return (
    <>
      <CompareSides {...props} />
      <TabPanel group="compare" chosen={tab}>
        {tab === "explain" && <CompareSummary {...props} />}
        {tab === "flame" && <CompareFlame {...props} />}
        {(tab === "tree" || tab === "flat" || tab === "callers") && (
          <CompareTree {...props} form={tab} />
        )}
        {tab === "timelines" && <Timelines {...props} />}
        {tab === "facets" && <CompareFacets {...props} />}
      </TabPanel>
    </>
  );
}

// Both have the same range of time, from the beginning of each.
function Timelines(props: CompareProps) {
  const { a, b } = sidesOf(props.state, props.sources);
  return (
    <>
      {[...a.slice(0, 1), ...b.slice(0, 1)].map((id, i) => (
        <OneTimeline key={`${i} ${id}`} {...props} id={id} name={i === 0 ? "A" : "B"} />
      ))}
    </>
  );
}

function OneTimeline(props: CompareProps & { id: string; name: string }) {
  const source = props.sources[Number(props.id)];
  const path = `sources/${props.id}`;
  const { value: info, error } = useAnswer<Info>(`${path}/info`, {}, (answer) => !answer.isReady);
  if (!source || !info?.isReady) return <p class="status">{error ?? "loading…"}</p>;
  return (
    <section class="compare-timeline" aria-label={`timeline of ${props.name}`}>
      <h2>
        <span class={`side-mark ${props.name.toLowerCase()}`}>{props.name}</span> {source.name}
      </h2>
      {info.hasTimelines ? (
        <TimelinePage source={source} path={path} info={info} view="timeline" state={props.state} />
      ) : (
        <p class="status">no timelines</p>
      )}
    </section>
  );
}
