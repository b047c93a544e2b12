// What can be done with a function in all views: only paths through it, without it, without its library.

import { exactly, hasFilter, toggleFilter, type FilterKind } from "../filters";
import { baseName } from "../format";
import { Menu } from "../menu";
import { go, type State } from "../state";

export function FunctionActions(props: { name: string; module: string | null; state: State }) {
  const { name, module, state } = props;
  const item = (kind: FilterKind, value: string, title: string) => (
    <label key={`${kind} ${value}`}>
      <input
        type="checkbox"
        checked={hasFilter(state, kind, value)}
        onChange={() => go(toggleFilter(state, kind, value))}
      />{" "}
      {title}
    </label>
  );
  return (
    <Menu title="Filter by it" icon="filter" label="filters about this function">
      {item("focus", exactly(name), "Focus: only paths through it")}
      {item("drop", exactly(name), "Drop: no paths through it")}
      {item("hide", exactly(name), "Hide: its self cost is that of its callers")}
      {item("prune", exactly(name), "Prune: nothing below it")}
      {module && item("collapse", `module:*${baseName(module)}`, `Collapse ${baseName(module)}`)}
      {module && item("hide", `module:*${baseName(module)}`, `Hide ${baseName(module)}`)}
    </Menu>
  );
}
