// Two sides compared, each of one or several runs, or of a part of one: the sentence and the causes of the difference, a
// differential flame graph, trees with both sides, timeline over timeline, and for stores what goes with one
// side. Without a second side, what could be compared.

import { formatNs } from "../shared/format";
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

// Both have one scale, from the beginning of each, and the toolbar of the first.
function Timelines(props: CompareProps) {
  const { a, b } = sidesOf(props.state, props.sources);
  const infos = [useInfo(a[0]), useInfo(b[0])];
  const scale = Math.max(0, ...infos.map(({ info }) => (info?.hasTimelines ? info.duration : 0)));
  const first = infos.findIndex(({ info }) => info?.hasTimelines);
  const waiting = infos.find(({ info }) => !info?.isReady);
  if (waiting) return <p class="status">{waiting.error ?? "loading…"}</p>;
  return (
    <>
      {infos.map(({ id, info }, i) => {
        const source = props.sources[Number(id)];
        const name = i === 0 ? "A" : "B";
        if (!source || !info) return null;
        return (
          <section
            key={`${name} ${source.id}`}
            class="compare-timeline"
            aria-label={`timeline of ${name}`}
          >
            <h2>
              <span class={`side-mark ${name.toLowerCase()}`}>{name}</span> {source.name}{" "}
              <small>{formatNs(info.duration)}</small>
            </h2>
            {info.hasTimelines ? (
              <TimelinePage
                source={source}
                path={`sources/${source.id}`}
                info={info}
                view="timeline"
                state={props.state}
                scale={scale}
                hasToolbar={i === first}
              />
            ) : (
              <p class="status">no timelines</p>
            )}
          </section>
        );
      })}
    </>
  );
}

function useInfo(id: string | undefined) {
  const { value, error } = useAnswer<Info>(
    id === undefined ? null : `sources/${id}/info`,
    {},
    (answer) => !answer.isReady,
  );
  return { id, info: value, error };
}
