// One function in all its contexts, between flame graphs of its callers and of what it calls. Without a choice, the
// function with most self cost.

import { Base } from "../shared/base";
import { FunctionActions } from "../shared/names/function_actions";
import { formatPercent, formatValue } from "../shared/format";
import { Name } from "../shared/names/name";
import { shorten } from "../shared/names/names";
import { costParameters, type ViewProps } from "../shared/page";
import { go, type State } from "../shared/state";
import { useAnswer } from "../shared/use_answer";
import type { FunctionDetail, Rows } from "../../generated/answers";
import { OthersList } from "./callers_list";
import { FunctionGraphs } from "./function_graphs";
import { columnTitle, formatPercentile, hasShare } from "./tree_rows";

const LIST_MAX = 400; // functions to choose from
const OTHERS_MAX = 50;

export function SandwichPage(props: ViewProps) {
  const { state } = props;
  const costs = costParameters(props);
  const list = useAnswer<Rows>(`${props.path}/rows`, {
    ...costs,
    view: "bottom-up",
    sort: "exclusive",
    limit: LIST_MAX,
  });
  const bySelf = list.value?.rows ?? [];
  const chosen = state.at ?? bySelf[0]?.context;
  const detail = useAnswer<FunctionDetail>(chosen === undefined ? null : `${props.path}/function`, {
    ...costs,
    row: chosen,
    limit: OTHERS_MAX,
  });
  const { value } = detail;
  if (!value) return <p class="status">{detail.error ?? list.error ?? "loading…"}</p>;
  const choose = (context: string) => go({ at: context, zoom: "", open: "" });
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
        <FunctionActions name={value.function.label} module={value.function.module} state={state} />
        {value.callees.some(({ row }) => row.id === value.function.id) && (
          <label title="calls of the function by itself: what they call is that of the function">
            <input
              type="checkbox"
              checked={isFolded(state)}
              onChange={(event) => go({ fold: event.currentTarget.checked ? "" : UNFOLDED })}
            />{" "}
            Fold recursion
          </label>
        )}
        <Base path={props.path} state={state} base={value.columns[0]?.base} />
      </div>
      <div class="columns">
        <FunctionGraphs
          page={props}
          detail={value}
          context={chosen ?? ""}
          foldsSelf={isFolded(state)}
          onChoose={choose}
        >
          <FunctionHead detail={value} />
        </FunctionGraphs>
        <aside class="panel" aria-label="callers and callees">
          <h3>Callers</h3>
          <OthersList
            others={value.callers}
            columns={value.columns}
            whole={value.function}
            none="no callers"
            title="show this function"
            onOpen={(_, row) => choose(row.context)}
          />
          <h3>Callees</h3>
          <OthersList
            others={value.callees}
            columns={value.columns}
            whole={value.function}
            none="no callees"
            title="show this function"
            onOpen={(_, row) => choose(row.context)}
          />
        </aside>
      </div>
    </>
  );
}

// A recursive function is folded here unless it is asked for: its own boxes would hide all others.
const UNFOLDED = "0";
const isFolded = (state: State): boolean => state.fold !== UNFOLDED;

const quote = (name: string) => `^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;

function FunctionHead({ detail }: { detail: FunctionDetail }) {
  return (
    <h2>
      <Name name={detail.function.label} />
      {detail.columns.map((column, i) => (
        <small key={column.name}>
          {columnTitle(column)}{" "}
          {column.isPercentile
            ? formatPercentile(detail.function.values[i], column) || "unknown"
            : formatValue(detail.function.values[i] ?? 0, column.metric)}{" "}
          {hasShare(column) && formatPercent(detail.function.values[i] ?? 0, column.total)}
        </small>
      ))}
    </h2>
  );
}
