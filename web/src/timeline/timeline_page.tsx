// The timeline; its range and selection are in the address.

import { CallsView } from "../calls/calls_view";
import { chosenRange } from "../shared/chosen_range";
import type { ViewProps } from "../shared/page";
import { clampRange } from "../shared/range";
import { go, type State } from "../shared/state";
import { TimelineView, type Selection, type TimelineChange } from "./timeline_view";

function selectionState(selection: Selection | null | undefined): State {
  if (selection === undefined) return {};
  if (selection === null) return { b: "", e: "", st: "" };
  return {
    b: String(Math.floor(selection.begin)),
    e: String(Math.ceil(selection.end)),
    st: selection.threads,
  };
}

export function TimelinePage(props: ViewProps) {
  const { state, info } = props;
  const range = chosenRange(state);
  const visible = { begin: Number(state.from ?? 0), end: Number(state.to ?? info.duration) };
  const change = ({ range: part, depth, first, selection }: TimelineChange) =>
    go(
      {
        ...(part ? { from: String(part.begin), to: String(part.end) } : {}),
        ...(depth !== undefined ? { d: String(depth) } : {}),
        ...(first !== undefined ? { first: String(first) } : {}),
        ...selectionState(selection),
      },
      true,
    );
  const showCalls = (time: number, profile: number) => {
    const task = info.tasks?.find((one) => one.profile === profile);
    if (task) go({ task: String(task.index), time: String(Math.floor(time)) });
  };
  return (
    <>
      <TimelineView
        path={props.path}
        duration={info.duration}
        range={clampRange(visible, info.duration)}
        depth={Number(state.d ?? 0)}
        first={Number(state.first ?? 0)}
        thread={state.t ?? ""}
        search={state.q ?? ""}
        timesLabel={info.costTimes === "corrected" ? "recorded time " : ""}
        selection={range && { ...range, threads: state.st ?? "" }}
        onChange={change}
        onFlame={() => go({ v: "flame", zoom: "" })}
        onTable={() => go({ v: "top-down", open: "" })}
        {...(info.tasks ? { onCalls: showCalls } : {})}
      />
      {info.tasks && state.time !== undefined && (
        <CallsView
          path={props.path}
          tasks={info.tasks}
          state={state}
          onClose={() => go({ time: "" })}
        />
      )}
    </>
  );
}
