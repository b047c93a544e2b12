// Threads over time: tracks of nested calls on a canvas, one request per frame, with a map of the
// whole time and a panel about the selection and the cursor.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { matcher } from "../flame/flame_layout";
import type { Parameters } from "../shared/api";
import { isDark } from "../shared/look/colors";
import { clampRange, panRange, zoomRange, type Range } from "../shared/range";
import { Still } from "../shared/look/still";
import { useSearchSteps } from "../shared/table/tree_search";
import { along, curvesOf, describe, FEW, flowsAt, reachOf, startsOf, type FlowEnd } from "./flows";
import { drawnPath, useCriticalPath } from "./critical_path";
import { measuredRange, nextMatch, type Shown } from "./geometry";
import { Minimap } from "./minimap";
import { holdsNumber, toggleNumber } from "./thread_numbers";
import { useSearchBeyond } from "./use_search_beyond";
import { useTimelineKeys } from "./timeline_keys";
import { TimelinePanel } from "./timeline_panel";
import { usePointers, useWindow } from "./timeline_pointers";
import { TimelineToolbar } from "./timeline_toolbar";
import { drawAxis, sizes as readSizes, type Cursor, type Selection } from "./track_draw";
import { TrackLabels } from "./track_labels";
import { TrackOverlay } from "./track_overlay";
import { PinnedTile, TrackTiles } from "./track_tiles";
import {
  layOut,
  mapRows,
  moveTrack as movedChoice,
  pinnedTracks,
  printOpened,
  toggled,
  trackAt,
  visibleTracks,
  type Choice,
  type ThreadTrack,
} from "./tracks";
import {
  useCounterList,
  cpuRunAt,
  useCounterPoints,
  useCpus,
  useFlows,
  useFrame,
  useLevels,
  useMap,
  useThreads,
  visibleProfiles,
} from "./use_tracks";
import { levelsWithRoom } from "./nested";

export type Gesture = "drag" | "wheel" | "keys" | "map" | "select" | "depth" | "filter";

// A step in the browser's history; with a gesture, its changes are one.
export interface TimelineChange {
  gesture?: Gesture | undefined;
  range?: Range;
  depth?: number;
  first?: number; // alone; no step
  selection?: Selection | null;
  marks?: number[];
  hasOverview?: boolean;
  hasPath?: boolean;
  choice?: Choice;
}

export interface TimelineProps {
  path: string;
  duration: number; // of the scale
  length: number; // of this run: less where a longer one is beside it
  hasToolbar: boolean; // one toolbar is for all that are below each other
  estimate: string; // why sums are estimates; "": they are exact
  range: Range;
  depth: number; // of strips; 0: where threads differ
  first: number; // number of the first visible thread
  thread: string; // selection of threads
  search: string;
  hasStates: boolean; // scheduler events
  metric: string; // of the costs of threads
  lens: Parameters; // what is left out
  timesLabel: string; // says which times these are; may be empty
  selection: Selection | null;
  marks: number[];
  hasOverview: boolean;
  hasPath: boolean | undefined; // the critical path is shown; undefined: it is not known
  choice: Choice;
  onChange: (change: TimelineChange) => void;
  onFlame: () => void;
  onTable: () => void;
  onCalls?: (time: number, profile: number) => void; // a click, or c
}

const MAP = 34; // pixels
const OVERVIEW = 220;
const MAP_ROW = 2; // at least, of a thread
const STEP = 64; // pixels: the browser scrolls so far by itself
const REST_MS = 150; // after scrolling, the address says where

// The part of a range that a run has, and the columns of it.
function askedRange(range: Range, length: number, width: number) {
  const begin = Math.max(0, Math.min(range.begin, length - 1));
  const end = Math.max(begin, Math.min(range.end, length));
  const share = (end - begin) / Math.max(1, range.end - range.begin);
  return { asked: { begin, end }, columns: Math.max(1, Math.ceil(width * share)) };
}

export function TimelineView(props: TimelineProps) {
  const { range, choice, selection } = props;
  const { scroller, size, scrolled, setScrolled } = useWindow();
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
  const overview = useMap(
    props.path,
    threads,
    props.thread,
    width,
    mapHeight / MAP_ROW,
    props.lens,
  );
  const [heldFrame, holdFrame] = useState<ReturnType<typeof useFrame>["frame"]>(null);
  const levelsOf = useLevels(overview.map, heldFrame);
  const counters = useCounterList(props.path, props.thread);
  const { asked, columns } = askedRange(range, props.length, width);
  const cpus = useCpus(props.path, asked, columns);
  const processors = useMemo(
    () => [...(cpus?.runs.keys() ?? [])],
    [[...(cpus?.runs.keys() ?? [])].join()],
  );
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
    return layOut(known, choice, sizes, levelsOf, counters, room, processors);
  }, [
    threads,
    choiceKey,
    openKey,
    sizes,
    levelsOf,
    counters,
    overview.map,
    size.height,
    processors,
  ]);
  const height = size.height + STEP;
  const visible = visibleTracks(layout, scrolled, height);
  const counterOf = useCounterPoints(
    props.path,
    asked,
    columns,
    visible.flatMap((track) => (track.kind === "counter" ? [track.counter] : [])),
  );
  const profiles = visibleProfiles(layout, scrolled, height);
  const depth = props.depth || overview.depth;
  const mapped = useMemo(() => mapRows(known), [threads]);
  const starts = useMemo(() => startsOf(known), [threads]);
  const recorded = useFlows(props.path, asked, profiles);
  // A strip shows one depth; a search, and flows, look at all calls.
  const isWhole = matches !== null || recorded.count + starts.length > 0;
  const opened = useMemo(
    () =>
      layout.tracks.flatMap((track) =>
        track.kind === "thread" && track.isOpen ? [track.thread.profile] : [],
      ),
    [layout],
  );
  const whole = opened.filter((profile) => profiles.includes(profile));
  const { frame, error } = useFrame(
    props.path,
    asked,
    columns,
    profiles,
    props.lens,
    isWhole ? undefined : { depth, whole },
  );
  useEffect(() => holdFrame(frame), [frame]);
  const shown: Shown = {
    layout,
    get scrolled() {
      return scroller.current?.scrollTop ?? 0;
    },
    frame,
    range,
    width,
    sizes,
    depth,
  };
  const reach = cursor && reachOf(shown, cursor);
  const more = useFlows(
    cursor && recorded.count > recorded.list.length ? props.path : null,
    reach ?? asked,
    cursor ? [cursor.profile] : [],
  );
  const flows = useMemo(
    () => [...starts, ...(recorded.count <= FEW ? recorded.list : [])],
    [starts, recorded],
  );
  const near = [...starts, ...(more.count > 0 ? more.list : recorded.list)];
  const atCursor = cursor && reach ? flowsAt(near, cursor, reach) : [];
  const measured = measuredRange(measure.times, cursor);
  const pathBars = useCriticalPath(props.hasPath ? props.path : null, selection, asked, columns);

  const threadNames = useMemo(
    () => new Map(known.map((thread) => [thread.profile, thread.name || thread.label])),
    [threads],
  );
  const nameOf = (profile: number) => threadNames.get(profile) ?? `thread ${profile}`;
  const rangeKeys = [range.begin, range.end, width, sizes, isDark()];
  useLayoutEffect(() => {
    if (axis.current) drawAxis(axis.current, { range, width, sizes, marks: props.marks, measured });
  }, [...rangeKeys, props.marks.join(), measured?.begin, measured?.end]);
  const picture = frame && {
    frame,
    layout,
    depth,
    range,
    width,
    sizes,
    selection,
    isSelected: (number: number) => holdsNumber(selection?.threads ?? "", number),
    counterOf,
    cpus,
    nameOf,
    matches,
  };

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
  const change = (next: Range, gesture?: Gesture) =>
    props.onChange({ range: clampRange(next, props.duration), gesture });
  const slide = (by: number) => change(panRange(range, by * span), "keys");
  const zoom = (factor: number) => change(zoomRange(range, middle, factor), "keys");

  const middle = cursor?.time ?? range.begin + span / 2;
  const listed = useMemo(
    () => layout.tracks.filter((track): track is ThreadTrack => track.kind === "thread"),
    [layout],
  );
  const moveCursor = (by: number) => {
    const time = inside(middle + by * span);
    const profile =
      cursor?.profile ?? visible.find((t): t is ThreadTrack => t.kind === "thread")?.thread.profile;
    if (profile === undefined) return;
    setCursor({ time, profile });
    if (time < range.begin || time > range.end) slide(by * 10);
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
    onWhole: (profile: number) => choose({ opened: new Map(choice.opened).set(profile, true) }),
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
  const leave = () => {
    if (measure.isOn) setMeasure({ isOn: false, times: [] });
    else if (selection) props.onChange({ selection: null });
    else setCursor(null);
  };
  const setDepth = (next: number) =>
    props.onChange({ depth: Math.min(Math.max(1, next), deepest), gesture: "depth" });
  const deepest = useMemo(
    () => Math.max(1, ...listed.map((track) => levelsOf(track.thread.profile))),
    [listed, levelsOf],
  );
  const scrollEnd = useRef<ReturnType<typeof setTimeout>>();
  useEffect(() => () => clearTimeout(scrollEnd.current), []);
  // Flows, and what is pinned, are elsewhere with every pixel.
  const onScroll = () => {
    const lying = flows.length + near.length + pathBars.length;
    const step = lying + layout.fixedHeight > 0 ? 1 : STEP;
    setScrolled(Math.floor(shown.scrolled / step) * step);
    clearTimeout(scrollEnd.current);
    scrollEnd.current = setTimeout(() => {
      const first = trackAt(layout, shown.scrolled, layout.fixedHeight);
      if (first?.kind === "thread") props.onChange({ first: first.thread.profile });
    }, REST_MS);
  };
  const page = (by: number) =>
    scroller.current?.scrollBy({ top: by * (size.height - layout.fixedHeight) });

  // The next call that a search matches: of those that are loaded, else beyond them.
  const showMatch = (best: Cursor) => {
    setCursor(best);
    if ((trackOf(best.profile)?.cutLevels ?? 0) > 0) actions.onWhole(best.profile);
    scrollTo(best.profile);
    if (best.time < range.begin || best.time > range.end) goTo(best.time);
  };
  const beyond = useSearchBeyond({
    path: props.path,
    lens: props.lens,
    thread: props.thread,
    search: props.search,
    matches,
    span,
    onMatch: showMatch,
  });
  useSearchSteps((by) => {
    if (!matches || !frame) return;
    const best = nextMatch(frame, matches, cursor?.time ?? (by > 0 ? -1 : Infinity), by);
    if (best) showMatch(best);
    else
      beyond(
        by > 0
          ? { begin: Math.ceil(asked.end), end: props.length }
          : { begin: 0, end: Math.floor(asked.begin) },
        by,
      );
  });

  useTimelineKeys({
    a: () => slide(-1 / 5),
    d: () => slide(1 / 5),
    w: () => zoom(0.6),
    s: () => zoom(1 / 0.6),
    ArrowLeft: () => slide(-1 / 20),
    ArrowRight: () => slide(1 / 20),
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
    k: () => props.hasPath !== undefined && props.onChange({ hasPath: !props.hasPath }),
    m: () => setMarks(toggled(props.marks, Math.round(inside(middle)))),
    e: () => setMeasure({ isOn: !measure.isOn, times: [] }),
    f: () => selection && change(selection),
    x: selectThread,
    g: () => follow(1),
    G: () => follow(-1),
    c: showCalls,
    Escape: leave,
    Enter: () => selection && props.onFlame(),
  });

  const { onDouble, ...pointers } = usePointers({
    shown,
    duration: props.duration,
    scroller,
    isMeasuring: measure.isOn,
    profileOn: (number, time) => cpuRunAt(cpus, number, time)?.profile,
    onRange: change,
    onSelect: (next) => props.onChange({ selection: next, gesture: "select" }),
    onCursor: setCursor,
    onClick: showCalls,
    onMeasure: addMeasured,
  });
  const selectionKeys = [selection?.begin, selection?.end, selection?.threads];
  const field = {
    style: { left: `${sizes.label}px`, width: `${width}px` },
    "data-measuring": measure.isOn,
    onDblClick: onDouble,
    ...pointers,
  };
  const labels = {
    layout,
    width: sizes.label,
    metric: props.metric,
    counterOf,
    cpus,
    current: cursor?.profile,
    time: cursor?.time,
    ...actions,
  };
  return (
    <div class="timeline">
      {props.hasToolbar && (
        <Still
          keys={[
            ...[range.begin, range.end, props.duration, props.hasOverview, depth, deepest],
            ...[frame, error, listed.length, measure.isOn, choiceKey, openKey],
            ...selectionKeys,
          ]}
        >
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
            onFilter={(filter) =>
              props.onChange({ choice: { ...choice, filter }, gesture: "filter" })
            }
            onMeasure={() => setMeasure({ isOn: !measure.isOn, times: [] })}
          />
        </Still>
      )}
      <div class="timeline-body">
        <div
          class="timeline-canvas"
          tabIndex={0}
          role="application"
          aria-label="threads over time: W and S zoom, A and D move, comma and full stop move the cursor, brackets select time and x threads, space opens a track"
        >
          <Still
            keys={[
              ...[...rangeKeys, overview.map, overview.shown, mapped, mapHeight, depth],
              ...[props.duration, matches, layout],
            ]}
          >
            <Minimap
              frame={overview.map}
              shown={overview.shown}
              count={overview.count}
              rows={mapped}
              width={width}
              height={mapHeight}
              sizes={sizes}
              depth={depth}
              range={range}
              duration={props.duration}
              matches={matches}
              onChange={(next) => change(next, "map")}
              onThread={scrollTo}
            />
          </Still>
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
            style={{
              "--printed": `${Math.min(size.height, layout.fixedHeight + layout.height)}px`,
            }}
            onScroll={onScroll}
          >
            <div class="track-window">
              {layout.fixedHeight > 0 && (
                <div class="pinned" style={{ height: `${layout.fixedHeight}px` }}>
                  <div class="nested" {...field}>
                    {picture && <PinnedTile picture={picture} />}
                  </div>
                  <TrackLabels {...labels} label="pinned threads" tracks={pinnedTracks(layout)} />
                </div>
              )}
              <TrackOverlay
                range={range}
                left={sizes.label}
                width={width}
                height={size.height}
                cursor={cursor?.time}
                marks={props.marks}
                measured={measured}
                all={curvesOf(flows, shown)}
                curves={curvesOf(atCursor, shown)}
                tip={atCursor[0] ? describe(atCursor[0], labelOf) : ""}
                path={drawnPath(pathBars, shown)}
              />
            </div>
            <div class="track-space" style={{ height: `${layout.fixedHeight + layout.height}px` }}>
              <div
                class="nested"
                role="img"
                aria-label={
                  frame
                    ? `${visible.filter((track) => track.kind === "thread").length} of ${frame.threadCount > known.length ? frame.threadCount : known.length} threads`
                    : "loading"
                }
                {...field}
              >
                {picture && <TrackTiles picture={picture} scrolled={scrolled} height={height} />}
              </div>
              <Still
                keys={[
                  ...[
                    layout,
                    visible[visible.length - 1],
                    visible.length,
                    sizes.label,
                    frame,
                    counterOf,
                    cpus,
                  ],
                  ...[choiceKey, openKey, cursor?.profile, counters.length > 0 && cursor?.time],
                ]}
              >
                <TrackLabels
                  {...labels}
                  label="threads"
                  tracks={visible.filter((track) => !track.isFixed)}
                />
              </Still>
            </div>
          </div>
        </div>
        <TimelinePanel
          path={props.path}
          lens={props.lens}
          hasStates={props.hasStates}
          duration={props.length}
          timesLabel={props.timesLabel}
          estimate={props.estimate}
          frame={frame}
          selection={selection}
          cursor={cursor}
          cursorLabel={trackOf(cursor?.profile)?.thread.label ?? ""}
          marks={props.marks}
          hasPath={props.hasPath === true}
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
