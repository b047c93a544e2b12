// Which services call which: a graph with the rate of each call on its line, the time inside of each service in
// its box, and the calls as a table.

import { useMemo, useState } from "preact/hooks";
import { formatNs } from "../shared/format";
import { shorten } from "../shared/names/names";
import { useIsNarrow, useIsPhone, useWidth } from "../shared/narrow";
import { go, type State } from "../shared/state";
import { uiScale } from "../shared/look/ui_scale";
import { useAnswer } from "../shared/use_answer";
import { durationUnit } from "../shared/units";
import { VirtualTable, type TableColumn } from "../shared/table/virtual_table";
import type { ServiceEdge, Services } from "../../generated/answers";
import { Latencies } from "./latencies";
import { useLive } from "./live";
import { inUnit, isFailing, perSecond, share } from "./operations_model";
import { including } from "./query_language";
import { quote } from "./query_text";
import { Service, useServiceColor } from "./service_colors";
import {
  isWideBox,
  layoutServices,
  type Point,
  type ServiceGraph,
  type ServiceLine,
  type ServiceNode,
} from "./services_model";
import { shareText } from "./trace_model";

interface Props {
  path: string;
  state: State;
}

// Those that windows up to 900 pixels have no room for, and phones.
const COLUMNS: (TableColumn & { width: string; isWide?: boolean; isLong?: boolean })[] = [
  { name: "caller", title: "caller", width: "minmax(10ch, 1fr)" },
  { name: "callee", title: "callee", width: "minmax(10ch, 1fr)" },
  { name: "count", title: "calls", isNumber: true, isLong: true, width: "9ch" },
  { name: "rate", title: "per second", isNumber: true, isWide: true, width: "12ch" },
  { name: "errors", title: "errors", isNumber: true, width: "7ch" },
  { name: "p50", title: "p50", isNumber: true, isLong: true, width: "10ch" },
  { name: "p90", title: "p90", isNumber: true, isWide: true, width: "10ch" },
  { name: "p99", title: "p99", isNumber: true, width: "10ch" },
];

export function ServicesView(props: Props) {
  const query = props.state.q ?? "";
  const [selected, setSelected] = useState(-1);
  const isNarrow = useIsNarrow();
  const turn = useLive(props.state);
  const isPhone = useIsPhone();
  const isShown = (_: unknown, i: number) =>
    !(isNarrow && COLUMNS[i]?.isWide) && !(isPhone && COLUMNS[i]?.isLong);
  const { value, error } = useAnswer<Services>(
    `${props.path}/services`,
    { q: query },
    undefined,
    turn,
  );
  // It takes longer: the graph is there before.
  const withSelf = useAnswer<Services>(
    value ? `${props.path}/services` : null,
    { q: query, self: 1 },
    undefined,
    turn,
  );
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  if (value.edges.length === 0)
    return <p class="status">no matching span has the name of a service</p>;
  const unit = durationUnit(Math.max(...value.edges.map((edge) => edge.p99)));
  const ns = Number(BigInt(value.last) - BigInt(value.first));
  const queryOf = (service: string) => including(query, `service = ${quote(service)}`);
  const show = (service: string) => go({ v: "operations", q: queryOf(service) });
  const chosen = value.edges[selected]?.callee ?? value.edges[0]?.callee;
  return (
    <>
      <ServiceGraphView services={withSelf.value ?? value} ns={ns} onOpen={show} />
      {chosen !== undefined && !isNarrow && (
        <Latencies
          path={props.path}
          query={queryOf(chosen)}
          title={<Service name={chosen} note="all its spans" />}
          name={chosen}
          turn={turn}
        >
          <button onClick={() => show(chosen)}>Its operations</button>
        </Latencies>
      )}
      <VirtualTable
        class="service-calls"
        takesFocus
        label="calls between services; Enter shows the operations of the callee"
        columns={COLUMNS.filter(isShown).map((column) => inUnit(column, unit.unit))}
        widths={COLUMNS.filter(isShown)
          .map(({ width }) => width)
          .join(" ")}
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
      edge.caller === null ? (
        <span class="faint">not in the store</span>
      ) : (
        <Service name={edge.caller} />
      ),
      <Service name={edge.callee} />,
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
  const scale = uiScale();
  const graph = useMemo(
    () => layoutServices(edges, services, (width || 1200) / scale),
    [edges, services, width, scale],
  );
  const most = Math.max(...edges.map((edge) => edge.count));
  const all = services.reduce((sum, one) => sum + (one.self ?? 0), 0);
  return (
    <div class="service-graph" ref={element} tabIndex={0} role="region" aria-label="services">
      <svg
        viewBox={`0 0 ${graph.width} ${graph.height}`}
        width={graph.width * scale}
        height={graph.height * scale}
        style={{ "--scale": scale }}
        role="group"
        aria-label="graph of services"
      >
        <defs>
          {["", "failed"].map((kind) => (
            <marker
              key={kind}
              id={`arrow${kind}`}
              class={`arrow ${kind}`}
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="8"
              markerHeight="8"
              markerUnits="userSpaceOnUse"
              orient="auto"
            >
              <path d="M0 0L8 4L0 8z" />
            </marker>
          ))}
        </defs>
        {graph.lines.map((line) => (
          <Edge
            key={`${line.edge.caller}\n${line.edge.callee}`}
            line={line}
            most={most}
            ns={props.ns}
          />
        ))}
        {graph.lines.map((line) => (
          <EdgeLabel key={`${line.edge.caller}\n${line.edge.callee}`} line={line} ns={props.ns} />
        ))}
        {graph.nodes.map((node) => (
          <Box
            key={node.name}
            node={node}
            graph={graph}
            ns={props.ns}
            all={all}
            onOpen={props.onOpen}
          />
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
  const kind = isFailing(edge.errors, edge.count) ? "failed" : "";
  return (
    <path
      class={`edge ${kind}`}
      d={curve(points)}
      stroke-width={1 + 3 * Math.sqrt(edge.count / props.most)}
      marker-end={`url(#arrow${kind})`}
    >
      <title>
        {`${edge.caller} → ${edge.callee}: ${edge.count.toLocaleString("en-US")} calls${rate ? `, ${rate} per second` : ""}, ${share(edge.errors, edge.count) || "no"} errors, p50 ${formatNs(edge.p50)}, p99 ${formatNs(edge.p99)}`}
      </title>
    </path>
  );
}

const LABEL = { letter: 6.3, height: 16 };

// The rate, and errors if there are any, in the middle of the first part of a line.
function EdgeLabel(props: { line: ServiceLine; ns: number }) {
  const { edge, points, label } = props.line;
  const rate = perSecond(edge.count, props.ns);
  const errors = share(edge.errors, edge.count);
  if (!points[0] || !label) return null;
  const text = [rate === "" ? edge.count.toLocaleString("en-US") : `${rate}/s`, errors]
    .filter(Boolean)
    .join(" · ");
  const width = text.length * LABEL.letter + 10;
  return (
    <g
      class={isFailing(edge.errors, edge.count) ? "edge-label failed" : "edge-label"}
      transform={`translate(${label.x} ${label.y})`}
    >
      <rect x={-width / 2} y={-LABEL.height / 2} width={width} height={LABEL.height} rx={8} />
      <text text-anchor="middle" dominant-baseline="central">
        {text}
      </text>
    </g>
  );
}

const LETTER_PX = 7.3; // of a bold name, about
const LINE_PX = 16;
const PAD = 12;

function Box(props: {
  node: ServiceNode;
  graph: ServiceGraph;
  ns: number;
  all: number; // self times of all services; 0: not known yet
  onOpen: (service: string) => void;
}) {
  const { node } = props;
  const { box } = props.graph;
  const { sum } = node;
  const color = useServiceColor();
  const rate = sum && perSecond(sum.count, props.ns);
  const errors = sum && share(sum.errors, sum.count);
  const isBad = sum !== null && isFailing(sum.errors, sum.count);
  const part = sum?.self !== undefined && props.all > 0 ? sum.self / props.all : null;
  const inside = part === null ? "" : `${shareText(part, 1)} of the time inside`;
  const besideName = isWideBox(box) ? inside.replace(" inside", "") : "";
  const lines = [
    [rate && `${rate}/s`, errors && `${errors} errors`].filter(Boolean).join(" · "),
    sum ? `p50 ${formatNs(sum.p50)} · p99 ${formatNs(sum.p99)}` : "",
    ...(besideName === "" ? [inside] : []),
  ];
  const room = Math.floor((box.width - 2 * PAD) / LABEL.letter);
  return (
    <g
      class={isBad ? "service failed" : "service"}
      transform={`translate(${node.left} ${node.top})`}
      tabIndex={0}
      role="button"
      aria-label={`operations of ${node.name}`}
      onClick={() => props.onOpen(node.name)}
      onKeyDown={(event) => event.key === "Enter" && props.onOpen(node.name)}
    >
      <title>{[node.name, ...lines, besideName && inside].filter(Boolean).join("\n")}</title>
      <rect width={box.width} height={box.height} rx={6} />
      <path
        fill={color(node.name)}
        d={`M6 0H0V${box.height}H6z`}
        clip-path="inset(0 round 6px 0 0 6px)"
      />
      <text x={PAD + 4} y={20} class="name">
        {shorten(
          node.name,
          Math.floor((box.width - 2 * PAD - besideName.length * LABEL.letter) / LETTER_PX),
        )}
      </text>
      <text x={box.width - PAD} y={20} text-anchor="end">
        {besideName}
      </text>
      {lines.map((line, i) => (
        <text key={i} x={PAD + 4} y={37 + i * LINE_PX}>
          {line.length > room ? `${line.slice(0, room - 1)}…` : line}
        </text>
      ))}
      {part !== null && (
        <>
          <rect
            class="service-track"
            x={PAD + 4}
            y={box.height - 8}
            width={box.width - 2 * PAD - 4}
            height={4}
            rx={2}
          />
          <rect
            fill={color(node.name)}
            x={PAD + 4}
            y={box.height - 8}
            width={Math.max(1, part * (box.width - 2 * PAD - 4))}
            height={4}
            rx={2}
          />
        </>
      )}
    </g>
  );
}
