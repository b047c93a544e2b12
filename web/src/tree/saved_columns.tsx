// Columns that were saved in this browser, for all sources with the same metrics.

import { useState } from "preact/hooks";
import { hash } from "../shared/colors";
import { go, type State, type StateName } from "../shared/state";
import type { Info } from "../../generated/answers";

// What makes the columns of a table.
const NAMES = ["more", "hide", "cols", "unit", "derive"] as const satisfies StateName[];
const NONE: State = Object.fromEntries(NAMES.map((name) => [name, ""]));

export const columnsOf = (state: State): State =>
  Object.fromEntries(NAMES.map((name) => [name, state[name] ?? ""]));

// Saved text as a change of the state; null if it is none.
export function parseColumns(text: string | null): State | null {
  try {
    const saved: unknown = JSON.parse(text ?? "null");
    if (typeof saved !== "object" || saved === null) return null;
    const known = new Map(Object.entries(saved));
    return Object.fromEntries(
      NAMES.map((name) => [name, typeof known.get(name) === "string" ? known.get(name) : ""]),
    );
  } catch {
    return null;
  }
}

const keyOf = (info: Info): string =>
  `cairn-columns-${hash(info.metrics.map((metric) => metric.name).join("\n"))}`;

function load(info: Info): State | null {
  try {
    return parseColumns(localStorage.getItem(keyOf(info)));
  } catch {
    return null;
  }
}

// Without local storage nothing is saved.
function save(info: Info, columns: State): boolean {
  try {
    localStorage.setItem(keyOf(info), JSON.stringify(columns));
    return true;
  } catch {
    return false;
  }
}

export function SavedColumns(props: { info: Info; state: State }) {
  const { info, state } = props;
  const [said, setSaid] = useState("");
  const saved = load(info);
  return (
    <span class="column-choice saved-columns">
      <button
        title="for all sources with these metrics, in this browser"
        onClick={() =>
          setSaid(save(info, columnsOf(state)) ? "saved" : "the browser does not allow to save")
        }
      >
        Save columns
      </button>
      <button disabled={!saved} onClick={() => saved && go(saved)}>
        Use saved
      </button>
      <button onClick={() => go(NONE)}>Reset</button>
      <span role="status">{said}</span>
    </span>
  );
}
