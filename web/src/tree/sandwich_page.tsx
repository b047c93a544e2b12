// One function in all its contexts: its callers above, its callees below. Without a choice, the
// function with most self cost.

import { useCallback, useRef } from "preact/hooks";
import { getWhenReady, type Parameters } from "../shared/api";
import { Base } from "../shared/base";
import { formatPercent, formatValue } from "../shared/format";
import { shorten } from "../shared/names";
import { costParameters, splitList, type ViewProps } from "../shared/page";
import { flag, go, isOn } from "../shared/state";
import type { FunctionDetail, Rows } from "../../generated/answers";
import { unitMode } from "../shared/units";
import { useAnswer } from "../shared/use_answer";
import { OthersList } from "./callers_list";
import { columnTitle, formatPercentile, hasShare, type Sort } from "./tree_rows";
import { TreeView } from "./tree_view";
import type { AskRows } from "./use_tree";

const LIST_MAX = 400; // functions to choose from

export function SandwichPage(props: ViewProps) {
  const { state } = props;
  const costs = costParameters(props);
  const list = useAnswer<Rows>(`${props.path}/rows`, {
    ...costs,
    view: "bottom-up",
    limit: LIST_MAX,
  });
  const self = list.value?.columns.findIndex((column) => column.side === "exclusive") ?? -1;
  const bySelf = [...(list.value?.rows ?? [])].sort(
    (a, b) => (b.values[self] ?? 0) - (a.values[self] ?? 0),
  );
  const chosen = state.at ?? bySelf[0]?.context;
  const detail = useAnswer<FunctionDetail>(chosen === undefined ? null : `${props.path}/function`, {
    ...costs,
    row: chosen,
    limit: 200,
  });
  const { value } = detail;
  const choose = (context: string) => go({ at: context, open: "" });
  if (!value) return <p class="status">{detail.error ?? list.error ?? "loading…"}</p>;
  return (
    <>
      <div class="toolbar">
        <label>
          Function{" "}
          <select
            class="functions"
            aria-label="function"
            value={bySelf.find((row) => row.id === value.function.id)?.context ?? ""}
            onChange={(event) => choose(event.currentTarget.value)}
          >
            {!bySelf.some((row) => row.id === value.function.id) && (
              <option value="">{shorten(value.function.label, 60)}</option>
            )}
            {bySelf.map((row) => (
              <option key={row.id} value={row.context}>
                {shorten(row.label, 60)}
              </option>
            ))}
          </select>
        </label>
        <button onClick={() => go({ v: "top-down", open: "", q: quote(value.function.label) })}>
          All contexts
        </button>
        <Base base={value.columns[0]?.base} />
      </div>
      <div class="sandwich">
        <h2>Callers</h2>
        <Callers {...props} costs={costs} id={value.function.id} />
        <h2 class="middle" title={value.function.label}>
          {shorten(value.function.label, 100)}
          {value.columns.map((column, i) => (
            <small key={column.name}>
              {columnTitle(column)}{" "}
              {column.isPercentile
                ? formatPercentile(value.function.values[i], column) || "unknown"
                : formatValue(value.function.values[i] ?? 0, column.metric)}{" "}
              {hasShare(column) && formatPercent(value.function.values[i] ?? 0, column.total)}
            </small>
          ))}
        </h2>
        <h2>Callees</h2>
        <div class="callees">
          <OthersList
            others={value.callees}
            columns={value.columns}
            whole={value.function}
            none="no callees"
            title="show this function"
            onOpen={(_, row) => choose(row.context)}
          />
        </div>
      </div>
    </>
  );
}

const quote = (name: string) => `^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;

// The bottom-up tree of one function.
function Callers(props: ViewProps & { costs: Parameters; id: string }) {
  const { state, costs } = props;
  const sort: Sort = { column: state.sort ?? "", isReversed: isOn(state, "rev") };
  const parameters: Parameters = {
    ...costs,
    view: "bottom-up",
    sort: state.sort,
    reverse: state.rev,
  };
  const key = JSON.stringify([props.path, parameters, props.id]);
  const ask = useCallback<AskRows>(
    (row, offset, limit, waiting) =>
      getWhenReady<Rows>(
        `${props.path}/rows`,
        { ...parameters, row: row ?? props.id, offset, limit },
        waiting,
      ),
    [key],
  );
  const copies = useRef(null);
  return (
    <TreeView
      key={key}
      ask={ask}
      open=""
      search=""
      sort={sort}
      layout={{
        hidden: new Set(splitList(state.hide)),
        order: splitList(state.cols),
        mode: unitMode(state.unit),
      }}
      isSkipping={false}
      copies={copies}
      none="no callers"
      onSelect={() => undefined}
      onRoot={() => undefined}
      onSort={(next) => go({ sort: next.column, rev: flag(next.isReversed) })}
      onColumns={() => undefined}
      onRow={() => undefined}
      onOpenRow={(row) => go({ at: row.context })}
    />
  );
}
