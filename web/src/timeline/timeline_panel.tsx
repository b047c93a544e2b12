// The panel of the timeline: what is selected or visible, and the stack at the cursor.

import { useEffect, useState } from "preact/hooks";
import { get, type Parameters } from "../shared/api";
import { colorOf, isDark } from "../shared/look/colors";
import { formatNs, formatPercent } from "../shared/format";
import { Name } from "../shared/names/name";
import type { Range } from "../shared/range";
import type { RangeFlame, Stack, States, ThreadState } from "../../generated/answers";
import { Still } from "../shared/look/still";
import { columnUnit } from "../shared/units";
import { useAnswer } from "../shared/use_answer";
import { describe, gapOf, type Flow, type FlowEnd } from "./flows";
import type { NestedFrame } from "./nested";
import { printNumbers } from "./thread_numbers";
import type { Cursor, Selection } from "./track_draw";
import { WaitsPanel } from "./waits_panel";

const LISTED = 12; // functions; the others are one line
const FLOWS_LISTED = 6;
const LEAST = 0.001; // of the time, for a line of its own

interface Times {
  functions: [string, number][]; // self ns, longest first
  others: [number, number]; // how many, and their ns
}

// The longest ones, and the sum of the rest.
export function shorten({ functions, others }: Times): Times & { total: number } {
  const total = functions.reduce((sum, [, ns]) => sum + ns, others[1]);
  const listed = functions.slice(0, LISTED).filter(([, ns]) => ns >= LEAST * total);
  const rest = functions.slice(listed.length);
  return {
    functions: listed,
    others: [others[0] + rest.length, others[1] + rest.reduce((sum, [, ns]) => sum + ns, 0)],
    total,
  };
}

function FunctionList(props: { times: Times; title: string }) {
  const { functions, others, total } = shorten(props.times);
  if (total === 0) return <p class="status">no calls</p>;
  const { unit, print } = columnUnit(
    "sec",
    Math.max(others[1], ...functions.map(([, ns]) => ns)) / 1e9,
    "auto",
  );
  return (
    <table class="swatches">
      <thead>
        <tr>
          <th scope="col">function</th>
          <th scope="col" colSpan={2} title={props.title}>
            {props.title} ({unit})
          </th>
        </tr>
      </thead>
      <tbody>
        {functions.map(([name, ns]) => (
          <tr key={name}>
            <th scope="row" title={name}>
              <i style={{ background: colorOf(name) }} />
              <Name name={name} />
            </th>
            <td>{print(ns / 1e9)}</td>
            <td class="percent">{formatPercent(ns, total)}</td>
          </tr>
        ))}
        {others[0] > 0 && (
          <tr>
            <th scope="row">{others[0].toLocaleString("en-US")} more</th>
            <td>{print(others[1] / 1e9)}</td>
            <td class="percent">{formatPercent(others[1], total)}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

const STATE_COLORS: Record<ThreadState, string> = {
  running: "var(--running)",
  waiting: "var(--blocked)",
  blocked: "var(--blocked)",
  "pre-empted": "var(--preempted)",
  "no data": "transparent",
};

export function StateList(props: { states: [ThreadState, number | null][] }) {
  const total = props.states.reduce((sum, [, ns]) => sum + (ns ?? 0), 0);
  const { unit, print } = columnUnit(
    "sec",
    Math.max(0, ...props.states.map(([, ns]) => ns ?? 0)) / 1e9,
    "auto",
  );
  return (
    <table class="swatches">
      <thead>
        <tr>
          <th scope="col">state</th>
          <th scope="col" colSpan={2}>
            time ({unit})
          </th>
        </tr>
      </thead>
      <tbody>
        {props.states.map(([name, ns]) => (
          <tr key={name}>
            <th scope="row">
              <i
                class={name === "no data" ? "empty" : ""}
                style={{ background: STATE_COLORS[name] }}
              />
              {name}
            </th>
            <td>{ns === null ? "" : print(ns / 1e9)}</td>
            <td class="percent">{ns === null ? "" : formatPercent(ns, total)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// Without scheduler events, a thread runs or waits: both times are sums over all samples.
function statesOf(frame: NestedFrame): [ThreadState, number][] {
  const running = frame.functions.reduce((sum, [, ns]) => sum + ns, frame.others[1]);
  return [["running", running], ...waitingOf(frame.waiting)];
}

const waitingOf = (ns: number): [ThreadState, number][] => (ns > 0 ? [["waiting", ns]] : []);

const hasGaps = (frame: NestedFrame): boolean =>
  [...frame.rows.values()].some((row) => row.states.some(({ name }) => name === "no data"));

function useStack(path: string, cursor: Cursor | null, lens: Parameters): Stack | null {
  const [stack, setStack] = useState<Stack | null>(null);
  const profile = cursor?.profile;
  const time = cursor?.time;
  useEffect(() => {
    if (profile === undefined || time === undefined) return setStack(null);
    const stop = new AbortController();
    const timer = setTimeout(() => {
      get<Stack>(`${path}/stack`, { ...lens, profile, time: Math.floor(time) }, stop.signal).then(
        setStack,
        () => undefined,
      );
    }, 60);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [profile, time, JSON.stringify(lens)]);
  return stack;
}

function StackList(props: { stack: Stack | null }) {
  const { stack } = props;
  if (!stack) return null;
  const { begin, end, state, frames = [] } = stack;
  if (!state || (state === "no data" && frames.length === 0)) return <p class="status">no data</p>;
  return (
    <>
      <p class="status">
        <i class="state" style={{ background: STATE_COLORS[state] }} />
        {state}
        {begin !== undefined && end !== undefined && ` for ${formatNs(end - begin)}`}
        {state !== "running" && frames.length > 0 && " in"}
      </p>
      <ol class="stack">
        {[...frames].reverse().map((item, i) => (
          <li key={i} style={{ borderLeftColor: colorOf(item.label) }}>
            {item.label}
          </li>
        ))}
      </ol>
    </>
  );
}

interface Props {
  path: string;
  lens: Parameters; // what is left out
  hasStates: boolean; // the states of threads are known
  duration: number; // of the data, ns
  timesLabel: string; // which times these are; may be empty
  estimate: string; // why sums are estimates; "": they are exact
  frame: NestedFrame | null;
  selection: Selection | null;
  cursor: Cursor | null;
  cursorLabel: string;
  marks: number[];
  hasPath: boolean; // the critical path is shown
  flows: { count: number; isDrawn: boolean; atCursor: Flow[] }; // of a recording
  labelOf: (profile: number) => string;
  onEnd: (end: FlowEnd) => void; // go there
  onFlame: () => void;
  onTable: () => void;
  onCalls?: (() => void) | undefined;
  onZoom: (range: Range) => void;
  onMark: (time: number) => void; // go there
  onUnmark: (time: number) => void;
}

// The time of each state of some threads, where scheduler events tell; empty: not known.
function useStates(props: Props, begin: number, end: number, thread: string) {
  const answer = useAnswer<States>(
    props.hasStates && begin < end ? `${props.path}/states` : null,
    { begin: Math.floor(begin), end: Math.min(Math.ceil(end), props.duration), thread },
    ({ isPending }) => isPending,
  );
  return answer.value?.states ?? [];
}

function Selected(props: Props & { selection: Selection }) {
  const { selection, path } = props;
  const { value, error } = useAnswer<RangeFlame>(`${path}/range`, {
    ...props.lens,
    begin: Math.floor(selection.begin),
    end: Math.ceil(selection.end),
    thread: selection.threads,
  });
  const known = useStates(props, selection.begin, selection.end, selection.threads);
  return (
    <>
      <h2>Selection</h2>
      <p class="status">
        {formatNs(selection.begin)} – {formatNs(selection.end)},{" "}
        {formatNs(selection.end - selection.begin)}
        {selection.threads && `, threads ${selection.threads}`}
      </p>
      <p class="links">
        <button onClick={props.onFlame}>Flame graph</button>
        <button onClick={props.onTable}>Table</button>
        {props.onCalls && <button onClick={props.onCalls}>Calls</button>}
        <button title="f" onClick={() => props.onZoom(selection)}>
          Zoom to selection
        </button>
      </p>
      {value ? (
        <>
          {value.isPartial && <p class="status">estimate; reading all samples…</p>}
          <Estimate {...props} />
          <FunctionList times={value} title={`self ${value.base}`} />
          <StateList
            states={
              known.length > 0
                ? known
                : [["running", value.total * 1e9], ...waitingOf(value.waiting * 1e9)]
            }
          />
        </>
      ) : (
        <p class="status">{error ?? "computing…"}</p>
      )}
    </>
  );
}

function Estimate(props: Props) {
  if (!props.estimate) return null;
  return <p class="status">estimate: {props.estimate}; other views have the measured sums</p>;
}

function Visible(props: Props) {
  const { frame } = props;
  const threads = printNumbers([...(frame?.rows.keys() ?? [])]);
  const known = useStates(props, frame?.begin ?? 0, frame?.end ?? 0, threads);
  if (!frame) return <p class="status">loading…</p>;
  const gaps: [ThreadState, null][] = hasGaps(frame) ? [["no data", null]] : [];
  return (
    <>
      <h2>Visible range</h2>
      <p class="status">the visible threads, {formatNs(frame.end - frame.begin)}</p>
      <Estimate {...props} />
      <FunctionList times={frame} title={`self ${props.timesLabel || "time"}`} />
      <StateList states={known.length > 0 ? known : [...statesOf(frame), ...gaps]} />
    </>
  );
}

// The legend of the arrows, and the flows of the call at the cursor, each a link to its other end.
function FlowList(props: Props) {
  const { flows, cursor, labelOf, onEnd } = props;
  if (flows.count === 0 && flows.atCursor.length === 0) return null;
  return (
    <>
      <h3>Flows</h3>
      <p class="status">
        <i class="flow-key" />
        {flows.count > 0 && `${flows.count.toLocaleString("en-US")} visible`}
        {!flows.isDrawn && ", drawn at the cursor"}
      </p>
      <ul class="flow-list">
        {flows.atCursor.slice(0, FLOWS_LISTED).map((flow, i) => {
          const { from, to, name } = flow;
          const isOut = from.profile === cursor?.profile;
          const other = isOut ? to : from;
          return (
            <li key={i}>
              <button
                title={`${describe(flow, labelOf)} (${isOut ? "g" : "G"})`}
                onClick={() => onEnd(other)}
              >
                {isOut ? "→" : "←"} {other.call ? `${other.call} on ` : ""}
                {labelOf(other.profile)}
              </button>{" "}
              <small>
                {name && `${name}, `}
                {gapOf(from, to)}
              </small>
            </li>
          );
        })}
      </ul>
    </>
  );
}

export function TimelinePanel(props: Props) {
  const { cursor, marks, selection } = props;
  const stack = useStack(props.path, cursor, props.lens);
  return (
    <aside class="panel" tabIndex={0} aria-live="polite" aria-label="details">
      {selection ? (
        <Selected {...props} selection={selection} />
      ) : (
        <Still
          keys={[
            props.path,
            props.frame,
            props.hasStates,
            props.duration,
            props.estimate,
            isDark(),
          ]}
        >
          <Visible {...props} />
        </Still>
      )}
      {cursor && (
        <>
          <h3 class="at">
            At {formatNs(cursor.time)} <small>{props.cursorLabel}</small>
          </h3>
          <Still keys={[stack, isDark()]}>
            <StackList stack={stack} />
          </Still>
        </>
      )}
      {props.hasPath && <WaitsPanel {...props} />}
      <FlowList {...props} />
      {marks.length > 0 && (
        <>
          <h3>Marks</h3>
          <ul class="marks">
            {marks.map((mark, i) => (
              <li key={mark}>
                <button onClick={() => props.onMark(mark)}>{formatNs(mark)}</button>{" "}
                {i > 0 && <small>+{formatNs(mark - (marks[i - 1] ?? 0))}</small>}{" "}
                <button
                  aria-label={`remove the mark at ${formatNs(mark)}`}
                  onClick={() => props.onUnmark(mark)}
                >
                  ×
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </aside>
  );
}
