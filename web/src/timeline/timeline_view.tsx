// Threads over time: tracks of nested calls on a canvas, one request per frame, with a map of the
// whole time and a panel about the selection and the cursor.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { matcher } from "../flame/flame_layout";
import { clampRange, panRange, zoomRange, type Range } from "../shared/range";
import { useSearchSteps } from "../shared/tree_search";
import { along, curvesOf, describe, FEW, flowsAt, reachOf, startsOf, type FlowEnd } from "./flows";
import { measuredRange, nextMatch, type Shown } from "./geometry";
import { Minimap } from "./minimap";
import { holdsNumber, toggleNumber } from "./thread_numbers";
import { useTimelineKeys } from "./timeline_keys";
import { TimelinePanel } from "./timeline_panel";
import { usePointers, useWindow } from "./timeline_pointers";
import { TimelineToolbar } from "./timeline_toolbar";
import { drawAxis, sizes as readSizes, type Cursor, type Selection } from "./track_draw";
import { paintTracks } from "./track_canvas";
import { TrackLabels } from "./track_labels";
import { TrackOverlay } from "./track_overlay";
import {
  layOut,
  mapRows,
  moveTrack as movedChoice,
  printOpened,
  toggled,
  visibleTracks,
  type Choice,
  type ThreadTrack,
} from "./tracks";
import {
  useCounterList,
  useCounterPoints,
  useFlows,
  useFrame,
  useLevels,
  useMap,
  useThreads,
  visibleProfiles,
} from "./use_tracks";
import { levelsWithRoom } from "./nested";

export interface TimelineChange {
  range?: Range;
  depth?: number;
  first?: number;
  selection?: Selection | null;
  marks?: number[];
  hasOverview?: boolean;
  choice?: Choice;
}

export interface TimelineProps {
  path: string;
  duration: number;
  resolution: number; // ns, of sums of samples; 0: exact
  range: Range;
  depth: number; // of strips; 0: where threads differ
  first: number; // number of the first visible thread
  thread: string; // selection of threads
  search: string;
  hasStates: boolean; // scheduler events
  timesLabel: string; // says which times these are; may be empty
  selection: Selection | null;
  marks: number[];
  hasOverview: boolean;
  choice: Choice;
  onChange: (change: TimelineChange) => void;
  onFlame: () => void;
  onTable: () => void;
  onCalls?: (time: number, profile: number) => void; // a click, or c
}

const MAP = 34; // pixels; of an overview up to a row a thread
const OVERVIEW = 220;

export function TimelineView(props: TimelineProps) {
  const { range, choice, selection } = props;
  const { scroller, size, scrolled, setScrolled } = useWindow();
  const canvas = useRef<HTMLCanvasElement>(null);
  const axis = useRef<HTMLCanvasElement>(null);
  const [cursor, setCursor] = useState<Cursor | null>(null);
  const [measure, setMeasure] = useState<{ isOn: boolean; times: number[] }>({
    isOn: false,
    times: [],
  });
  const matches = useMemo(() => matcher(props.search), [props.search]);

  const sizes = useMemo(readSizes, [size.width]);
  const width = Math.max(100, size.width - sizes.label);
  const threads = useThreads(props.path, props.thread);
  const known = threads ?? [];
  const mapHeight = props.hasOverview ? OVERVIEW : MAP;
  const overview = useMap(props.path, threads, props.thread, width, mapHeight);
  const [heldFrame, holdFrame] = useState<ReturnType<typeof useFrame>["frame"]>(null);
  const levelsOf = useLevels(overview.map, heldFrame);
  const counters = useCounterList(props.path, props.thread);
  const choiceKey = JSON.stringify([choice.filter, choice.pinned, choice.moved]);
  const openKey = [printOpened(choice.opened), ...choice.shut].join("\n");
  const layout = useMemo(() => {
    const room = overview.map && {
      height: size.height,
      levelsOf: (profile: number) => {
        const row = overview.map?.rows.get(profile);
        return row && levelsWithRoom(row, overview.map?.columns ?? 0);
      },
    };
    return layOut(known, choice, sizes, levelsOf, counters, room);
  }, [threads, choiceKey, openKey, sizes, levelsOf, counters, overview.map, size.height]);
  const visible = visibleTracks(layout, scrolled, size.height);
  const pointsOf = useCounterPoints(
    props.path,
    range,
    width,
    visible.flatMap((track) => (track.kind === "counter" ? [track.counter] : [])),
  );
  const profiles = visibleProfiles(layout, scrolled, size.height);
  const { frame, error } = useFrame(props.path, range, width, profiles);
  useEffect(() => holdFrame(frame), [frame]);
  const depth = props.depth || overview.depth;
  const mapped = useMemo(() => mapRows(known), [threads]);
  const starts = useMemo(() => startsOf(known), [threads]);
  const recorded = useFlows(props.onCalls ? props.path : null, range, profiles);
  const shown: Shown = { layout, scrolled, frame, range, width, sizes, depth };
  const reach = cursor && reachOf(shown, cursor);
  const more = useFlows(
    cursor && recorded.count > recorded.list.length ? props.path : null,
    reach ?? range,
    cursor ? [cursor.profile] : [],
  );
  const flows = useMemo(
    () => [...starts, ...(recorded.count <= FEW ? recorded.list : [])],
    [starts, recorded],
  );
  const near = [...starts, ...(more.count > 0 ? more.list : recorded.list)];
  const atCursor = cursor && reach ? flowsAt(near, cursor, reach) : [];
  const measured = measuredRange(measure.times, cursor);

  useEffect(() => {
    if (axis.current) drawAxis(axis.current, { range, width, sizes, marks: props.marks, measured });
    if (!frame || !canvas.current) return;
    paintTracks(canvas.current, {
      frame,
      layout,
      scrolled,
      depth,
      range,
      width,
      height: size.height,
      sizes,
      selection,
      isSelected: (number) => holdsNumber(selection?.threads ?? "", number),
      flows,
      pointsOf,
      matches,
    });
  });

  const trackOf = (profile: number | undefined): ThreadTrack | undefined =>
    layout.tracks.find(
      (track): track is ThreadTrack => track.kind === "thread" && track.thread.profile === profile,
    );
  const labelOf = (profile: number) => trackOf(profile)?.thread.label ?? `thread ${profile}`;
  const scrollTo = (profile: number) => {
    const track = trackOf(profile);
    const element = scroller.current;
    if (!track || track.isFixed || !element) return;
    const room = element.clientHeight - layout.fixedHeight;
    if (track.top < element.scrollTop) element.scrollTop = track.top;
    else if (track.top + track.height > element.scrollTop + room)
      element.scrollTop = Math.min(track.top, track.top + track.height - room);
  };
  // A link opens at the thread that was first.
  const hasScrolled = useRef(false);
  useEffect(() => {
    if (hasScrolled.current || !scroller.current || layout.height === 0) return;
    hasScrolled.current = true;
    const track = trackOf(props.first);
    if (track) scroller.current.scrollTop = track.top;
  }, [layout]);

  const span = range.end - range.begin;
  const inside = (time: number) => Math.min(props.duration, Math.max(0, time));
  const change = (next: Range) => props.onChange({ range: clampRange(next, props.duration) });

  const middle = cursor?.time ?? range.begin + span / 2;
  const listed = layout.tracks.filter((track): track is ThreadTrack => track.kind === "thread");
  const moveCursor = (by: number) => {
    const time = inside(middle + by * span);
    const profile =
      cursor?.profile ??
      (visible.find((t) => t.kind === "thread") as ThreadTrack | undefined)?.thread.profile;
    if (profile === undefined) return;
    setCursor({ time, profile });
    if (time < range.begin || time > range.end) change(panRange(range, by * span * 10));
  };
  const moveTrack = (by: number) => {
    const at = listed.findIndex((track) => track.thread.profile === cursor?.profile);
    const next = listed[Math.min(listed.length - 1, Math.max(0, at + by))];
    if (!next) return;
    setCursor({ time: middle, profile: next.thread.profile });
    scrollTo(next.thread.profile);
  };
  // Move one end of the selection to the cursor.
  const select = (end: "begin" | "end") => {
    const before = selection ?? { ...range, threads: "" };
    const next = { ...before, [end]: middle };
    props.onChange({
      selection: {
        ...next,
        begin: Math.min(next.begin, next.end),
        end: Math.max(next.begin, next.end),
      },
    });
  };
  // Add the thread of the cursor to the selection, or remove it.
  const selectThread = () => {
    if (!cursor) return;
    const before = selection ?? { ...range, threads: "" };
    props.onChange({
      selection: { ...before, threads: toggleNumber(before.threads, cursor.profile) },
    });
  };
  const showCalls = () => {
    if (cursor) props.onCalls?.(cursor.time, cursor.profile);
  };
  const addMeasured = (time: number) =>
    setMeasure({
      isOn: true,
      times: measure.times.length === 1 ? [...measure.times, time] : [time],
    });
  const choose = (next: Partial<Choice>) => props.onChange({ choice: { ...choice, ...next } });
  const actions = {
    onOpen: (profile: number) =>
      choose({ opened: new Map(choice.opened).set(profile, !trackOf(profile)?.isOpen) }),
    onGroup: (group: string) => choose({ shut: new Set(toggled(choice.shut, group)) }),
    onPin: (profile: number) => choose({ pinned: toggled(choice.pinned, profile) }),
    onMove: (track: ThreadTrack, index: number) => choose(movedChoice(choice, track, index)),
  };
  const setMarks = (times: Iterable<number>) =>
    props.onChange({ marks: [...times].sort((a, b) => a - b) });
  const goTo = (time: number) => change({ begin: time - span / 2, end: time + span / 2 });
  const goToEnd = (end: FlowEnd | null) => {
    if (!end || !trackOf(end.profile)) return;
    setCursor({ time: end.time, profile: end.profile });
    scrollTo(end.profile);
    if (end.time < range.begin || end.time > range.end) goTo(end.time);
  };
  const follow = (by: number) => {
    if (cursor && reach) goToEnd(along(near, cursor, reach, by));
  };
  const escape = () => {
    if (measure.isOn) setMeasure({ isOn: false, times: [] });
    else if (selection) props.onChange({ selection: null });
    else setCursor(null);
  };
  const setDepth = (next: number) =>
    props.onChange({ depth: Math.min(Math.max(1, next), deepest) });
  const deepest = Math.max(1, ...listed.map((track) => levelsOf(track.thread.profile)));
  const page = (by: number) =>
    scroller.current?.scrollBy({ top: by * (size.height - layout.fixedHeight) });

  // The next call that a search matches, of those that are loaded.
  useSearchSteps((by) => {
    if (!matches || !frame) return;
    const best = nextMatch(frame, matches, cursor?.time ?? (by > 0 ? -1 : Infinity), by);
    if (!best) return;
    setCursor(best);
    scrollTo(best.profile);
    if (best.time < range.begin || best.time > range.end) goTo(best.time);
  });

  useTimelineKeys({
    a: () => change(panRange(range, -span / 5)),
    d: () => change(panRange(range, span / 5)),
    w: () => change(zoomRange(range, middle, 0.6)),
    s: () => change(zoomRange(range, middle, 1 / 0.6)),
    ArrowLeft: () => change(panRange(range, -span / 20)),
    ArrowRight: () => change(panRange(range, span / 20)),
    ArrowUp: () => moveTrack(-1),
    ArrowDown: () => moveTrack(1),
    PageUp: () => page(-1),
    PageDown: () => page(1),
    ",": () => moveCursor(-1 / 100),
    ".": () => moveCursor(1 / 100),
    "[": () => select("begin"),
    "]": () => select("end"),
    "+": () => setDepth(depth + 1),
    "-": () => setDepth(depth - 1),
    "0": () => change({ begin: 0, end: props.duration }),
    " ": () => cursor && actions.onOpen(cursor.profile),
    p: () => cursor && actions.onPin(cursor.profile),
    o: () => props.onChange({ hasOverview: !props.hasOverview }),
    m: () => setMarks(toggled(props.marks, Math.round(inside(middle)))),
    e: () => setMeasure({ isOn: !measure.isOn, times: [] }),
    f: () => selection && change(selection),
    x: selectThread,
    g: () => follow(1),
    G: () => follow(-1),
    c: showCalls,
    Escape: escape,
    Enter: () => selection && props.onFlame(),
  });

  const { onDouble, ...pointers } = usePointers({
    shown,
    duration: props.duration,
    scroller,
    canvas,
    isMeasuring: measure.isOn,
    onRange: change,
    onSelect: (next) => props.onChange({ selection: next }),
    onCursor: setCursor,
    onClick: showCalls,
    onMeasure: addMeasured,
  });
  return (
    <div class="timeline">
      <TimelineToolbar
        {...props}
        frame={frame}
        error={error}
        shownDepth={depth}
        deepest={deepest}
        shown={listed.length}
        isMeasuring={measure.isOn}
        onRange={change}
        onDepth={setDepth}
        onFilter={(filter) => choose({ filter })}
        onMeasure={() => setMeasure({ isOn: !measure.isOn, times: [] })}
      />
      <div class="timeline-body">
        <div
          class="timeline-canvas"
          tabIndex={0}
          role="application"
          aria-label="threads over time: W and S zoom, A and D move, comma and full stop move the cursor, brackets select time and x threads, space opens a track"
        >
          <Minimap
            frame={overview.map}
            every={overview.every}
            rows={mapped}
            width={width}
            height={mapHeight}
            sizes={sizes}
            depth={depth}
            range={range}
            duration={props.duration}
            matches={matches}
            onChange={change}
            onThread={scrollTo}
          />
          <canvas
            ref={axis}
            class="axis"
            role="img"
            aria-label="time axis; Shift drag selects the time of all threads"
            style={{ width: `${width + sizes.label}px`, height: `${sizes.axis}px` }}
            {...pointers}
          />
          <div
            class="tracks"
            ref={scroller}
            onScroll={(event) => {
              setScrolled(event.currentTarget.scrollTop);
              const first = visible.find((track) => track.kind === "thread" && !track.isFixed);
              if (first?.kind === "thread") props.onChange({ first: first.thread.profile });
            }}
          >
            <div class="track-window">
              <canvas
                ref={canvas}
                class={measure.isOn ? "nested measuring" : "nested"}
                role="img"
                aria-label={
                  frame
                    ? `${visible.filter((track) => track.kind === "thread").length} of ${frame.threadCount > known.length ? frame.threadCount : known.length} threads`
                    : "loading"
                }
                style={{ width: `${width + sizes.label}px`, height: `${size.height}px` }}
                onDblClick={onDouble}
                {...pointers}
              />
              <TrackOverlay
                range={range}
                left={sizes.label}
                width={width}
                height={size.height}
                cursor={cursor?.time}
                marks={props.marks}
                measured={measured}
                curves={curvesOf(atCursor, shown)}
                tip={atCursor[0] ? describe(atCursor[0], labelOf) : ""}
              />
              <TrackLabels
                tracks={visible}
                layout={layout}
                scrolled={scrolled}
                width={sizes.label}
                frame={frame}
                pointsOf={pointsOf}
                current={cursor?.profile}
                time={cursor?.time}
                {...actions}
              />
            </div>
            <div style={{ height: `${layout.fixedHeight + layout.height}px` }} />
          </div>
        </div>
        <TimelinePanel
          path={props.path}
          hasStates={props.hasStates}
          duration={props.duration}
          resolution={props.resolution}
          frame={frame}
          selection={selection}
          cursor={cursor}
          cursorLabel={trackOf(cursor?.profile)?.thread.label ?? ""}
          marks={props.marks}
          flows={{ count: recorded.count, isDrawn: recorded.count <= FEW, atCursor }}
          labelOf={labelOf}
          onEnd={goToEnd}
          onFlame={props.onFlame}
          onTable={props.onTable}
          onCalls={
            props.onCalls && selection
              ? () => {
                  const first = listed.find((track) =>
                    holdsNumber(selection.threads, track.thread.profile),
                  );
                  if (first) props.onCalls?.(selection.begin, first.thread.profile);
                }
              : undefined
          }
          onZoom={change}
          onMark={goTo}
          onUnmark={(time) => setMarks(toggled(props.marks, time))}
        />
      </div>
    </div>
  );
}
