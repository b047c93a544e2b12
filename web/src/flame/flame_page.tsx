// The flame graph with its options.

import { colorMode, modesOf } from "./flame_colors";
import { PinnedBox } from "./flame_details";
import { useFlame } from "./use_flame";
import { ChosenRange, chosenRange } from "../shared/chosen_range";
import { FlameView } from "./flame_view";
import { costParameters, type ViewProps } from "../shared/page";
import { Flag } from "../shared/flag";
import { go, isOn } from "../shared/state";
import { Waits } from "../shared/waits";

export function FlamePage(props: ViewProps) {
  const { state } = props;
  const hasRange = chosenRange(state) !== null;
  const { value, error } = useFlame(props);
  const hasWaitStates = value?.waits !== undefined;
  const chosenColor = colorMode(state.col);
  const color = chosenColor === "waiting" && !hasWaitStates ? "function" : chosenColor;
  const isCallers = isOn(state, "up") && !hasRange;
  const isFolded = isOn(state, "fold") && !hasRange && !isCallers;
  return (
    <>
      <div class="toolbar">
        <Flag state={state} name="inv" title="Upside down" hint="upside down (i)" />
        <label title="what colours mean (c)">
          Colour{" "}
          <select
            aria-label="colour by"
            value={color}
            onChange={(event) =>
              go({ col: event.currentTarget.value === "function" ? "" : event.currentTarget.value })
            }
          >
            {modesOf(hasWaitStates).map((mode) => (
              <option key={mode} value={mode}>
                {mode === "self" ? "self share" : mode}
              </option>
            ))}
          </select>
        </label>
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
            name="skip"
            title="Functions only"
            hint="leave out lines and loops (l)"
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
        {value?.isPartial && <span class="status">estimate; reading the rest…</span>}
        {state.zoom && <button onClick={() => go({ zoom: "" })}>Reset zoom</button>}
      </div>
      <div class="fill">
        {value ? (
          <FlameView
            flame={value}
            search={state.q ?? ""}
            isInverted={isOn(state, "inv")}
            color={color}
            saveAs={`${props.source.name}-flame`}
            pin={(box, ids, zoom, close) => (
              <PinnedBox
                box={box}
                flame={value}
                path={props.path}
                parameters={costParameters(props)}
                isContext={!isCallers && !isFolded && /^\d+$/.test(box.id)}
                ids={ids}
                onZoom={zoom}
                onClose={close}
              />
            )}
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
