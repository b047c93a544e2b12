// The calls of a trace as a tree; deep calls are loaded when they are opened.

import { useCallback, useEffect, useLayoutEffect, useState } from "preact/hooks";
import { get } from "../shared/api";
import { useIsNarrow } from "../shared/narrow";
import { go, type State } from "../shared/state";
import { useAnswer } from "../shared/use_answer";
import type { Trace, TraceNode } from "../../generated/answers";
import { Details, printValue } from "./trace_details";
import {
  addCalls,
  callInState,
  growCalls,
  visibleCalls,
  type CallLine,
  type CallNode,
} from "./trace_calls_model";
import { durationUnit } from "../shared/units";
import { VirtualTable, type TableColumn, type TableRow } from "../shared/table/virtual_table";

const columns = (unit: string, isShown: (_: unknown, i: number) => boolean): TableColumn[] =>
  [
    { name: "start", title: `start (${unit})`, isNumber: true },
    { name: "duration", title: `duration (${unit})`, isNumber: true },
    { name: "self", title: `self (${unit})`, isNumber: true },
    { name: "method", title: "method" },
  ].filter(isShown);
const WIDTHS = ["8em", "9em", "8em", "minmax(16em, 1fr)"];
const NARROW_WIDTHS = ["", "8.5em", "", "minmax(16em, 1fr)"];

interface Props {
  path: string;
  traceKey: string;
  trace: Trace; // its first part
  state: State;
  duration: number | null; // of all of the trace, which bars are shares of; null: unknown
  matches: ((name: string) => boolean) | null;
  onKey: (key: string) => boolean;
}

function find(root: CallNode, number: number): CallNode | null {
  let node: CallNode | null = root;
  while (node && node.call.node !== number) {
    const children: CallNode[] = node.children ?? [];
    node =
      children.find(
        (child) => number >= child.call.node && number <= child.call.node + child.call.below,
      ) ?? null;
  }
  return node;
}

function useCalls(props: Props) {
  const [tree, setTree] = useState<{ root: CallNode | null; version: number }>({
    root: null,
    version: 0,
  });
  const { path, traceKey } = props;
  useLayoutEffect(() => setTree({ root: growCalls(props.trace, null), version: 0 }), [props.trace]);
  const refresh = useCallback(
    () => setTree((before) => ({ ...before, version: before.version + 1 })),
    [],
  );
  const load = useCallback(
    async (node: CallNode) => {
      const from = node.next;
      addCalls(
        node,
        await get<Trace>(`${path}/trace`, {
          key: traceKey,
          node: node.call.node,
          ...(from === null ? {} : { from }),
        }),
      );
      refresh();
    },
    [path, traceKey],
  );
  const open = useCallback(
    async (node: CallNode) => {
      if (node.children === null) return load(node);
      node.isOpen = true;
      refresh();
    },
    [load],
  );
  return { ...tree, refresh, load, open };
}

// Open the calls around a call.
async function reveal(
  root: CallNode,
  number: number,
  open: (node: CallNode) => Promise<void>,
  load: (node: CallNode) => Promise<void>,
): Promise<void> {
  let node: CallNode | null = root;
  while (node && node.call.node !== number) {
    if (!node.isOpen) await open(node);
    while (node.next !== null && node.next <= number) await load(node);
    const children: CallNode[] = node.children ?? [];
    node =
      children.find(
        (child) => number >= child.call.node && number <= child.call.node + child.call.below,
      ) ?? null;
  }
}

const select = (node: CallNode) => go({ call: callInState(node.call.node) }, true);

// The calls, and the selected one.
export function CallTree(props: Props) {
  const { root, refresh, load, open } = useCalls(props);
  const selected = Number(props.state.call ?? 0);
  const widths = useIsNarrow() ? NARROW_WIDTHS : WIDTHS;
  const isShown = (_: unknown, i: number) => widths[i] !== "";
  useEffect(() => {
    if (root) void reveal(root, selected, open, load).catch(() => undefined);
  }, [root, selected]);
  if (!root) return null;
  const lines = visibleCalls(root);
  const unit = durationUnit(props.trace.nodes[0]?.duration ?? 0);
  const index = lines.findIndex((line) => "node" in line && line.node.call.node === selected);
  const choose = (line: CallLine | undefined) => {
    if (line && "node" in line) select(line.node);
    else if (line) void load(line.more);
  };
  const close = (node: CallNode) => {
    node.isOpen = false;
    refresh();
  };
  const toggle = (line: CallLine | undefined) => {
    if (!line) return;
    if ("more" in line) void load(line.more);
    else if (line.node.isOpen) close(line.node);
    else if (line.node.call.below > 0) void open(line.node);
  };
  const onKey = (key: string): boolean => {
    const line = lines[index];
    if (!line || "more" in line) return props.onKey(key);
    if (key === "ArrowRight" && line.node.call.below > 0) {
      if (line.node.isOpen) choose(lines[index + 1]);
      else void open(line.node);
    } else if (key === "ArrowLeft" && line.node.isOpen) close(line.node);
    else if (key === "ArrowLeft" && line.node.parent) select(line.node.parent);
    else return props.onKey(key);
    return true;
  };
  return (
    <>
      <VirtualTable
        class="trace-calls"
        takesFocus
        label="calls of the trace"
        isTree
        columns={columns(unit.unit, isShown)}
        widths={widths.join(" ")}
        count={lines.length}
        row={(i) => {
          const row = lineOf(lines[i] as CallLine, props, unit.print, toggle);
          return { ...row, cells: row.cells.filter(isShown) };
        }}
        selected={index}
        reveal={index}
        onSelect={(i) => choose(lines[i])}
        onOpen={(i) => toggle(lines[i])}
        onKey={onKey}
      />
      <Selected {...props} known={find(root, selected)?.call ?? null} number={selected} />
    </>
  );
}

// The selected call may be one that the tree has not loaded.
function Selected(props: Props & { known: TraceNode | null; number: number }) {
  const { known, number } = props;
  const asked = useAnswer<Trace>(known ? null : `${props.path}/trace`, {
    key: props.traceKey,
    node: number,
    limit: 1,
  });
  const call = known ?? asked.value?.nodes[0];
  if (!call) return <aside class="panel" />;
  return <Details path={props.path} state={props.state} trace={props.trace.trace} call={call} />;
}

function lineOf(
  line: CallLine,
  props: Props,
  print: (ns: number) => string,
  toggle: (line: CallLine) => void,
): TableRow {
  if ("more" in line) {
    const indent = { paddingLeft: `${(line.more.call.depth + 1) * 16 + 20}px` };
    return {
      level: line.more.call.depth + 2,
      cells: [
        "",
        "",
        "",
        <span class="link" style={indent}>
          more calls…
        </span>,
      ],
    };
  }
  const { call, isOpen } = line.node;
  const total = Math.max(props.duration ?? props.trace.nodes[0]?.duration ?? 1, 1);
  return {
    class: `${call.isError ? "failed" : ""}${props.matches?.(call.method) ? " hit" : ""}`,
    level: call.depth + 1,
    ...(call.below > 0 ? { isOpen } : {}),
    cells: [
      print(call.start),
      <>
        <i class="bar" style={{ width: `${Math.min(1, call.duration / total) * 100}%` }} />
        <span>{print(call.duration)}</span>
      </>,
      print(call.self),
      <span class="call-name" style={{ paddingLeft: `${call.depth * 16}px` }}>
        <button
          class="twist"
          tabIndex={-1}
          disabled={call.below === 0}
          aria-label={isOpen ? "close" : "open"}
          onClick={(event) => {
            event.stopPropagation();
            toggle(line);
          }}
        >
          {call.below === 0 ? "" : isOpen ? "▾" : "▸"}
        </button>
        <span class="kind-function">{call.method}</span>
        {call.isOpen && <em> still running</em>}
        {call.exceptions?.[0] && (
          <small class="failed">
            {" "}
            {call.exceptions[0].class}: {call.exceptions[0].message}
          </small>
        )}
        {call.attributes && (
          <small>
            {" "}
            {call.attributes.map(([key, value]) => `${key}=${printValue(value)}`).join("  ")}
          </small>
        )}
      </span>,
    ],
  };
}
