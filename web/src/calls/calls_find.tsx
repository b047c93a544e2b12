// Find calls of a recording by function, arguments or result, duration and depth, or list only these.

import { useState } from "preact/hooks";
import { matcher } from "../flame/flame_layout";
import { get, type Parameters } from "../shared/api";
import { formatNs, parseNs } from "../shared/format";
import { Flag } from "../shared/flag";
import { Icon } from "../shared/look/icons";
import { go, type State } from "../shared/state";
import type { FoundCall } from "../../generated/answers";
import { useListener } from "../shared/use_listener";

// The criteria, as parameters.
export function criteriaOf(state: State): Parameters {
  const longer = parseNs(state.fl ?? "");
  return {
    function: state.fn,
    values: state.fa,
    longer: Number.isNaN(longer) ? undefined : longer,
    depth: state.fd,
  };
}

// Tells whether a name is what Find looks for; null: nothing is looked for.
export const foundPattern = (state: State): ((name: string) => boolean) | null =>
  matcher(state.fn ?? "");

interface Props {
  path: string;
  state: State;
  task: number;
  at: number; // time of the selected call
}

async function search(
  props: Props,
  isReversed: boolean,
  onProgress: (position: string) => void,
): Promise<FoundCall> {
  const asked = {
    task: props.task,
    ...criteriaOf(props.state),
    function: props.state.fn || ".",
    reverse: isReversed ? 1 : 0,
  };
  let found = await get<FoundCall>(`${props.path}/find`, {
    ...asked,
    ...(isReversed ? { before: props.at } : { after: props.at + 1 }),
  });
  while (!found.isFound && found.next !== undefined) {
    onProgress(found.next);
    found = await get<FoundCall>(`${props.path}/find`, { ...asked, at: found.next });
  }
  return found;
}

export function FindCall(props: Props) {
  const { state } = props;
  const [note, setNote] = useState("");
  const longer = state.fl ?? "";
  const isWrong = longer !== "" && Number.isNaN(parseNs(longer));
  const find = async (isReversed: boolean) => {
    if (isWrong) return setNote(`'${longer}' is not a duration`);
    setNote("searching…");
    try {
      const found = await search(props, isReversed, (position) =>
        setNote(`searching… at record ${position}`),
      );
      setNote(
        found.isFound
          ? `at ${formatNs(found.time ?? 0)}, duration ${formatNs(found.duration ?? 0)} (recorded)`
          : isReversed
            ? "no earlier match"
            : "no later match",
      );
      if (found.time !== undefined) go({ time: String(found.time) });
    } catch (error) {
      setNote(error instanceof Error ? error.message : String(error));
    }
  };
  useListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (target.matches("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "n" || event.key === "N") void find(event.key === "N");
  });
  const field = (
    name: "fn" | "fa" | "fl" | "fd",
    label: string,
    placeholder: string,
    style: string,
  ) => (
    <input
      class={style}
      placeholder={placeholder}
      aria-label={label}
      value={state[name] ?? ""}
      onInput={(event) => go({ [name]: event.currentTarget.value }, true)}
    />
  );
  return (
    <form
      class="find"
      onSubmit={(event) => {
        event.preventDefault();
        void find(false);
      }}
    >
      {field("fn", "function to find: a name or a regular expression", "function", "")}
      {field("fa", "text in the arguments or the result", "arguments, result", "medium")}
      {field("fl", "minimum duration", "duration", "short")}
      {field("fd", "maximum depth", "depth", "tiny")}
      <button type="submit">
        <Icon name="next" /> Find next
      </button>
      <button type="button" onClick={() => void find(true)}>
        <Icon name="previous" /> Previous
      </button>
      <Flag state={state} name="only" title="Only matches" />
      <span class="status" aria-live="polite">
        {note}
      </span>
    </form>
  );
}
