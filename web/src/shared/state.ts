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

// Browsers ignore addresses that change too often, as they would while something is
// dragged: what is shown is kept here until the address has it too.
const PACE_MS = 100;
let ahead: string | null = null;
let pace: ReturnType<typeof setTimeout> | undefined;

const shownHash = () => ahead ?? location.hash;

export const currentState = (): State => parseState(shownHash());

function writeAddress(): void {
  clearTimeout(pace);
  pace = undefined;
  if (ahead === null) return;
  history.replaceState(null, "", ahead);
  ahead = null;
  pace = setTimeout(writeAddress, PACE_MS);
}

// Change some of the state; an empty value removes it. With `replace`, going back does
// not lead through it.
export function go(change: State, replace = false): void {
  const next = printState({ ...currentState(), ...change });
  if (next === shownHash()) return;
  if (replace) {
    ahead = next;
    if (pace === undefined) writeAddress();
  } else {
    writeAddress();
    history.pushState(null, "", next);
  }
  dispatchEvent(new Event("statechange"));
}

export function useLocationState(): State {
  const [state, setState] = useState(currentState);
  useEffect(() => {
    const update = () => setState(currentState());
    // Somebody else chose an address: it is newer than what was not written yet.
    const adopt = () => {
      ahead = null;
      update();
    };
    const listeners = {
      hashchange: adopt,
      popstate: adopt,
      statechange: update,
      pagehide: writeAddress,
    };
    for (const [name, listen] of Object.entries(listeners)) addEventListener(name, listen);
    return () => {
      for (const [name, listen] of Object.entries(listeners)) removeEventListener(name, listen);
    };
  }, []);
  return state;
}
