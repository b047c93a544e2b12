// The calls of a recording around a time, with arguments and results. Scrolling loads more at both
// ends.

import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { get, pause, type Parameters } from "../shared/api";
import { formatExact, formatNs, parseNs } from "../shared/format";
import { Icon } from "../shared/look/icons";
import { Name } from "../shared/names/name";
import { useIsPhone, useIsWide } from "../shared/narrow";
import type { Range } from "../shared/range";
import { go, isOn, linkTo, type State } from "../shared/state";
import { momentUnit } from "../shared/units";
import { useAnswer } from "../shared/use_answer";
import { VirtualTable, type TableColumn, type TableRow } from "../shared/table/virtual_table";
import { LatencyPlot } from "../tree/plots";
import type { Call, Calls, FoundCall, FunctionDetail, Hits, Task } from "../../generated/answers";
import { criteriaOf, FindCall, foundPattern } from "./calls_find";
import { CallsMap } from "./calls_map";
import {
  appendPage,
  barShare,
  calleeOf,
  callerOf,
  foldKey,
  foldPages,
  lineAt,
  linesOf,
  noPages,
  prependPage,
  printDuration,
  siblingOf,
  type CallPages,
  type Folds,
  type Line,
  waitText,
} from "./calls_model";

const BEFORE = 60;
const PAGE = 300;
const NEAR = 40; // lines from the edge at which the next page is loaded
const ENDS_MS = 20; // until the ends of long calls are asked for again
const INDENT_PX = 16; // of a level, as --indent

const columnsOf = (unitOfTimes: string): TableColumn[] => [
  { name: "time", title: `time (${unitOfTimes})`, isNumber: true },
  {
    name: "duration",
    title: "duration",
    hint: "recorded, with waiting; bars are logarithmic",
    isNumber: true,
  },
  { name: "call", title: "call" },
];

interface Props {
  path: string;
  tasks: Task[];
  duration: number; // of the recording, ns
  state: State;
  isReady: boolean; // the analysis has ended
  onClose?: () => void;
}

type Shown = CallPages & { error: string | null; load: number };

function useCalls(path: string, task: number, time: number, criteria: Parameters) {
  const [shown, setShown] = useState<Shown>({ ...noPages, error: null, load: 0 });
  const [folds, setFolds] = useState<Folds>(new Set());
  const busy = useRef(false);
  const key = JSON.stringify([path, task, criteria]);
  const generation = useRef(0); // changes when another time is loaded
  const ask = useCallback(
    (more: Parameters) => get<Calls>(`${path}/calls`, { task, ...criteria, ...more }),
    [key],
  );

  // Calls that take long end far away: the server looks for their ends request after request.
  const askForEnds = useCallback(
    async (more: Parameters, page: Calls, mine: number) => {
      for (let next = page; next.isPartial;) {
        await pause(ENDS_MS);
        if (mine !== generation.current) return;
        next = await ask(more);
        if (mine !== generation.current) return;
        const found = next;
        setShown((before) => ({
          ...before,
          pages: before.pages.map((one) => (one.first === found.first ? found : one)),
        }));
      }
    },
    [ask],
  );

  const load = useCallback(
    (at: number) => {
      const mine = ++generation.current;
      const question = { time: at, before: BEFORE, limit: PAGE };
      ask(question).then(
        (page) => {
          if (mine !== generation.current) return;
          setShown({ pages: [page], shift: 0, error: page.damage ?? null, load: mine });
          setFolds(new Set());
          askForEnds(question, page, mine).catch(() => undefined); // what is known stays
        },
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
          ...(isBefore ? prependPage(before, more, folds) : appendPage(before, more, folds)),
          error: more.damage ?? null,
        }));
      } catch {
        // Scrolling asks again.
      } finally {
        busy.current = false;
      }
    },
    [shown.pages, ask, folds],
  );

  // Hide what is inside a call, or show it. If its end is far away, what follows it is loaded.
  const fold = async (call: Call): Promise<void> => {
    const name = foldKey(call);
    if (folds.has(name)) {
      setFolds(new Set([...folds].filter((other) => other !== name)));
      if (!shown.pages.some((page) => page.calls.some((one) => isExitOf(one, call))))
        load(call.time);
      return;
    }
    const isLoaded = shown.pages.some((page) => page.calls.some((one) => isExitOf(one, call)));
    if (!isLoaded && call.duration !== undefined) {
      const after = await ask({ time: call.time + call.duration, limit: PAGE });
      setShown((before) => ({ ...before, ...foldPages(before, call, after) }));
    }
    setFolds(new Set([...folds, name]));
  };

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
  return { shown, folds, extend, fold, findBefore };
}

const isExitOf = (one: Call, call: Call): boolean =>
  one.kind === "exit" &&
  one.depth === call.depth &&
  call.duration !== undefined &&
  one.time === call.time + call.duration;

export function CallsView(props: Props) {
  const { state } = props;
  const task = Number(state.task ?? 0);
  const time = Number(state.time ?? 0);
  const isOnly = isOn(state, "only");
  const isPhone = useIsPhone();
  const isWide = useIsWide();
  const { shown, folds, extend, fold, findBefore } = useCalls(
    props.path,
    task,
    time,
    isOnly ? criteriaOf(state) : {},
  );
  const lines = useMemo(() => linesOf(shown, folds), [shown, folds]);
  const most = useMemo(
    () => lines.reduce((max, { call }) => Math.max(max, call.duration ?? call.atLeast ?? 0), 0),
    [lines],
  );
  const times = useMemo(
    () => momentUnit(Math.max(props.duration, lines[lines.length - 1]?.call.time ?? 0)),
    [props.duration, lines],
  );
  const chosen = lineAt(lines, time);
  const [selected, setSelected] = useState<Line | null>(null);
  const [visible, setVisible] = useState<[number, number]>([0, 0]);
  useLayoutEffect(() => setSelected(null), [time]);
  const at = selected ? lines.findIndex((line) => line.call === selected.call) : chosen;
  const onRange = useCallback(
    (first: number, last: number) => {
      setVisible([first, last]);
      if (last > lines.length - NEAR) void extend(false);
      if (first < NEAR) void extend(true);
    },
    [lines.length, extend],
  );
  const onKey = (key: string, from: number): boolean => {
    const line = lines[from];
    if (key === " " && line && canFold(line)) {
      void fold(line.call);
      return true;
    }
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
    const next = lines[to];
    const depth = line?.depth ?? 0;
    if (next) setSelected(next);
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
  const profile = props.tasks[task]?.profile;
  const found = foundPattern(state);
  return (
    <section class="calls" aria-label="calls of a task">
      <CallsToolbar
        {...props}
        task={task}
        time={time}
        error={shown.error}
        at={lines[at]?.call.time ?? time}
      />
      {props.isReady && profile !== undefined && (
        <CallsMap
          path={props.path}
          profile={profile}
          duration={props.duration}
          shown={timesOf(lines, visible)}
          onChoose={(next) => go({ time: String(next) }, true)}
        />
      )}
      {lines.length === 0 && shown.pages.length > 0 && <p class="status">no matching calls here</p>}
      <div class="columns">
        <VirtualTable
          class="call-list"
          label="calls in time order, with arguments and results"
          columns={columnsOf(times.unit).slice(isPhone ? 1 : 0)}
          widths={isPhone ? "14ch minmax(20ch, 1fr)" : "15ch 26ch minmax(36ch, 1fr)"}
          count={lines.length}
          row={(i) =>
            rowOf(lines[i] as Line, {
              isFlat: isOnly,
              isHere: i === chosen,
              printTime: isPhone ? null : times.print,
              isFound: found?.(lines[i]?.call.name ?? "") ?? false,
              most,
              onFold: (call) => void fold(call),
            })
          }
          selected={at}
          onSelect={(i) => setSelected(lines[i] ?? null)}
          onOpen={(i) => go({ time: String(lines[i]?.call.time ?? time) })}
          onRange={onRange}
          onKey={onKey}
          takesFocus
          shift={shown.shift}
          reveal={selected ? at : chosen}
          revealFor={selected ? `selected ${selected.call.time}` : `${time} ${shown.load}`}
          revealAt={selected ? "nearest" : time > 0 ? "middle" : "top"}
        />
        {props.isReady && (isWide || selected || state.time) && name && (
          <Distribution path={props.path} name={name} />
        )}
      </div>
    </section>
  );
}

// The times of the lines on the screen.
function timesOf(lines: Line[], [first, last]: [number, number]): Range | null {
  const begin = lines[first]?.call.time;
  const end = lines[Math.min(last, lines.length) - 1]?.call.time;
  return begin === undefined || end === undefined ? null : { begin: Math.max(0, begin), end };
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
        Task{" "}
        <select value={props.task} onChange={(event) => go({ task: event.currentTarget.value })}>
          {props.tasks.map((task) => (
            <option key={task.index} value={task.index}>
              {task.name} {task.tid}
            </option>
          ))}
        </select>
      </label>
      <label>
        At{" "}
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
        <button class="plain" aria-label="close the calls" onClick={props.onClose}>
          <Icon name="close" />
        </button>
      )}
    </div>
  );
}

// A call with calls inside that are listed.
const canFold = ({ call, isLeaf }: Line): boolean =>
  call.kind === "enter" && !isLeaf && (call.duration ?? 0) > 0 && call.isOpen !== true;

interface RowOptions {
  isFlat: boolean; // single calls that match
  isHere: boolean;
  printTime: ((ns: number) => string) | null; // phones have no room for it
  isFound: boolean; // by Find
  most: number; // the longest duration
  onFold: (call: Call) => void;
}

function rowOf(line: Line, options: RowOptions): TableRow {
  const { call, isLeaf, isFolded } = line;
  const isOneLine = isLeaf || isFolded || options.isFlat;
  const indent = line.depth * INDENT_PX;
  const duration = line.wait === undefined ? printDuration(call) : formatExact(line.wait);
  const share = barShare(line.wait ?? call.duration ?? call.atLeast, options.most);
  return {
    class: `${call.kind === "exit" ? "exit" : ""}${options.isHere ? " here" : ""}${options.isFound ? " hit" : ""}`,
    cells: [
      ...(options.printTime ? [options.printTime(call.time)] : []),
      <span class="duration">
        <span class={line.wait === undefined ? "bar-room" : "bar-room wait"}>
          {share > 0 && <i style={{ width: `${share * 100}%` }} />}
        </span>
        <span>{duration.number}</span>
        <small class="unit">{duration.unit}</small>
      </span>,
      <span
        class="indented"
        style={{ paddingLeft: `${indent}px`, backgroundSize: `${indent}px 100%` }}
      >
        {canFold(line) && !options.isFlat ? (
          <button
            class="twist"
            tabIndex={-1}
            aria-label={isFolded ? "show what is inside" : "hide what is inside"}
            onClick={(event) => {
              event.stopPropagation();
              options.onFold(call);
            }}
          >
            <Icon name={isFolded ? "right" : "down"} />
          </button>
        ) : (
          <span class="twist" />
        )}
        {call.kind === "exit" ? "} " : ""}
        {line.wait === undefined ? (
          <>
            <span class="kind-function">
              <Name name={call.name ?? call.kind} />
            </span>
            {call.kind === "event" ? ` ${call.values}` : call.values}
          </>
        ) : (
          <span class="faint" title="from linux:sched-out to linux:sched-in">
            {waitText(call)}
          </span>
        )}
        {isFolded ? " { … }" : ""}
        {call.kind === "enter" ? (isOneLine ? (call.result ?? " …") : " {") : ""}
      </span>,
    ],
  };
}
