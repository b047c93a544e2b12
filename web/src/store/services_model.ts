// The layout of the graph of services: callers left of callees. An edge across several columns has a
// bend in each column between, so that it does not run below a box.

import type { ServiceEdge, ServiceSum } from "../../generated/answers";

export interface BoxSize {
  width: number;
  height: number;
}

// A box has a name, a line for rate and errors, one for percentiles, and the time inside: as a line where the name has no
// room for it, and as a bar.
const HEIGHT = { wide: 66, narrow: 92 };
const WIDE = 200; // pixels
const WIDTH = { least: 116, most: 320 };
const GAP_X = { least: 30, wanted: 150, most: 640 }; // between columns: the labels of lines are there
const GAP_Y = 10;
const MARGIN = 12;
const BEND_HEIGHT = 12;
const SWEEPS = 4;

export interface ServiceNode {
  name: string;
  layer: number; // column, from the left
  left: number; // pixels
  top: number;
  sum: ServiceSum | null; // null: none of its spans was called from outside
}

export interface Point {
  x: number;
  y: number;
}

export interface ServiceLine {
  edge: ServiceEdge;
  points: Point[]; // from the caller's box through bends to the callee's
  label: Point | null; // null: there is no room
}

export const isWideBox = (box: BoxSize): boolean => box.height === HEIGHT.wide;

export interface ServiceGraph {
  nodes: ServiceNode[];
  lines: ServiceLine[];
  box: BoxSize;
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

// Columns that are lower than the highest one are in the middle of it.
function centre(columns: Slot[][]): void {
  const heightOf = (column: Slot[]) => {
    const last = column[column.length - 1];
    return last ? last.top + last.height : 0;
  };
  const most = Math.max(0, ...columns.map(heightOf));
  for (const column of columns) {
    const by = (most - heightOf(column)) / 2;
    for (const slot of column) slot.top += by;
  }
}

// Places of columns, and the size of boxes.
interface Columns {
  box: BoxSize;
  left: (layer: number) => number;
  width: number; // of all
}

const LABEL_ROOM = 64; // pixels between columns

function lineOf(edge: ServiceEdge, path: Slot[], columns: Columns, turn: number): ServiceLine {
  const { box } = columns;
  const points = path.flatMap((slot, i): Point[] => {
    const left = { x: columns.left(slot.layer), y: middle(slot) };
    const right = { x: left.x + box.width, y: left.y };
    return i === 0 ? [right] : i === path.length - 1 ? [left] : [left, right];
  });
  const [from, to] = points;
  // Labels of lines from one box to neighbours do not cover each other.
  const share = turn % 2 === 0 ? 0.5 : 0.72;
  return {
    edge,
    points,
    label:
      from && to && to.x - from.x >= LABEL_ROOM
        ? { x: from.x + (to.x - from.x) * share, y: bezier(from.y, to.y, share) }
        : null,
  };
}

// The height of a curve between columns, whose ends are level.
const bezier = (from: number, to: number, t: number): number =>
  from + (to - from) * (3 * t * t - 2 * t * t * t);

// Columns use the width of the window: boxes are as wide as they need, lines share the rest. Where even
// the narrowest have too little room, the graph is wider.
function fitColumns(count: number, room: number): Columns {
  const inside = room - 2 * MARGIN;
  const gaps = Math.max(1, count - 1);
  const width = Math.floor(
    Math.min(WIDTH.most, Math.max(WIDTH.least, (inside - gaps * GAP_X.wanted) / count)),
  );
  const gap = Math.floor(
    Math.min(GAP_X.most, Math.max(GAP_X.least, (inside - count * width) / gaps)),
  );
  // What is left of a very wide window is at both sides.
  const margin = MARGIN + Math.max(0, Math.floor((inside - count * width - (count - 1) * gap) / 2));
  return {
    box: { width, height: width < WIDE ? HEIGHT.narrow : HEIGHT.wide },
    left: (layer) => margin + layer * (width + gap),
    width: Math.max(room, 2 * margin + count * width + (count - 1) * gap),
  };
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
        nodes.set(name, { name, layer: 0, left: 0, top: 0, sum: sumOf.get(name) ?? null });
  assignLayers(nodes, edges);
  const layers = Math.max(0, ...[...nodes.values()].map((node) => node.layer)) + 1;
  const places = fitColumns(layers, Number.isFinite(room) ? room : 1200);
  const { box } = places;
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
  centre(columns);
  for (const slot of slots.values())
    if (slot.node) {
      slot.node.top = slot.top;
      slot.node.left = places.left(slot.layer);
    }
  const last = columns.flatMap((column) => column.slice(-1));
  const turns = new Map<Slot | undefined, number>(); // lines that leave a box so far
  return {
    nodes: columns.flatMap((column) => column.flatMap((slot) => slot.node ?? [])),
    lines: paths.map(([edge, path]) => {
      const turn = turns.get(path[0]) ?? 0;
      turns.set(path[0], turn + 1);
      return lineOf(edge, path, places, turn);
    }),
    box,
    width: places.width,
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
