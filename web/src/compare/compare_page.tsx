// Two sources, or two selections of one, compared: what explains the difference, a differential flame
// graph, trees with both sides, timeline over timeline, and for stores what goes with one side.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { formatPercent, formatValue, plural } from "../shared/format";
import { shorten } from "../shared/names";
import { go, type State } from "../shared/state";
import { TabPanel, Tabs } from "../shared/tabs";
import { TimelinePage } from "../timeline/timeline_page";
import type { Explanation, Info, Source } from "../../generated/answers";
import { useAnswer } from "../shared/use_answer";
import { CompareFlame } from "./compare_flame";
import { CompareFacets } from "./compare_facets";
import { CompareTree } from "./compare_tree";
import {
  calls,
  changeColor,
  errorOf,
  evidenceOf,
  parseTimes,
  printTimes,
  sideParameters,
  sidesOf,
  signed,
  swapped,
  verdictOf,
} from "./compare_model";

export interface CompareProps {
  sources: Source[];
  state: State;
}

const TABS = [
  ["explain", "Explanation"],
  ["flame", "Flame graph"],
  ["tree", "Tree"],
  ["flat", "Functions"],
  ["callers", "Callers"],
  ["timelines", "Timelines"],
  ["facets", "Attributes"],
] as const;

export function ComparePage(props: CompareProps) {
  const { sources, state } = props;
  const { a, b } = sidesOf(state, sources.length);
  const isStore = [a, b].every((id) => sources[Number(id)]?.kind === "store");
  const tabs = TABS.filter(
    ([name]) =>
      (name !== "facets" || isStore) &&
      (name !== "timelines" || ![a, b].some((id) => sources[Number(id)]?.kind === "store")),
  );
  const tab = tabs.find(([name]) => name === state.ct)?.[0] ?? "explain";
  return (
    <>
      <div class="toolbar compare-sides">
        <Side {...props} name="A" id={a} />
        <button title="exchange A and B" onClick={() => go(swapped(state, sources.length))}>
          ⇄
        </button>
        <Side {...props} name="B" id={b} />
        <Tabs
          group="compare"
          label="forms of the comparison"
          tabs={tabs}
          chosen={tab}
          onChoose={(name) => go({ ct: name === "explain" ? "" : name, zoom: "", open: "" })}
        />
      </div>
      <TabPanel group="compare" chosen={tab}>
        {tab === "explain" && <Explained {...props} />}
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

// A source, and its threads or traces.
function Side(props: CompareProps & { name: "A" | "B"; id: string }) {
  const { sources, state, name, id } = props;
  const isA = name === "A";
  const isStore = sources[Number(id)]?.kind === "store";
  const selection = isStore ? (isA ? state.caq : state.cbq) : isA ? state.cat : state.cbt;
  const [text, setText] = useState(selection ?? "");
  const choose = (value: string): State =>
    isStore ? (isA ? { caq: value } : { cbq: value }) : isA ? { cat: value } : { cbt: value };
  return (
    <span class="find">
      <strong>{name}</strong>
      <select
        aria-label={`source of ${name}`}
        value={id}
        onChange={(event) =>
          go({
            ...(isA
              ? { s: event.currentTarget.value, cb: sidesOf(state, sources.length).b }
              : { cb: event.currentTarget.value }),
            zoom: "",
            open: "",
          })
        }
      >
        {sources.map((source) => (
          <option key={source.id} value={String(source.id)}>
            {source.name}
          </option>
        ))}
      </select>
      <input
        class="short"
        aria-label={isStore ? `query of ${name}` : `threads of ${name}`}
        placeholder={isStore ? "all traces" : "all threads"}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={(event) =>
          go({ ...choose(event.currentTarget.value.trim()), zoom: "", open: "" })
        }
      />
      {!isStore && <SideTime name={name} times={isA ? state.car : state.cbr} />}
    </span>
  );
}

function SideTime(props: { name: "A" | "B"; times: string | undefined }) {
  return (
    <input
      key={props.times}
      class="short"
      aria-label={`time of ${props.name}`}
      placeholder="whole time"
      title="time from the start: 1.5 ms - 20 ms; empty: all of it"
      defaultValue={printTimes(parseTimes(props.times))}
      onChange={(event) => {
        const range = parseTimes(event.currentTarget.value);
        const times = range ? `${range.begin}-${range.end}` : "";
        go({ ...(props.name === "A" ? { car: times } : { cbr: times }), zoom: "", open: "" });
      }}
    />
  );
}

function Explained(props: CompareProps) {
  const { value, error, isLoading } = useAnswer<Explanation>("diff", {
    ...sideParameters(props.state, props.sources.length),
    form: "explain",
  });
  if (error && !isLoading) return <p class="status error">{error}</p>;
  if (!value) return <p class="status">{error ?? "comparing…"}</p>;
  const { whole, metric } = value;
  const count = value.over === null ? value.changedCount : value.realCount + value.unknownCount;
  return (
    <div class="scroll overview">
      <p class="sentence">{value.sentence}</p>
      <dl class="facts">
        <Fact value={formatValue(value.a, metric)} label={sideLabel("A", metric, value.baseA)} />
        <Fact value={formatValue(value.b, metric)} label={sideLabel("B", metric, value.baseB)} />
        <Fact
          value={signed(whole.difference, metric)}
          label={`difference${whole.ratio === null ? "" : `, × ${whole.ratio.toFixed(3)}`}, ${[verdictOf(whole, value), errorOf(whole, value)].filter(Boolean).join(", ")}`}
        />
        <Fact
          value={formatPercent(value.explained, 1)}
          label={`explained by ${plural(value.lines.length, "line")} of ${plural(count, "change")}`}
        />
      </dl>
      <section class="card">
        <h2>
          What changed <small>{evidenceOf(value)}</small>
        </h2>
        {value.damage && <p class="status error">{value.damage}</p>}
        {value.lines.length === 0 && <p class="status">nothing changed</p>}
        {value.lines.length > 0 && <Lines answer={value} />}
      </section>
    </div>
  );
}

const sideLabel = (side: string, metric: string, base: string | undefined): string =>
  `${side}, ${metric}${base ? `, ${base}` : ""}`;

const Fact = (props: { value: string; label: string }) => (
  <div class="card">
    <dd>{props.value}</dd>
    <dt>{props.label}</dt>
  </div>
);

const COLUMNS = ["context", "", "A", "B", "difference", "± 95 %", "ratio", "share", "verdict"];
const OPTIONAL = new Set(["", "ratio", "share"]); // left out of narrow windows
const KINDS = { self: "", new: "new: ", gone: "gone: ", moved: "moved: ", calls: "calls: " };

function Lines(props: { answer: Explanation }) {
  const { answer } = props;
  const most = Math.max(...answer.lines.map((line) => Math.abs(line.difference)));
  const number = (text: ComponentChildren, style = "") => <td class={style}>{text}</td>;
  return (
    <table class="overview-table wraps">
      <thead>
        <tr>
          {COLUMNS.map((title, i) => (
            <th
              key={i}
              scope="col"
              class={OPTIONAL.has(title) ? "optional" : ""}
              aria-label={title || "size of the change"}
            >
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {answer.lines.map((line) => (
          <tr key={line.node + line.label}>
            <th scope="row">
              {KINDS[line.kind]}
              <button
                class="link"
                title={`${line.path || line.label}: differential flame graph`}
                onClick={() => go({ ct: "flame", zoom: line.node })}
              >
                {shorten(line.label, 70)}
              </button>
              <small class="location">
                {line.paths > 1 ? `${plural(line.paths, "call path")} ` : ""}
                {line.callsA !== line.callsB && line.callsA !== null
                  ? `${calls(line.callsA)} → ${calls(line.callsB)}`
                  : ""}
              </small>
            </th>
            <td class="share optional">
              <span>
                <i
                  style={{
                    width: `${most > 0 ? (100 * Math.abs(line.difference)) / most : 0}%`,
                    background: changeColor(
                      line.difference > 0 ? 0 : 1,
                      line.difference > 0 ? 1 : 0,
                    ),
                  }}
                />
              </span>
            </td>
            {number(formatValue(line.a, answer.metric))}
            {number(formatValue(line.b, answer.metric))}
            {number(signed(line.difference, answer.metric))}
            {number(errorOf(line, answer))}
            {number(line.ratio === null ? "" : line.ratio.toFixed(3), "optional")}
            {number(
              line.sharePercent === null
                ? ""
                : `${line.sharePercent.toFixed(1).replace("-", "−")} %`,
              "optional",
            )}
            {number(verdictOf(line, answer))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// Both have the same range of time, from the beginning of each.
function Timelines(props: CompareProps) {
  const { a, b } = sidesOf(props.state, props.sources.length);
  return (
    <>
      {[a, b].map((id, i) => (
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
        {props.name}: {source.name}
      </h2>
      {info.hasTimelines ? (
        <TimelinePage source={source} path={path} info={info} view="timeline" state={props.state} />
      ) : (
        <p class="status">no timelines</p>
      )}
    </section>
  );
}
