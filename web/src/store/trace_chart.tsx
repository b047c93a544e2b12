// The calls of a trace over time. A call that fills the width is asked for again, so that
// the short ones inside it come to light.

import { FlameView } from "../flame/flame_view";
import { go, type State } from "../shared/state";
import type { Trace } from "./store_types";
import { TimeAxis } from "../shared/time_axis";
import { callInState, traceFlame } from "./trace_model";
import { useAnswer } from "../shared/use_answer";

const BOX_MIN = 4000; // a call is drawn when it is at least this part of the width
const BOXES = 20000;

interface Props {
  path: string;
  traceKey: string;
  trace: Trace; // its first piece
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
            <button onClick={() => go({ zoom: up === 0 ? "" : String(up) })}>
              up to its caller
            </button>
            <button onClick={() => go({ zoom: "" })}>show all</button>
          </>
        )}
        <span class="status">
          {up === undefined ? "click a call to see it closer" : first.method}
        </span>
      </div>
      <TimeAxis begin={first.start} span={first.duration} />
      <FlameView
        flame={traceFlame(value.nodes)}
        search={props.state.find ?? ""}
        isInverted={false}
        byModule={false}
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
