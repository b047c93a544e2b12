// The flame graph: drawn on a canvas, zoomed by click or keyboard, searched by name.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { colorOf, themeColor } from "../shared/colors";
import {
  boxPath,
  findBox,
  layOut,
  layOutWaits,
  matchedValue,
  matcher,
  zoomTo,
  type Box,
} from "./flame_layout";
import { baseName, formatPercent, formatValue } from "../shared/format";
import { useSearchSteps } from "../shared/tree_search";
import type { Flame } from "../shared/types";
import { uiScale } from "../shared/ui_scale";

interface Props {
  flame: Flame;
  search: string;
  isInverted: boolean; // callers at the bottom
  byModule: boolean;
  zoom: string; // id of the box that fills the width; "": none
  onZoom: (id: string, path: string[]) => void; // with the ids from the top down
  onOpen?: (id: string, path: string[]) => void; // shows a box in the tree
}

function useWidth(): [preact.RefObject<HTMLDivElement>, number] {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(800);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

export function FlameView(props: Props) {
  const row = Math.round(20 * uiScale());
  const { flame } = props;
  const boxes = useMemo(() => layOut(flame), [flame]);
  const waits = useMemo(() => layOutWaits(flame, boxes), [flame, boxes]);
  const zoomed = useMemo(
    () => (props.zoom === "" ? -1 : boxes.findIndex((box) => box.id === props.zoom)),
    [boxes, props.zoom],
  );
  const view = zoomTo(boxes, zoomed, flame.total);
  const matches = useMemo(() => matcher(props.search), [props.search]);
  const [selected, setSelected] = useState(-1);
  const [hovered, setHovered] = useState(-1);
  const [pointer, setPointer] = useState({ x: 0, y: 0 });
  const [frame, width] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const depths = useMemo(
    () => [...boxes, ...waits].reduce((most, box) => Math.max(most, box.depth), 0) + 1,
    [boxes, waits],
  );
  const height = depths * row;
  const topOf = (box: { depth: number }) =>
    props.isInverted ? (depths - 1 - box.depth) * row : box.depth * row;

  // Left edge and width; callers of the zoomed box fill the width.
  const extentOf = (box: { begin: number; value: number }): [number, number] => {
    const scale = width / view.span;
    const left = Math.max(0, (box.begin - view.begin) * scale);
    const right = Math.min(width, (box.begin + box.value - view.begin) * scale);
    return [left, right - left];
  };

  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context) return;
    const ratio = devicePixelRatio || 1;
    element.width = width * ratio;
    element.height = height * ratio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = `${12 * uiScale()}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    const ink = themeColor("--ink");
    const faint = themeColor("--faint");
    const accent = themeColor("--accent");
    for (const box of boxes) {
      const [left, size] = extentOf(box);
      if (size < 0.4) continue;
      const top = topOf(box);
      const isHit = matches?.(box.name) ?? false;
      context.globalAlpha = matches && !isHit ? 0.35 : 1;
      context.fillStyle = isHit ? accent : colorOf(props.byModule ? box.module : box.name);
      context.fillRect(left, top, Math.max(size - 0.6, 0.6), row - 1);
      if (box.index === selected || box.index === hovered) {
        context.globalAlpha = 1;
        context.strokeStyle = ink;
        context.lineWidth = box.index === selected ? 2 : 1;
        context.strokeRect(left + 1, top + 1, Math.max(size - 2.6, 1), row - 3);
      }
      if (size > 28) {
        context.globalAlpha = 1;
        context.fillStyle = isHit ? themeColor("--accent-ink") : ink;
        context.save();
        context.beginPath();
        context.rect(left + 3, top, size - 6, row);
        context.clip();
        context.fillText(box.name, left + 4, top + row / 2);
        context.restore();
      }
    }
    context.globalAlpha = matches ? 0.35 : 1;
    for (const wait of waits) {
      const [left, size] = extentOf(wait);
      if (size >= 0.4)
        drawWait(context, { left, size, top: topOf(wait), row }, flame.waits?.[wait.state] ?? "");
    }
    context.globalAlpha = 1;
    if (boxes.length === 0) {
      context.fillStyle = faint;
      context.fillText("no data", 8, 12);
    }
  });

  const boxAt = (event: MouseEvent): number => {
    const area = canvas.current?.getBoundingClientRect();
    if (!area) return -1;
    const line = Math.floor((event.clientY - area.top) / row);
    const depth = props.isInverted ? depths - 1 - line : line;
    const at = view.begin + ((event.clientX - area.left) / width) * view.span;
    const wait = waits.find(
      (part) => part.depth === depth && at >= part.begin && at < part.begin + part.value,
    );
    return wait?.box ?? findBox(boxes, depth, at);
  };

  const describe = (box: Box | undefined): string =>
    box
      ? `${box.name}: ${formatValue(box.value, flame.column)} (${formatPercent(box.value, flame.total)})` +
        (flame.side === "self" ? "" : `, self ${formatValue(box.self, flame.column)}`) +
        box.waits
          .map((value, i) => `, ${flame.waits?.[i]} ${formatValue(value, flame.column)}`)
          .join("") +
        (box.module ? `, ${baseName(box.module)}` : "")
      : "";

  const step = (key: string) => {
    const at = boxes[selected];
    if (!at) return setSelected(zoomed >= 0 ? zoomed : 0);
    const siblings = boxes.filter((box) => box.parent === at.parent);
    const index = siblings.indexOf(at);
    const child = boxes.findIndex((box) => box.parent === at.index);
    const down = props.isInverted ? "ArrowUp" : "ArrowDown";
    const up = props.isInverted ? "ArrowDown" : "ArrowUp";
    if (key === down && child >= 0) setSelected(child);
    if (key === up && at.parent >= 0) setSelected(at.parent);
    if (key === "ArrowLeft" && index > 0) setSelected(siblings[index - 1]?.index ?? selected);
    if (key === "ArrowRight" && index < siblings.length - 1)
      setSelected(siblings[index + 1]?.index ?? selected);
  };

  // Matches in the order of their width, widest first.
  useSearchSteps((by) => {
    const found = matches
      ? boxes.filter((box) => matches(box.name)).sort((a, b) => b.value - a.value)
      : [];
    const at = found.findIndex((box) => box.index === selected);
    const next =
      found[at < 0 ? (by > 0 ? 0 : found.length - 1) : (at + by + found.length) % found.length];
    if (next) setSelected(next.index);
  });

  const zoomOn = (index: number) => {
    const box = boxes[index];
    setHovered(-1);
    props.onZoom(box?.id ?? "", boxPath(boxes, index));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const at = boxes[selected];
    if (event.key.startsWith("Arrow")) step(event.key);
    else if (event.key === "Enter" && at) zoomOn(selected);
    else if (event.key === "o" && at) props.onOpen?.(at.id, boxPath(boxes, selected));
    else if (event.key === "Backspace") zoomOn(boxes[zoomed]?.parent ?? -1);
    else if (event.key === "Escape") zoomOn(-1);
    else return;
    event.preventDefault();
  };

  const shown = boxes[hovered >= 0 ? hovered : selected];
  const found = matches ? matchedValue(boxes, matches) : 0;
  return (
    <div class="flame" ref={frame}>
      <p class="status" aria-live="polite">
        {shown
          ? describe(shown)
          : `total ${formatValue(flame.total, flame.column)}, ${flame.column}`}
        {matches && ` · matches: ${formatPercent(found, flame.total)}`}
        {flame.isCut && " · too many contexts to draw: zoom in to see all"}
      </p>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label={`flame graph of ${flame.column}: arrow keys move, Enter zooms in, Backspace zooms out, Escape resets the zoom`}
        style={{ width: `${width}px`, height: `${height}px` }}
        onMouseMove={(event) => {
          setHovered(boxAt(event));
          setPointer({ x: event.clientX, y: event.clientY });
        }}
        onMouseLeave={() => setHovered(-1)}
        onClick={(event) => {
          const hit = boxAt(event);
          setSelected(hit);
          zoomOn(hit);
        }}
        onContextMenu={(event) => {
          const hit = boxAt(event);
          const box = boxes[hit];
          if (!box || !props.onOpen) return;
          event.preventDefault();
          props.onOpen(box.id, boxPath(boxes, hit));
        }}
        onKeyDown={onKeyDown}
      />
      {boxes[hovered] && <Tooltip box={boxes[hovered]} flame={flame} at={pointer} />}
    </div>
  );
}

// Waiting is a state, not a function: hatched, without a colour of its own.
function drawWait(
  context: CanvasRenderingContext2D,
  at: { left: number; size: number; top: number; row: number },
  state: string,
): void {
  const wide = Math.max(at.size - 0.6, 0.6);
  const high = at.row - 1;
  context.save();
  context.beginPath();
  context.rect(at.left, at.top, wide, high);
  context.clip();
  context.fillStyle = themeColor("--wait");
  context.fillRect(at.left, at.top, wide, high);
  context.strokeStyle = themeColor("--wait-line");
  context.lineWidth = 1;
  context.beginPath();
  for (let x = at.left - high; x < at.left + wide; x += 6) {
    context.moveTo(x, at.top + high);
    context.lineTo(x + high, at.top);
  }
  context.stroke();
  if (at.size > 28) {
    context.fillStyle = themeColor("--ink");
    context.fillText(state, at.left + 4, at.top + at.row / 2);
  }
  context.restore();
}

// The values of a box, next to the pointer and inside the window.
function Tooltip(props: { box: Box; flame: Flame; at: { x: number; y: number } }) {
  const { box, flame, at } = props;
  const isRight = at.x > innerWidth / 2;
  const isLow = at.y > innerHeight / 2;
  const style = {
    ...(isRight ? { right: `${innerWidth - at.x + 12}px` } : { left: `${at.x + 12}px` }),
    ...(isLow ? { bottom: `${innerHeight - at.y + 12}px` } : { top: `${at.y + 16}px` }),
  };
  return (
    <div class="tooltip" role="tooltip" style={style}>
      <strong>{box.name}</strong>
      <table>
        <tbody>
          <tr>
            <th scope="row">{flame.side ?? "total"}</th>
            <td>{formatValue(box.value, flame.column)}</td>
            <td>{formatPercent(box.value, flame.total)}</td>
          </tr>
          {flame.side !== "self" && (
            <tr>
              <th scope="row">self</th>
              <td>{formatValue(box.self, flame.column)}</td>
              <td>{formatPercent(box.self, flame.total)}</td>
            </tr>
          )}
          {box.waits.map((value, i) => (
            <tr key={i}>
              <th scope="row">{flame.waits?.[i]}</th>
              <td>{formatValue(value, flame.column)}</td>
              <td>{formatPercent(value, flame.total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {box.module && <small>{baseName(box.module)}</small>}
    </div>
  );
}
