// The machine code of a function: source lines above their instructions, the self cost of each
// instruction, jumps as arrows beside the code.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Parameters } from "../shared/api";
import { baseName, formatPercent, formatValue } from "../shared/format";
import { shorten } from "../shared/names/names";
import { costPrinter } from "../shared/units";
import { usePixels } from "../shared/look/ui_scale";
import { useAnswer } from "../shared/use_answer";
import { heightOf, useViewport, windowOf } from "../shared/table/virtual_scroll";
import {
  type Assembly,
  assemblyRows,
  type AssemblyRow,
  hottestFirst,
  type Jump,
  layOutJumps,
} from "./assembly_model";

const LANE = 7;

const gutterOf = (jumps: Jump[]) =>
  LANE * (1 + jumps.reduce((most, { lane }) => Math.max(most, lane), -1)) + 10;

export function AssemblyView(props: { path: string; parameters: Parameters; row: string }) {
  const { value, error } = useAnswer<Assembly>(`${props.path}/assembly`, {
    ...props.parameters,
    view: "top-down",
    row: props.row,
  });
  if (error) return <p class="status error">{error}</p>;
  if (!value) return <p class="status">loading…</p>;
  return <Code assembly={value} />;
}

function Code(props: { assembly: Assembly }) {
  const { assembly } = props;
  const { instructions } = assembly;
  const rows = useMemo(() => assemblyRows(instructions), [instructions]);
  const jumps = useMemo(() => layOutJumps(instructions, rows), [instructions]);
  const gutter = useMemo(() => gutterOf(jumps), [jumps]);
  const hottest = useMemo(() => hottestFirst(instructions), [instructions]);
  const [rank, setRank] = useState(0); // of the chosen one among the hottest
  const { scroller, view, measure } = useViewport(0);
  const linePx = usePixels("--code-line");
  const list = { count: rows.length, rowPx: linePx };
  const whole = assembly.self + assembly.inlined;
  const most = instructions[hottest[0] ?? 0]?.cost ?? 0;
  const print = costPrinter(assembly.column, most, whole);
  const chosen = rows.findIndex((row) => !row.isSource && row.at === hottest[rank]);
  const choose = (next: number) => setRank(Math.max(0, Math.min(hottest.length - 1, next)));
  useEffect(() => {
    if (scroller.current && chosen >= 0)
      scroller.current.scrollTop = chosen * linePx - scroller.current.clientHeight / 3;
    measure();
  }, [chosen, instructions]);
  const part = windowOf(list, view);
  return (
    <div class="source-frame">
      <p class="status">
        {shorten(assembly.function, 60)} in {baseName(assembly.module)}: self{" "}
        {formatValue(assembly.self, assembly.column)} {formatPercent(assembly.self, assembly.total)}
        {assembly.inlined > 0 &&
          `, of functions inlined there ${formatValue(assembly.inlined, assembly.column)}`}
        {" · "}
        {hottest.length > 0 ? (
          <button class="link" onClick={() => choose((rank + 1) % hottest.length)}>
            Hottest instruction {rank + 1} of {hottest.length} (h)
          </button>
        ) : (
          "no instruction has a cost"
        )}
        {assembly.buildId === null &&
          " · the build id was not recorded: the binary may have changed"}
      </p>
      <div
        class="source assembly"
        ref={scroller}
        tabIndex={0}
        role="table"
        aria-label={`instructions of ${assembly.function}, ${assembly.column} self of each`}
        aria-rowcount={rows.length}
        onScroll={measure}
        onKeyDown={(event) => {
          if ((event.key !== "h" && event.key !== "H") || event.ctrlKey || event.metaKey) return;
          event.stopPropagation();
          choose(rank + (event.key === "h" ? 1 : -1));
        }}
      >
        <div role="rowgroup" class="source-lines" style={{ height: `${heightOf(list)}px` }}>
          <Jumps
            jumps={jumps}
            gutter={gutter}
            first={part.first}
            last={part.last}
            chosen={chosen}
            linePx={linePx}
          />
          {rows.slice(part.first, part.last).map((row, i) => (
            <Line
              key={part.first + i}
              assembly={assembly}
              row={row}
              index={part.first + i}
              top={part.top + i * linePx}
              gutter={gutter}
              most={most}
              print={print}
              isChosen={part.first + i === chosen}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

interface LineProps {
  assembly: Assembly;
  row: AssemblyRow;
  index: number;
  top: number;
  gutter: number; // width of the jumps, in pixels
  most: number;
  print: (cost: number | undefined) => string;
  isChosen: boolean;
}

function Line(props: LineProps) {
  const { assembly, row } = props;
  const instruction = assembly.instructions[row.at];
  const style = { top: `${props.top}px` };
  if (!instruction) return null;
  if (row.isSource)
    return (
      <div role="row" aria-rowindex={props.index + 1} class="source-line from" style={style}>
        <span
          class="line-cost code-location"
          role="rowheader"
          title={`${instruction.file}:${instruction.line}`}
        >
          {baseName(instruction.file ?? "")}:{instruction.line}
        </span>
        <span class="offset" />
        <span role="cell" style={{ marginLeft: `${props.gutter}px` }}>
          {instruction.inlined && (
            <span class="code-location">{shorten(instruction.inlined, 40)} inlined: </span>
          )}
          {instruction.source?.replaceAll("\t", "        ") ?? ""}
        </span>
      </div>
    );
  const { cost } = instruction;
  return (
    <div
      role="row"
      aria-rowindex={props.index + 1}
      class={`source-line${props.isChosen ? " here hottest" : ""}`}
      style={style}
    >
      <i
        class="bar"
        style={{ width: `${props.most > 0 ? ((cost ?? 0) / props.most) * 21 : 0}ch` }}
      />
      <span class="line-cost" role="cell">
        {props.print(cost)}
      </span>
      <span class="offset" role="rowheader">
        {instruction.offset.toString(16)}
      </span>
      <span role="cell" style={{ marginLeft: `${props.gutter}px` }}>
        {instruction.text}
        {instruction.callee && <span class="callee"> {shorten(instruction.callee, 60)}</span>}
      </span>
    </div>
  );
}

// From the lower half of the instruction that jumps to the upper half of the one it jumps to, so that
// arrows of both directions can meet at a row.
function Jumps(props: {
  jumps: Jump[];
  gutter: number;
  first: number;
  last: number;
  chosen: number;
  linePx: number;
}) {
  const { linePx } = props;
  const top = props.first * linePx;
  const y = (row: number, part: number) => row * linePx + linePx * part - top;
  const limit = (value: number) =>
    Math.max(-linePx, Math.min(value, (props.last - props.first + 1) * linePx));
  const visible = props.jumps.filter(
    ({ from, to }) => Math.min(from, to) < props.last && Math.max(from, to) >= props.first,
  );
  return (
    <svg
      class="jumps"
      aria-hidden="true"
      width={props.gutter}
      height={(props.last - props.first) * linePx}
      style={{ top: `${top}px` }}
    >
      {visible.map(({ from, to, lane }) => {
        const x = props.gutter - 8 - lane * LANE;
        const end = props.gutter - 2;
        const begin = y(from, 0.65);
        const tip = y(to, 0.35);
        return (
          <path
            key={`${from} ${to}`}
            class={from === props.chosen || to === props.chosen ? "chosen" : ""}
            d={`M${end} ${limit(begin)}H${x}V${limit(tip)}H${end}` + `m-4 -3l4 3l-4 3`}
          />
        );
      })}
    </svg>
  );
}
