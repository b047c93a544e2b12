// Columns that were saved in this browser, for all sources with the same metrics.

import { useState } from "preact/hooks";
import { hash } from "../shared/look/colors";
import { load, save } from "../shared/saved";
import { go, type State, type StateName } from "../shared/state";
import type { Info } from "../../generated/answers";

// What makes the columns of a table.
const NAMES = ["more", "hide", "cols", "unit", "derive"] as const satisfies StateName[];
const NONE: State = Object.fromEntries(NAMES.map((name) => [name, ""]));

export const columnsOf = (state: State): State =>
  Object.fromEntries(NAMES.map((name) => [name, state[name] ?? ""]));

// What was saved as a change of the state; null if it is none.
export function parseColumns(saved: unknown): State | null {
  if (typeof saved !== "object" || saved === null) return null;
  const known = new Map(Object.entries(saved));
  return Object.fromEntries(
    NAMES.map((name) => [name, typeof known.get(name) === "string" ? known.get(name) : ""]),
  );
}

const keyOf = (info: Info): string =>
  `cairn-columns-${hash(info.metrics.map((metric) => metric.name).join("\n"))}`;

export function SavedColumns(props: { info: Info; state: State }) {
  const { info, state } = props;
  const [said, setSaid] = useState("");
  const saved = parseColumns(load(keyOf(info)));
  return (
    <span class="column-choice saved-columns">
      <button
        title="for all sources with these metrics, in this browser"
        onClick={() =>
          setSaid(
            save(keyOf(info), columnsOf(state)) ? "saved" : "the browser does not allow to save",
          )
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
