// The labels of tracks, with buttons that open, pin and move them.

import { useRef, useState } from "preact/hooks";
import type { CounterTrack as CounterData } from "../../generated/answers";
import {
  formatCount,
  formatNs,
  formatPercent,
  formatValue,
  isBytes,
  metricTitle,
  plural,
} from "../shared/format";
import { Icon } from "../shared/look/icons";
import {
  dropTarget,
  topInWindow,
  type CounterTrack,
  type GroupTrack,
  type Layout,
  type ThreadTrack,
  type Track,
} from "./tracks";
import type { CounterOf, Cpus } from "./use_tracks";

export interface TrackActions {
  onOpen: (profile: number) => void; // or close
  onWhole: (profile: number) => void; // all levels of a track that is cut
  onGroup: (group: string) => void;
  onPin: (profile: number) => void;
  onMove: (track: ThreadTrack, index: number) => void;
}

const DRAG_MIN = 5; // pixels
const LONG = 12; // letters: of a longer name, what is in front of its end may be cut
const END = 6;

interface Props extends TrackActions {
  label: string; // of the list
  tracks: Track[];
  layout: Layout;
  width: number;
  metric: string; // of costs
  counterOf: CounterOf;
  cpus: Cpus | null;
  current: number | undefined; // profile
  time: number | undefined; // of the cursor
}

// A label that is dragged, and the track whose place it takes.
interface Drag {
  track: ThreadTrack;
  over: ThreadTrack | null;
}

export function TrackLabels(props: Props) {
  const [drag, setDrag] = useState<Drag | null>(null);
  return (
    <div class="track-labels" role="list" aria-label={props.label}>
      {props.tracks.map((track) => {
        const style = {
          transform: `translateY(${topInWindow(props.layout, track, 0)}px)`,
          height: `${track.height}px`,
        };
        if (track.kind === "counter")
          return (
            <CounterLabel
              key={`c ${track.counter.profile} ${track.counter.name}`}
              track={track}
              style={{ ...style, width: `${props.width}px` }}
              time={props.time}
              known={props.counterOf(track.counter)}
            />
          );
        if (track.kind === "cpu")
          return (
            <CpuLabel
              key={`cpu ${track.number}`}
              number={track.number}
              cpus={props.cpus}
              style={{ ...style, width: `${props.width}px` }}
            />
          );
        return track.kind === "group" ? (
          <GroupLabel key={`g ${track.group}`} track={track} style={style} {...props} />
        ) : (
          <ThreadLabel
            key={`${track.isFixed ? "p" : "t"} ${track.thread.profile}`}
            track={track}
            style={{ ...style, width: `${props.width}px` }}
            drag={drag}
            onDrag={setDrag}
            {...props}
          />
        );
      })}
    </div>
  );
}

type Style = Record<string, string>;

// The name of a group with the cost of all its threads, whether it is open or not.
function GroupLabel({
  track,
  style,
  metric,
  onGroup,
}: Props & { track: GroupTrack; style: Style }) {
  const count = track.profiles.length;
  const isQuiet = track.label.startsWith("quiet");
  return (
    <div class={`track-group${isQuiet ? " quiet" : ""}`} role="listitem" style={style}>
      <button
        aria-expanded={!track.isShut}
        title={track.isShut ? "open the group" : "close the group"}
        onClick={() => onGroup(track.group)}
      >
        <Icon name={track.isShut ? "right" : "down"} />{" "}
        {isQuiet && `${count.toLocaleString("en-US")} `}
        {track.label}
      </button>
      {count > 0 && (
        <small>
          {!isQuiet && plural(count, track.isStreams ? "stream" : "thread")}
          {track.isStreams
            ? ""
            : `${isQuiet ? "" : " · "}${formatValue(track.cost, metric)} · ${formatPercent(track.share, 1)}`}
        </small>
      )}
    </div>
  );
}

// A processor, and the share of the visible time in which threads of this data ran there.
function CpuLabel(props: { number: number; cpus: Cpus | null; style: Style }) {
  const { number, cpus } = props;
  const busy = cpus?.busy.get(number);
  const share =
    cpus && busy !== undefined ? formatPercent(busy, Math.max(1, cpus.end - cpus.begin)) : "";
  return (
    <div
      class="track-label cpu"
      role="listitem"
      style={props.style}
      title={`processor ${number}: threads of this data ran on it for ${share} of the visible time`}
    >
      <span>CPU {number}</span>
      <small class="track-cost">{share}</small>
    </div>
  );
}

// The value at the cursor, else the highest one that is visible.
function CounterLabel(props: {
  track: CounterTrack;
  style: Style;
  time: number | undefined;
  known: CounterData | undefined; // undefined: not yet
}) {
  const { counter } = props.track;
  const { time, known } = props;
  const { points = [], peak } = known ?? {};
  const at = points.filter((point) => time === undefined || point[0] <= time).pop();
  const most = Math.max(...points.map((point) => point[2]));
  const value = time === undefined ? most : at?.[3];
  const print = (one: number) =>
    isBytes(counter.name) ? formatValue(one, counter.name) : formatCount(one);
  const title = counter.label + (peak ? `: peak ${print(peak[1])} at ${formatNs(peak[0])}` : "");
  return (
    <div class="track-label counter" role="listitem" style={props.style} title={title}>
      <span>
        {props.track.label}
        <br />
        <small>
          {metricTitle(counter.name)}{" "}
          {value === undefined || !Number.isFinite(value)
            ? known
              ? "no data"
              : "…"
            : (time === undefined ? "max " : "") + print(value)}
        </small>
      </span>
    </div>
  );
}

// Dragging a label moves its track.
function useLabelDrag(props: ThreadLabelProps) {
  const { track } = props;
  const start = useRef<number | null>(null);
  const wasDragged = useRef(false);
  const isDragged = props.drag?.track.thread.profile === track.thread.profile;
  const end = () => {
    start.current = null;
    props.onDrag(null);
  };
  const move = (event: PointerEvent) => {
    if (start.current === null) return;
    if (!isDragged && Math.abs(event.clientY - start.current) < DRAG_MIN) return;
    const label = event.currentTarget as HTMLElement;
    label.setPointerCapture(event.pointerId); // not before: it takes clicks away from buttons
    wasDragged.current = true;
    const all = label.closest(".tracks");
    const y = event.clientY - (all?.getBoundingClientRect().top ?? 0);
    props.onDrag({ track, over: dropTarget(props.layout, all?.scrollTop ?? 0, track, y) });
  };
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return;
      start.current = event.clientY;
      wasDragged.current = false;
    },
    onPointerMove: move,
    onPointerLeave: move, // a quick one leaves the label at once
    onPointerUp: () => {
      if (isDragged && props.drag?.over) props.onMove(track, props.drag.over.index);
      end();
    },
    onPointerCancel: end,
    // The button under the pointer was not meant.
    onClickCapture: (event: MouseEvent) => {
      if (wasDragged.current) event.stopPropagation();
      wasDragged.current = false;
    },
  };
}

function dragClass({ track, drag }: ThreadLabelProps): string {
  const { profile } = track.thread;
  if (drag?.track.thread.profile === profile) return " dragged";
  if (drag?.over?.thread.profile !== profile) return "";
  return drag.track.index < track.index ? " drop-below" : " drop-above";
}

type ThreadLabelProps = Props & {
  track: ThreadTrack;
  style: Style;
  drag: Drag | null;
  onDrag: (drag: Drag | null) => void;
};

// The name, of which the end stays, and the number of a thread: "pool-1-thread-2 26430".
function ThreadName({ label }: { label: string }) {
  const [, name = label, number = ""] = /^(.+) (\d+)$/.exec(label) ?? [];
  const at = name.length > LONG ? name.length - END : 0;
  return (
    <span class="name">
      {at > 0 && <span class="name-scope">{name.slice(0, at)}</span>}
      <span class="name-last">{name.slice(at)}</span>
      {number && <span class="name-rest"> {number}</span>}
    </span>
  );
}

function ThreadLabel(props: ThreadLabelProps) {
  const { track } = props;
  const { profile, label } = track.thread;
  const isCurrent = profile === props.current;
  return (
    <div
      class={`track-label${track.isInside ? " inside" : ""}${isCurrent ? " current" : ""}${dragClass(props)}`}
      role="listitem"
      style={props.style}
      title={`${label}; drag to move`}
      {...useLabelDrag(props)}
    >
      <button
        class="open"
        aria-expanded={track.isOpen}
        aria-label={`${label}: ${track.isOpen ? "one strip" : "nested calls"}`}
        onClick={() => props.onOpen(profile)}
      >
        <Icon name={track.isOpen ? "down" : "right"} /> <ThreadName label={track.name} />
      </button>
      {track.thread.cost !== undefined && (
        <small class="track-cost">{formatValue(track.thread.cost, props.metric)}</small>
      )}
      {track.cutLevels > 0 && (
        <button
          class="link more-levels"
          title="show all levels of calls"
          aria-label={`${label}: show ${plural(track.cutLevels, "more level")}`}
          onClick={() => props.onWhole(profile)}
        >
          {plural(track.cutLevels, "more level")}
        </button>
      )}
      <span class="track-tools">
        {!track.isPinned && (
          <>
            <button
              aria-label={`move ${label} up`}
              title="move up"
              onClick={() => props.onMove(track, track.index - 1)}
            >
              <Icon name="up" />
            </button>
            <button
              aria-label={`move ${label} down`}
              title="move down"
              onClick={() => props.onMove(track, track.index + 1)}
            >
              <Icon name="down" />
            </button>
          </>
        )}
        <button
          aria-pressed={track.isPinned}
          aria-label={`${track.isPinned ? "unpin" : "pin"} ${label}`}
          title={track.isPinned ? "unpin" : "pin to the top"}
          onClick={() => props.onPin(profile)}
        >
          <Icon name={track.isPinned ? "close" : "pin"} />
        </button>
      </span>
    </div>
  );
}
