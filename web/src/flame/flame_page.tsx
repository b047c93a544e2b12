// The flame graph with its choices.

import { useFlame } from "./use_flame";
import { ChosenRange, chosenRange } from "../shared/chosen_range";
import { FlameView } from "./flame_view";
import type { ViewProps } from "../shared/page";
import { go } from "../shared/state";

export function FlamePage(props: ViewProps) {
  const { state } = props;
  const hasRange = chosenRange(state) !== null;
  const { value, error } = useFlame(props);
  const isCallers = state["up"] === "1" && !hasRange;
  const isFolded = state["fold"] === "1" && !hasRange && !isCallers;
  const flag = (name: string, title: string, key: string) => (
    <label title={`${title} (${key})`}>
      <input
        type="checkbox"
        checked={state[name] === "1"}
        onChange={(event) =>
          go({
            [name]: event.currentTarget.checked ? "1" : "",
            ...(name === "up" || name === "fold" ? { zoom: "" } : {}),
          })
        }
      />{" "}
      {title}
    </label>
  );
  return (
    <main>
      <div class="toolbar">
        {flag("inv", "upside down", "i")}
        {flag("mod", "colour by module", "c")}
        {!hasRange && flag("up", "callers instead of callees", "u")}
        {!hasRange && !isCallers && flag("fold", "fold recursion", "r")}
        {hasRange && <ChosenRange state={state} />}
        {hasRange && <button onClick={() => go({ v: "top-down", open: "" })}>table of it</button>}
        {state["zoom"] && <button onClick={() => go({ zoom: "" })}>show all</button>}
      </div>
      <div class="scroll">
        {value ? (
          <FlameView
            flame={value}
            search={state["q"] ?? ""}
            isInverted={state["inv"] === "1"}
            byModule={state["mod"] === "1"}
            zoom={(state["zoom"] ?? "").split(".").pop() ?? ""}
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
    </main>
  );
}
