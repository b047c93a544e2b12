// What the views of a database or recording have in common: their source and costs.

import type { Parameters } from "./api";
import { lensParameters } from "./filters";
import { isOn, splitList, type State } from "./state";
import type { Info, Source } from "../../generated/answers";

export interface ViewProps {
  source: Source;
  path: string; // "sources/0"
  info: Info;
  view: string;
  state: State;
}

// The check box for waits is about the default metric.
export const hasWaits = (info: Info, state: State): boolean =>
  info.states.length > 0 && state.m === undefined;

const countsWaits = (info: Info, state: State): boolean =>
  hasWaits(info, state) && isOn(state, "w");

// The metrics that are shown if none is chosen.
export function defaultMetrics(info: Info, state: State): string[] {
  return countsWaits(info, state)
    ? info.states.filter(({ name }) => name !== "running").map(({ metric }) => metric)
    : [info.defaultMetric];
}

// The chosen metric ("": the default), followed by further ones.
export function chosenMetrics(info: Info, state: State): string | string[] | undefined {
  const shown = state.m === undefined ? defaultMetrics(info, state) : [state.m];
  const more = splitList(state.more).filter(
    (name) => !shown.includes(name) && info.metrics.some((metric) => metric.name === name),
  );
  return more.length === 0 ? state.m : [state.m ?? "", ...more];
}

export function costParameters(props: ViewProps): Parameters {
  const { state, info } = props;
  return {
    ...lensParameters(state),
    metric: props.view === "flame" ? state.m : chosenMetrics(info, state),
    waits: countsWaits(info, state) ? 1 : undefined,
    thread: state.t,
    derive:
      props.view !== "flame" && splitList(state.derive).length > 0
        ? splitList(state.derive)
        : undefined,
    percentiles: isOn(state, "p") && info.hasLatencies && props.view !== "flame" ? 1 : undefined,
  };
}
