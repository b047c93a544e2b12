// The flame graph of the matching traces; a box leads to its traces.

import { useCallback } from "preact/hooks";
import type { Box } from "../flame/flame_layout";
import { FlameView } from "../flame/flame_view";
import { Flag } from "../shared/flag";
import { useLive } from "./live";
import { NoMatches } from "./no_matches";
import { toggle } from "./query_language";
import { quote } from "./query_text";
import { Service, useServiceColor } from "./service_colors";
import { go, isOn, type State } from "../shared/state";
import type { Flame, TraceFlame } from "../../generated/answers";
import { useAnswer } from "../shared/use_answer";

interface Props {
  path: string;
  state: State;
}

const LIMITS = ["100", "500", "2000"];

function nameOf(flame: Flame, id: string): string | null {
  const node = flame.nodes.find((one) => one[5] === id);
  return node ? (flame.names[node[1]] ?? null) : null;
}

export function HitsFlame(props: Props) {
  const { state } = props;
  const limit = state.most ?? "500";
  const { value, error } = useAnswer<TraceFlame>(
    `${props.path}/flame`,
    { q: state.q, limit },
    undefined,
    useLive(state),
  );
  const color = useServiceColor();
  const paint = useCallback((box: Box) => color(box.module), [color]);
  const zoom = state.zoom ?? "";
  const zoomed = value && zoom !== "" ? nameOf(value, zoom) : null;
  const showTraces = (method: string) =>
    go({
      v: "",
      zoom: "",
      top: "",
      row: "",
      q: toggle(state.q ?? "", `method = ${quote(method)}`),
    });
  return (
    <>
      <div class="toolbar">
        <label>
          The{" "}
          <select
            aria-label="how many traces"
            value={limit}
            onChange={(event) => go({ most: event.currentTarget.value, zoom: "" })}
          >
            {LIMITS.map((count) => (
              <option key={count}>{count}</option>
            ))}
          </select>{" "}
          longest matching traces
        </label>
        {value?.isPartial && <span class="status">{value.traceCount} so far</span>}
        <input
          type="search"
          placeholder="method"
          aria-label="find a method in the flame graph, a regular expression"
          value={state.find ?? ""}
          onInput={(event) => go({ find: event.currentTarget.value }, true)}
        />
        <Flag state={state} name="inv" title="Upside down" />
        {zoomed !== null && (
          <>
            <button onClick={() => showTraces(zoomed)}>Traces that call {zoomed}</button>
            <button onClick={() => go({ zoom: "" })}>Reset zoom</button>
          </>
        )}
      </div>
      {value && (
        <p class="flame-services">
          {value.modules
            .filter((name) => name !== "")
            .map((name) => (
              <Service key={name} name={name} />
            ))}
        </p>
      )}
      <div class="scroll">
        {value?.hitCount === 0 ? (
          <NoMatches state={state} />
        ) : value ? (
          <FlameView
            flame={value}
            search={state.find ?? ""}
            isInverted={isOn(state, "inv")}
            color="function"
            paint={paint}
            zoom={zoom}
            onZoom={(id) => go({ zoom: id })}
            onOpen={(id) => showTraces(nameOf(value, id) ?? "")}
          />
        ) : (
          <p class="status">{error ?? "loading…"}</p>
        )}
      </div>
    </>
  );
}
