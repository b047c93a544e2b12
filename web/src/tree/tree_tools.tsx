// What the toolbar of the tree table changes: columns, units, the root; and copies of rows.

import { useState } from "preact/hooks";
import type { Parameters } from "../shared/api";
import { COPY_FORMATS, COPY_WHAT, type CopyFormat, type CopyWhat } from "./copy_rows";
import { Derived } from "./derived";
import { Menu } from "../shared/menu";
import { defaultMetrics } from "../shared/page";
import { go, splitList, type State } from "../shared/state";
import { SavedColumns } from "./saved_columns";
import { columnTitle, shownColumns } from "./tree_rows";
import type { Column, ContextDetail, Info, Rows } from "../../generated/answers";
import { UNIT_MODES, unitMode } from "../shared/units";
import { useAnswer } from "../shared/use_answer";

// Which metrics have columns, and which columns are hidden.
export function ColumnChooser(props: {
  path: string; // of the source
  info: Info;
  state: State;
  columns: Column[];
  hasRange: boolean;
}) {
  const { state, info } = props;
  const shown = state.m === undefined ? defaultMetrics(info, state) : [state.m];
  const more = splitList(state.more);
  const hidden = splitList(state.hide);
  const others = props.hasRange
    ? []
    : info.metrics.filter((metric) => metric.isVisible && !shown.includes(metric.name));
  const order = splitList(state.cols);
  const ordered = shownColumns(props.columns, { hidden: new Set(), order, mode: "auto" }).map(
    ({ column }) => column,
  );
  const move = (i: number) => {
    const names = ordered.map((column) => column.name);
    names.splice(i - 1, 0, ...names.splice(i, 1));
    go({ cols: names.join("\n") });
  };
  const flip = (list: string[], name: string, isIn: boolean) =>
    (isIn ? [...list, name] : list.filter((other) => other !== name)).join("\n");
  return (
    <Menu title="Columns" label="columns">
      {ordered.map((column, i) => (
        <label key={column.name} class="column-choice">
          <input
            type="checkbox"
            checked={!hidden.includes(column.name)}
            onChange={(event) =>
              go({ hide: flip(hidden, column.name, !event.currentTarget.checked) })
            }
          />{" "}
          {columnTitle(column)}
          <span class="space" />
          <MoveButton isFirst={i === 0} onMove={() => move(i)} title={columnTitle(column)} />
        </label>
      ))}
      {others.length > 0 && <strong>More metrics</strong>}
      {others.map((metric) => (
        <label key={metric.name} class="metric" title={metric.description ?? ""}>
          <input
            type="checkbox"
            checked={more.includes(metric.name)}
            onChange={(event) => go({ more: flip(more, metric.name, event.currentTarget.checked) })}
          />{" "}
          {metric.name}
        </label>
      ))}
      {!props.hasRange && <Derived path={props.path} state={state} />}
      {!props.hasRange && <SavedColumns info={info} state={state} />}
    </Menu>
  );
}

function MoveButton(props: { isFirst: boolean; title: string; onMove: () => void }) {
  return (
    <button
      disabled={props.isFirst}
      aria-label={`move ${props.title} to the left`}
      title="move to the left"
      onClick={(event) => {
        event.preventDefault();
        props.onMove();
      }}
    >
      ←
    </button>
  );
}

export function UnitChooser(props: { state: State }) {
  return (
    <label>
      Unit{" "}
      <select
        aria-label="unit of values"
        value={unitMode(props.state.unit)}
        onChange={(event) =>
          go({ unit: event.currentTarget.value === "auto" ? "" : event.currentTarget.value })
        }
      >
        {UNIT_MODES.map((mode) => (
          <option key={mode}>{mode}</option>
        ))}
      </select>
    </label>
  );
}

export function CopyMenu(props: { print: (what: CopyWhat, format: CopyFormat) => string }) {
  const [said, setSaid] = useState("");
  const copy = async (what: CopyWhat, format: CopyFormat) => {
    const text = props.print(what, format);
    const rows = text.split("\n").length - (format === "markdown" ? 3 : 2);
    if (rows < 1) return setSaid("select a row first");
    await navigator.clipboard.writeText(text).then(
      () => setSaid(`copied ${rows.toLocaleString("en-US")} ${rows === 1 ? "row" : "rows"}`),
      () => setSaid("the browser does not allow to copy"),
    );
  };
  return (
    <Menu title="Copy" label="copy" onToggle={() => setSaid("")}>
      {COPY_WHAT.map((what) => (
        <span key={what} class="column-choice">
          {what === "stack" ? "stack of the row" : what === "table" ? "open rows" : "selected row"}
          <span class="space" />
          {COPY_FORMATS.map((format) => (
            <button
              key={format}
              aria-label={`copy the ${what} as ${format}`}
              onClick={() => void copy(what, format)}
            >
              {format}
            </button>
          ))}
        </span>
      ))}
      <span role="status">{said}</span>
    </Menu>
  );
}

interface RootProps {
  path: string; // of the source
  view: string;
  root: string[];
  parameters: Parameters;
}

// The row that is shown as the root, and the way back.
export function RootPath(props: RootProps) {
  return (
    <nav class="toolbar crumbs" aria-label="root of the tree">
      <button onClick={() => go({ root: "" })}>Whole tree</button>
      <button onClick={() => go({ root: props.root.slice(0, -1).join(".") })}>
        Up (Backspace)
      </button>
      <span class="status">
        {props.view === "top-down" ? <ContextPath {...props} /> : <RowPath {...props} />}
      </span>
    </nav>
  );
}

function ContextPath(props: RootProps) {
  const { value } = useAnswer<ContextDetail>(`${props.path}/context`, {
    ...props.parameters,
    view: "top-down",
    row: props.root[props.root.length - 1],
  });
  return <>{value?.path.map((step) => step.label).join(" › ")}</>;
}

// Rows of other views are few from the top down: each is asked for its name.
function RowPath(props: RootProps) {
  return (
    <>
      {props.root.map((id, i) => (
        <span key={id}>
          {i > 0 && " › "}
          <RowName {...props} id={id} />
        </span>
      ))}
    </>
  );
}

function RowName(props: RootProps & { id: string }) {
  const { value, error } = useAnswer<Rows>(`${props.path}/rows`, {
    ...props.parameters,
    view: props.view,
    row: props.id,
    limit: 1,
  });
  return <>{value?.label ?? error ?? "…"}</>;
}
