// A check box for a flag of the state.

import { flag, go, isOn, type State, type StateName } from "./state";

interface Props {
  state: State;
  name: StateName;
  title: string;
  hint?: string;
  clears?: StateName[]; // names that mean nothing any more when the flag changes
}

// The change that sets a flag.
export function flagChange(name: StateName, on: boolean, clears: StateName[] = []): State {
  return { ...Object.fromEntries(clears.map((other) => [other, ""])), [name]: flag(on) };
}

export function Flag(props: Props) {
  const { state, name, title, hint, clears } = props;
  return (
    <label title={hint}>
      <input
        type="checkbox"
        checked={isOn(state, name)}
        onChange={(event) => go(flagChange(name, event.currentTarget.checked, clears))}
      />{" "}
      {title}
    </label>
  );
}
