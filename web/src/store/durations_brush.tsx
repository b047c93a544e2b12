// The area of a plot of durations: a drag chooses a rectangle, which limits the query.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { rectangleQuery, type Scale } from "./durations_model";
import { search } from "./store_search";

export interface Spot {
  x: number; // 0 to 1
  y: number;
  width: number; // of the area, in pixels
  height: number;
}

const CLICK = 3; // pixels that are no drag

function spotOf(event: PointerEvent): Spot {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  const inside = (value: number) => Math.min(1, Math.max(0, value));
  return {
    x: inside((event.clientX - box.left) / box.width),
    y: inside((event.clientY - box.top) / box.height),
    width: box.width,
    height: box.height,
  };
}

const isDrag = (a: Spot, b: Spot) =>
  Math.abs(a.x - b.x) * b.width > CLICK || Math.abs(a.y - b.y) * b.height > CLICK;

export function Brush(props: {
  query: string;
  scale: Scale;
  label: string;
  isPointing: boolean; // at something that a click opens
  onMove: (spot: Spot | null) => void;
  onClick: (spot: Spot) => void;
  onKeyDown?: (event: KeyboardEvent) => void;
  children: ComponentChildren;
}) {
  const [from, setFrom] = useState<Spot | null>(null);
  const [to, setTo] = useState<Spot | null>(null);
  const end = (event: PointerEvent) => {
    const last = spotOf(event);
    if (from && isDrag(from, last)) search(rectangleQuery(props.query, props.scale, from, last));
    else if (from) props.onClick(last);
    setFrom(null);
    setTo(null);
  };
  return (
    <div
      class={props.isPointing ? "scatter-area pointing" : "scatter-area"}
      tabIndex={0}
      role="application"
      aria-label={props.label}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setFrom(spotOf(event));
      }}
      onPointerMove={(event) => {
        const spot = spotOf(event);
        if (from && isDrag(from, spot)) setTo(spot);
        props.onMove(from ? null : spot);
      }}
      onPointerLeave={() => props.onMove(null)}
      onPointerUp={end}
      onPointerCancel={() => {
        setFrom(null);
        setTo(null);
      }}
      onKeyDown={props.onKeyDown}
    >
      {props.children}
      {from && to && (
        <i
          class="brush"
          style={{
            left: `${Math.min(from.x, to.x) * 100}%`,
            width: `${Math.abs(to.x - from.x) * 100}%`,
            top: `${Math.min(from.y, to.y) * 100}%`,
            height: `${Math.abs(to.y - from.y) * 100}%`,
          }}
        />
      )}
    </div>
  );
}
