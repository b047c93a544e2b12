// Whether waiting counts: the check box, and how all time divides into states.

import { formatNs } from "./format";
import { Flag } from "./flag";
import { hasWaits } from "./page";
import type { State } from "./state";
import type { Info } from "../../generated/answers";

// "3.2 s: running 1.1 s, blocked 2 s, pre-empted 90 ms"
export function describeStates(states: Info["states"]): string {
  const print = (seconds: number | null) => formatNs((seconds ?? 0) * 1e9);
  const [all, ...parts] = states;
  if (!all) return "";
  return `${print(all.seconds)}: ${parts.map((part) => `${part.name} ${print(part.seconds)}`).join(", ")}`;
}

export function Waits(props: { info: Info; state: State }) {
  const { info, state } = props;
  if (!hasWaits(info, state)) return null;
  return (
    <>
      <Flag
        state={state}
        name="w"
        title="Waits"
        hint="count waiting (blocked, pre-empted), not running time alone (w)"
        clears={["sort", "rev"]}
      />
      <span class="status" title="time of all threads by state">
        {describeStates(info.states)}
      </span>
    </>
  );
}
