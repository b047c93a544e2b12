// Which services call which: a graph, callers on the left, and the calls as a table.

import { useMemo, useState } from "preact/hooks";
import { formatNs } from "../shared/format";
import { useIsNarrow } from "../shared/narrow";
import { useListKeys } from "./list_keys";
import { useLive } from "./live";
import { inUnit, perSecond, share } from "./operations_model";
import { hasCondition, quote, toggleCondition } from "./query_text";
import {
  layoutServices,
  leftOf,
  BOX,
  type Point,
  type ServiceLine,
  type ServiceNode,
} from "./services_model";
import { go, type State } from "../shared/state";
import type { ServiceEdge, Services } from "./store_types";
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
  useListKeys(".service-calls");
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
    class: edge.errors > 0 ? "failed" : "",
    cells: [
      edge.caller ?? <span class="faint">not in the store</span>,
      edge.callee,
      edge.count.toLocaleString("en-US"),
      perSecond(edge.count, ns),
      share(edge.errors, edge.count),
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
  const graph = useMemo(() => layoutServices(edges, services), [edges, services]);
  const most = Math.max(...edges.map((edge) => edge.count));
  return (
    <div class="service-graph">
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
          <Box key={node.name} node={node} ns={props.ns} onOpen={props.onOpen} />
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
      const bend = Math.max(40, Math.abs(point.x - before.x) / 2);
      return `C${before.x + bend} ${before.y} ${point.x - bend} ${point.y} ${point.x} ${point.y}`;
    })
    .join("");
}

function Edge(props: { line: ServiceLine; most: number; ns: number }) {
  const { edge, points } = props.line;
  const rate = perSecond(edge.count, props.ns);
  return (
    <path
      class={edge.errors > 0 ? "edge failed" : "edge"}
      d={curve(points)}
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
  const { sum } = node;
  const rate = sum && perSecond(sum.count, props.ns);
  const errors = sum && share(sum.errors, sum.count);
  const name = node.name.length > 24 ? `${node.name.slice(0, 23)}…` : node.name;
  return (
    <g
      class={errors ? "service failed" : "service"}
      transform={`translate(${leftOf(node.layer)} ${node.top})`}
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
      {sum && (
        <text x={10} y={52}>
          p50 {formatNs(sum.p50)}, p99 {formatNs(sum.p99)}
        </text>
      )}
    </g>
  );
}
