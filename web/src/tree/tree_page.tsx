// The tree table with its options, and the panel of the selected row.

import { useCallback, useRef, useState } from "preact/hooks";
import { getWhenReady, type Parameters, type Waiting } from "../shared/api";
import { Base } from "../shared/base";
import { ChosenRange, chosenRange, rangeParameters } from "../shared/chosen_range";
import { ContextPanel } from "./context_panel";
import { useIsWide } from "../shared/narrow";
import { costParameters, type ViewProps } from "../shared/page";
import { Flag } from "../shared/flag";
import { flag, go, isOn, splitList, type State } from "../shared/state";
import type { CopyFormat, CopyWhat } from "./copy_rows";
import { ColumnChooser, CopyMenu, RootPath, UnitChooser } from "./tree_tools";
import type { Sort } from "./tree_rows";
import { TreeView, type TreeProps } from "./tree_view";
import type { Column, Hits, Row, Rows } from "../../generated/answers";
import { unitMode } from "../shared/units";
import { Waits } from "../shared/waits";
import type { AskRows } from "./use_tree";

const HIT_MAX = 500;
const CLOSED = "0"; // the source, which is shown at first where there is room for it

interface Chosen {
  row: Row;
  columns: Column[];
}

// A time range has one metric, whatever is sorted by otherwise.
const sideOf = (column: string | undefined) =>
  column?.endsWith("exclusive") ? "exclusive" : undefined;

// Functions are sorted by self cost, calling contexts by total.
const defaultSort = (view: string): string => (view === "top-down" ? "" : "exclusive");

const sortOf = (state: State, view: string): Sort => ({
  column: state.sort ?? defaultSort(view),
  isReversed: isOn(state, "rev"),
});

// The flat view is a list of functions, or has them by module and file, or by language.
const GROUPS: Record<string, string> = { module: "flat", language: "languages" };
const isGrouped = (state: State): boolean => (state.grp ?? "") in GROUPS;

export function TreePage(props: ViewProps) {
  const { state, view } = props;
  const [columns, setColumns] = useState<Column[]>([]);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const hasRange = chosenRange(state) !== null;
  const isWide = useIsWide();
  const root = (state.root ?? "").split(".").filter((id) => id !== "");
  const copies = useRef<((what: CopyWhat, format: CopyFormat) => string) | null>(null);
  const isList = view === "flat" && !isGrouped(state);
  const served =
    view === "top-down" && isOn(state, "fold") && !hasRange
      ? "collapsed"
      : isList
        ? "bottom-up"
        : view === "flat"
          ? (GROUPS[state.grp ?? ""] ?? view)
          : view;
  const shared = {
    open: below(root, state.open ?? ""),
    search: state.q ?? "",
    sort: sortOf(state, view),
    isList,
    startsClosed: view === "bottom-up" || isList || state.grp === "language",
    layout: {
      hidden: new Set(splitList(state.hide)),
      order: splitList(state.cols),
      mode: unitMode(state.unit),
    },
    isSkipping: isOn(state, "skip"),
    copies,
    onSelect: (path: string[]) => go({ open: [...root, ...path].join(".") }, true),
    onRoot: (path: string[] | null) =>
      go({ root: (path ? [...root, ...path] : root.slice(0, -1)).join(".") }),
    onOpenRow: (row: Row) => go({ v: "sandwich", at: row.context, open: "", root: "" }),
    onSort: (sort: Sort) => go({ sort: sort.column, rev: flag(sort.isReversed) }),
    onColumns: setColumns,
    onRow: (row: Row | null, of: Column[]) => setChosen(row && { row, columns: of }),
  };
  return (
    <>
      <div class="toolbar">
        {hasRange ? <ChosenRange state={state} info={props.info} /> : <Choices {...props} />}
        <ColumnChooser
          path={props.path}
          info={props.info}
          state={state}
          columns={columns}
          hasRange={hasRange}
        />
        <UnitChooser state={state} />
        <CopyMenu print={(what, format) => copies.current?.(what, format) ?? ""} />
        <Base path={props.path} state={state} base={columns[0]?.base} />
      </div>
      {root.length > 0 && !hasRange && (
        <RootPath path={props.path} view={served} root={root} parameters={costParameters(props)} />
      )}
      <div class="columns">
        <ServedTree {...props} served={served} shared={shared} />
        {chosen && (state.open || isWide) && (
          <ContextPanel
            page={props}
            isBeside={isWide}
            isSelected={Boolean(state.open)}
            parameters={hasRange ? rangeParameters(state) : costParameters(props)}
            row={chosen.row}
            columns={chosen.columns}
            isContext={served === "top-down"}
            isRange={hasRange}
            withSource={isWide && !state.src ? null : isOn(state, "src")}
            withAssembly={isOn(state, "asm")}
            isSorted={state.plot === "sorted"}
            onOpen={(path) => go({ v: "top-down", fold: "", open: path.join(".") })}
            onChange={(change) =>
              go(
                {
                  ...(change.withSource === undefined
                    ? {}
                    : { src: flag(change.withSource) || (isWide ? CLOSED : "") }),
                  ...(change.withAssembly === undefined ? {} : { asm: flag(change.withAssembly) }),
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

function ServedTree(props: ViewProps & { served: string; shared: Shared }) {
  const { shared, state } = props;
  const hasRange = chosenRange(state) !== null;
  const parameters: Parameters = {
    ...(hasRange ? rangeParameters(state) : costParameters(props)),
    view: props.served,
    sort: hasRange
      ? sideOf(state.sort ?? defaultSort(props.view))
      : (state.sort ?? (defaultSort(props.view) || undefined)),
    reverse: state.rev,
    skip: isOn(state, "skip") ? 1 : undefined,
  };
  const top = (!hasRange && (state.root ?? "").split(".").pop()) || undefined;
  const key = JSON.stringify([props.path, parameters, top]);
  const ask = useCallback<AskRows>(
    (row, offset, limit, waiting) =>
      getWhenReady<Rows>(
        `${props.path}/rows`,
        { ...parameters, row: row ?? top, offset, limit },
        waiting,
      ),
    [key],
  );
  const find = useCallback(
    (pattern: string, waiting: Waiting) =>
      getWhenReady<Hits>(
        `${props.path}/search`,
        { ...parameters, reverse: undefined, q: pattern, limit: HIT_MAX },
        waiting,
      ),
    [key],
  );
  return <TreeView key={key} ask={ask} find={find} {...shared} />;
}

// A path from the top, as one from the root; "" if it is elsewhere.
function below(root: string[], open: string): string {
  const path = open === "" ? [] : open.split(".");
  return root.every((id, i) => path[i] === id) ? path.slice(root.length).join(".") : "";
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
      {props.view === "flat" && (
        <label title="functions by module and file, by language, or as a list">
          Group{" "}
          <select
            aria-label="group functions by"
            value={state.grp ?? ""}
            onChange={(event) => go({ grp: event.currentTarget.value, open: "", root: "" })}
          >
            <option value="">none</option>
            <option value="module">module and file</option>
            <option value="language">language</option>
          </select>
        </label>
      )}
      {(props.view === "top-down" || (props.view === "flat" && isGrouped(state))) && (
        <Flag
          state={state}
          name="skip"
          title="Functions only"
          hint="leave out rows of lines and loops (l)"
          clears={["root"]}
        />
      )}
      <Waits info={info} state={state} />
      {info.hasLatencies && (
        <Flag state={state} name="p" title="Percentiles" hint="percentiles of call durations (p)" />
      )}
    </>
  );
}
