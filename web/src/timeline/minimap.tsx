// A map of the whole time: threads from top to bottom, with the visible range, which can be dragged.
// Where there are more threads than rows of pixels, the busiest are shown.

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { isDark, themeFont } from "../shared/look/colors";
import { formatNs, plural } from "../shared/format";
import { shorten } from "../shared/names/names";
import { printable } from "../shared/names/printable";
import type { Range } from "../shared/range";
import type { NestedFrame } from "./nested";
import { drawStrip, prepare, readTheme, type Sizes } from "./track_draw";
import type { mapRows } from "./tracks";

const LABELLED = 100; // pixels: a higher map has labels

interface Props {
  frame: NestedFrame | null;
  shown: number; // threads that have a row
  count: number; // of all
  rows: ReturnType<typeof mapRows>;
  width: number;
  height: number;
  sizes: Sizes;
  depth: number;
  range: Range;
  duration: number;
  matches: ((name: string) => boolean) | null;
  onChange: (range: Range) => void;
  onThread: (profile: number) => void; // a double click
}

export function Minimap(props: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { frame, width, height, sizes, range, duration } = props;
  const rows = useMemo(
    () =>
      [...(frame?.rows.values() ?? [])].sort(
        (a, b) =>
          (props.rows.get(a.profile)?.index ?? Infinity) -
          (props.rows.get(b.profile)?.index ?? Infinity),
      ),
    [frame, props.rows],
  );
  // The strips change less often than the visible range.
  const drawn = useRef<{ key: unknown[]; picture: HTMLCanvasElement } | null>(null);
  const strips = (): HTMLCanvasElement | null => {
    const key = [
      frame,
      props.rows,
      width,
      height,
      props.depth,
      props.matches,
      isDark(),
      devicePixelRatio,
    ];
    if (drawn.current?.key.every((item, i) => item === key[i])) return drawn.current.picture;
    const picture = document.createElement("canvas");
    const context = prepare(picture, width + sizes.label, height);
    if (!context || !frame) return null;
    const theme = readTheme();
    const area = { range: { begin: 0, end: duration }, left: sizes.label, width };
    for (const [i, row] of rows.entries())
      drawStrip(
        context,
        frame,
        row,
        {
          ...area,
          top: (i * height) / rows.length,
          height: height / rows.length,
          depth: props.depth,
        },
        theme,
        props.matches,
      );
    drawn.current = { key, picture };
    return picture;
  };
  useLayoutEffect(() => {
    const context = canvas.current && prepare(canvas.current, width + sizes.label, height);
    if (!context) return;
    const theme = readTheme();
    const picture = strips();
    if (picture) context.drawImage(picture, 0, 0, width + sizes.label, height);
    const left = sizes.label + (range.begin / duration) * width;
    const right = sizes.label + (range.end / duration) * width;
    context.fillStyle = theme.paper;
    context.globalAlpha = 0.5;
    context.fillRect(sizes.label, 0, left - sizes.label, height);
    context.fillRect(right, 0, sizes.label + width - right, height);
    context.globalAlpha = 1;
    context.strokeStyle = theme.accent;
    context.lineWidth = 2;
    context.strokeRect(left + 1, 1, Math.max(right - left - 2, 2), height - 2);
    context.font = themeFont(sizes.text);
    context.fillStyle = theme.faint;
    context.textBaseline = "top";
    const label = `whole run, ${formatNs(duration)}`;
    const fits = (text: string) => context.measureText(text).width <= sizes.label - 12;
    context.fillText(fits(label) ? label : formatNs(duration), 8, 4);
    const hidden = props.count - props.shown;
    const which = `${plural(hidden, "quieter thread")} not shown`;
    if (hidden > 0)
      context.fillText(fits(which) ? which : `${hidden} hidden`, 8, 4 + sizes.text * 1.4);
    if (height > LABELLED) drawLabels(context);
  });
  // The names of groups, or threads, where there is room.
  const drawLabels = (context: CanvasRenderingContext2D) => {
    let free = 4 + sizes.text * 3;
    let before = "";
    rows.forEach((row, i) => {
      const label = props.rows.get(row.profile)?.label ?? "";
      const top = (i * height) / rows.length;
      if (label === before || top < free || top + sizes.text > height) return;
      context.fillText(
        shorten(printable(label), Math.floor(sizes.label / (0.65 * sizes.text))),
        8,
        top,
      );
      before = label;
      free = top + sizes.text * 1.4;
    });
  };
  const move = (event: PointerEvent) => {
    if (event.buttons === 0) return;
    const area = event.currentTarget as HTMLElement;
    const x = event.clientX - area.getBoundingClientRect().left - sizes.label;
    const span = range.end - range.begin;
    const middle = (x / width) * duration;
    props.onChange({ begin: middle - span / 2, end: middle + span / 2 });
  };
  const pick = (event: MouseEvent) => {
    const area = event.currentTarget as HTMLElement;
    const y = event.clientY - area.getBoundingClientRect().top;
    const profile = rows[Math.floor((y / height) * rows.length)]?.profile;
    if (profile !== undefined) props.onThread(profile);
  };
  return (
    <canvas
      ref={canvas}
      class="minimap"
      role="img"
      aria-label={`the whole time, ${formatNs(duration)}; drag to move the visible range`}
      style={{ width: `${width + sizes.label}px`, height: `${height}px` }}
      onPointerDown={move}
      onPointerMove={move}
      onDblClick={pick}
    />
  );
}
