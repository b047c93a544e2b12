// The filters in force, each with a button that removes it, and what adds one. They stay while one moves between
// views.

import { useState } from "preact/hooks";
import {
  CODE_KINDS,
  filtersOf,
  hasFilter,
  toggleFilter,
  toggleMine,
  type FilterKind,
} from "./filters";
import { formatNs } from "./format";
import { Icon } from "./look/icons";
import { Menu } from "./menu";
import { go, isOn, type State } from "./state";

const ADDED: [kind: FilterKind, title: string, hint: string][] = [
  ["focus", "Focus", "only paths through these functions"],
  ["hide", "Hide", "their self cost is that of their caller"],
  ["collapse", "Collapse", "a library, as one row"],
  ["drop", "Drop", "no paths through these functions"],
  ["prune", "Prune", "nothing below these functions"],
];

interface Chip {
  title: string;
  hint: string;
  without: State;
}

// What else narrows a view: threads, and a time.
function choicesOf(state: State): Chip[] {
  const threads = state.st ?? state.t;
  return [
    ...(state.b !== undefined && state.e !== undefined
      ? [
          {
            title: `${formatNs(Number(state.b))} – ${formatNs(Number(state.e))}`,
            hint: "the time that was selected in the timeline",
            without: { b: "", e: "", st: "", zoom: "", box: "" },
          },
        ]
      : []),
    ...(threads
      ? [
          {
            title: `threads ${threads}`,
            hint: "the threads that are included",
            without: { t: "", st: "" },
          },
        ]
      : []),
  ];
}

function Chips(props: { chips: Chip[] }) {
  return (
    <>
      {props.chips.map(({ title, hint, without }) => (
        <span key={title} class="chip" title={hint}>
          <span class="chip-text">{title}</span>
          <button class="plain" aria-label={`remove: ${title}`} onClick={() => go(without)}>
            <Icon name="close" />
          </button>
        </span>
      ))}
    </>
  );
}

function AddFilter({ state }: { state: State }) {
  const [kind, setKind] = useState<FilterKind>("focus");
  const [text, setText] = useState("");
  return (
    <Menu title="Filter" icon="filter" label="filters">
      {CODE_KINDS.map(([name, title]) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={hasFilter(state, "hide", name)}
            onChange={() => go(toggleFilter(state, "hide", name))}
          />{" "}
          Hide {title}
        </label>
      ))}
      <label>
        <input
          type="checkbox"
          checked={hasFilter(state, "collapse", "library,runtime")}
          onChange={() => go(toggleFilter(state, "collapse", "library,runtime"))}
        />{" "}
        Collapse each library to one row
      </label>
      <form
        class="find"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") go(toggleFilter(state, kind, text.trim()));
          setText("");
        }}
      >
        <select
          aria-label="what to do with functions"
          value={kind}
          onChange={(event) => setKind(event.currentTarget.value as FilterKind)}
        >
          {ADDED.map(([name, title, hint]) => (
            <option key={name} value={name} title={hint}>
              {title}
            </option>
          ))}
        </select>
        <input
          class="medium"
          placeholder="name or pattern"
          aria-label="functions: a name, a pattern with *, module:PATTERN, language:NAME"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit">Add</button>
      </form>
      <small class="faint">{ADDED.find(([name]) => name === kind)?.[2]}</small>
    </Menu>
  );
}

export function FilterBar({ state }: { state: State }) {
  const filters = filtersOf(state).filter(({ kind }) => kind !== "mycode");
  const chips = [
    ...filters.map(({ title, without }) => ({ title, hint: title, without })),
    ...choicesOf(state),
  ];
  return (
    <span class="filter-bar" role="group" aria-label="filters in force">
      <Chips chips={chips} />
      <button
        aria-pressed={isOn(state, "mine")}
        title="hide the kernel, run-times, libraries and startup code: their cost is that of the function of mine that called them"
        onClick={() => go(toggleMine(state))}
      >
        My code
      </button>
      <AddFilter state={state} />
    </span>
  );
}
