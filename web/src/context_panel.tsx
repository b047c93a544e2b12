// One context in detail: how it was reached, how long its calls took, what it cost on each
// thread, and its source.

import { useState } from "preact/hooks";
import type { Parameters } from "./api";
import { baseName, formatNs, formatPercent, formatValue } from "./format";
import type { ContextDetail, SourceText } from "./types";
import { useAnswer } from "./use_answer";

interface Props {
  path: string;
  parameters: Parameters;
  row: string;
  onSelect: (path: string[]) => void;
  onClose: () => void;
}

export function ContextPanel(props: Props) {
  const { value, error } = useAnswer<ContextDetail>(`${props.path}/context`, {
    ...props.parameters,
    view: "top-down",
    row: props.row,
  });
  const [withSource, setWithSource] = useState(false);
  if (!value)
    return (
      <aside class="panel">
        <p class="status">{error ?? "loading…"}</p>
      </aside>
    );
  const metric = value.columns[0]?.metric ?? "";
  return (
    <aside class="panel" aria-label="the chosen context">
      <button class="close" aria-label="close" onClick={props.onClose}>
        ×
      </button>
      <h2>{value.row.label}</h2>
      <nav class="crumbs" aria-label="calls that led here">
        {value.path.map((step, i) => (
          <span key={step.id}>
            <button class="link" onClick={() => props.onSelect(value.path.slice(0, i + 1).map((item) => item.id))}>
              {step.label}
            </button>
            {i < value.path.length - 1 && " › "}
          </span>
        ))}
      </nav>
      <table>
        <caption class="hidden">costs</caption>
        <tbody>
          {value.columns.map((column, i) => (
            <tr key={column.name}>
              <th scope="row">{column.title.replace(/ \(I\)$/, ", inclusive").replace(/ \(E\)$/, ", self")}</th>
              <td>{formatValue(value.row.values[i], column.isPercentile ? "sec" : column.metric)}</td>
              <td>{column.isPercentile ? "" : formatPercent(value.row.values[i] ?? null, column.total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {value.row.module && <p class="status">{value.row.module}</p>}
      {value.row.file && (
        <p>
          <button class="link" onClick={() => setWithSource(!withSource)}>
            {baseName(value.row.file)}
            {value.row.line ? `:${value.row.line}` : ""}
          </button>
        </p>
      )}
      {withSource && <SourceView path={props.path} parameters={props.parameters} row={props.row} />}
      <Latency latency={value.latency} />
      <ThreadPlot threads={value.threads} metric={metric} />
    </aside>
  );
}

const PLOT = { width: 320, height: 90 };

function Latency(props: { latency: ContextDetail["latency"] }) {
  const { buckets, p50, p90, p99 } = props.latency;
  if (buckets.length === 0) return null;
  const first = Math.log(Math.max(buckets[0]?.[0] ?? 1, 1));
  const last = Math.log(Math.max(buckets[buckets.length - 1]?.[1] ?? 2, 2));
  const most = Math.max(...buckets.map((bucket) => bucket[2]));
  const x = (ns: number) => ((Math.log(Math.max(ns, 1)) - first) / Math.max(last - first, 0.1)) * PLOT.width;
  const marks: [string, number | null][] = [
    ["p50", p50],
    ["p90", p90],
    ["p99", p99],
  ];
  const words = marks.map(([name, ns]) => `${name} ${ns === null ? "?" : formatNs(ns)}`).join(" · ");
  return (
    <figure>
      <figcaption>how long calls took: {words}</figcaption>
      <svg viewBox={`0 0 ${PLOT.width} ${PLOT.height}`} role="img" aria-label={`distribution of durations: ${words}`}>
        {buckets.map(([low, high, count]) => {
          const height = Math.max(1.5, (Math.sqrt(count / most)) * (PLOT.height - 14));
          return (
            <rect key={low} class="plot-bar" x={x(low)} width={Math.max(1.5, x(high + 1) - x(low) - 0.5)} y={PLOT.height - height} height={height}>
              <title>{`${formatNs(low)} – ${formatNs(high)}: ${count.toLocaleString("en-US")} calls`}</title>
            </rect>
          );
        })}
        {marks.map(([name, ns]) =>
          ns === null ? null : (
            <g key={name}>
              <line class="plot-mark" x1={x(ns)} x2={x(ns)} y1={10} y2={PLOT.height} />
              <text class="plot-text" x={x(ns) + 2} y={9}>
                {name}
              </text>
            </g>
          ),
        )}
      </svg>
    </figure>
  );
}

function ThreadPlot(props: { threads: [number, number][]; metric: string }) {
  const { threads } = props;
  if (threads.length < 2) return null;
  const most = Math.max(...threads.map(([, value]) => value));
  const highest = Math.max(...threads.map(([profile]) => profile));
  const points = threads
    .map(([profile, value]) => {
      const x = (profile / Math.max(highest, 1)) * (PLOT.width - 4) + 2;
      const y = PLOT.height - 4 - (most > 0 ? value / most : 0) * (PLOT.height - 14);
      return `M${x.toFixed(1)} ${y.toFixed(1)}h0.01`;
    })
    .join("");
  return (
    <figure>
      <figcaption>
        over {threads.length.toLocaleString("en-US")} threads: at most {formatValue(most, props.metric)}
      </figcaption>
      <svg viewBox={`0 0 ${PLOT.width} ${PLOT.height}`} role="img" aria-label="the value on each thread">
        <path class="plot-dots" d={points} />
      </svg>
    </figure>
  );
}

function SourceView(props: { path: string; parameters: Parameters; row: string }) {
  const { value, error } = useAnswer<SourceText>(`${props.path}/source`, { ...props.parameters, view: "top-down", row: props.row });
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  const costs = new Map(value.costs);
  const most = Math.max(0, ...value.costs.map(([, cost]) => cost));
  const first = Math.max(0, value.line - 40);
  return (
    <pre class="source" aria-label={value.path}>
      {value.lines.slice(first, value.line + 160).map((text, i) => {
        const number = first + i + 1;
        const cost = costs.get(number) ?? 0;
        return (
          <div key={number} class={number === value.line ? "here" : ""}>
            <i class="bar" style={{ width: `${most > 0 ? (cost / most) * 30 : 0}%` }} />
            <span class="line-number">{number}</span>
            {text || " "}
          </div>
        );
      })}
    </pre>
  );
}
