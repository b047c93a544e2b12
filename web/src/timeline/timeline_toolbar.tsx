// The row above the timeline: depth of strips, filter of threads, and what is shown.

import { formatNs } from "../shared/format";
import { Icon } from "../shared/look/icons";
import type { Range } from "../shared/range";
import type { NestedFrame } from "./nested";
import { countNumbers } from "./thread_numbers";
import type { TimelineProps } from "./timeline_view";

interface Props extends TimelineProps {
  frame: NestedFrame | null;
  error: string | null;
  shownDepth: number;
  deepest: number;
  shown: number; // threads
  isMeasuring: boolean;
  onRange: (range: Range) => void;
  onDepth: (depth: number) => void;
  onFilter: (filter: string) => void;
  onMeasure: () => void;
}

const counted = (count: number) =>
  `${count.toLocaleString("en-US")} ${count === 1 ? "thread" : "threads"}`;

function status({ frame, error, shown }: Props): string {
  if (!frame) return error ?? "loading…";
  if (frame.isPending) return `${counted(shown)} · computing…`;
  return counted(shown) + (frame.isEstimate ? " · zoomed out: dense parts are approximate" : "");
}

export function TimelineToolbar(props: Props) {
  const { selection, range } = props;
  const chosen = countNumbers(selection?.threads ?? "");
  return (
    <div class="toolbar">
      <input
        type="search"
        class="thread-filter"
        placeholder="filter threads"
        aria-label="filter threads by name or regular expression"
        value={props.choice.filter}
        onInput={(event) => props.onFilter(event.currentTarget.value)}
      />
      <label title="call depth of strips and of the overview (+ −)">
        depth{" "}
        <input
          type="range"
          min={1}
          max={props.deepest}
          value={props.shownDepth}
          aria-label="call depth"
          onInput={(event) => props.onDepth(Number(event.currentTarget.value))}
        />{" "}
        {props.shownDepth}
      </label>
      <button
        aria-pressed={props.hasOverview}
        title="a map of all threads over the whole time (o)"
        onClick={() => props.onChange({ hasOverview: !props.hasOverview })}
      >
        <Icon name="map" /> All threads
      </button>
      {props.hasPath !== undefined && (
        <button
          aria-pressed={props.hasPath}
          title="what the end of the selection, or of the run, waited for (k)"
          onClick={() => props.onChange({ hasPath: !props.hasPath })}
        >
          <Icon name="path" /> Critical path
        </button>
      )}
      <button
        aria-pressed={props.isMeasuring}
        title="measure between two clicks (e)"
        onClick={props.onMeasure}
      >
        <Icon name="ruler" /> Measure
      </button>
      <button title="0" onClick={() => props.onRange({ begin: 0, end: props.duration })}>
        <Icon name="fit" /> Whole time
      </button>
      <span class="status">
        {formatNs(range.begin)} – {formatNs(range.end)} {props.timesLabel}· {status(props)}
      </span>
      {selection && (
        <>
          <strong>{formatNs(selection.end - selection.begin)} selected</strong>
          {selection.threads && (
            <button
              title="select all threads"
              onClick={() => props.onChange({ selection: { ...selection, threads: "" } })}
            >
              of {counted(chosen)} ×
            </button>
          )}
        </>
      )}
    </div>
  );
}
