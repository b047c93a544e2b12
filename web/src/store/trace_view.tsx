// One trace: its calls as a tree and over time, its methods, attributes and exceptions, and the other
// spans of the same request.

import { useEffect, useMemo, useState } from "preact/hooks";
import { get } from "../shared/api";
import { matcher } from "../flame/flame_layout";
import { countOf, formatNs } from "../shared/format";
import { go, type State } from "../shared/state";
import { printTime } from "./store_results";
import type { FoundInTrace, Trace, TraceList, TraceNode, TraceRow } from "../../generated/answers";
import { CallTree } from "./trace_calls";
import { TraceChart } from "./trace_chart";
import { Details } from "./trace_details";
import { callInState } from "./trace_model";
import { TraceMethods } from "./trace_methods";
import { TraceSpans, useSpans } from "./trace_spans";
import { TabPanel, Tabs } from "../shared/tabs";
import { useAnswer } from "../shared/use_answer";
import { useListener } from "../shared/use_listener";

interface Props {
  path: string;
  state: State;
}

const TABS = [
  ["calls", "Calls"],
  ["chart", "Flame chart"],
  ["methods", "Methods"],
  ["spans", "Spans"],
] as const;

export function TracePage(props: Props) {
  const { state } = props;
  const key = state.key ?? "";
  const { value, error } = useAnswer<Trace>(`${props.path}/trace`, { key });
  const spans = useSpans(props.path, value);
  const whole = useWhole(props.path, value);
  const tab = state.tab ?? "calls";
  useTraceKeys();
  if (!value)
    return (
      <main class="status" role="status">
        {error ?? "loading…"}
      </main>
    );
  const spanCount = spans.value ? ` (${Math.max(spans.value.count, 1)})` : "";
  return (
    <main>
      <TraceHead trace={value} whole={whole} state={state} />
      <div class="toolbar">
        <Tabs
          group="trace"
          label="views of the trace"
          tabs={TABS.map(([name, title]) => [name, name === "spans" ? title + spanCount : title])}
          chosen={tab}
          onChoose={(name) => go({ tab: name })}
        />
        <FindInTrace path={props.path} state={state} />
      </div>
      <TabPanel group="trace" chosen={tab}>
        <TraceBody key={key} path={props.path} state={state} trace={value} whole={whole} />
      </TabPanel>
    </main>
  );
}

// The trace with the spans of all services, as lists have it; null until it is known.
function useWhole(path: string, trace: Trace | null): TraceRow | null {
  const { value } = useAnswer<TraceList>(trace ? `${path}/traces` : null, {
    q: `id = ${trace?.trace}`,
    limit: 1,
  });
  return value?.traces[0] ?? null;
}

const leave = () => go({ key: "", tab: "", zoom: "", call: "", find: "", msort: "", mrev: "" });

// Compare a trace with one that was chosen before: A is the earlier choice.
function compare(state: State, trace: Trace, before: string): void {
  const cleared = { key: "", tab: "", zoom: "", call: "", find: "", msort: "", mrev: "", cmp: "" };
  go({
    ...cleared,
    v: "compare",
    cb: state.s ?? "0",
    caq: `id = ${before}`,
    cbq: `id = ${trace.trace}`,
  });
}

interface OfTrace {
  trace: Trace; // what was stored together with the span that is open
  whole: TraceRow | null;
  state: State;
}

function CompareButtons(props: OfTrace) {
  const { trace, state } = props;
  return (
    <span class="saved">
      {state.cmp && state.cmp !== trace.trace && (
        <button onClick={() => compare(state, trace, state.cmp ?? "")}>
          Compare with {state.cmp.slice(0, 8)}…
        </button>
      )}
      {!state.cmp && (
        <button
          title="then open the other trace"
          onClick={() => go({ cmp: trace.trace, key: "", tab: "", zoom: "", call: "", find: "" })}
        >
          Compare with another…
        </button>
      )}
    </span>
  );
}

function TraceHead(props: OfTrace) {
  const { trace, whole } = props;
  const root = trace.nodes[0];
  const isFirst = !whole || whole.key === props.state.key;
  const records = countOf(whole?.records ?? trace.nodeCount, "record");
  const about = [`${printTime(trace.time)} UTC`, trace.type, trace.service, records].filter(
    (part) => part,
  );
  return (
    <div class="toolbar">
      <button onClick={leave}>‹ All traces</button>
      <strong>{whole?.method ?? root?.method}</strong>
      <span>{whole ? formatNs(whole.duration) : ""}</span>
      {!isFirst && root && (
        <span>
          › {root.method}, {formatNs(root.duration)}
        </span>
      )}
      <span class="status">
        {about.join(" · ")} ·{" "}
        <button class="link" title="all spans of this request" onClick={() => go({ tab: "spans" })}>
          {trace.trace}
        </button>
      </span>
      <CompareButtons {...props} />
    </div>
  );
}

function TraceBody(props: Props & OfTrace) {
  const { state, trace, path } = props;
  const duration = props.whole?.duration ?? null;
  const tab = state.tab ?? "calls";
  const matches = useMemo(() => matcher(state.find ?? ""), [state.find]);
  const [call, setCall] = useState<TraceNode | null>(null);
  const [span, setSpan] = useState(-1);
  const shared = { path, traceKey: state.key ?? "", trace };
  return (
    <div class="columns">
      {tab === "calls" && (
        <CallTree
          {...shared}
          duration={duration}
          selected={Number(state.call ?? 0)}
          matches={matches}
          onSelect={(node) => go({ call: callInState(node.call.node) }, true)}
          onShown={(node) => setCall(node.call)}
          onKey={(pressed) => onFindKey(path, state, pressed)}
        />
      )}
      {tab === "chart" && <TraceChart {...shared} state={state} />}
      {tab === "methods" && <TraceMethods {...shared} state={state} matches={matches} />}
      {tab === "spans" && (
        <TraceSpans {...shared} duration={duration} selected={span} onSelect={setSpan} />
      )}
      {(tab === "calls" || tab === "chart") && (
        <CallDetails {...shared} state={state} known={call} />
      )}
    </div>
  );
}

// The selected call may be one that the tree has not loaded.
function CallDetails(props: {
  path: string;
  traceKey: string;
  trace: Trace;
  state: State;
  known: TraceNode | null;
}) {
  const number = Number(props.state.call ?? 0);
  const here =
    props.known?.node === number
      ? props.known
      : props.trace.nodes.find((node) => node.node === number);
  const asked = useAnswer<Trace>(here ? null : `${props.path}/trace`, {
    key: props.traceKey,
    node: number,
    limit: 1,
  });
  const call = here ?? asked.value?.nodes[0];
  if (!call) return <aside class="panel" />;
  return <Details path={props.path} trace={props.trace.trace} call={call} self={call.self} />;
}

// Go to the next match, or the previous one.
async function findCall(
  path: string,
  state: State,
  isReversed: boolean,
  hasErrors: boolean,
): Promise<FoundInTrace> {
  const found = await get<FoundInTrace>(`${path}/find`, {
    key: state.key,
    method: hasErrors ? "" : state.find,
    at: state.call ?? 0,
    reverse: isReversed ? 1 : 0,
    errors: hasErrors ? 1 : 0,
  });
  if (found.node !== undefined) go({ tab: "calls", call: callInState(found.node) }, true);
  return found;
}

function onFindKey(path: string, state: State, key: string): boolean {
  if (
    (key !== "n" && key !== "N" && key !== "e" && key !== "E") ||
    (key.toLowerCase() === "n" && !state.find)
  )
    return false;
  void findCall(path, state, key === "N" || key === "E", key.toLowerCase() === "e").catch(
    () => undefined,
  );
  return true;
}

function FindInTrace(props: Props) {
  const { state } = props;
  const [note, setNote] = useState("");
  useEffect(() => setNote(""), [state.find]);
  const find = (isReversed: boolean, hasErrors: boolean) =>
    findCall(props.path, state, isReversed, hasErrors).then(
      (found) =>
        setNote(
          found.isFound ? `${found.place} of ${found.count}` : hasErrors ? "no errors" : "no match",
        ),
      (error: unknown) => setNote(error instanceof Error ? error.message : String(error)),
    );
  return (
    <form
      class="find"
      onSubmit={(event) => {
        event.preventDefault();
        void find(false, false);
      }}
    >
      <input
        id="search"
        type="search"
        placeholder="method (/)"
        aria-label="find a method in the trace, a regular expression"
        value={state.find ?? ""}
        onInput={(event) => go({ find: event.currentTarget.value }, true)}
      />
      <button type="submit" disabled={!state.find}>
        Next
      </button>
      <button type="button" disabled={!state.find} onClick={() => void find(true, false)}>
        Previous
      </button>
      <button type="button" onClick={() => void find(false, true)}>
        Next error
      </button>
      <span class="status" aria-live="polite">
        {note}
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
      target.matches("input, select")
    )
      return;
    if (event.key === "Escape" || event.key === "Backspace") leave();
    else if (event.key >= "1" && event.key <= "4")
      go({ tab: TABS[Number(event.key) - 1]?.[0] ?? "calls" });
    else return;
    event.preventDefault();
  });
}
