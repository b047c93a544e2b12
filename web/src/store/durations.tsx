// The durations of matching traces over time: a dot each, or where there are too many for dots, a map of how
// many there are.

import type { State } from "../shared/state";
import { useAnswer } from "../shared/use_answer";
import type { TraceList } from "../../generated/answers";
import { HeatMap } from "./heat_map";
import { useLive } from "./live";
import { NoMatches } from "./no_matches";
import { Scatter } from "./scatter";

const DOTS_MAX = 5000;

export function Durations(props: { path: string; state: State }) {
  const { value, error } = useAnswer<TraceList>(
    `${props.path}/traces`,
    { q: props.state.q ?? "", limit: 1 },
    undefined,
    useLive(props.state),
  );
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  if (value.count === 0) return <NoMatches state={props.state} />;
  return value.count > DOTS_MAX ? <HeatMap {...props} /> : <Scatter {...props} />;
}
