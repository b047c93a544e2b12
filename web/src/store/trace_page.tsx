// One trace: what it is, its services, where in time one looks, and its calls as a waterfall, a flame
// chart, by method, or as a list that has the shortest ones, too.

import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { get } from "../shared/api";
import { matcher } from "../flame/flame_layout";
import { countOf, formatNs } from "../shared/format";
import { useIsPhone } from "../shared/narrow";
import { clampRange, type Range } from "../shared/range";
import { go, goOn, linkTo, type State } from "../shared/state";
import { TabPanel, Tabs } from "../shared/tabs";
import { useAnswer } from "../shared/use_answer";
import { useListener } from "../shared/use_listener";
import type { Chart, FoundInTrace, Trace, TraceList, TraceRow } from "../../generated/answers";
import { printTime } from "./query_text";
import { Service } from "./service_colors";
import { CallTree } from "./trace_calls";
import { callInState } from "./trace_calls_model";
import { TraceChart } from "./trace_chart";
import { CallPanel } from "./trace_details";
import { TraceMap } from "./trace_map";
import { TraceMethods } from "./trace_methods";
import {
  callsOf,
  parseClosed,
  printClosed,
  revealCall,
  serviceShares,
  shareText,
  type TraceCall,
} from "./trace_model";
import { Waterfall } from "./trace_waterfall";

interface Props {
  path: string;
  state: State;
}

const TABS = [
  ["", "Waterfall"],
  ["chart", "Flame chart"],
  ["methods", "Methods"],
  ["calls", "All calls"],
] as const;

const CLEARED: State = {
  key: "",
  tab: "",
  zoom: "",
  call: "",
  sel: "",
  shut: "",
  from: "",
  to: "",
  find: "",
  msort: "",
  mrev: "",
};

const leave = () => go(CLEARED);

export function TracePage(props: Props) {
  const { state } = props;
  const key = state.key ?? "";
  const { value: chart, error } = useAnswer<Chart>(`${props.path}/chart`, { key });
  const trace = useAnswer<Trace>(`${props.path}/trace`, { key, limit: 1 });
  const whole = useWhole(props.path, trace.value);
  if (!chart || !trace.value)
    return (
      <main class="status" role="status">
        {error ?? trace.error ?? "loading…"}
      </main>
    );
  return <Loaded key={key} {...props} chart={chart} trace={trace.value} whole={whole} />;
}

// The trace with the spans of all services, as lists have it; null until it is known.
function useWhole(path: string, trace: Trace | null): TraceRow | null {
  const { value } = useAnswer<TraceList>(trace ? `${path}/traces` : null, {
    q: `id = ${trace?.trace}`,
    limit: 1,
  });
  return value?.traces[0] ?? null;
}

export interface OfTrace extends Props {
  chart: Chart;
  trace: Trace; // what was stored together with the span that is open
  whole: TraceRow | null;
}

// The visible time, in ns from the start.
export function viewOf(state: State, duration: number): Range {
  const begin = Number(state.from ?? 0);
  const end = Number(state.to ?? duration);
  return begin >= 0 && end > begin
    ? clampRange({ begin, end }, Math.max(duration, 1))
    : { begin: 0, end: Math.max(duration, 1) };
}

// Show a time: one step of the history for each movement.
function showTime(range: Range, duration: number, name: string): void {
  const { begin, end } = clampRange(range, Math.max(duration, 1));
  const isWhole = begin <= 0 && end >= duration;
  goOn({ from: isWhole ? "" : String(begin), to: isWhole ? "" : String(end) }, name);
}

function Loaded(props: OfTrace) {
  const { state, chart } = props;
  const calls = useMemo(() => callsOf(chart), [chart]);
  const tab = TABS.find(([name]) => name === state.tab)?.[0] ?? "";
  const matches = useMemo(() => matcher(state.find ?? ""), [state.find]);
  const view = viewOf(state, chart.duration);
  const selected = calls.find(({ id }) => id === state.sel) ?? calls[0];
  const closed = useMemo(() => parseClosed(state.shut, calls), [state.shut, calls]);
  const onTime = (range: Range, name = "trace") => showTime(range, chart.duration, name);
  const onSelect = (call: TraceCall) => {
    const opened = revealCall(calls, closed, call.index);
    go(
      {
        sel: call.id,
        ...(opened.size < closed.size ? { shut: printClosed(opened) } : {}),
      },
      true,
    );
  };
  useTraceKeys();
  const shared = { calls, chart, view, selected, matches, onSelect, onTime };
  const isDrawn = tab === "" || tab === "chart";
  return (
    <main>
      <TraceHead {...props} />
      <div class="toolbar trace-tabs">
        <Tabs
          group="trace"
          label="views of the trace"
          tabs={TABS.filter(([name]) => name !== "calls" || name === tab || hasCalls(props.trace))}
          chosen={tab}
          onChoose={(name) => go({ tab: name })}
        />
        <Find {...props} calls={calls} tab={tab} selected={selected} onSelect={onSelect} />
      </div>
      <TabPanel group="trace" chosen={tab}>
        <div class="columns">
          {isDrawn ? (
            <div class="trace-drawn">
              <TraceMap {...shared} />
              {tab === "" ? (
                <Waterfall
                  {...shared}
                  closed={closed}
                  onClosed={(set) => go({ shut: printClosed(set) }, true)}
                  onOpen={(call) => openRecord(call)}
                />
              ) : (
                <TraceChart {...shared} />
              )}
              {chart.count > calls.length && (
                <p class="status">
                  the first {calls.length.toLocaleString("en-US")} of{" "}
                  {chart.count.toLocaleString("en-US")} calls
                </p>
              )}
            </div>
          ) : (
            <RecordTab {...props} tab={tab} />
          )}
          {isDrawn && selected && (
            <CallPanel
              path={props.path}
              state={state}
              trace={props.trace.trace}
              call={selected}
              calls={calls}
            />
          )}
        </div>
      </TabPanel>
    </main>
  );
}

// True if more was stored together with the span that is open: the waterfall need not show all of it.
const hasCalls = ({ nodes }: Trace): boolean => (nodes[0]?.below ?? 0) > 0;

// All calls of the record that a call is in.
const openRecord = (call: TraceCall) =>
  go({ key: call.key, tab: "calls", call: callInState(call.node), sel: call.id });

// What is about the record of the key, not about the whole trace.
function RecordTab(props: OfTrace & { tab: string }) {
  const { state, path } = props;
  const key = state.key ?? "";
  const matches = useMemo(() => matcher(state.find ?? ""), [state.find]);
  const { value, error } = useAnswer<Trace>(props.tab === "calls" ? `${path}/trace` : null, {
    key,
  });
  if (props.tab === "methods")
    return <TraceMethods path={path} traceKey={key} state={state} matches={matches} />;
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  return (
    <CallTree
      path={path}
      traceKey={key}
      trace={value}
      state={state}
      duration={props.whole?.duration ?? null}
      matches={matches}
      onKey={(pressed) => onFindKey(path, state, pressed)}
    />
  );
}

// Compare a trace with one that was chosen before: A is the earlier choice.
const comparison = (state: State, trace: Trace, before: string): State => ({
  ...CLEARED,
  cmp: "",
  v: "compare",
  cb: state.s ?? "0",
  caq: `id = ${before}`,
  cbq: `id = ${trace.trace}`,
});

function CompareButtons(props: OfTrace) {
  const { trace, state } = props;
  const isPhone = useIsPhone();
  if (state.cmp && state.cmp !== trace.trace)
    return (
      <button onClick={() => go(comparison(state, trace, state.cmp ?? ""))}>
        Compare with {state.cmp.slice(0, 8)}…
      </button>
    );
  if (state.cmp) return null;
  return (
    <button title="then open the other trace" onClick={() => go({ ...CLEARED, cmp: trace.trace })}>
      Compare<span class={isPhone ? "hidden" : ""}> with another</span>…
    </button>
  );
}

const Fact = (props: { value: string; label: string; isBad?: boolean }) => (
  <span class={props.isBad ? "trace-fact failed" : "trace-fact"}>
    <strong>{props.value}</strong> {props.label}
  </span>
);

function TraceHead(props: OfTrace) {
  const { trace, whole, chart } = props;
  const name = whole?.method ?? trace.nodes[0]?.method ?? "?";
  const isPhone = useIsPhone();
  const isLonger = chart.duration > chart.listedDuration;
  const spans = whole?.spans ?? chart.spans.length;
  const linked = useAnswer<TraceList>(`${props.path}/traces`, {
    q: `links.trace = ${trace.trace} and not id = ${trace.trace}`,
    limit: 1,
  });
  return (
    <div class="trace-head">
      <div class="trace-title">
        <button onClick={leave} title="back to the list (Esc)">
          ‹ <span class={isPhone ? "hidden" : ""}>All traces</span>
        </button>
        <h1 class={chart.errors > 0 ? "failed" : ""} title={name}>
          {name}
        </h1>
        <span class="trace-facts">
          <Fact
            value={formatNs(chart.listedDuration)}
            label={isLonger ? `· ${formatNs(chart.duration)} to the last end` : ""}
          />
          <Fact value={spans.toLocaleString("en-US")} label={spans === 1 ? "span" : "spans"} />
          {chart.errors > 0 && (
            <Fact
              value={chart.errors.toLocaleString("en-US")}
              label={chart.errors === 1 ? "error" : "errors"}
              isBad
            />
          )}
          <span class="trace-fact faint">{printTime(chart.time)} UTC</span>
          <CopyId id={trace.trace} />
          {linked.value && linked.value.count > 0 && (
            <a href={linkTo({ ...CLEARED, q: `links.trace = ${trace.trace}` })}>
              {countOf(linked.value.count, "trace")} with links to this one
            </a>
          )}
        </span>
        <CompareButtons {...props} />
      </div>
      <Shares chart={chart} />
    </div>
  );
}

function CopyId(props: { id: string }) {
  const [isCopied, setIsCopied] = useState(false);
  return (
    <button
      class="link mono"
      title={`copy the id ${props.id}`}
      onClick={() =>
        void navigator.clipboard.writeText(props.id).then(
          () => setIsCopied(true),
          () => undefined,
        )
      }
    >
      {isCopied ? "copied" : `${props.id.slice(0, 8)}…`}
    </button>
  );
}

// Where the time went, by service: self times of its calls, and what the end waited for.
function Shares(props: { chart: Chart }) {
  const { chart } = props;
  const own = serviceShares(chart, "selfTimes");
  const all = own.reduce((sum, { ns }) => sum + ns, 0);
  const onPath = new Map(serviceShares(chart, "pathTimes").map(({ service, ns }) => [service, ns]));
  return (
    <ul class="trace-services" aria-label="services, with their share of the critical path">
      {own.map(({ service, ns }) => (
        <li
          key={service}
          title={`${service}: ${formatNs(ns)} self time, ${shareText(ns, all)} of all; ${formatNs(onPath.get(service) ?? 0)} on the critical path`}
        >
          <Service name={service} note={shareText(onPath.get(service) ?? 0, chart.duration)} />
        </li>
      ))}
      <li class="faint">of the critical path</li>
    </ul>
  );
}

// Go to the next match of a record, or the previous one, wherever it is.
async function findInRecord(
  path: string,
  state: State,
  isReversed: boolean,
  hasErrors: boolean,
): Promise<string> {
  const found = await get<FoundInTrace>(`${path}/find`, {
    key: state.key,
    method: hasErrors ? "" : state.find,
    at: state.call ?? 0,
    reverse: isReversed ? 1 : 0,
    errors: hasErrors ? 1 : 0,
  });
  if (found.node !== undefined) go({ tab: "calls", call: callInState(found.node) }, true);
  return found.isFound ? `${found.place} of ${found.count}` : hasErrors ? "no errors" : "no match";
}

function onFindKey(path: string, state: State, key: string): boolean {
  const isMatch = key.toLowerCase() === "n";
  if ((!isMatch && key.toLowerCase() !== "e") || (isMatch && !state.find)) return false;
  void findInRecord(path, state, key === "N" || key === "E", !isMatch).catch(() => undefined);
  return true;
}

interface Finding extends OfTrace {
  calls: TraceCall[];
  tab: string;
  selected: TraceCall | undefined;
  onSelect: (call: TraceCall) => void;
}

function Find(props: Finding) {
  const { state, calls } = props;
  const [note, setNote] = useState("");
  // Before the next key, which may make a note already: an effect would take that away.
  useLayoutEffect(() => setNote(""), [state.find, props.tab]);
  const matches = useMemo(() => matcher(state.find ?? ""), [state.find]);
  const found = useMemo(
    () => (matches ? calls.filter((call) => matches(call.method)) : []),
    [matches, calls],
  );
  // In a drawing, the next call of those that are drawn.
  const step = (list: TraceCall[], isReversed: boolean) => {
    const at = props.selected?.index ?? -1;
    const next = isReversed
      ? (list.filter(({ index }) => index < at).pop() ?? list[list.length - 1])
      : (list.find(({ index }) => index > at) ?? list[0]);
    if (next) props.onSelect(next);
    setNote(next ? `${list.indexOf(next) + 1} of ${list.length}` : "no match");
  };
  const find = (isReversed: boolean, hasErrors: boolean) => {
    if (props.tab === "" || props.tab === "chart")
      step(hasErrors ? calls.filter((call) => call.isFailed) : found, isReversed);
    else
      findInRecord(props.path, state, isReversed, hasErrors).then(setNote, (error: Error) =>
        setNote(error.message),
      );
  };
  useListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.matches("input, select, textarea") || !/^[nNeE]$/.test(event.key)) return;
    if (/n/i.test(event.key) && !state.find) return;
    find(/[NE]/.test(event.key), /e/i.test(event.key));
    event.preventDefault();
  });
  const shown = note || (matches && props.tab !== "methods" ? countOf(found.length, "match") : "");
  return (
    <form
      class="find"
      onSubmit={(event) => {
        event.preventDefault();
        find(false, false);
      }}
    >
      <input
        id="search"
        type="search"
        placeholder="find a call (/)"
        aria-label="find a call by name, a regular expression"
        value={state.find ?? ""}
        onInput={(event) => go({ find: event.currentTarget.value }, true)}
      />
      <button
        type="button"
        disabled={!state.find}
        title="previous match (N)"
        onClick={() => find(true, false)}
      >
        ↑<span class="hidden">Previous</span>
      </button>
      <button type="submit" disabled={!state.find} title="next match (n)">
        ↓<span class="hidden">Next</span>
      </button>
      <button type="button" title="e, E" onClick={() => find(false, true)}>
        Next error
      </button>
      <span class="status" aria-live="polite">
        {shown}
      </span>
    </form>
  );
}

// Escape goes back to the list, unless a component handles it.
function useTraceKeys(): void {
  useListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (
      event.defaultPrevented ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      target.matches("input, select, textarea")
    )
      return;
    if (event.key === "Escape" || event.key === "Backspace") leave();
    else if (event.key >= "1" && event.key <= "4")
      go({ tab: TABS[Number(event.key) - 1]?.[0] ?? "" });
    else return;
    event.preventDefault();
  });
}
