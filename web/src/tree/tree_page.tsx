// The tree table with its options, and the panel of the selected row.

import { useCallback, useMemo, useState } from "preact/hooks";
import { getWhenReady, type Parameters } from "../shared/api";
import { ChosenRange, chosenRange, rangeParameters } from "../shared/chosen_range";
import { ContextPanel } from "./context_panel";
import { FlameRows } from "../flame/flame_rows";
import { matcher } from "../flame/flame_layout";
import { costParameters, defaultMetrics, splitList, type ViewProps } from "../shared/page";
import { Flag } from "../shared/flag";
import { flag, go, isOn, type State } from "../shared/state";
import { columnTitle, type Sort } from "./tree_rows";
import { TreeView, type TreeProps } from "./tree_view";
import type { Column, Flame, Hits, Info, Row, Rows } from "../shared/types";
import { useAnswer } from "../shared/use_answer";
import { Waits } from "../shared/waits";
import type { AskRows } from "./use_tree";

const HIT_MAX = 500;

interface Chosen {
  row: Row;
  columns: Column[];
}

const sortOf = (state: State): Sort => ({
  column: state.sort ?? "",
  isReversed: isOn(state, "rev"),
});

export function TreePage(props: ViewProps) {
  const { state, view } = props;
  const [columns, setColumns] = useState<Column[]>([]);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const hasRange = chosenRange(state) !== null;
  const served = view === "top-down" && isOn(state, "fold") && !hasRange ? "collapsed" : view;
  const shared = {
    open: state.open ?? "",
    search: state.q ?? "",
    sort: sortOf(state),
    hidden: new Set(splitList(state.hide)),
    onSelect: (path: string[]) => go({ open: path.join(".") }, true),
    onSort: (sort: Sort) => go({ sort: sort.column, rev: flag(sort.isReversed) }),
    onColumns: setColumns,
    onRow: (row: Row | null, of: Column[]) => setChosen(row && { row, columns: of }),
  };
  return (
    <>
      <div class="toolbar">
        {hasRange ? <ChosenRange state={state} info={props.info} /> : <Choices {...props} />}
        <ColumnChooser info={props.info} state={state} columns={columns} hasRange={hasRange} />
      </div>
      <div class="columns">
        {hasRange ? (
          <RangeTree {...props} shared={shared} />
        ) : (
          <ServedTree {...props} view={served} shared={shared} />
        )}
        {chosen && state.open && !hasRange && (
          <ContextPanel
            path={props.path}
            parameters={costParameters(props)}
            row={chosen.row}
            columns={chosen.columns}
            isContext={served === "top-down"}
            withSource={isOn(state, "src")}
            isSorted={state.plot === "sorted"}
            onOpen={(path) => go({ v: "top-down", fold: "", open: path.join(".") })}
            onChange={(change) =>
              go(
                {
                  ...(change.withSource === undefined ? {} : { src: flag(change.withSource) }),
                  ...(change.isSorted === undefined
                    ? {}
                    : { plot: change.isSorted ? "sorted" : "" }),
                },
                true,
              )
            }
            onClose={() => go({ open: "" })}
          />
        )}
      </div>
    </>
  );
}

type Shared = Omit<TreeProps, "ask" | "find">;

function ServedTree(props: ViewProps & { shared: Shared }) {
  const { shared, state } = props;
  const parameters: Parameters = {
    ...costParameters(props),
    view: props.view,
    sort: state.sort,
    reverse: state.rev,
  };
  const key = JSON.stringify([props.path, parameters]);
  const ask = useCallback<AskRows>(
    (row, offset, limit, waiting) =>
      getWhenReady<Rows>(`${props.path}/rows`, { ...parameters, row, offset, limit }, waiting),
    [key],
  );
  const find = useCallback(
    (pattern: string) =>
      getWhenReady<Hits>(`${props.path}/search`, {
        ...parameters,
        reverse: undefined,
        q: pattern,
        limit: HIT_MAX,
      }),
    [key],
  );
  return <TreeView key={key} ask={ask} find={find} {...shared} />;
}

// The table of a time range is computed from its flame graph.
function RangeTree(props: ViewProps & { shared: Shared }) {
  const { state, view, shared } = props;
  const { value, error } = useAnswer<Flame>(`${props.path}/range`, {
    ...rangeParameters(state),
    min: 0.0001,
  });
  const rows = useMemo(() => value && new FlameRows(value, view), [value, view]);
  const sort = sortOf(state);
  const ask = useCallback<AskRows>(
    async (row, offset, limit) =>
      rows?.ask(row, offset, limit, sort.column, sort.isReversed) ?? {
        columns: [],
        count: 0,
        rows: [],
      },
    [rows, sort.column, sort.isReversed],
  );
  const find = useCallback(
    async (pattern: string): Promise<Hits> =>
      rows?.find(matcher(pattern) ?? (() => false), HIT_MAX) ?? { count: 0, hits: [] },
    [rows],
  );
  if (!value) return <p class="status tree">{error ?? "loading…"}</p>;
  return (
    <TreeView
      key={`${view} ${JSON.stringify(sort)} ${JSON.stringify(rangeParameters(state))}`}
      ask={ask}
      find={find}
      {...shared}
    />
  );
}

function Choices(props: ViewProps) {
  const { state, info } = props;
  return (
    <>
      {props.view === "top-down" && (
        <Flag
          state={state}
          name="fold"
          title="Fold recursion"
          hint="fold recursion (r)"
          clears={["open"]}
        />
      )}
      <Waits info={info} state={state} />
      {info.hasLatencies && (
        <Flag state={state} name="p" title="Percentiles" hint="percentiles of call durations (p)" />
      )}
    </>
  );
}

// Which metrics have columns, and which columns are hidden.
function ColumnChooser(props: { info: Info; state: State; columns: Column[]; hasRange: boolean }) {
  const { state, info } = props;
  const shown = state.m === undefined ? defaultMetrics(info, state) : [state.m];
  const more = splitList(state.more);
  const hidden = splitList(state.hide);
  const others = props.hasRange
    ? []
    : info.metrics.filter((metric) => metric.isVisible && !shown.includes(metric.name));
  const flip = (list: string[], name: string, isIn: boolean) =>
    (isIn ? [...list, name] : list.filter((other) => other !== name)).join("\n");
  return (
    <details class="more-columns">
      <summary>Columns</summary>
      <div role="group" aria-label="columns">
        {props.columns.map((column) => (
          <label key={column.name}>
            <input
              type="checkbox"
              checked={!hidden.includes(column.name)}
              onChange={(event) =>
                go({ hide: flip(hidden, column.name, !event.currentTarget.checked) })
              }
            />{" "}
            {columnTitle(column)}
          </label>
        ))}
        {others.length > 0 && <strong>More metrics</strong>}
        {others.map((metric) => (
          <label key={metric.name} class="metric" title={metric.description ?? ""}>
            <input
              type="checkbox"
              checked={more.includes(metric.name)}
              onChange={(event) =>
                go({ more: flip(more, metric.name, event.currentTarget.checked) })
              }
            />{" "}
            {metric.name}
          </label>
        ))}
      </div>
    </details>
  );
}
