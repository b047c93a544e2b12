// The flame graph: drawn on a canvas, zoomed by click or keyboard, searched by name.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { isDark, themeColor } from "../shared/look/colors";
import { takeFocus } from "../shared/focus";
import { boxColor, groupColors, legendOf, type ColorMode } from "./flame_colors";
import { BoxValues, matchList, MatchList } from "./flame_details";
import { drawFlame, drawMinimap, type Picture } from "./flame_draw";
import { printSvg, saveBlob } from "./flame_export";
import {
  boxPath,
  findBox,
  layOut,
  layOutWaits,
  matchedValue,
  matcher,
  zoomTo,
  type Box,
  type DrawnFlame,
} from "./flame_layout";
import { baseName, formatPercent, formatValue, metricTitle } from "../shared/format";
import { useSearchSteps } from "../shared/table/tree_search";
import { uiScale } from "../shared/look/ui_scale";

interface Pin {
  id: string; // of the pinned box; "": none
  onChange: (id: string) => void;
  show: (box: Box, ids: string[], zoom: () => void) => ComponentChildren;
}

interface Props {
  flame: DrawnFlame;
  search: string;
  isInverted: boolean; // callers at the bottom
  color: ColorMode;
  zoom: string; // id of the box that fills the width; "": none
  onZoom: (id: string, path: string[]) => void; // with the ids from the top down
  onOpen?: (id: string, path: string[]) => void; // shows a box in the tree
  pin?: Pin; // a click pins a box
  paint?: (box: Box) => string; // its colour, instead of `color`
  explain?: (box: Box) => [string, string][]; // its values, instead of total and self
  saveAs?: string; // name of files without extension; undefined: it is not saved
  title?: string; // of a graph among others: it has no line of values, and a click opens a box
  none?: string; // said instead of a graph without boxes
}

const MINIMAP = 48; // pixels

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
  const minimap = useRef<HTMLCanvasElement>(null);
  const { pin } = props;
  const pinned = useMemo(
    () => (pin?.id ? boxes.findIndex((box) => box.id === pin.id) : -1),
    [boxes, pin?.id],
  );
  const setPinned = (index: number) => pin?.onChange(boxes[index]?.id ?? "");
  const depths = useMemo(
    () => [...boxes, ...waits].reduce((most, box) => Math.max(most, box.depth), 0) + 1,
    [boxes, waits],
  );
  const height = depths * row;
  const topOf = (box: { depth: number }) =>
    props.isInverted ? (depths - 1 - box.depth) * row : box.depth * row;

  // A switch of the theme draws again, with colours of its own.
  const groups = useMemo(() => groupColors(boxes, props.color), [boxes, props.color, isDark()]);
  const picture: Picture = {
    flame,
    boxes,
    waits,
    view,
    width,
    height,
    row,
    topOf,
    colorOf: props.paint ?? ((box) => boxColor(box, props.color, groups)),
    matches,
    selected,
    hovered,
  };
  useLayoutEffect(() => {
    if (canvas.current) drawFlame(canvas.current, picture);
  });
  useEffect(() => {
    if (props.title === undefined) takeFocus(canvas.current);
  }, []);
  const isZoomed = zoomed >= 0;
  useEffect(() => {
    if (minimap.current)
      drawMinimap(minimap.current, { ...picture, height: MINIMAP, selected: -1, hovered: -1 });
  }, [boxes, view.begin, view.span, width, props.color, props.paint, matches, isZoomed]);

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
    box && props.explain
      ? `${box.name}: ${props
          .explain(box)
          .map((row) => row.join(" "))
          .join(", ")}`
      : box
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
    else if (event.key === " " && at && pin) setPinned(selected);
    else if (event.key === "Escape" && pinned >= 0) setPinned(-1);
    else if (event.key === "o" && at) props.onOpen?.(at.id, boxPath(boxes, selected));
    else if (event.key === "Backspace") zoomOn(boxes[zoomed]?.parent ?? -1);
    else if (event.key === "Escape") zoomOn(-1);
    else return;
    event.preventDefault();
  };

  const savePng = () =>
    canvas.current?.toBlob((blob) => blob && saveBlob(blob, `${props.saveAs}.png`));
  const saveSvg = () =>
    saveBlob(
      new Blob([printSvg(picture, (index) => describe(boxes[index]), themeColor("--on-fill"))], {
        type: "image/svg+xml",
      }),
      `${props.saveAs}.svg`,
    );
  const pinnedBox = boxes[pinned];
  const shown = boxes[hovered >= 0 ? hovered : selected];
  const found = matches ? matchedValue(boxes, matches) : 0;
  return (
    <div class="columns">
      <div class="flame scroll" ref={frame}>
        {props.title === undefined && (
          <p class="status" aria-live="polite">
            {shown
              ? describe(shown)
              : `total ${formatValue(flame.total, flame.column)}, ${metricTitle(flame.column)}`}
            {matches && ` · matches: ${formatPercent(found, flame.total)}`}
            {flame.isCut && " · too many contexts to draw: zoom in to see all"}
            {props.saveAs !== undefined && (
              <span class="saves">
                <button onClick={savePng}>PNG</button> <button onClick={saveSvg}>SVG</button>
              </span>
            )}
          </p>
        )}
        {boxes.length === 0 && props.none && <p class="status">{props.none}</p>}
        <Legend boxes={boxes} color={props.color} groups={groups} />
        {isZoomed && (
          <canvas
            ref={minimap}
            class="flame-minimap"
            aria-hidden="true"
            style={{ width: `${width}px`, height: `${MINIMAP}px` }}
            title="the whole graph: a click zooms out to the box there"
            onClick={(event) => {
              const area = event.currentTarget.getBoundingClientRect();
              const depth = Math.floor(((event.clientY - area.top) / MINIMAP) * depths);
              zoomOn(findBox(boxes, depth, ((event.clientX - area.left) / width) * flame.total));
            }}
          />
        )}
        <canvas
          ref={canvas}
          tabIndex={0}
          data-keys
          role="application"
          aria-label={`flame graph of ${props.title ? `${props.title}, ` : ""}${flame.column}: arrow keys move, Enter zooms in, Backspace zooms out, Escape resets the zoom`}
          style={{
            width: `${width}px`,
            height: `${boxes.length === 0 && props.none ? 0 : height}px`,
          }}
          onMouseMove={(event) => {
            setHovered(boxAt(event));
            setPointer({ x: event.clientX, y: event.clientY });
          }}
          onMouseLeave={() => setHovered(-1)}
          onClick={(event) => {
            const hit = boxAt(event);
            setSelected(hit);
            if (pin && hit >= 0) setPinned(hit);
            else zoomOn(hit);
          }}
          onDblClick={(event) => zoomOn(boxAt(event))}
          onContextMenu={(event) => {
            const hit = boxAt(event);
            const box = boxes[hit];
            if (!box || !props.onOpen) return;
            event.preventDefault();
            props.onOpen(box.id, boxPath(boxes, hit));
          }}
          onKeyDown={onKeyDown}
        />
        {boxes[hovered] && (
          <Tooltip box={boxes[hovered]} flame={flame} at={pointer} explain={props.explain} />
        )}
      </div>
      {pinnedBox && pin
        ? pin.show(pinnedBox, boxPath(boxes, pinned), () => zoomOn(pinned))
        : matches &&
          pin && (
            <MatchList
              list={matchList(boxes, matches)}
              flame={flame}
              onChoose={(box) => {
                setSelected(box);
                zoomOn(box);
              }}
            />
          )}
    </div>
  );
}

function Legend(props: { boxes: Box[]; color: ColorMode; groups: Map<string, string> }) {
  const items = legendOf(props.boxes, props.color, props.groups);
  if (items.length === 0) return null;
  return (
    <p class="status" aria-label="colours">
      {items.map((item) => (
        <span key={item.text} class="legend-item">
          <i style={{ background: item.color }} /> {item.text}
        </span>
      ))}
    </p>
  );
}

// The values of a box, next to the pointer and inside the window.
function Tooltip(props: {
  box: Box;
  flame: DrawnFlame;
  at: { x: number; y: number };
  explain: Props["explain"];
}) {
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
      {props.explain ? (
        <table>
          <tbody>
            {props.explain(box).map(([name, text]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <BoxValues box={box} flame={flame} />
      )}
      {box.module && <small>{baseName(box.module)}</small>}
    </div>
  );
}
