// What is shown, kept in the address: a link reopens the same view.

import { useEffect, useState } from "preact/hooks";

export type State = Record<string, string>;

export function parseState(hash: string): State {
  return Object.fromEntries(new URLSearchParams(hash.replace(/^#/, "")));
}

export function printState(state: State): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) if (value !== "") search.set(name, value);
  return `#${search.toString()}`;
}

// Change some of the state; an empty value removes it. With `replace`, going back does
// not lead through it.
export function go(change: State, replace = false): void {
  const next = printState({ ...parseState(location.hash), ...change });
  if (next === location.hash) return;
  if (replace) history.replaceState(null, "", next);
  else history.pushState(null, "", next);
  dispatchEvent(new Event("statechange"));
}

export function useLocationState(): State {
  const [state, setState] = useState(() => parseState(location.hash));
  useEffect(() => {
    const update = () => setState(parseState(location.hash));
    for (const name of ["hashchange", "popstate", "statechange"]) addEventListener(name, update);
    return () => {
      for (const name of ["hashchange", "popstate", "statechange"])
        removeEventListener(name, update);
    };
  }, []);
  return state;
}
