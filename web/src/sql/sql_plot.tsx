// A result as bars of values by name, or as lines over numbers.

import { useState } from "preact/hooks";
import { axisStep, formatCount } from "../shared/format";
import type { SqlResult } from "../../generated/answers";
import { numberOf, type Plot } from "./sql_model";
import { printCell } from "./sql_page";

const BARS_MAX = 200;

export function ResultPlot(props: { result: SqlResult; plot: Plot }) {
  const { result, plot } = props;
  const [y, setY] = useState(plot.y[0] ?? 0);
  const column = plot.y.includes(y) ? y : (plot.y[0] ?? 0);
  return (
    <div class="sql-plot">
      {plot.kind === "bars" && plot.y.length > 1 && (
        <label>
          Values{" "}
          <select
            aria-label="column of the plot"
            value={column}
            onChange={(event) => setY(Number(event.currentTarget.value))}
          >
            {plot.y.map((one) => (
              <option key={one} value={one}>
                {result.columns[one]?.name}
              </option>
            ))}
          </select>
        </label>
      )}
      {plot.kind === "bars" ? (
        <BarList result={result} x={plot.x} y={column} />
      ) : (
        <Lines result={result} plot={plot} />
      )}
    </div>
  );
}

function BarList(props: { result: SqlResult; x: number; y: number }) {
  const { result } = props;
  const rows = result.rows.slice(0, BARS_MAX);
  const most = Math.max(...rows.map((row) => Math.abs(numberOf(row[props.y])) || 0), 1e-300);
  const type = result.columns[props.y]?.type ?? "";
  return (
    <table class="sql-bars">
      <thead class="hidden">
        <tr>
          <th scope="col">{result.columns[props.x]?.name}</th>
          <th scope="col">{result.columns[props.y]?.name}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => {
          const value = numberOf(row[props.y]);
          return (
            <tr key={i}>
              <th scope="row" title={String(row[props.x] ?? "")}>
                {String(row[props.x] ?? "null")}
              </th>
              <td>
                <span class="measured">
                  <span class="measured-track">
                    <i
                      class={value < 0 ? "negative" : ""}
                      style={{ width: `${((Math.abs(value) || 0) / most) * 100}%` }}
                    />
                  </span>
                  <span class="measured-value">{printCell(row[props.y] ?? null, type)}</span>
                </span>
              </td>
            </tr>
          );
        })}
        {result.rows.length > BARS_MAX && (
          <tr>
            <td colSpan={2} class="faint">
              the first {BARS_MAX} of {result.rows.length.toLocaleString("en-US")} rows
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

const SIZE = { width: 1200, height: 360 };
const MARKS = 6;

function range(values: number[]): [number, number] {
  const finite = values.filter(Number.isFinite);
  const low = finite.reduce((a, b) => Math.min(a, b), Infinity);
  const high = finite.reduce((a, b) => Math.max(a, b), -Infinity);
  if (low > high) return [0, 1];
  return low === high ? [Math.min(0, low), Math.max(high, low + 1)] : [low, high];
}

function Lines(props: { result: SqlResult; plot: Plot }) {
  const { result, plot } = props;
  const [hover, setHover] = useState(-1);
  const xs = result.rows.map((row, i) => (plot.x < 0 ? i : numberOf(row[plot.x])));
  const [left, right] = range(xs);
  const series = plot.y.map((column) => result.rows.map((row) => numberOf(row[column])));
  const [least, high] = range(series.flat());
  const low = Math.min(0, least);
  const px = (x: number) => ((x - left) / (right - left)) * SIZE.width;
  const py = (y: number) => SIZE.height * (1 - (y - low) / (high - low || 1));
  const order = xs.map((_, i) => i).sort((a, b) => (xs[a] ?? 0) - (xs[b] ?? 0));
  const step = axisStep(right - left, MARKS);
  const marks: number[] = [];
  for (let at = Math.ceil(left / step) * step; at <= right; at += step) marks.push(at);
  const nearest = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const x = left + ((event.clientX - box.left) / Math.max(box.width, 1)) * (right - left);
    let best = -1;
    xs.forEach((one, i) => {
      if (best < 0 || Math.abs(one - x) < Math.abs((xs[best] ?? 0) - x)) best = i;
    });
    setHover(best);
  };
  const name = (column: number) => result.columns[column]?.name ?? "";
  return (
    <figure class="sql-lines">
      <figcaption>
        {plot.y.map((column, k) => (
          <span key={column} class="legend">
            <i class={`series-${(k % 8) + 1}`} /> {name(column)}
            {hover >= 0 && (
              <strong>
                {" "}
                {printCell(
                  result.rows[hover]?.[column] ?? null,
                  result.columns[column]?.type ?? "",
                )}
              </strong>
            )}
          </span>
        ))}
        <span class="faint">
          {plot.x < 0 ? "row" : name(plot.x)}
          {hover >= 0 && ` ${(xs[hover] ?? 0).toLocaleString("en-US")}`}
        </span>
      </figcaption>
      <div class="sql-lines-area">
        <span class="plot-most">{formatCount(high)}</span>
        <span class="plot-least">{formatCount(low)}</span>
        <svg
          viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${plot.y.map(name).join(", ")} over ${plot.x < 0 ? "rows" : name(plot.x)}`}
          onPointerMove={nearest}
          onPointerLeave={() => setHover(-1)}
        >
          {marks.map((at) => (
            <line
              key={at}
              class="plot-grid"
              vector-effect="non-scaling-stroke"
              x1={px(at)}
              x2={px(at)}
              y1={0}
              y2={SIZE.height}
            />
          ))}
          {series.map((values, k) => (
            <path
              key={k}
              class={`series-${(k % 8) + 1}`}
              vector-effect="non-scaling-stroke"
              d={order
                .filter((i) => Number.isFinite(values[i] ?? NaN))
                .map(
                  (i, n) =>
                    `${n === 0 ? "M" : "L"}${px(xs[i] ?? 0).toFixed(1)} ${py(values[i] ?? 0).toFixed(1)}`,
                )
                .join("")}
            />
          ))}
          {hover >= 0 && (
            <line
              class="plot-mark"
              vector-effect="non-scaling-stroke"
              x1={px(xs[hover] ?? 0)}
              x2={px(xs[hover] ?? 0)}
              y1={0}
              y2={SIZE.height}
            />
          )}
        </svg>
        <div class="sql-axis" aria-hidden="true">
          {marks.map((at) => (
            <span key={at} style={{ left: `${(px(at) / SIZE.width) * 100}%` }}>
              {formatCount(at)}
            </span>
          ))}
        </div>
      </div>
    </figure>
  );
}
