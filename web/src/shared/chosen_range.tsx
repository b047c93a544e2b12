// The time range and the threads that are selected in the timeline: trees and the flame graph show
// exactly these until the selection is cleared.

import type { Parameters } from "./api";
import { formatNs } from "./format";
import { lensParameters } from "./filters";
import type { Range } from "./range";
import { go, linkTo, type State } from "./state";
import type { Info } from "../../generated/answers";

export function chosenRange(state: State): Range | null {
  if (state.b === undefined || state.e === undefined) return null;
  return { begin: Number(state.b), end: Number(state.e) };
}

export function rangeParameters(state: State): Parameters {
  return { ...lensParameters(state), begin: state.b, end: state.e, thread: state.st ?? state.t };
}

export const NO_RANGE: State = { b: "", e: "", st: "", zoom: "", box: "", open: "" };

// The whole run, and the selection beside it.
const comparison = (state: State, range: Range): State => ({
  ...NO_RANGE,
  v: "compare",
  cb: state.s ?? "0",
  cbr: `${range.begin}-${range.end}`,
  cbt: state.st ?? state.t ?? "",
});

export function ChosenRange(props: { state: State; info: Info }) {
  const range = chosenRange(props.state);
  if (!range) return null;
  const threads = props.state.st;
  return (
    <span class="chosen-range">
      <strong>
        {formatNs(range.begin)} – {formatNs(range.end)}
      </strong>{" "}
      {threads ? `of threads ${threads} ` : ""}
      {props.info.costTimes ? "in recorded time " : ""}
      <button onClick={() => go(NO_RANGE)}>Whole time</button>{" "}
      <a href={linkTo(comparison(props.state, range))}>Compare with the whole time</a>
    </span>
  );
}
