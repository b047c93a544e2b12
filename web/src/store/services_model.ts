// The layout of the graph of services: callers left of callees. An edge across several columns has a
// bend in each column between, so that it does not run below a box.

import type { ServiceEdge, ServiceSum } from "../../generated/answers";

export interface BoxSize {
  width: number;
  height: number;
  gapX: number;
}

// A box with a line for rate and errors and one for percentiles, or, in little room, one for each.
const WIDE: BoxSize = { width: 220, height: 62, gapX: 90 };
const NARROW: BoxSize = { width: 116, height: 94, gapX: 26 };
const GAP_LEAST = 40; // between wide boxes
const GAP_Y = 14;
const MARGIN = 12;
const BEND_HEIGHT = 12;
const SWEEPS = 4;

export interface ServiceNode {
  name: string;
  layer: number; // column, from the left
  top: number; // pixels
  sum: ServiceSum | null; // null: none of its spans was called from outside
}

export interface Point {
  x: number;
  y: number;
}

export interface ServiceLine {
  edge: ServiceEdge;
  points: Point[]; // from the caller's box through bends to the callee's
}

export interface ServiceGraph {
  nodes: ServiceNode[];
  lines: ServiceLine[];
  box: BoxSize;
  isNarrow: boolean; // each value has a line of its own
  width: number;
  height: number;
}

// Something in a column: a box, or a bend of an edge.
interface Slot {
  node: ServiceNode | null;
  layer: number;
  height: number;
  top: number;
  left: Slot[]; // neighbours in the column before, and in the one after
  right: Slot[];
  weight: number;
}

export const leftOf = (layer: number, box: BoxSize) => MARGIN + layer * (box.width + box.gapX);
const middle = (slot: Slot) => slot.top + slot.height / 2;

// The slots from the caller to the callee, with new bends between.
function connect(edge: ServiceEdge, from: Slot, to: Slot, columns: Slot[][]): Slot[] {
  const path = [from];
  for (let layer = from.layer + 1; layer < to.layer; layer++) {
    const bend: Slot = {
      node: null,
      layer,
      height: BEND_HEIGHT,
      top: 0,
      left: [],
      right: [],
      weight: edge.count,
    };
    columns[layer]?.push(bend);
    path.push(bend);
  }
  path.push(to);
  if (from.layer < to.layer)
    path.slice(1).forEach((slot, i) => {
      slot.left.push(path[i] as Slot);
      path[i]?.right.push(slot);
    });
  return path;
}

function stack(column: Slot[]): void {
  let top = MARGIN;
  for (const slot of column) {
    slot.top = top;
    top += slot.height + GAP_Y;
  }
}

// Slots near their neighbours, so that few edges cross.
function order(columns: Slot[][]): void {
  for (const column of columns) {
    column.sort(
      (a, b) => b.weight - a.weight || ((a.node?.name ?? "") < (b.node?.name ?? "") ? -1 : 1),
    );
    stack(column);
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isRight = sweep % 2 === 0;
    for (const column of isRight ? columns : [...columns].reverse()) {
      const wanted = new Map(
        column.map((slot) => {
          const near = isRight ? slot.left : slot.right;
          const sum = near.reduce((all, one) => all + middle(one), 0);
          return [slot, near.length > 0 ? sum / near.length : middle(slot)];
        }),
      );
      column.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0));
      stack(column);
    }
  }
}

function lineOf(edge: ServiceEdge, path: Slot[], box: BoxSize): ServiceLine {
  const points = path.flatMap((slot, i): Point[] => {
    const left = { x: leftOf(slot.layer, box), y: middle(slot) };
    const right = { x: left.x + box.width, y: left.y };
    return i === 0 ? [right] : i === path.length - 1 ? [left] : [left, right];
  });
  return { edge, points };
}

// The size of boxes with which so many columns fit into `room` pixels. Narrow boxes fill it; where even
// these have too little, the graph is wider.
function fitBoxes(columns: number, room: number): BoxSize {
  const gaps = Math.max(1, columns - 1);
  const left = room - 2 * MARGIN;
  const gapX = Math.floor((left - columns * WIDE.width) / gaps);
  if (gapX >= GAP_LEAST) return { ...WIDE, gapX: Math.min(gapX, WIDE.gapX) };
  const width = Math.floor((left - (columns - 1) * NARROW.gapX) / columns);
  return { ...NARROW, width: Math.min(Math.max(width, NARROW.width), WIDE.width) };
}

// Each service is one layer right of its callers.
export function layoutServices(
  edges: ServiceEdge[],
  sums: ServiceSum[],
  room = Infinity,
): ServiceGraph {
  const nodes = new Map<string, ServiceNode>();
  const sumOf = new Map(sums.map((sum) => [sum.service, sum]));
  for (const edge of edges)
    for (const name of [edge.callee, ...(edge.caller === null ? [] : [edge.caller])])
      if (!nodes.has(name))
        nodes.set(name, { name, layer: 0, top: 0, sum: sumOf.get(name) ?? null });
  assignLayers(nodes, edges);
  const box = fitBoxes(Math.max(0, ...[...nodes.values()].map((node) => node.layer)) + 1, room);
  const columns: Slot[][] = [];
  const slots = new Map<string, Slot>();
  for (const node of nodes.values()) {
    const slot: Slot = {
      node,
      layer: node.layer,
      height: box.height,
      top: 0,
      left: [],
      right: [],
      weight: node.sum?.count ?? 0,
    };
    slots.set(node.name, slot);
    (columns[node.layer] ??= []).push(slot);
  }
  const paths = edges.flatMap((edge): [ServiceEdge, Slot[]][] => {
    const from = edge.caller === null ? undefined : slots.get(edge.caller);
    const to = slots.get(edge.callee);
    return from && to ? [[edge, connect(edge, from, to, columns)]] : [];
  });
  order(columns);
  for (const slot of slots.values()) if (slot.node) slot.node.top = slot.top;
  const last = columns.flatMap((column) => column.slice(-1));
  return {
    nodes: columns.flatMap((column) => column.flatMap((slot) => slot.node ?? [])),
    lines: paths.map(([edge, path]) => lineOf(edge, path, box)),
    box,
    isNarrow: box.height === NARROW.height,
    width: leftOf(columns.length - 1, box) + box.width + MARGIN,
    height: Math.max(0, ...last.map((slot) => slot.top + slot.height)) + MARGIN,
  };
}

// Edges that would lead back are followed by none: services are visited from those without callers.
function assignLayers(nodes: Map<string, ServiceNode>, edges: ServiceEdge[]): void {
  const between = edges.filter((edge) => edge.caller !== null);
  const callees = new Map<string, string[]>();
  for (const edge of between)
    callees.set(edge.caller as string, [
      ...(callees.get(edge.caller as string) ?? []),
      edge.callee,
    ]);
  const called = new Set(between.map((edge) => edge.callee));
  const order = [...nodes.keys()].sort((a, b) => Number(called.has(a)) - Number(called.has(b)));
  // Depth first, without recursion; an edge to a service that is being visited leads back.
  const isDone = new Set<string>();
  const finished: string[] = [];
  const back = new Set<string>();
  for (const first of order) {
    const path: { name: string; next: number }[] = isDone.has(first)
      ? []
      : [{ name: first, next: 0 }];
    const isOpen = new Set(path.map((step) => step.name));
    while (path.length > 0) {
      const step = path[path.length - 1] as { name: string; next: number };
      const callee = callees.get(step.name)?.[step.next++];
      if (callee === undefined) {
        path.pop();
        isOpen.delete(step.name);
        isDone.add(step.name);
        finished.push(step.name);
      } else if (isOpen.has(callee)) back.add(`${step.name}\n${callee}`);
      else if (!isDone.has(callee)) {
        path.push({ name: callee, next: 0 });
        isOpen.add(callee);
      }
    }
  }
  for (const name of finished.reverse())
    for (const callee of callees.get(name) ?? []) {
      const from = nodes.get(name);
      const to = nodes.get(callee);
      if (from && to && !back.has(`${name}\n${callee}`))
        to.layer = Math.max(to.layer, from.layer + 1);
    }
}
