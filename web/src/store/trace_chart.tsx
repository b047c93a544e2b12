// The calls of a trace over time, of all services. Zooming into a call loads the short calls inside it.

import { useMemo } from "preact/hooks";
import type { Box } from "../flame/flame_layout";
import { FlameView } from "../flame/flame_view";
import { countOf } from "../shared/format";
import { go, type State } from "../shared/state";
import type { Chart, Trace } from "../../generated/answers";
import { TimeAxis } from "../shared/time_axis";
import { ServiceLegend, serviceColor } from "./service_legend";
import { callInState, chartFlame, traceFlame } from "./trace_model";
import { useSpans } from "./trace_spans";
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
  const { value, error } = useAnswer<Chart>(`${props.path}/chart`, { key: props.traceKey });
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  const isMany = value.spans.length > 1 || value.services.length > 1;
  return isMany && !props.state.zoom ? (
    <AllServices {...props} chart={value} />
  ) : (
    <OneSpan {...props} isMany={isMany} />
  );
}

const paintService = (box: Box): string => serviceColor(box.module);

// The spans of a request, of all services, on one axis.
function AllServices(props: Props & { chart: Chart }) {
  const { chart } = props;
  const spans = useSpans(props.path, props.trace);
  const flame = useMemo(() => chartFlame(chart), [chart]);
  const services = [...new Set(flame.modules)];
  const keys = new Map(spans.value?.spans.map((row) => [row.span, row.key]));
  const show = (id: string, view: { tab?: string; zoom?: string }) => {
    const [span, node] = id.split(".").map(Number);
    const key = keys.get(chart.spans[span ?? 0]?.span ?? null);
    if (key !== undefined) go({ key, call: callInState(node ?? 0), ...view });
  };
  return (
    <div class="scroll">
      <div class="toolbar">
        <span class="status">
          {spans.value && `${countOf(spans.value.count, "span")} of `}
          {countOf(services.length, "service")}; click a call to zoom into its span
          {chart.count > chart.calls.length &&
            ` · the first ${chart.calls.length.toLocaleString("en-US")} of ${chart.count.toLocaleString("en-US")} calls`}
          <ServiceLegend services={services} />
        </span>
      </div>
      <TimeAxis begin={0} span={chart.duration} />
      <FlameView
        flame={flame}
        search={props.state.find ?? ""}
        isInverted={false}
        color="function"
        paint={paintService}
        zoom=""
        onZoom={(id) => id !== "" && show(id, { zoom: id.split(".")[1] ?? "0" })}
        onOpen={(id) => show(id, { tab: "calls" })}
      />
    </div>
  );
}

function OneSpan(props: Props & { isMany: boolean }) {
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
  const top = props.isMany ? "0" : ""; // of this span
  return (
    <div class="scroll">
      <div class="toolbar">
        {up !== undefined && (
          <button onClick={() => go({ zoom: up === 0 ? top : String(up) })}>Zoom to caller</button>
        )}
        {(up !== undefined || props.isMany) && (
          <button onClick={() => go({ zoom: "" })}>
            {props.isMany ? "All services" : "Reset zoom"}
          </button>
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
            zoom: callInState(Number(id)) || top,
            ...(id === "" ? {} : { call: callInState(Number(id)) }),
          })
        }
        onOpen={(id) => go({ tab: "calls", call: callInState(Number(id)) })}
      />
    </div>
  );
}
