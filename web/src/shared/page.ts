// What the views of a database or recording have in common: their source and costs.

import type { Parameters } from "./api";
import { isOn, type State } from "./state";
import type { Info, Source } from "./types";

export interface ViewProps {
  source: Source;
  path: string; // "sources/0"
  info: Info;
  view: string;
  state: State;
}

// Names in the address, one per line.
export function splitList(text: string | undefined): string[] {
  return (text ?? "").split("\n").filter((name) => name !== "");
}

// The chosen metric, followed by further ones.
export function chosenMetrics(info: Info, state: State): string | string[] | undefined {
  const first = state.m ?? info.metrics.find((metric) => metric.isVisible)?.name;
  const more = splitList(state.more).filter(
    (name) => name !== first && info.metrics.some((metric) => metric.name === name),
  );
  return first === undefined || more.length === 0 ? state.m : [first, ...more];
}

export function costParameters(props: ViewProps): Parameters {
  const { state, info } = props;
  return {
    metric: props.view === "flame" ? state.m : chosenMetrics(info, state),
    thread: state.t,
    percentiles: isOn(state, "p") && info.hasLatencies && props.view !== "flame" ? 1 : undefined,
  };
}
