// Which services call which: a graph, callers on the left, and the calls as a table.

import { useState } from "preact/hooks";
import { formatNs } from "../shared/format";
import { useIsNarrow } from "../shared/narrow";
import { useListKeys } from "./list_keys";
import { perSecond, share } from "./operations_model";
import { hasCondition, quote, toggleCondition } from "./query_text";
import { layoutServices, type ServiceNode } from "./services_model";
import { go, type State } from "../shared/state";
import type { ServiceEdge, Services } from "./store_types";
import { useAnswer } from "../shared/use_answer";
import { VirtualTable, type TableColumn } from "../shared/virtual_table";

interface Props {
  path: string;
  state: State;
}

const BOX = { width: 220, height: 62, gapX: 90, gapY: 14, margin: 12 };
const COLUMNS: TableColumn[] = [
  { name: "caller", title: "caller" },
  { name: "callee", title: "callee" },
  { name: "count", title: "calls", isNumber: true },
  { name: "rate", title: "per second", isNumber: true },
  { name: "errors", title: "errors", isNumber: true },
  { name: "p50", title: "p50", isNumber: true },
  { name: "p90", title: "p90", isNumber: true },
  { name: "p99", title: "p99", isNumber: true },
];
const WIDTHS = ["minmax(6em, 1fr)", "minmax(6em, 1fr)", "5em", "6em", "5em", "6em", "6em", "6em"];
const WIDE = ["rate", "p90"]; // left out of narrow windows

export function ServicesView(props: Props) {
  const query = props.state.q ?? "";
  const [selected, setSelected] = useState(-1);
  const isNarrow = useIsNarrow();
  const isShown = (_: unknown, i: number) => !isNarrow || !WIDE.includes(COLUMNS[i]?.name ?? "");
  const { value, error } = useAnswer<Services>(`${props.path}/services`, { q: query });
  useListKeys(".service-calls");
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  if (value.edges.length === 0)
    return <p class="status">no matching span has the name of a service</p>;
  const ns = Number(BigInt(value.last) - BigInt(value.first));
  const show = (service: string) => {
    const condition = `service = ${quote(service)}`;
    go({
      v: "operations",
      q: hasCondition(query, condition) ? query : toggleCondition(query, condition),
    });
  };
  return (
    <>
      <ServiceGraphView edges={value.edges} ns={ns} onOpen={show} />
      <VirtualTable
        class="service-calls"
        label="calls between services; Enter shows the operations of the callee"
        columns={COLUMNS.filter(isShown)}
        widths={WIDTHS.filter(isShown).join(" ")}
        count={value.edges.length}
        row={(i) => {
          const row = edgeRow(value.edges[i] as ServiceEdge, ns);
          return { ...row, cells: row.cells.filter(isShown) };
        }}
        selected={selected}
        onSelect={setSelected}
        onOpen={(i) => value.edges[i] && show(value.edges[i].callee)}
      />
    </>
  );
}

function edgeRow(edge: ServiceEdge, ns: number) {
  return {
    class: edge.errors > 0 ? "failed" : "",
    cells: [
      edge.caller ?? <span class="faint">not in the store</span>,
      edge.callee,
      edge.count.toLocaleString("en-US"),
      perSecond(edge.count, ns),
      share(edge.errors, edge.count),
      formatNs(edge.p50),
      formatNs(edge.p90),
      formatNs(edge.p99),
    ],
  };
}

const leftOf = (node: ServiceNode) => BOX.margin + node.layer * (BOX.width + BOX.gapX);
const topOf = (node: ServiceNode) => BOX.margin + node.row * (BOX.height + BOX.gapY);

function ServiceGraphView(props: {
  edges: ServiceEdge[];
  ns: number;
  onOpen: (service: string) => void;
}) {
  const graph = layoutServices(props.edges);
  const nodes = new Map(graph.nodes.map((node) => [node.name, node]));
  const most = Math.max(...props.edges.map((edge) => edge.count));
  const width = 2 * BOX.margin + graph.layers * (BOX.width + BOX.gapX) - BOX.gapX;
  const height = 2 * BOX.margin + graph.rows * (BOX.height + BOX.gapY) - BOX.gapY;
  return (
    <div class="service-graph">
      <svg width={width} height={height} role="group" aria-label="graph of services">
        {props.edges.map((edge) => {
          const from = edge.caller === null ? undefined : nodes.get(edge.caller);
          const to = nodes.get(edge.callee);
          return from && to ? (
            <Edge
              key={`${edge.caller}\n${edge.callee}`}
              {...{ edge, from, to, most, ns: props.ns }}
            />
          ) : null;
        })}
        {graph.nodes.map((node) => (
          <Box key={node.name} node={node} ns={props.ns} onOpen={props.onOpen} />
        ))}
      </svg>
    </div>
  );
}

function Edge(props: {
  edge: ServiceEdge;
  from: ServiceNode;
  to: ServiceNode;
  most: number;
  ns: number;
}) {
  const { edge, from, to } = props;
  const x1 = leftOf(from) + BOX.width;
  const y1 = topOf(from) + BOX.height / 2;
  const x2 = leftOf(to);
  const y2 = topOf(to) + BOX.height / 2;
  const bend = Math.max(40, Math.abs(x2 - x1) / 2);
  const rate = perSecond(edge.count, props.ns);
  return (
    <path
      class={edge.errors > 0 ? "edge failed" : "edge"}
      d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}
      stroke-width={1 + 5 * Math.sqrt(edge.count / props.most)}
    >
      <title>
        {`${edge.caller} → ${edge.callee}: ${edge.count.toLocaleString("en-US")} calls${rate ? `, ${rate} per second` : ""}, ${share(edge.errors, edge.count) || "no"} errors, p50 ${formatNs(edge.p50)}, p99 ${formatNs(edge.p99)}`}
      </title>
    </path>
  );
}

function Box(props: { node: ServiceNode; ns: number; onOpen: (service: string) => void }) {
  const { node } = props;
  const rate = perSecond(node.count, props.ns);
  const errors = share(node.errors, node.count);
  const name = node.name.length > 24 ? `${node.name.slice(0, 23)}…` : node.name;
  return (
    <g
      class={node.errors > 0 ? "service failed" : "service"}
      transform={`translate(${leftOf(node)} ${topOf(node)})`}
      tabIndex={0}
      role="button"
      aria-label={`operations of ${node.name}`}
      onClick={() => props.onOpen(node.name)}
      onKeyDown={(event) => event.key === "Enter" && props.onOpen(node.name)}
    >
      <title>{node.name}</title>
      <rect width={BOX.width} height={BOX.height} rx={6} />
      <text x={10} y={19} class="name">
        {name}
      </text>
      <text x={10} y={36}>
        {[rate && `${rate} per second`, errors && `${errors} errors`]
          .filter((part) => part)
          .join(", ")}
      </text>
      {node.count > 0 && (
        <text x={10} y={52}>
          p50 {formatNs(node.p50)}, p99 {formatNs(node.p99)}
        </text>
      )}
    </g>
  );
}
