// The differential flame graph: the boxes of one side, coloured by what the other side costs.

import { useMemo } from "preact/hooks";
import { FlameView } from "../flame/flame_view";
import { go } from "../shared/state";
import { useAnswer } from "../shared/use_answer";
import { boxRows, changeColor, sideFlame, sideParameters } from "./compare_model";
import type { CompareProps } from "./compare_page";
import type { DiffFlame } from "../../generated/answers";

const LEGEND: [number, number, string][] = [
  [2, 1, "B costs less"],
  [1, 1, "the same"],
  [1, 2, "B costs more"],
];

// `isPart`: of another page, without what it can be searched and saved with.
export function CompareFlame(props: CompareProps & { isPart?: boolean }) {
  const { state } = props;
  const isCallers = state.up === "1";
  const side = state.cw === "a" ? "a" : "b";
  const { value, error, isLoading } = useAnswer<DiffFlame>("diff", {
    ...sideParameters(state, props.sources),
    form: "flame",
    view: isCallers ? "callers" : "tree",
  });
  const shown = useMemo(() => value && sideFlame(value, side), [value, side]);
  if (error && !isLoading) return <p class="status error">{error}</p>;
  if (!value || !shown) return <p class="status">{error ?? "comparing…"}</p>;
  return (
    <>
      <div class="toolbar">
        <label>
          Width{" "}
          <select
            aria-label="width of boxes"
            value={side}
            onChange={(event) => go({ cw: event.currentTarget.value === "a" ? "a" : "" })}
          >
            <option value="b">cost in B: what is new is shown</option>
            <option value="a">cost in A: what is gone is shown</option>
          </select>
        </label>
        <label>
          <input
            type="checkbox"
            checked={isCallers}
            onChange={(event) => go({ up: event.currentTarget.checked ? "1" : "", zoom: "" })}
          />{" "}
          Show callers
        </label>
        {LEGEND.map(([a, b, text]) => (
          <span key={text} class="legend-item">
            <i style={{ background: changeColor(a, b) }} /> {text}
          </span>
        ))}
        {state.zoom && <button onClick={() => go({ zoom: "" })}>Reset zoom</button>}
      </div>
      <div class="fill">
        <FlameView
          flame={shown.flame}
          search={state.q ?? ""}
          isInverted={state.inv === "1"}
          color="function"
          paint={(box) => {
            const node = shown.nodes[box.index];
            return node ? changeColor(node[2], node[3]) : "";
          }}
          explain={(box) => {
            const node = shown.nodes[box.index];
            return node ? boxRows(value, node) : [];
          }}
          {...(props.isPart ? {} : { saveAs: "comparison" })}
          zoom={(state.zoom ?? "").split(".").pop() ?? ""}
          onZoom={(_, path) => go({ zoom: path.join(".") })}
        />
      </div>
    </>
  );
}
