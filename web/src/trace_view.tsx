// One trace: its calls as a tree and over time, what each method took, its attributes and
// exceptions, and the other spans of the same request.

import { useState } from "preact/hooks";
import { FlameView } from "./flame_view";
import { formatNs } from "./format";
import { go, type State } from "./state";
import { printTime } from "./store_view";
import type { Trace, TraceList, TraceNode, Value } from "./store_types";
import { methodStatistics, traceFlame, visibleNodes } from "./trace_model";
import { useAnswer } from "./use_answer";

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
  const { value, error } = useAnswer<Trace>(`${props.path}/trace`, { key: state["key"] });
  const tab = state["tab"] ?? "calls";
  if (!value)
    return (
      <main class="status" role="status">
        {error ?? "loading…"}
      </main>
    );
  const root = value.nodes[0];
  return (
    <main>
      <div class="toolbar">
        <button onClick={() => go({ key: "", tab: "", zoom: "" })}>‹ all traces</button>
        <strong>{root?.method}</strong>
        <span>{root ? formatNs(root.duration) : ""}</span>
        <span class="status">
          {printTime(value.time)} · {value.type} {value.service ?? ""} · {value.nodeCount.toLocaleString("en-US")} records · {value.trace}
        </span>
      </div>
      <nav class="toolbar" role="tablist" aria-label="views of the trace">
        {TABS.map(([name, title]) => (
          <button key={name} role="tab" aria-selected={tab === name} onClick={() => go({ tab: name })}>
            {title}
          </button>
        ))}
      </nav>
      <div class="columns">
        <div class="scroll" tabIndex={0}>
          {tab === "calls" && <CallTree trace={value} />}
          {tab === "chart" && <Chart trace={value} state={state} />}
          {tab === "methods" && <Methods trace={value} />}
          {tab === "spans" && <Spans path={props.path} trace={value} />}
        </div>
        {root && <Details node={root} />}
      </div>
    </main>
  );
}

function CallTree(props: { trace: Trace }) {
  const { nodes } = props.trace;
  const total = nodes[0]?.duration ?? 1;
  const [closed, setClosed] = useState<Set<number>>(new Set());
  const toggle = (i: number) => {
    const next = new Set(closed);
    if (!next.delete(i)) next.add(i);
    setClosed(next);
  };
  return (
    <table class="list" role="treegrid">
      <caption class="hidden">calls of the trace</caption>
      <thead>
        <tr>
          <th scope="col">start</th>
          <th scope="col">took</th>
          <th scope="col">method</th>
        </tr>
      </thead>
      <tbody>
        {visibleNodes(nodes, closed).map((i) => {
          const node = nodes[i] as TraceNode;
          const hasChildren = (nodes[i + 1]?.depth ?? 0) > node.depth;
          return (
            <tr key={i} class={node.isError ? "failed" : ""} aria-level={node.depth + 1}>
              <td>{formatNs(node.start)}</td>
              <td>
                <i class="bar" style={{ width: `${(node.duration / Math.max(total, 1)) * 100}%` }} />
                <span>{formatNs(node.duration)}</span>
              </td>
              <td style={{ paddingLeft: `${node.depth * 16}px` }}>
                <button class="twist" disabled={!hasChildren} aria-label={closed.has(i) ? "open" : "close"} onClick={() => toggle(i)}>
                  {hasChildren ? (closed.has(i) ? "▸" : "▾") : ""}
                </button>
                <span class="kind-function">{node.method}</span>
                {node.isOpen && <em> still running</em>}
                {node.depth > 0 && node.attributes && <small> {node.attributes.map(([key, value]) => `${key}=${printValue(value)}`).join(" ")}</small>}
                {node.exceptions?.map((exception, k) => (
                  <small key={k} class="failed">
                    {" "}
                    {exception.class}: {exception.message}
                  </small>
                ))}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Chart(props: { trace: Trace; state: State }) {
  return (
    <FlameView
      flame={traceFlame(props.trace.nodes)}
      search={props.state["find"] ?? ""}
      isInverted={false}
      byModule={false}
      zoom={props.state["zoom"] ?? ""}
      onZoom={(id) => go({ zoom: id })}
    />
  );
}

function Methods(props: { trace: Trace }) {
  return (
    <table class="list">
      <caption class="hidden">what each method took</caption>
      <thead>
        <tr>
          <th scope="col">self</th>
          <th scope="col">total</th>
          <th scope="col">calls</th>
          <th scope="col">longest</th>
          <th scope="col">errors</th>
          <th scope="col">method</th>
        </tr>
      </thead>
      <tbody>
        {methodStatistics(props.trace.nodes).map((row) => (
          <tr key={row.method} class={row.errors > 0 ? "failed" : ""}>
            <td>{formatNs(row.self)}</td>
            <td>{formatNs(row.total)}</td>
            <td>{row.calls.toLocaleString("en-US")}</td>
            <td>{formatNs(row.longest)}</td>
            <td>{row.errors || ""}</td>
            <td>{row.method}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// Every span of the request on one axis of time.
function Spans(props: { path: string; trace: Trace }) {
  const { value, error } = useAnswer<TraceList>(`${props.path}/traces`, { q: `id = ${props.trace.trace}`, sort: "time", reverse: 1, limit: 1000 });
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  const begin = value.traces.reduce((least, row) => (BigInt(row.time) < least ? BigInt(row.time) : least), BigInt(value.traces[0]?.time ?? 0));
  const offset = (time: string) => Number(BigInt(time) - begin);
  const end = Math.max(1, ...value.traces.map((row) => offset(row.time) + row.duration));
  return (
    <table class="list spans">
      <caption class="hidden">spans of the request</caption>
      <thead>
        <tr>
          <th scope="col">start</th>
          <th scope="col">took</th>
          <th scope="col">span</th>
          <th scope="col" class="axis" />
        </tr>
      </thead>
      <tbody>
        {value.traces.map((row) => (
          <tr key={row.key} class={row.errors > 0 ? "failed" : ""}>
            <td>{formatNs(offset(row.time))}</td>
            <td>{formatNs(row.duration)}</td>
            <td style={{ paddingLeft: row.parent ? "24px" : "8px" }}>
              <button class="link" onClick={() => go({ key: row.key, tab: "calls", zoom: "" })}>
                {row.service ?? row.type} {row.method}
              </button>
            </td>
            <td class="axis">
              <i class="span-bar" style={{ marginLeft: `${(offset(row.time) / end) * 100}%`, width: `${Math.max(0.3, (row.duration / end) * 100)}%` }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function printValue(value: Value): string {
  return Array.isArray(value) ? `[${value.map(printValue).join(", ")}]` : (value ?? "null");
}

function Details(props: { node: TraceNode }) {
  const { node } = props;
  return (
    <aside class="panel" aria-label="attributes and exceptions">
      <h2>Attributes</h2>
      <table>
        <tbody>
          {(node.attributes ?? []).map(([key, value], i) => (
            <tr key={i}>
              <th scope="row">{key}</th>
              <td class="wrap">{printValue(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {node.exceptions?.map((exception, i) => (
        <section key={i}>
          <h2 class="failed">
            {i > 0 && "caused by "}
            {exception.class}
          </h2>
          <p>{exception.message}</p>
          <pre class="source">{exception.stack.join("\n")}</pre>
        </section>
      ))}
    </aside>
  );
}
