// Draws the tracks of the timeline, its axis, and what is marked on it.

import { colorOf, isDark, themeColor, themeFont } from "../shared/look/colors";
import { formatNs, formatTick, timeStep } from "../shared/format";
import { fitName } from "../shared/names/names";
import type { Range } from "../shared/range";
import { uiScale } from "../shared/look/ui_scale";
import { dimOf, fillVeils, inkOver, type Veils } from "../shared/veil";
import { stripOf, type NestedFrame, type NestedRow } from "./nested";
import type { CounterName, CounterTrack } from "../../generated/answers";
import type { CounterOf, Cpus, Points } from "./use_tracks";
import { pinnedTracks, tracksBetween, type Layout, type ThreadTrack, type Track } from "./tracks";

export interface Sizes {
  label: number; // the width of labels
  axis: number;
  group: number;
  strip: number;
  level: number;
  states: number; // the line of states
  gap: number; // of a track without its calls
  counter: number;
  text: number;
}

const NARROW = 640; // pixels of the window: labels are shorter
const WIDE = 1600;

export function sizes(): Sizes {
  const scale = uiScale();
  const px = (value: number) => Math.round(value * scale);
  const room = document.documentElement.clientWidth;
  return {
    label: px(room < NARROW ? 104 : room < WIDE ? 200 : 232),
    axis: px(22),
    group: px(22),
    strip: px(13),
    level: px(15),
    states: px(3),
    gap: px(3) + 4,
    counter: px(44),
    text: 11 * scale,
  };
}

export function prepare(
  element: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (element.width !== wide) element.width = wide;
  if (element.height !== high) element.height = high;
  const context = element.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}

// Colours by name, which are drawn thousands of times, and those of the style sheet.
const colors = new Map<string, string>();
let theme: (Theme & { isDark: boolean }) | null = null;

function cachedColor(name: string): string {
  let color = colors.get(name);
  if (color === undefined) {
    color = colorOf(name);
    colors.set(name, color);
  }
  return color;
}

export interface Theme {
  ink: string;
  onFill: string;
  edge: string; // of text
  faint: string;
  line: string;
  paper: string;
  raised: string;
  accent: string;
  wait: string;
  running: string;
  blocked: string;
  preempted: string;
}

export function readTheme(): Theme {
  const dark = isDark();
  if (theme?.isDark === dark) return theme;
  colors.clear();
  theme = {
    isDark: dark,
    ink: themeColor("--ink"),
    onFill: themeColor("--on-fill"),
    edge: `${themeColor("--on-fill")}80`,
    faint: themeColor("--faint"),
    line: themeColor("--line"),
    paper: themeColor("--paper"),
    raised: themeColor("--raised"),
    accent: themeColor("--accent"),
    wait: themeColor("--wait"),
    running: themeColor("--running"),
    blocked: themeColor("--blocked"),
    preempted: themeColor("--preempted"),
  };
  return theme;
}

const FAINT = 0.15; // opacity of functions that a search does not match

export interface Area {
  range: Range;
  left: number; // pixels
  width: number;
}

type Matches = ((name: string) => boolean) | null;

type Columns = Range & { columns: number };

// From columns of a frame to pixels: while the next frame is loading, the last one moves along.
function columnScale(frame: Columns, area: Area): (column: number) => number {
  const perNs = area.width / (area.range.end - area.range.begin);
  const width = ((frame.end - frame.begin) / frame.columns) * perNs;
  const left = area.left + (frame.begin - area.range.begin) * perNs;
  return (column) => left + column * width;
}

// The function at one depth, the fainter the less of the time the thread ran.
export function drawStrip(
  context: CanvasRenderingContext2D,
  frame: NestedFrame,
  row: NestedRow,
  box: Area & { top: number; height: number; depth: number },
  theme: Theme,
  matches: Matches,
): void {
  const x = columnScale(frame, box);
  const right = box.left + box.width;
  for (const run of stripOf(row, box.depth)) {
    const from = Math.max(box.left, x(run.begin));
    const to = Math.min(right, x(run.end));
    if (to <= from) continue;
    if (run.name !== null) {
      context.fillStyle = cachedColor(run.name);
      context.globalAlpha = matches && !matches(run.name) ? FAINT : 1;
    } else context.fillStyle = theme.wait;
    context.fillRect(from, box.top, Math.max(to - from, 0.5), box.height);
    context.globalAlpha = 1;
  }
  fillVeils(context, veilsOf(frame, row, box));
}

const WAITING = 0.6; // opacity of states under a curve

// How much of the time a thread ran, as a curve, on the colours of what it did otherwise.
export function drawActivity(
  context: CanvasRenderingContext2D,
  frame: NestedFrame,
  row: NestedRow,
  box: Area & { top: number; height: number },
  theme: Theme,
): void {
  const x = columnScale(frame, box);
  context.globalAlpha = WAITING;
  for (const { begin, end, name } of row.states) {
    if (name !== "blocked" && name !== "pre-empted") continue;
    context.fillStyle = name === "blocked" ? theme.blocked : theme.preempted;
    context.fillRect(x(begin), box.top, x(end) - x(begin), box.height);
  }
  context.globalAlpha = 1;
  context.fillStyle = theme.running;
  for (const { begin, end, share } of row.busy) {
    const high = share * box.height;
    context.fillRect(x(begin), box.top + box.height - high, x(end) - x(begin), high);
  }
}

// What threads do, as a thin line: Perfetto's colours.
function drawStates(
  context: CanvasRenderingContext2D,
  frame: NestedFrame,
  row: NestedRow,
  box: Area & { top: number; height: number },
  theme: Theme,
): void {
  const x = columnScale(frame, box);
  const right = box.left + box.width;
  for (const state of row.states) {
    const from = Math.max(box.left, x(state.begin));
    const to = Math.min(right, x(state.end));
    if (to <= from || state.name === "no data") continue;
    context.fillStyle =
      state.name === "running"
        ? theme.running
        : state.name === "pre-empted"
          ? theme.preempted
          : theme.blocked;
    context.fillRect(from, box.top, Math.max(to - from, 0.5), box.height);
  }
}

const TEXT_MIN = 28; // pixels of a box with a name
const NAMED = 0.9; // of a processor: with less there is no room for a name
const EDGE = 2.5; // pixels
const LETTER = 0.4; // width of a letter, about, to the height of a level

// How much of a row is hidden between two pixels, on average.
function dimBetween(
  row: NestedRow,
  x: (column: number) => number,
  from: number,
  to: number,
): number {
  let [low, high] = [0, row.busy.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x(row.busy[middle]?.end ?? 0) <= from) low = middle + 1;
    else high = middle;
  }
  let sum = 0;
  for (let run = row.busy[low]; run && x(run.begin) < to; run = row.busy[++low])
    sum += dimOf(run.share) * (Math.min(to, x(run.end)) - Math.max(from, x(run.begin)));
  return sum / Math.max(1, to - from);
}

// Boxes, waiting on top of them, then their names, each in one colour that is legible there.
function drawNested(
  context: CanvasRenderingContext2D,
  frame: NestedFrame,
  row: NestedRow,
  box: Area & { top: number; height: number; level: number; bottom: number; hasNames: boolean },
  theme: Theme,
  matches: Matches,
): void {
  const x = columnScale(frame, box);
  const right = box.left + box.width;
  const names: [string, number, number, number][] = [];
  for (const call of row.boxes) {
    if (call.depth === 0 || call.depth * box.level > box.height + 1) continue;
    const from = Math.max(box.left, x(call.begin));
    const to = Math.min(right, x(call.end));
    if (to <= from) continue;
    const top = box.top + (call.depth - 1) * box.level;
    if (top + box.level < 0 || top > box.bottom) continue;
    const wide = to - from;
    const isFaint = matches !== null && !matches(call.name);
    context.globalAlpha = isFaint ? FAINT : 1;
    context.fillStyle = cachedColor(call.name);
    context.fillRect(from, top, Math.max(wide > 3 ? wide - 1 : wide, 0.5), box.level - 1);
    if (box.hasNames && wide > TEXT_MIN && !isFaint) names.push([call.name, from, top, wide]);
  }
  context.globalAlpha = 1;
  context.textBaseline = "middle";
  fillVeils(context, veilsOf(frame, row, box));
  context.strokeStyle = theme.edge;
  context.lineWidth = EDGE;
  context.lineJoin = "round";
  for (const [name, from, top, wide] of names) {
    const text = fitName(context, name, wide - 6);
    if (!text) continue;
    const reach = Math.min(wide, text.length * box.level * LETTER);
    const ink = inkOver(dimBetween(row, x, from, from + reach));
    // Light text lies on stripes of all shades: its edge is dark.
    if (ink !== theme.onFill && isDark()) context.strokeText(text, from + 3, top + box.level / 2);
    context.fillStyle = ink;
    context.fillText(text, from + 3, top + box.level / 2);
  }
}

// The calls of a thread without names, in levels that may be too low for them.
export function drawCalls(
  context: CanvasRenderingContext2D,
  frame: NestedFrame,
  row: NestedRow,
  box: Area & { top: number; height: number; level: number },
  theme: Theme,
): void {
  drawNested(context, frame, row, { ...box, bottom: Infinity, hasNames: false }, theme, null);
}

// Where the thread does not run all of the time.
function veilsOf(
  frame: NestedFrame,
  row: NestedRow,
  box: Area & { top: number; height: number },
): Veils {
  const x = columnScale(frame, box);
  const right = box.left + box.width;
  const veils: Veils = new Map();
  for (const { begin, end, share } of row.busy) {
    const from = Math.max(box.left, x(begin));
    const to = Math.min(right, x(end));
    if (share === 1 || to <= from) continue;
    let area = veils.get(share);
    if (!area) veils.set(share, (area = new Path2D()));
    area.rect(from, box.top, to - from, box.height);
  }
  return veils;
}

export interface Cursor {
  time: number;
  profile: number;
}

export interface Selection extends Range {
  threads: string; // "1-3,7"; "": all
}

// A part of the tracks, from the labels on.
export interface Picture {
  frame: NestedFrame;
  layout: Layout; // of all tracks
  isPinned: boolean; // these are the pinned ones
  top: number; // of this part, as its tracks count
  depth: number; // of strips
  range: Range;
  width: number;
  height: number;
  sizes: Sizes;
  selection: Selection | null;
  isSelected: (profile: number) => boolean;
  counterOf: CounterOf;
  cpus: Cpus | null;
  nameOf: (profile: number) => string; // of a thread
  matches: Matches;
}

export const tracksOf = ({ isPinned, layout, top, height }: Picture): Track[] =>
  isPinned ? pinnedTracks(layout) : tracksBetween(layout, top, top + height);

function drawTrack(
  context: CanvasRenderingContext2D,
  picture: Picture,
  theme: Theme,
  track: ThreadTrack,
  area: Area,
): void {
  const { frame, sizes } = picture;
  const top = track.top - picture.top + 2;
  const row = frame.rows.get(track.thread.profile);
  if (!row) return;
  drawStates(context, frame, row, { ...area, top, height: sizes.states }, theme);
  const below = top + sizes.states;
  if (track.isOpen)
    drawNested(
      context,
      frame,
      row,
      {
        ...area,
        top: below,
        height: track.height - sizes.states - 3,
        level: sizes.level,
        bottom: picture.height,
        hasNames: true,
      },
      theme,
      picture.matches,
    );
  else
    drawStrip(
      context,
      frame,
      row,
      { ...area, top: below, height: sizes.strip, depth: picture.depth },
      theme,
      picture.matches,
    );
}

// The threads that ran on a processor. Where they ran for a part of the time, the box is as high as that part: gaps
// are gaps.
function drawCpu(
  context: CanvasRenderingContext2D,
  picture: Picture,
  number: number,
  box: Area & { top: number; height: number },
  theme: Theme,
): void {
  const { cpus } = picture;
  if (!cpus) return;
  const x = columnScale(cpus, box);
  const right = box.left + box.width;
  context.textBaseline = "middle";
  const names: [string, number][] = [];
  let [named, end] = [-1, 0]; // the thread whose name was drawn last, and where it ends
  const runs = cpus.runs.get(number) ?? [];
  runs.forEach((run, i) => {
    const from = Math.max(box.left, x(run.begin));
    const to = Math.min(right, x(run.end));
    if (to <= from) return;
    const name = picture.nameOf(run.profile);
    const high = Math.max(1, box.height * run.share);
    context.fillStyle = cachedColor(name);
    context.fillRect(from, box.top + box.height - high, Math.max(to - from, 0.5), high);
    // Consecutive runs of one thread have its name once.
    if (run.profile === named && run.begin === end) {
      end = run.end;
      return;
    }
    [named, end] = [run.profile, run.end];
    let last = i;
    while (
      runs[last + 1]?.profile === run.profile &&
      runs[last + 1]?.begin === runs[last]?.end &&
      (runs[last + 1]?.share ?? 0) >= NAMED
    )
      last++;
    const wide = Math.min(right, x(runs[last]?.end ?? run.end)) - from;
    if (wide > TEXT_MIN && run.share >= NAMED)
      names.push([fitName(context, name, wide - 6), from + 3]);
  });
  context.fillStyle = theme.onFill;
  for (const [text, left] of names) context.fillText(text, left, box.top + box.height / 2 + 1);
}

// The lowest and highest value of what is visible; rates begin at 0.
export function counterScale(points: Points, isRate = false): { low: number; high: number } {
  const low = isRate ? 0 : Math.min(...points.map((point) => point[1]));
  const high = Math.max(...points.map((point) => point[2]));
  return low < high ? { low, high } : { low: low - 1, high: high + 1 };
}

// Rates and memory are shares of something: their scale begins at 0.
export const isFromZero = ({ name }: CounterName): boolean =>
  name.endsWith("/s") || name === "heap (B)";

const PEAK_SIZE = 4; // px

// A value lasts until the next reading; a column with several has a line from the lowest to the
// highest. A triangle marks the peak.
function drawCounter(
  context: CanvasRenderingContext2D,
  track: CounterTrack | undefined,
  box: Area & { top: number; height: number },
  theme: Theme,
): void {
  if (!track || track.points.length === 0) return;
  const { points, peak } = track;
  const { low, high } = counterScale(points, isFromZero(track));
  const span = box.range.end - box.range.begin;
  const xOf = (time: number) => box.left + ((time - box.range.begin) / span) * box.width;
  const yOf = (value: number) => box.top + box.height * (1 - (value - low) / (high - low));
  context.save();
  context.beginPath();
  context.rect(box.left, box.top - 2, box.width, box.height + 4);
  context.clip();
  context.beginPath();
  points.forEach(([time, least, most, last], i) => {
    const before = points[i - 1]?.[3];
    if (before === undefined) context.moveTo(xOf(time), yOf(last));
    else context.lineTo(xOf(time), yOf(before));
    context.lineTo(xOf(time), yOf(least));
    context.lineTo(xOf(time), yOf(most));
    context.lineTo(xOf(time), yOf(last));
  });
  context.strokeStyle = theme.accent;
  context.lineWidth = 1.25;
  context.stroke();
  if (peak) {
    const [left, top] = [xOf(peak[0]), Math.max(box.top - 2, yOf(peak[1]))];
    context.beginPath();
    context.moveTo(left, top + PEAK_SIZE);
    context.lineTo(left - PEAK_SIZE, top - PEAK_SIZE / 2);
    context.lineTo(left + PEAK_SIZE, top - PEAK_SIZE / 2);
    context.fillStyle = theme.accent;
    context.fill();
  }
  context.restore();
}

// Bands of the selection lie on the tracks that it contains.
function drawSelection(
  context: CanvasRenderingContext2D,
  picture: Picture,
  theme: Theme,
  tracks: Track[],
): void {
  const { selection, range, width } = picture;
  if (!selection) return;
  const xOf = (time: number) => ((time - range.begin) / (range.end - range.begin)) * width;
  const left = Math.max(0, xOf(selection.begin));
  const right = Math.min(width, xOf(selection.end));
  if (right < left) return;
  for (const track of tracks) {
    if (track.kind === "thread" && !picture.isSelected(track.thread.profile)) continue;
    if (track.kind !== "thread" && selection.threads !== "") continue;
    const top = track.top - picture.top;
    context.fillStyle = theme.accent;
    context.globalAlpha = 0.16;
    context.fillRect(left, top, Math.max(1, right - left), track.height);
    context.globalAlpha = 1;
    context.fillRect(left, top, 1, track.height);
    context.fillRect(right, top, 1, track.height);
  }
}

export function drawTracks(element: HTMLCanvasElement, picture: Picture): void {
  const { range, width, height, sizes } = picture;
  const context = prepare(element, width, height);
  if (!context) return;
  const theme = readTheme();
  const area = { range, left: 0, width };
  const tracks = tracksOf(picture);
  context.font = themeFont(sizes.text);
  drawGrid(context, range, width, height, theme);
  for (const track of tracks) {
    const top = track.top - picture.top;
    context.fillStyle = theme.line;
    context.fillRect(0, top + track.height - 1, width, 0.5);
    if (track.kind === "thread") drawTrack(context, picture, theme, track, area);
    else if (track.kind === "cpu")
      drawCpu(
        context,
        picture,
        track.number,
        { ...area, top: top + 2, height: track.height - 4 },
        theme,
      );
    else if (track.kind === "counter")
      drawCounter(
        context,
        picture.counterOf(track.counter),
        { ...area, top: top + 5, height: track.height - 10 },
        theme,
      );
  }
  drawSelection(context, picture, theme, tracks);
}

const tickStep = (range: Range, width: number) =>
  timeStep(range.end - range.begin, width / (110 * uiScale()));

function drawGrid(
  context: CanvasRenderingContext2D,
  range: Range,
  width: number,
  height: number,
  theme: Theme,
): void {
  const step = tickStep(range, width);
  context.fillStyle = theme.line;
  for (let at = Math.ceil(range.begin / step) * step; at < range.end; at += step)
    context.fillRect(((at - range.begin) / (range.end - range.begin)) * width, 0, 1, height);
}

export interface Axis {
  range: Range;
  width: number;
  sizes: Sizes;
  marks: number[];
  measured: Range | null;
}

// Times, flags of marks, and the length that is measured.
export function drawAxis(element: HTMLCanvasElement, axis: Axis): void {
  const { range, width, sizes } = axis;
  const context = prepare(element, width + sizes.label, sizes.axis);
  if (!context) return;
  const theme = readTheme();
  const span = range.end - range.begin;
  const step = tickStep(range, width);
  const xOf = (time: number) => sizes.label + ((time - range.begin) / span) * width;
  context.font = themeFont(sizes.text);
  context.textBaseline = "middle";
  for (let at = Math.ceil(range.begin / step) * step; at < range.end; at += step) {
    const text = formatTick(at, step);
    context.fillStyle = theme.line;
    context.fillRect(xOf(at), sizes.axis - 5, 1, 5);
    context.fillStyle = theme.faint;
    if (xOf(at) + 3 + context.measureText(text).width <= sizes.label + width)
      context.fillText(text, xOf(at) + 3, sizes.axis / 2);
  }
  context.fillStyle = theme.accent;
  axis.marks.forEach((mark) => {
    if (mark < range.begin || mark > range.end) return;
    context.beginPath();
    context.moveTo(xOf(mark), sizes.axis);
    context.lineTo(xOf(mark), 2);
    context.lineTo(xOf(mark) + 9, 6);
    context.lineTo(xOf(mark), 10);
    context.fill();
  });
  if (axis.measured) drawMeasured(context, axis, theme, xOf);
}

function drawMeasured(
  context: CanvasRenderingContext2D,
  { measured, sizes, width }: Axis,
  theme: Theme,
  xOf: (time: number) => number,
): void {
  if (!measured || measured.end === measured.begin) return;
  const from = Math.max(sizes.label, xOf(measured.begin));
  const to = Math.min(sizes.label + width, xOf(measured.end));
  const text = formatNs(measured.end - measured.begin);
  const wide = context.measureText(text).width + 10;
  const middle = Math.min(
    Math.max((from + to) / 2, sizes.label + wide / 2),
    sizes.label + width - wide / 2,
  );
  context.fillStyle = theme.ink;
  context.fillRect(from, sizes.axis - 3, Math.max(1, to - from), 2);
  context.fillRect(middle - wide / 2, 1, wide, sizes.axis - 5);
  context.fillStyle = theme.paper;
  context.fillText(text, middle - wide / 2 + 5, (sizes.axis - 4) / 2);
}
