// The drawings of the tracks: canvases of equal height that scroll with the page, so that scrolling
// draws only the next one. Movements shift a drawing until the next one, and stretch it where drawing
// takes long.

import { useLayoutEffect, useRef } from "preact/hooks";
import { isDark } from "../shared/look/colors";
import type { Range } from "../shared/range";
import { hasSameColumns } from "./nested";
import { drawTracks, tracksOf, type Picture } from "./track_draw";

const TILE = 192; // pixels
const AHEAD = 96; // pixels that a tile is drawn before it is scrolled to
const SLOW_MS = 1; // of drawing
const SHIFTED = 0.001; // stretched so little, a drawing looks as if it was drawn there
const PAUSE_MS = 70; // between drawings, at least
const REST = 4; // they take at most one part in so many of the time, and one more

interface Drawn {
  picture: Picture;
  isDark: boolean;
  ms: number; // that drawing took
  at: number; // when it ended
  timer?: ReturnType<typeof setTimeout>;
}

// Where a drawing of one range lies on that of another: its left edge, and how it is stretched.
export function moved(from: Range, to: Range, width: number): { left: number; scale: number } {
  const span = to.end - to.begin;
  return {
    left: ((from.begin - to.begin) / span) * width,
    scale: (from.end - from.begin) / span,
  };
}

const isSameRange = (a: Range | null, b: Range | null): boolean =>
  a === b || (a !== null && b !== null && a.begin === b.begin && a.end === b.end);

// True if tracks are at the same heights of a tile of the same size.
const hasSameTracks = (a: Picture, b: Picture): boolean =>
  a.layout === b.layout &&
  a.top === b.top &&
  a.depth === b.depth &&
  a.width === b.width &&
  a.height === b.height &&
  a.sizes === b.sizes &&
  a.matches === b.matches &&
  a.selection?.threads === b.selection?.threads &&
  isSameRange(a.selection, b.selection);

// True if the tracks have the data that was drawn.
const hasSameData = (a: Picture, b: Picture): boolean =>
  hasSameColumns(a.frame, b.frame) &&
  tracksOf(b).every((track) => {
    if (track.kind === "counter") return a.counterOf(track.counter) === b.counterOf(track.counter);
    if (track.kind === "group") return true;
    if (track.kind === "cpu") return a.cpus === b.cpus;
    return a.frame.rows.get(track.thread.profile) === b.frame.rows.get(track.thread.profile);
  });

const isSame = (a: Picture, b: Picture): boolean =>
  hasSameTracks(a, b) && isSameRange(a.range, b.range) && hasSameData(a, b);

function draw(element: HTMLCanvasElement, picture: Picture): Drawn {
  const begin = performance.now();
  drawTracks(element, picture);
  element.style.transform = "";
  const at = performance.now();
  return { picture, isDark: isDark(), ms: at - begin, at };
}

function Tile(props: { picture: Picture; offset: number; isHidden: boolean }) {
  const { picture } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useRef<Drawn>();
  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const paint = () => {
      drawn.current = draw(element, picture);
    };
    const before = drawn.current;
    clearTimeout(before?.timer);
    if (!before || before.isDark !== isDark() || !hasSameTracks(before.picture, picture))
      return paint();
    if (isSame(before.picture, picture)) {
      element.style.transform = "";
      return;
    }
    const { left, scale } = moved(before.picture.range, picture.range, picture.width);
    const isShifted = left !== 0 && Math.abs(scale - 1) < SHIFTED;
    const wait = before.at + Math.max(PAUSE_MS, REST * before.ms) - performance.now();
    if (!props.isHidden && (wait <= 0 || (before.ms <= SLOW_MS && !isShifted))) return paint();
    element.style.transform = `translateX(${left}px) scaleX(${scale})`;
    before.timer = setTimeout(paint, Math.max(PAUSE_MS, wait));
  });
  useLayoutEffect(() => () => clearTimeout(drawn.current?.timer), []);
  return (
    <canvas
      ref={canvas}
      role="presentation"
      style={{
        top: `${props.offset}px`,
        width: `${picture.width}px`,
        height: `${picture.height}px`,
      }}
    />
  );
}

type Common = Omit<Picture, "isPinned" | "top" | "height">;

// The pinned tracks.
export function PinnedTile(props: { picture: Common }) {
  const { picture } = props;
  return (
    <Tile
      picture={{ ...picture, isPinned: true, top: 0, height: picture.layout.fixedHeight }}
      offset={0}
      isHidden={false}
    />
  );
}

// The others: those in the window, and near it.
export function TrackTiles(props: { picture: Common; scrolled: number; height: number }) {
  const { picture, scrolled, height } = props;
  const { layout } = picture;
  const bottom = scrolled + height - layout.fixedHeight;
  const first = Math.max(0, Math.floor((scrolled - AHEAD) / TILE));
  const last = Math.max(first, Math.ceil((bottom + AHEAD) / TILE));
  const tops = Array.from({ length: last - first }, (_, i) => (first + i) * TILE);
  return (
    <>
      {tops.map((top) => (
        <Tile
          key={top}
          picture={{ ...picture, isPinned: false, top, height: TILE }}
          offset={layout.fixedHeight + top}
          isHidden={top + TILE <= scrolled || top >= bottom}
        />
      ))}
    </>
  );
}
