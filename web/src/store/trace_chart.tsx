// The calls of a trace over time. Zooming into a call loads the short calls inside it.

import { FlameView } from "../flame/flame_view";
import { go, type State } from "../shared/state";
import type { Trace } from "./store_types";
import { TimeAxis } from "../shared/time_axis";
import { callInState, traceFlame } from "./trace_model";
import { useAnswer } from "../shared/use_answer";

const BOX_MIN = 4000; // calls shorter than width / BOX_MIN are not drawn
const BOXES = 20000;

interface Props {
  path: string;
  traceKey: string;
  trace: Trace; // its first part
  state: State;
}

export function TraceChart(props: Props) {
  const zoom = props.state.zoom ?? "";
  const loaded =
    props.trace.nodes.find((node) => String(node.node) === zoom) ?? props.trace.nodes[0];
  const { value, error } = useAnswer<Trace>(`${props.path}/trace`, {
    key: props.traceKey,
    node: zoom,
    min: Math.floor((loaded?.duration ?? 0) / BOX_MIN),
    limit: BOXES,
  });
  const first = value?.nodes[0];
  if (!value || !first) return <p class="status">{error ?? "loading…"}</p>;
  const up = value.path[value.path.length - 1];
  return (
    <div class="scroll">
      <div class="toolbar">
        {up !== undefined && (
          <>
            <button onClick={() => go({ zoom: up === 0 ? "" : String(up) })}>Zoom to caller</button>
            <button onClick={() => go({ zoom: "" })}>Reset zoom</button>
          </>
        )}
        <span class="status">{up === undefined ? "click a call to zoom in" : first.method}</span>
      </div>
      <TimeAxis begin={first.start} span={first.duration} />
      <FlameView
        flame={traceFlame(value.nodes)}
        search={props.state.find ?? ""}
        isInverted={false}
        color="function"
        zoom=""
        onZoom={(id) =>
          go({
            zoom: callInState(Number(id)),
            ...(id === "" ? {} : { call: callInState(Number(id)) }),
          })
        }
        onOpen={(id) => go({ tab: "calls", call: callInState(Number(id)) })}
      />
    </div>
  );
}
