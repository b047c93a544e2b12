// The flame graph with its options.

import { useFlame } from "./use_flame";
import { ChosenRange, chosenRange } from "../shared/chosen_range";
import { FlameView } from "./flame_view";
import type { ViewProps } from "../shared/page";
import { Flag } from "../shared/flag";
import { go, isOn } from "../shared/state";
import { Waits } from "../shared/waits";

export function FlamePage(props: ViewProps) {
  const { state } = props;
  const hasRange = chosenRange(state) !== null;
  const { value, error } = useFlame(props);
  const isCallers = isOn(state, "up") && !hasRange;
  const isFolded = isOn(state, "fold") && !hasRange && !isCallers;
  return (
    <>
      <div class="toolbar">
        <Flag state={state} name="inv" title="Upside down" hint="upside down (i)" />
        <Flag state={state} name="mod" title="Colour by module" hint="colour by module (c)" />
        {!hasRange && (
          <Flag
            state={state}
            name="up"
            title="Show callers"
            hint="callers instead of callees (u)"
            clears={["zoom"]}
          />
        )}
        {!hasRange && !isCallers && (
          <Flag
            state={state}
            name="fold"
            title="Fold recursion"
            hint="fold recursion (r)"
            clears={["zoom"]}
          />
        )}
        {!hasRange && <Waits info={props.info} state={state} />}
        {hasRange && <ChosenRange state={state} info={props.info} />}
        {hasRange && <button onClick={() => go({ v: "top-down", open: "" })}>Table</button>}
        {state.zoom && <button onClick={() => go({ zoom: "" })}>Reset zoom</button>}
      </div>
      <div class="scroll">
        {value ? (
          <FlameView
            flame={value}
            search={state.q ?? ""}
            isInverted={isOn(state, "inv")}
            byModule={isOn(state, "mod")}
            zoom={(state.zoom ?? "").split(".").pop() ?? ""}
            onZoom={(_, path) => go({ zoom: path.join(".") })}
            {...(isCallers || isFolded
              ? {}
              : {
                  onOpen: (_: string, path: string[]) =>
                    go({ v: "top-down", open: path.join(".") }),
                })}
          />
        ) : (
          <p class="status">{error ?? "loading…"}</p>
        )}
      </div>
    </>
  );
}
