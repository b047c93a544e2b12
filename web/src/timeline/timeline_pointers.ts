// The window of the tracks, and what the pointer does there: it moves, selects, measures, zooms.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";
import { panRange, zoomRange, type Range } from "../shared/range";
import { boxAt, threadsBetween, timeAt, timesOf, type Shown } from "./geometry";
import type { Cursor, Selection } from "./track_draw";
import { trackAt } from "./tracks";

export function useWindow() {
  const scroller = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 1000, height: 500 });
  const [scrolled, setScrolled] = useState(0);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = () => {
      if (!matchMedia("print").matches)
        setSize({ width: element.clientWidth, height: element.clientHeight });
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  return { scroller, size, scrolled, setScrolled };
}

interface Drag {
  x: number;
  y: number;
  range: Range;
  scrolled: number;
  isSelecting: boolean;
  isMoving: boolean;
}

const CLICK = 3; // pixels that a click may move

interface Pointers {
  shown: Shown;
  duration: number;
  scroller: RefObject<HTMLDivElement>;
  isMeasuring: boolean;
  profileOn: (processor: number, time: number) => number | undefined;
  onRange: (range: Range, gesture?: "drag" | "wheel") => void;
  onSelect: (selection: Selection) => void;
  onCursor: (cursor: Cursor | null) => void;
  onClick: () => void;
  onMeasure: (time: number) => void;
}

export function usePointers(props: Pointers) {
  const { shown, scroller } = props;
  const { range, width, sizes, layout, frame } = shown;
  const drag = useRef<Drag | null>(null);
  const span = range.end - range.begin;
  const inside = (time: number) => Math.min(props.duration, Math.max(0, time));

  const pointOf = (event: MouseEvent) => {
    const area = scroller.current?.getBoundingClientRect();
    return { x: event.clientX - (area?.left ?? 0), y: event.clientY - (area?.top ?? 0) };
  };
  const onPointerDown = (event: PointerEvent) => {
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    drag.current = {
      ...pointOf(event),
      range,
      scrolled: scroller.current?.scrollTop ?? 0,
      isSelecting: event.shiftKey,
      isMoving: false,
    };
  };
  const selectFrom = (start: Drag, x: number, y: number) => {
    const times = [inside(timeAt(shown, start.x)), inside(timeAt(shown, x))];
    props.onSelect({
      begin: Math.min(...times),
      end: Math.max(...times),
      threads: threadsBetween(shown, start.y, Math.max(0, y)),
    });
  };
  const moveFrom = (start: Drag, x: number, y: number) => {
    start.isMoving ||= Math.abs(x - start.x) >= CLICK || Math.abs(y - start.y) >= CLICK;
    if (!start.isMoving) return;
    props.onRange(panRange(start.range, (-(x - start.x) / width) * span), "drag");
    if (scroller.current && start.y >= 0)
      scroller.current.scrollTop = start.scrolled - (y - start.y);
  };
  const onPointerMove = (event: PointerEvent) => {
    const { x, y } = pointOf(event);
    const start = drag.current;
    if (start) return (start.isSelecting ? selectFrom : moveFrom)(start, x, y);
    const track = trackAt(layout, shown.scrolled, y);
    const time = timeAt(shown, x);
    // On a processor, the thread that runs there.
    const profile =
      track?.kind === "thread"
        ? track.thread.profile
        : track?.kind === "cpu"
          ? props.profileOn(track.number, time)
          : undefined;
    props.onCursor(x >= sizes.label && profile !== undefined ? { time, profile } : null);
  };
  const onPointerUp = (event: PointerEvent) => {
    const start = drag.current;
    drag.current = null;
    if (!start || start.isSelecting || start.isMoving) return;
    if (props.isMeasuring) props.onMeasure(inside(timeAt(shown, pointOf(event).x)));
    else props.onClick();
  };
  const onDouble = (event: MouseEvent) => {
    const { x, y } = pointOf(event);
    const box = boxAt(shown, x, y);
    if (!box || !frame) return props.onRange(zoomRange(range, timeAt(shown, x), 0.25));
    const { begin, end } = timesOf(frame, box);
    props.onRange({ begin: begin - (end - begin) * 0.05, end: end + (end - begin) * 0.05 });
  };
  const onWheel = (event: WheelEvent) => {
    event.preventDefault();
    const isAcross = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const next = isAcross
      ? panRange(range, ((event.deltaX || event.deltaY) / width) * span)
      : zoomRange(range, timeAt(shown, pointOf(event).x), event.deltaY > 0 ? 1.25 : 0.8);
    props.onRange(next, "wheel");
  };
  return {
    onPointerDown,
    onPointerMove,
    onPointerUp,
    onPointerLeave: () => {
      if (!drag.current) props.onCursor(null);
    },
    onWheel,
    onDouble,
  };
}
