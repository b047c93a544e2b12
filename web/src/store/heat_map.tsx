// How many traces began at a time and took so long. A drag limits the query to times and durations; so
// does a click on a cell.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { prepare } from "../flame/flame_draw";
import { mixTokens, themeColor } from "../shared/look/colors";
import { countOf, formatCount, formatNs } from "../shared/format";
import { useIsNarrow, useWidth } from "../shared/narrow";
import type { State } from "../shared/state";
import { useAnswer } from "../shared/use_answer";
import type { Heat } from "../../generated/answers";
import { Brush, type Spot } from "./durations_brush";
import { rectangleQuery, roundDurations, scaleOf } from "./durations_model";
import { useLive } from "./live";
import { PlotFrame } from "./plot_frame";
import { printClock } from "./query_text";
import { search } from "./store_search";

const STEPS = 120;
const STEPS_NARROW = 48;
const FAINTEST = 0.12; // share of the colour of a cell with one trace

// Few among many are still seen: the colour follows the logarithm.
export const heatOf = (count: number, most: number): number =>
  count <= 0 ? 0 : FAINTEST + (1 - FAINTEST) * (most > 1 ? Math.log(count) / Math.log(most) : 1);

const SIDEWAYS = 4; // times as far as a step in the direction of an arrow

interface Cell {
  step: number;
  row: number; // from the lowest
  count: number;
  errors: number;
}

function draw(
  element: HTMLCanvasElement,
  cells: Cell[],
  grid: { steps: number; rows: number; most: number },
  size: { width: number; height: number },
): void {
  const context = prepare(element, size.width, size.height);
  if (!context) return;
  const [wide, high] = [size.width / grid.steps, size.height / grid.rows];
  for (const { step, row, count, errors } of cells) {
    const left = Math.round(step * wide);
    const top = Math.round(size.height - (row + 1) * high);
    const width = Math.max(1, Math.round((step + 1) * wide) - left - 1);
    const height = Math.max(1, Math.round(size.height - row * high) - top - 1);
    context.fillStyle = mixTokens("--raised", "--accent", heatOf(count, grid.most));
    context.fillRect(left, top, width, height);
    if (errors === 0) continue;
    const part = Math.max(2, (height * errors) / count);
    context.fillStyle = themeColor("--error");
    context.fillRect(left, top + height - part, width, part);
  }
}

export function HeatMap(props: { path: string; state: State }) {
  const query = props.state.q ?? "";
  const isNarrow = useIsNarrow();
  const steps = isNarrow ? STEPS_NARROW : STEPS;
  const { value, error } = useAnswer<Heat>(
    `${props.path}/heat`,
    { q: query, steps },
    undefined,
    useLive(props.state),
  );
  const { element, width } = useWidth(value !== null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [at, setAt] = useState<Cell | null>(null);
  const height = element.current?.clientHeight ?? 0;
  const cells = useMemo(
    () =>
      (value?.cells ?? []).map(([step, row, count, errors]): Cell => ({
        step,
        row: row - (value?.firstRow ?? 0),
        count,
        errors,
      })),
    [value],
  );
  const rows = Math.max(1, (value?.bounds.length ?? 1) - 1);
  const most = cells.reduce((max, { count }) => Math.max(max, count), 1);
  useEffect(() => {
    if (canvas.current && width > 0 && height > 0)
      draw(canvas.current, cells, { steps, rows, most }, { width, height });
  });
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  const first = BigInt(value.first);
  const last = first + BigInt(value.step) * BigInt(steps);
  const [low = 1, high = 2] = [value.bounds[0], value.bounds[rows]];
  const scale = scaleOf(first, last, low, high);
  const cellAt = (spot: Spot): Cell | null => {
    const step = Math.min(steps - 1, Math.floor(spot.x * steps));
    const row = Math.min(rows - 1, Math.floor((1 - spot.y) * rows));
    return cells.find((cell) => cell.step === step && cell.row === row) ?? null;
  };
  // All of a cell, without its neighbours.
  const choose = (cell: Cell) =>
    search(
      rectangleQuery(
        query,
        scale,
        { x: cell.step / steps, y: 1 - cell.row / rows },
        { x: (cell.step + 1) / steps, y: 1 - (cell.row + 1) / rows },
      ),
    );
  const onKeyDown = (event: KeyboardEvent) => {
    const direction = DIRECTIONS[event.key];
    if (direction) setAt(nextCell(cells, at, direction));
    else if (event.key === "Enter" && at) choose(at);
    else if (event.key === "Escape" && at) setAt(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <figure class="scatter">
      <figcaption class="heat-head">
        <span aria-live="polite">
          {at
            ? `${printClock(first + BigInt(Math.round(at.step * value.step))).slice(0, 23)}, ${formatNs(value.bounds[at.row] ?? 0)} to ${formatNs(value.bounds[at.row + 1] ?? 0)}: ${countOf(at.count, "trace")}${at.errors > 0 ? `, ${at.errors.toLocaleString("en-US")} with errors` : ""}`
            : `${countOf(value.count, "trace")} by time and duration; drag or click to select`}
        </span>
        <HeatLegend most={most} />
      </figcaption>
      <PlotFrame
        class="tall"
        values={roundDurations(low, high).map((ns) => [formatNs(ns), scale.y(ns)])}
        first={first}
        last={last}
        marks={isNarrow ? 3 : 8}
      >
        <div class="heat-canvas" ref={element}>
          <canvas ref={canvas} aria-hidden="true" />
        </div>
        <Brush
          query={query}
          scale={scale}
          label={`durations of ${countOf(value.count, "trace")} over time; drag to select, or arrows and Enter`}
          isPointing={at !== null}
          onKeyDown={onKeyDown}
          onMove={(spot) => setAt(spot && cellAt(spot))}
          onClick={(spot) => {
            const cell = cellAt(spot);
            if (cell) choose(cell);
          }}
        >
          {at && (
            <i
              class="heat-at"
              style={{
                left: `${(100 * at.step) / steps}%`,
                width: `${100 / steps}%`,
                top: `${100 * (1 - (at.row + 1) / rows)}%`,
                height: `${100 / rows}%`,
              }}
            />
          )}
        </Brush>
      </PlotFrame>
    </figure>
  );
}

const DIRECTIONS: Record<string, [step: number, row: number]> = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

// The nearest cell in a direction, else the same one; at first that of most traces.
export function nextCell(
  cells: Cell[],
  from: Cell | null,
  [step, row]: [step: number, row: number],
): Cell | null {
  const best = (list: Cell[], cost: (cell: Cell) => number): Cell | null =>
    list.reduce<Cell | null>(
      (found, cell) => (found && cost(found) <= cost(cell) ? found : cell),
      null,
    );
  if (!from) return best(cells, ({ count }) => -count);
  const along = (cell: Cell) => (cell.step - from.step) * step + (cell.row - from.row) * row;
  const aside = (cell: Cell) =>
    Math.abs((cell.step - from.step) * row) + Math.abs((cell.row - from.row) * step);
  return (
    best(
      cells.filter((cell) => along(cell) > 0),
      (cell) => along(cell) + SIDEWAYS * aside(cell),
    ) ?? from
  );
}

function HeatLegend(props: { most: number }) {
  const shares = [0, 0.25, 0.5, 0.75, 1];
  return (
    <span class="heat-legend">
      1
      {shares.map((share) => (
        <i
          key={share}
          style={{
            background: mixTokens("--raised", "--accent", FAINTEST + (1 - FAINTEST) * share),
          }}
        />
      ))}
      {formatCount(props.most)} traces
      <i class="heat-error" /> with errors
    </span>
  );
}
