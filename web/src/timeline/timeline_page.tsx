// The timeline; its range, selection and tracks are in the address.

import { CallsView } from "../calls/calls_view";
import { chosenRange } from "../shared/chosen_range";
import { lensParameters } from "../shared/filters";
import { formatNs } from "../shared/format";
import { type ViewProps } from "../shared/page";
import { clampRange } from "../shared/range";
import { flag, go, goOn, isOn, splitList, type State } from "../shared/state";
import type { Info } from "../../generated/answers";
import { TimelineView, type TimelineChange } from "./timeline_view";
import type { Selection } from "./track_draw";
import { parseList, parseMoves, parseOpened, printMoves, printOpened, type Choice } from "./tracks";

function selectionState(selection: Selection | null | undefined): State {
  if (selection === undefined) return {};
  if (selection === null) return { b: "", e: "", st: "" };
  return {
    b: String(Math.floor(selection.begin)),
    e: String(Math.ceil(selection.end)),
    st: selection.threads,
  };
}

function choiceState(choice: Choice | undefined): State {
  if (!choice) return {};
  return {
    tf: choice.filter,
    pin: choice.pinned.join(","),
    ord: printMoves(choice.moved),
    flip: printOpened(choice.opened),
    shut: [...choice.shut].join("\n"),
  };
}

// Why sums over time differ from those of other views: those of calls in full timelines do not.
function estimateOf(info: Info): string {
  if (info.timelineResolution) return `timelines are exact to ${formatNs(info.timelineResolution)}`;
  const ofCalls = info.metrics.some(({ name }) => name === "calls");
  return ofCalls ? "" : "a sample counts until the next one";
}

interface Props extends ViewProps {
  scale?: number; // the duration of the longest of several timelines; default: of this one
  hasToolbar?: boolean;
}

export function TimelinePage(props: Props) {
  const { state, info, hasToolbar = true } = props;
  const range = chosenRange(state);
  const duration = Math.max(info.duration, props.scale ?? 0);
  const visible = { begin: Number(state.from ?? 0), end: Number(state.to ?? duration) };
  const change = (next: TimelineChange) => {
    const changed = {
      ...(next.range ? { from: String(next.range.begin), to: String(next.range.end) } : {}),
      ...(next.depth !== undefined ? { d: String(next.depth) } : {}),
      ...(next.marks ? { mk: next.marks.join(",") } : {}),
      ...(next.hasOverview !== undefined ? { ov: flag(next.hasOverview) } : {}),
      ...(next.hasPath !== undefined ? { cp: flag(next.hasPath) } : {}),
      ...choiceState(next.choice),
      ...selectionState(next.selection),
    };
    if (next.first !== undefined) go({ first: String(next.first) }, true);
    else if (next.gesture) goOn(changed, next.gesture);
    else go(changed);
  };
  const showCalls = (time: number, profile: number) => {
    const task = info.tasks?.find((one) => one.profile === profile);
    if (task) go({ task: String(task.index), time: String(Math.floor(time)) });
  };
  return (
    <>
      <TimelineView
        path={props.path}
        duration={duration}
        length={info.duration}
        hasToolbar={hasToolbar}
        estimate={estimateOf(info)}
        range={clampRange(visible, duration)}
        depth={Number(state.d ?? 0)}
        first={Number(state.first ?? 0)}
        thread={state.t ?? ""}
        search={state.q ?? ""}
        hasStates={info.states.length > 0}
        metric={info.defaultMetric}
        lens={lensParameters(state)}
        timesLabel={info.costTimes ? "recorded time " : ""}
        selection={range && { ...range, threads: state.st ?? "" }}
        marks={parseList(state.mk)}
        hasOverview={isOn(state, "ov")}
        hasPath={info.hasWaits ? isOn(state, "cp") : undefined}
        choice={{
          filter: state.tf ?? "",
          pinned: parseList(state.pin),
          moved: parseMoves(state.ord),
          opened: parseOpened(state.flip),
          shut: new Set(splitList(state.shut)),
        }}
        onChange={change}
        onFlame={() => go({ v: "flame", zoom: "" })}
        onTable={() => go({ v: "top-down", open: "" })}
        {...(info.tasks ? { onCalls: showCalls } : {})}
      />
      {info.tasks && state.time !== undefined && (
        <CallsView
          path={props.path}
          tasks={info.tasks}
          duration={info.duration}
          isReady={info.isReady}
          state={state}
          onClose={() => go({ time: "" })}
        />
      )}
    </>
  );
}
