// Whether waiting counts: the check box, and how all time divides into states.

import { formatNs, formatPercent } from "./format";
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

// How all time divides: a bar, with the numbers under the pointer and for screen readers.
function StateBar({ states }: { states: Info["states"] }) {
  const [all, ...parts] = states;
  const whole = all?.seconds ?? 0;
  if (!whole) return null;
  const text = `time of all threads, ${describeStates(states)}`;
  const running = parts.find(({ name }) => name === "running")?.seconds ?? 0;
  return (
    <span class="state-bar" role="img" aria-label={text} title={text}>
      <span class="states">
        {parts.map(({ name, seconds }) => (
          <i key={name} class={`state-${name}`} style={{ width: `${(100 * seconds) / whole}%` }} />
        ))}
      </span>
      <small>{formatPercent(running, whole)} running</small>
    </span>
  );
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
      <StateBar states={info.states} />
    </>
  );
}
