// A source file with the self cost of each line, at the line of a row.

import { useEffect } from "preact/hooks";
import type { Parameters } from "../shared/api";
import { costPrinter } from "../shared/units";
import type { SourceText } from "../../generated/answers";
import { usePixels } from "../shared/look/ui_scale";
import { useAnswer } from "../shared/use_answer";
import { heightOf, useViewport, windowOf } from "../shared/table/virtual_scroll";

export function hottestLine(costs: [number, number][]): number {
  let best: [number, number] | undefined;
  for (const item of costs) if (!best || item[1] > best[1]) best = item;
  return best?.[0] ?? 0;
}

export function SourceView(props: { path: string; parameters: Parameters; row: string }) {
  const { value, error } = useAnswer<SourceText>(`${props.path}/source`, {
    ...props.parameters,
    view: "top-down",
    row: props.row,
  });
  if (error) return <p class="status error">{error}</p>;
  if (!value) return <p class="status">loading…</p>;
  return <Lines source={value} />;
}

function Lines(props: { source: SourceText }) {
  const { source } = props;
  const { scroller, view, measure } = useViewport(0);
  const linePx = usePixels("--code-line");
  const list = { count: source.lines.length, rowPx: linePx };
  const costs = new Map(source.costs);
  const most = Math.max(0, ...source.costs.map(([, cost]) => cost));
  const print = costPrinter(source.column, most, source.total);
  const hottest = hottestLine(source.costs);
  const goTo = (line: number) => {
    if (scroller.current)
      scroller.current.scrollTop = (line - 1) * linePx - scroller.current.clientHeight / 3;
    measure();
  };
  useEffect(() => goTo(source.line || hottest || 1), [source.path, source.line]);
  const part = windowOf(list, view);
  return (
    <div class="source-frame">
      <p class="status">
        {source.path.replace(/^src\//, "/")}
        {hottest > 0 && " · "}
        {hottest > 0 && (
          <button class="link" onClick={() => goTo(hottest)}>
            Hottest line: {hottest}
          </button>
        )}
        {source.line > 0 && hottest !== source.line && " · "}
        {source.line > 0 && hottest !== source.line && (
          <button class="link" onClick={() => goTo(source.line)}>
            Line of this row: {source.line}
          </button>
        )}
        {source.isPerFunction
          ? " · costs were measured per function, not per line"
          : hottest === 0 && " · no line has a self cost"}
      </p>
      <div
        class="source"
        ref={scroller}
        tabIndex={0}
        role="table"
        aria-label={`${source.path}, ${source.column} self of each line`}
        aria-rowcount={source.lines.length}
        onScroll={measure}
      >
        <div role="rowgroup" class="source-lines" style={{ height: `${heightOf(list)}px` }}>
          {source.lines.slice(part.first, part.last).map((text, i) => {
            const number = part.first + i + 1;
            const cost = costs.get(number);
            return (
              <div
                key={number}
                role="row"
                aria-rowindex={number}
                class={`source-line${number === source.line ? " here" : ""}${number === hottest ? " hottest" : ""}`}
                style={{ top: `${part.top + i * linePx}px` }}
              >
                <i class="bar" style={{ width: `${most > 0 ? ((cost ?? 0) / most) * 21 : 0}ch` }} />
                <span class="line-cost" role="cell">
                  {print(cost)}
                </span>
                <span class="line-number" role="rowheader">
                  {number}
                </span>
                <span role="cell">{text.replaceAll("\t", "        ") || " "}</span>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
