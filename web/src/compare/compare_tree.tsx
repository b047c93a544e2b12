// Trees of a comparison: both sides, difference, ratio and share in columns.

import { useCallback, useRef } from "preact/hooks";
import { getWhenReady } from "../shared/api";
import { go, splitList } from "../shared/state";
import { unitMode } from "../shared/units";
import { TreeView } from "../tree/tree_view";
import type { AskRows } from "../tree/use_tree";
import { diffRows, sideParameters } from "./compare_model";
import type { CompareProps } from "./compare_page";
import type { DiffRows } from "../../generated/answers";

export function CompareTree(props: CompareProps & { form: "tree" | "flat" | "callers" }) {
  const { state, form } = props;
  const parameters = { ...sideParameters(state, props.sources), form };
  const key = JSON.stringify(parameters);
  const ask = useCallback<AskRows>(
    async (row, offset, limit, waiting) =>
      diffRows(
        await getWhenReady<DiffRows>("diff", { ...parameters, row, offset, limit }, waiting),
      ),
    [key],
  );
  const copies = useRef(null);
  return (
    <div class="columns">
      <TreeView
        key={key}
        ask={ask}
        open={state.open ?? ""}
        search=""
        sort={{ column: "difference", isReversed: false }}
        layout={{
          hidden: new Set(splitList(state.hide)),
          order: [],
          mode: unitMode(state.unit) === "%" ? "auto" : unitMode(state.unit),
        }}
        isSkipping={false}
        copies={copies}
        none="nothing changed"
        onSelect={(path) => go({ open: path.join(".") }, true)}
        onRoot={() => undefined}
        onSort={() => undefined}
        onColumns={() => undefined}
        onRow={() => undefined}
      />
    </div>
  );
}
