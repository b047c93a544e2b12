// The calls of a recording around a time, with arguments and results. Scrolling loads more at both
// ends.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { get, type Parameters } from "../shared/api";
import {
  appendPage,
  calleeOf,
  callerOf,
  lineAt,
  linesOf,
  noPages,
  prependPage,
  siblingOf,
  type CallPages,
  type Line,
} from "./calls_model";
import { FindCall, criteriaOf } from "./calls_find";
import { formatMoment, formatNs, parseNs } from "../shared/format";
import { go, isOn, linkTo, type State } from "../shared/state";
import { LatencyPlot } from "../tree/plots";
import type { Call, Calls, FoundCall, FunctionDetail, Hits, Task } from "../../generated/answers";
import { columnUnit } from "../shared/units";
import { useAnswer } from "../shared/use_answer";
import { VirtualTable, type TableColumn, type TableRow } from "../shared/virtual_table";

const BEFORE = 60;
const PAGE = 300;
const CONTEXT = 8; // visible lines after the time
const NEAR = 40; // lines from the edge at which the next page is loaded

const MICROSECONDS = columnUnit("sec", null, "auto");

const COLUMNS: TableColumn[] = [
  { name: "time", title: "time (µs)", isNumber: true },
  { name: "duration", title: "duration (µs, recorded, with waiting)", isNumber: true },
  { name: "call", title: "call" },
];

interface Props {
  path: string;
  tasks: Task[];
  state: State;
  isReady: boolean; // the analysis has ended
  onClose?: () => void;
}

function useCalls(path: string, task: number, time: number, criteria: Parameters) {
  const [shown, setShown] = useState<CallPages & { error: string | null; load: number }>({
    ...noPages,
    error: null,
    load: 0,
  });
  const busy = useRef(false);
  const key = JSON.stringify([path, task, criteria]);
  const generation = useRef(0); // changes when another time is loaded
  const ask = useCallback(
    (more: Parameters) => get<Calls>(`${path}/calls`, { task, ...criteria, ...more }),
    [key],
  );

  const load = useCallback(
    (at: number) => {
      const mine = ++generation.current;
      ask({ time: at, before: BEFORE, limit: PAGE }).then(
        (page) =>
          mine === generation.current &&
          setShown({ pages: [page], shift: 0, error: page.damage ?? null, load: mine }),
        (error: Error) =>
          mine === generation.current && setShown({ ...noPages, error: error.message, load: mine }),
      );
    },
    [ask],
  );
  const first = shown.pages[0]?.calls[0];
  const lastPage = shown.pages[shown.pages.length - 1];
  const last = lastPage?.calls[lastPage.calls.length - 1];
  const isThere =
    first !== undefined && last !== undefined && time >= first.time && time <= last.time;
  useEffect(() => load(time), [load]);
  useEffect(() => {
    if (shown.pages.length > 0 && !isThere) load(time);
  }, [time]);

  const extend = useCallback(
    async (isBefore: boolean) => {
      const page = isBefore ? shown.pages[0] : shown.pages[shown.pages.length - 1];
      if (!page || busy.current || (isBefore ? page.isStart : page.isEnd)) return;
      busy.current = true;
      const mine = generation.current;
      try {
        const more = await (isBefore
          ? ask({ at: page.first, before: PAGE, limit: 0 })
          : ask({ at: page.next, limit: PAGE }));
        if (mine !== generation.current) return;
        setShown((before) => ({
          ...before,
          ...(isBefore ? prependPage(before, more) : appendPage(before, more)),
          error: more.damage ?? null,
        }));
      } catch {
        // Scrolling asks again.
      } finally {
        busy.current = false;
      }
    },
    [shown.pages, ask],
  );

  // The time of the last call before the listed ones that is not deeper; null: there is none.
  const findBefore = async (depth: number): Promise<number | null> => {
    let at = shown.pages[0]?.first;
    while (at !== undefined) {
      const found = await get<FoundCall>(`${path}/find`, {
        task,
        function: ".",
        depth,
        reverse: 1,
        at,
      });
      if (found.isFound) return found.time ?? null;
      at = found.next;
    }
    return null;
  };
  return { shown, extend, findBefore };
}

export function CallsView(props: Props) {
  const { state } = props;
  const task = Number(state.task ?? 0);
  const time = Number(state.time ?? 0);
  const isOnly = isOn(state, "only");
  const { shown, extend, findBefore } = useCalls(
    props.path,
    task,
    time,
    isOnly ? criteriaOf(state) : {},
  );
  const lines = linesOf(shown);
  const chosen = lineAt(lines, time);
  const [selected, setSelected] = useState<Line | null>(null);
  useEffect(() => setSelected(null), [time]);
  const at = selected ? lines.findIndex((line) => line.call === selected.call) : chosen;
  const onRange = (first: number, last: number) => {
    if (last > lines.length - NEAR) void extend(false);
    if (first < NEAR) void extend(true);
  };
  const onKey = (key: string, from: number): boolean => {
    const to =
      key === "ArrowLeft"
        ? callerOf(lines, from)
        : key === "ArrowRight"
          ? calleeOf(lines, from)
          : key === "]"
            ? siblingOf(lines, from, 1)
            : key === "["
              ? siblingOf(lines, from, -1)
              : null;
    if (to === null) return false;
    const line = lines[to];
    const depth = lines[from]?.depth ?? 0;
    if (line) setSelected(line);
    else if (key === "ArrowLeft" && depth > 0 && !isOnly)
      void findBefore(depth - 1).then(
        (caller) => caller !== null && go({ time: String(caller) }),
        () => undefined, // The key asks again.
      );
    return true;
  };
  // An event belongs to the call around it.
  const named = lines[at]?.call.kind === "event" ? callerOf(lines, at) : at;
  const name = lines[named]?.call.name;
  return (
    <section class="calls" aria-label="calls of a task">
      <CallsToolbar
        {...props}
        task={task}
        time={time}
        error={shown.error}
        at={lines[at]?.call.time ?? time}
      />
      {lines.length === 0 && shown.pages.length > 0 && <p class="status">no matching calls here</p>}
      <div class="columns">
        <VirtualTable
          class="call-list"
          label="calls in time order, with arguments and results"
          columns={COLUMNS}
          widths="9em 20em minmax(18em, 1fr)"
          count={lines.length}
          row={(i) => rowOf(lines[i] as Line, isOnly, i === chosen)}
          selected={at}
          onSelect={(i) => setSelected(lines[i] ?? null)}
          onOpen={(i) => go({ time: String(lines[i]?.call.time ?? time) })}
          onRange={onRange}
          onKey={onKey}
          takesFocus
          shift={shown.shift}
          reveal={
            selected ? at : chosen < 0 ? chosen : Math.min(lines.length - 1, chosen + CONTEXT)
          }
          revealFor={selected ? `selected ${selected.call.time}` : `${time} ${shown.load}`}
        />
        {props.isReady && (selected || state.time) && name && (
          <Distribution path={props.path} name={name} />
        )}
      </div>
    </section>
  );
}

// The durations of all calls of a function, from the analysis.
function Distribution(props: { path: string; name: string }) {
  const hits = useAnswer<Hits>(`${props.path}/search`, {
    view: "bottom-up",
    q: `^${props.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`,
    limit: 1,
  });
  const row = hits.value?.hits[0]?.row;
  const detail = useAnswer<FunctionDetail>(row ? `${props.path}/function` : null, {
    row: row?.context ?? "",
    percentiles: 1,
    limit: 1,
  });
  return (
    <aside class="panel" aria-label="durations of the selected function">
      <h2>{props.name}</h2>
      {!row && <p class="status">{hits.error ?? (hits.isLoading ? "loading…" : "not analysed")}</p>}
      {row && !detail.value && <p class="status">{detail.error ?? "computing…"}</p>}
      {detail.value?.latency && detail.value.function.label === row?.label && (
        <LatencyPlot latency={detail.value.latency} />
      )}
      {row && (
        <p>
          <a href={linkTo({ v: "sandwich", at: row.context })}>Callers and callees</a>
        </p>
      )}
    </aside>
  );
}

function CallsToolbar(
  props: Props & { task: number; time: number; at: number; error: string | null },
) {
  return (
    <div class="toolbar">
      <label>
        task{" "}
        <select value={props.task} onChange={(event) => go({ task: event.currentTarget.value })}>
          {props.tasks.map((task) => (
            <option key={task.index} value={task.index}>
              {task.tid} {task.name}
            </option>
          ))}
        </select>
      </label>
      <label>
        at{" "}
        <input
          key={props.time}
          class="short"
          defaultValue={formatNs(props.time)}
          aria-label="time of the calls"
          onChange={(event) => {
            const time = parseNs(event.currentTarget.value);
            if (!Number.isNaN(time)) go({ time: String(time) });
          }}
        />
      </label>
      <button onClick={() => go({ time: "" })}>Go to start</button>
      <FindCall path={props.path} state={props.state} task={props.task} at={props.at} />
      {props.error && <span class="status error">{props.error}</span>}
      {props.onClose && (
        <button aria-label="close the calls" onClick={props.onClose}>
          ×
        </button>
      )}
    </div>
  );
}

function printDuration(call: Call): string {
  if (call.duration !== undefined)
    return `${call.isOpen ? "open " : ""}${MICROSECONDS.print(call.duration / 1e9)}`;
  return call.atLeast === undefined ? "" : `≥ ${MICROSECONDS.print(call.atLeast / 1e9)}`;
}

function rowOf(line: Line, isFlat: boolean, isHere: boolean): TableRow {
  const { call, isLeaf } = line;
  const isOneLine = isLeaf || isFlat;
  return {
    class: `${call.kind === "exit" ? "exit" : ""}${isHere ? " here" : ""}`,
    cells: [
      formatMoment(call.time),
      printDuration(call),
      <span style={{ paddingLeft: `${line.depth * 16}px` }}>
        {call.kind === "exit" ? "} " : ""}
        <span class="kind-function">{call.name ?? call.kind}</span>
        {call.kind === "event" ? ` ${call.values}` : call.values}
        {call.kind === "enter" ? (isOneLine ? (call.result ?? " …") : " {") : ""}
      </span>,
    ],
  };
}
