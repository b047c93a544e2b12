// Rows of a result on tracks over time: one track a thread or service, rows at the same time in lanes. The wheel
// zooms, a drag moves.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { prepare } from "../flame/flame_draw";
import { colorOf, themeColor, themeFont } from "../shared/look/colors";
import { formatNs, formatTick, timeStep } from "../shared/format";
import { takeFocus } from "../shared/focus";
import { fitName } from "../shared/names/names";
import { useWidth } from "../shared/narrow";
import { clampRange, panRange, zoomRange, type Range } from "../shared/range";
import { uiScale } from "../shared/look/ui_scale";
import type { SqlResult } from "../../generated/answers";
import type { Track, TrackItem } from "./sql_model";
import { printCell } from "./sql_page";

const AXIS = 24;
const ROW = 18;
const HEAD = 20; // name of a track
const LANES_MAX = 40;
const LEAST = 1.5;
const NAMED = 24;
const MARK_PX = 140;

interface Props {
  result: SqlResult;
  tracks: Track[];
  duration: number;
}

interface Placed {
  track: Track;
  top: number;
  lanes: number;
}

function place(tracks: Track[]): { placed: Placed[]; height: number } {
  let top = AXIS;
  const placed = tracks.map((track) => {
    const lanes = Math.min(track.depth, LANES_MAX);
    const at = { track, top, lanes };
    top += HEAD + lanes * ROW + 6;
    return at;
  });
  return { placed, height: top };
}

export function ResultTracks(props: Props) {
  const { duration } = props;
  const { element, width } = useWidth(true);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [view, setView] = useState<Range>({ begin: 0, end: duration });
  const [hovered, setHovered] = useState<{ item: TrackItem; x: number; y: number } | null>(null);
  const grip = useRef<{ x: number; view: Range } | null>(null);
  const scale = uiScale();
  const { placed, height } = place(props.tracks);
  const show = (range: Range) => setView(clampRange(range, Math.max(duration, 1)));
  useLayoutEffect(() => setView({ begin: 0, end: duration }), [duration, props.tracks]);
  const px = (ns: number) => ((ns - view.begin) / (view.end - view.begin)) * width;
  useEffect(() => {
    if (!canvas.current || width === 0) return;
    const context = prepare(canvas.current, width, height * scale);
    if (!context) return;
    const step = timeStep(view.end - view.begin, Math.max(2, width / (MARK_PX * scale)));
    context.font = themeFont(11 * scale);
    for (let at = Math.ceil(view.begin / step) * step; at <= view.end; at += step) {
      context.fillStyle = themeColor("--line");
      context.fillRect(Math.round(px(at)), 0, 1, height * scale);
      context.fillStyle = themeColor("--faint");
      context.fillText(formatTick(at, step), px(at) + 4, (AXIS / 2) * scale);
    }
    for (const { track, top, lanes } of placed) {
      context.font = themeFont(11 * scale);
      context.fillStyle = themeColor("--ink");
      context.fillText(track.name, 6 * scale, (top + HEAD / 2) * scale);
      track.items.forEach((item, i) => {
        const lane = track.depths[i] ?? 0;
        const [left, right] = [Math.max(0, px(item.begin)), Math.min(width, px(item.end))];
        if (lane >= lanes || right < 0 || left > width) return;
        const y = (top + HEAD + lane * ROW) * scale;
        const wide = Math.max(LEAST, right - left - 0.5);
        context.fillStyle = colorOf(item.name);
        context.fillRect(left, y, wide, (ROW - 2) * scale);
        if (hovered?.item === item) {
          context.strokeStyle = themeColor("--ink");
          context.strokeRect(left + 0.5, y + 0.5, Math.max(1, wide - 1), (ROW - 3) * scale);
        }
        if (wide <= NAMED) return;
        context.fillStyle = themeColor("--on-fill");
        context.fillText(
          fitName(context, item.name, wide - 8),
          left + 4,
          y + (ROW / 2 - 1) * scale,
        );
      });
    }
  });
  useEffect(() => takeFocus(canvas.current), []);
  const itemAt = (event: MouseEvent): TrackItem | undefined => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box) return undefined;
    const y = (event.clientY - box.top) / scale;
    const x = event.clientX - box.left;
    for (const { track, top, lanes } of placed) {
      const lane = Math.floor((y - top - HEAD) / ROW);
      if (lane < 0 || lane >= lanes) continue;
      const found = track.items.find(
        (item, i) =>
          track.depths[i] === lane && x >= px(item.begin) - 1 && x <= px(item.end) + LEAST,
      );
      if (found) return found;
    }
    return undefined;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const span = view.end - view.begin;
    const middle = (view.begin + view.end) / 2;
    const key = event.key;
    if (key === "w" || key === "+") show(zoomRange(view, middle, 0.7));
    else if (key === "s" || key === "-") show(zoomRange(view, middle, 1 / 0.7));
    else if (key === "a" || key === "ArrowLeft") show(panRange(view, -span / 5));
    else if (key === "d" || key === "ArrowRight") show(panRange(view, span / 5));
    else if (key === "0" || key === "Escape") show({ begin: 0, end: duration });
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const row = hovered && props.result.rows[hovered.item.row];
  return (
    <div
      class="sql-tracks"
      ref={element}
      onWheel={(event) => {
        const box = element.current;
        const isTall = box !== null && box.scrollHeight > box.clientHeight + 1;
        if (isTall && !event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        const left = canvas.current?.getBoundingClientRect().left ?? 0;
        const at =
          view.begin + ((event.clientX - left) / Math.max(1, width)) * (view.end - view.begin);
        show(zoomRange(view, at, 2 ** (event.deltaY / 240)));
      }}
    >
      <canvas
        ref={canvas}
        tabIndex={0}
        data-keys
        role="application"
        aria-label={`${props.tracks.length} tracks over ${formatNs(duration)}: w s a d zoom and move, 0 shows all`}
        style={{ width: `${width}px`, height: `${height * scale}px` }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          grip.current = { x: event.clientX, view };
        }}
        onPointerMove={(event) => {
          const item = itemAt(event);
          setHovered(item ? { item, x: event.clientX, y: event.clientY } : null);
          const { current } = grip;
          if (!current || event.buttons === 0) return;
          const span = current.view.end - current.view.begin;
          show(panRange(current.view, ((current.x - event.clientX) / Math.max(1, width)) * span));
        }}
        onPointerUp={() => (grip.current = null)}
        onPointerCancel={() => (grip.current = null)}
        onPointerLeave={() => setHovered(null)}
        onDblClick={(event) => {
          const item = itemAt(event);
          if (item) show({ begin: item.begin, end: Math.max(item.end, item.begin + 1) });
        }}
        onKeyDown={onKeyDown}
      />
      {hovered && row && (
        <div
          class="tooltip"
          role="tooltip"
          style={{
            ...(hovered.x > innerWidth / 2
              ? { right: `${innerWidth - hovered.x + 12}px` }
              : { left: `${hovered.x + 12}px` }),
            ...(hovered.y > innerHeight / 2
              ? { bottom: `${innerHeight - hovered.y + 12}px` }
              : { top: `${hovered.y + 16}px` }),
          }}
        >
          <table>
            <tbody>
              {props.result.columns.map(({ name, type }, i) => (
                <tr key={i}>
                  <th scope="row">{name}</th>
                  <td>{printCell(row[i] ?? null, type)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}
