// Which services call which: a graph, callers on the left, and the calls as a table.

import { useMemo, useState } from "preact/hooks";
import { formatNs } from "../shared/format";
import { useIsNarrow, useWidth } from "../shared/narrow";
import { useLive } from "./live";
import { inUnit, isFailing, perSecond, share } from "./operations_model";
import { hasCondition, quote, toggleCondition } from "./query_text";
import {
  layoutServices,
  leftOf,
  type Point,
  type ServiceGraph,
  type ServiceLine,
  type ServiceNode,
} from "./services_model";
import { shorten } from "../shared/names";
import { go, type State } from "../shared/state";
import type { ServiceEdge, Services } from "../../generated/answers";
import { useAnswer } from "../shared/use_answer";
import { durationUnit } from "../shared/units";
import { VirtualTable, type TableColumn } from "../shared/virtual_table";

interface Props {
  path: string;
  state: State;
}

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
const WIDTHS = [
  "minmax(6em, 1fr)",
  "minmax(6em, 1fr)",
  "5em",
  "6em",
  "5em",
  "7.5em",
  "7.5em",
  "7.5em",
];
const WIDE = ["rate", "p90"]; // left out of narrow windows

export function ServicesView(props: Props) {
  const query = props.state.q ?? "";
  const [selected, setSelected] = useState(-1);
  const isNarrow = useIsNarrow();
  const isShown = (_: unknown, i: number) => !isNarrow || !WIDE.includes(COLUMNS[i]?.name ?? "");
  const { value, error } = useAnswer<Services>(
    `${props.path}/services`,
    { q: query },
    undefined,
    useLive(props.state),
  );
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  if (value.edges.length === 0)
    return <p class="status">no matching span has the name of a service</p>;
  const unit = durationUnit(Math.max(...value.edges.map((edge) => edge.p99)));
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
      <ServiceGraphView services={value} ns={ns} onOpen={show} />
      <VirtualTable
        class="service-calls"
        takesFocus
        label="calls between services; Enter shows the operations of the callee"
        columns={COLUMNS.filter(isShown).map((column) => inUnit(column, unit.unit))}
        widths={WIDTHS.filter(isShown).join(" ")}
        count={value.edges.length}
        row={(i) => {
          const row = edgeRow(value.edges[i] as ServiceEdge, ns, unit.print);
          return { ...row, cells: row.cells.filter(isShown) };
        }}
        selected={selected}
        onSelect={setSelected}
        onOpen={(i) => value.edges[i] && show(value.edges[i].callee)}
      />
    </>
  );
}

function edgeRow(edge: ServiceEdge, ns: number, print: (ns: number) => string) {
  return {
    cells: [
      edge.caller ?? <span class="faint">not in the store</span>,
      edge.callee,
      edge.count.toLocaleString("en-US"),
      perSecond(edge.count, ns),
      <span class="failed">{share(edge.errors, edge.count)}</span>,
      print(edge.p50),
      print(edge.p90),
      print(edge.p99),
    ],
  };
}

function ServiceGraphView(props: {
  services: Services;
  ns: number;
  onOpen: (service: string) => void;
}) {
  const { edges, services } = props.services;
  const { element, width } = useWidth(true);
  const graph = useMemo(
    () => layoutServices(edges, services, width || undefined),
    [edges, services, width],
  );
  const most = Math.max(...edges.map((edge) => edge.count));
  return (
    <div class="service-graph" ref={element}>
      <svg
        viewBox={`0 0 ${graph.width} ${graph.height}`}
        width={graph.width}
        height={graph.height}
        role="group"
        aria-label="graph of services"
      >
        {graph.lines.map((line) => (
          <Edge
            key={`${line.edge.caller}\n${line.edge.callee}`}
            line={line}
            most={most}
            ns={props.ns}
          />
        ))}
        {graph.nodes.map((node) => (
          <Box key={node.name} node={node} graph={graph} ns={props.ns} onOpen={props.onOpen} />
        ))}
      </svg>
    </div>
  );
}

// Straight along bends, curved between columns.
function curve(points: Point[]): string {
  return points
    .map((point, i) => {
      const before = points[i - 1];
      if (!before) return `M${point.x} ${point.y}`;
      if (i % 2 === 0) return `L${point.x} ${point.y}`;
      const bend = point.x > before.x ? (point.x - before.x) / 2 : 40;
      return `C${before.x + bend} ${before.y} ${point.x - bend} ${point.y} ${point.x} ${point.y}`;
    })
    .join("");
}

function Edge(props: { line: ServiceLine; most: number; ns: number }) {
  const { edge, points } = props.line;
  const rate = perSecond(edge.count, props.ns);
  return (
    <path
      class={isFailing(edge.errors, edge.count) ? "edge failed" : "edge"}
      d={curve(points)}
      stroke-width={1 + 5 * Math.sqrt(edge.count / props.most)}
    >
      <title>
        {`${edge.caller} → ${edge.callee}: ${edge.count.toLocaleString("en-US")} calls${rate ? `, ${rate} per second` : ""}, ${share(edge.errors, edge.count) || "no"} errors, p50 ${formatNs(edge.p50)}, p99 ${formatNs(edge.p99)}`}
      </title>
    </path>
  );
}

const LETTER_PX = 7.3; // of a bold name, about
const LINE_PX = 16;

function Box(props: {
  node: ServiceNode;
  graph: ServiceGraph;
  ns: number;
  onOpen: (service: string) => void;
}) {
  const { node } = props;
  const { box, isNarrow } = props.graph;
  const { sum } = node;
  const rate = sum && perSecond(sum.count, props.ns);
  const errors = sum && share(sum.errors, sum.count);
  const values = [
    [rate && `${rate} per second`, errors && `${errors} errors`],
    sum ? [`p50 ${formatNs(sum.p50)}`, `p99 ${formatNs(sum.p99)}`] : [],
  ].map((line) => line.filter((part) => part));
  const lines = isNarrow ? values.flat() : values.map((line) => line.join(", "));
  return (
    <g
      class={sum && isFailing(sum.errors, sum.count) ? "service failed" : "service"}
      transform={`translate(${leftOf(node.layer, box)} ${node.top})`}
      tabIndex={0}
      role="button"
      aria-label={`operations of ${node.name}`}
      onClick={() => props.onOpen(node.name)}
      onKeyDown={(event) => event.key === "Enter" && props.onOpen(node.name)}
    >
      <title>{node.name}</title>
      <rect width={box.width} height={box.height} rx={6} />
      <text x={10} y={20} class="name">
        {shorten(node.name, Math.floor((box.width - 16) / LETTER_PX))}
      </text>
      {lines.map((line, i) => (
        <text key={i} x={10} y={36 + i * LINE_PX}>
          {line}
        </text>
      ))}
    </g>
  );
}
