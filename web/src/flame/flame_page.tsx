// The flame graph with its options.

import { colorMode, colorTitle, modesOf, type ColorMode } from "./flame_colors";
import { FlameOverTime } from "./flame_over_time";
import { PinnedBox } from "./flame_details";
import { useFlame } from "./use_flame";
import { Base } from "../shared/base";
import { ChosenRange, chosenRange } from "../shared/chosen_range";
import { FlameView } from "./flame_view";
import { costParameters, type ViewProps } from "../shared/page";
import { Flag } from "../shared/flag";
import { go, isOn, type State } from "../shared/state";
import { Waits } from "../shared/waits";

// Left-heavy, or by time where the data has times.
function OrderChoice({ state }: { state: State }) {
  return (
    <label title="left-heavy, or in the order of time (k)">
      Order{" "}
      <select
        aria-label="order of boxes"
        value={state.chron ?? ""}
        onChange={(event) => go({ chron: event.currentTarget.value, zoom: "" })}
      >
        <option value="">largest first</option>
        <option value="1">time</option>
      </select>
    </label>
  );
}

function ColorChoice(props: { color: ColorMode; modes: ColorMode[] }) {
  return (
    <label title="what colours mean (c)">
      Colour{" "}
      <select
        aria-label="colour by"
        value={props.color}
        onChange={(event) =>
          go({ col: event.currentTarget.value === "function" ? "" : event.currentTarget.value })
        }
      >
        {props.modes.map((mode) => (
          <option key={mode} value={mode}>
            {colorTitle(mode)}
          </option>
        ))}
      </select>
    </label>
  );
}

export function FlamePage(props: ViewProps) {
  return props.info.hasTimelines && isOn(props.state, "chron") ? (
    <TimeOrdered {...props} />
  ) : (
    <LeftHeavy {...props} />
  );
}

const setPin = (id: string) => go({ box: id }, true);

// Of single calls, modules, languages and waiting are not known.
function TimeOrdered(props: ViewProps) {
  const { state } = props;
  const modes = modesOf(false).filter((mode) => !["module", "language", "code"].includes(mode));
  const color = modes.find((mode) => mode === colorMode(state.col)) ?? "function";
  return (
    <>
      <div class="toolbar">
        <Flag state={state} name="inv" title="Upside down" hint="upside down (i)" />
        <OrderChoice state={state} />
        <ColorChoice color={color} modes={modes} />
        <ChosenRange state={state} info={props.info} />
      </div>
      <div class="fill">
        <FlameOverTime {...props} color={color} />
      </div>
    </>
  );
}

function LeftHeavy(props: ViewProps) {
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
        {props.info.hasTimelines && <OrderChoice state={state} />}
        <ColorChoice color={color} modes={modesOf(hasWaitStates)} />
        {!hasRange && (
          <Flag
            state={state}
            name="up"
            title="Show callers"
            hint="callers instead of callees (u)"
            clears={["zoom", "box"]}
          />
        )}
        {!hasRange && !isCallers && (
          <Flag
            state={state}
            name="skip"
            title="Functions only"
            hint="leave out lines and loops (l)"
            clears={["zoom", "box"]}
          />
        )}
        {!hasRange && !isCallers && (
          <Flag
            state={state}
            name="fold"
            title="Fold recursion"
            hint="fold recursion (r)"
            clears={["zoom", "box"]}
          />
        )}
        {!hasRange && <Waits info={props.info} state={state} />}
        {hasRange && <ChosenRange state={state} info={props.info} />}
        {hasRange && <button onClick={() => go({ v: "top-down", open: "" })}>Table</button>}
        <Base path={props.path} state={state} base={value?.base} />
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
            pin={{
              id: state.box ?? "",
              onChange: setPin,
              show: (box, ids, zoom) => (
                <PinnedBox
                  box={box}
                  flame={value}
                  path={props.path}
                  parameters={costParameters(props)}
                  isContext={!isCallers && !isFolded && /^\d+$/.test(box.id)}
                  ids={ids}
                  onZoom={zoom}
                  onClose={() => setPin("")}
                />
              ),
            }}
            zoom={(state.zoom ?? "").split(".").pop() ?? ""}
            onZoom={(_, path) => go({ zoom: path.join("."), box: "" })}
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
