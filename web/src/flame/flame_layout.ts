// The geometry of a flame graph.

import type { Flame, FlameNode } from "../../generated/answers";

// A flame graph as it is drawn: of an answer, or of calls over time, whose boxes do not lie side by side.
export interface DrawnFlame extends Flame {
  starts?: number[]; // begin of each box
  parents?: number[]; // box that each is inside of, or -1; without, the last one that is a row above
  pauses?: [begin: number, end: number][]; // of waiting, as starts
}

export interface Box {
  index: number; // in the flame's nodes
  parent: number; // box, or -1
  depth: number;
  name: string;
  module: string;
  language: string; // "": unknown, or not of a function
  code: string; // whose it is; "": unknown
  value: number;
  self: number;
  id: string;
  begin: number; // in units of the value, from the left
  waits: number[]; // part of self, by state
}

// The waiting of a box in one state, drawn like something that it calls.
export interface WaitBox {
  box: number;
  state: number; // index of flame.waits
  depth: number;
  begin: number;
  value: number;
}

// Language and kind of a node's function; nothing for what is no function.
function codeOf(flame: Flame, node: number): [language?: string, code?: string] {
  const [language, code] = flame.codes?.[flame.nodeCodes?.[node] ?? -1] ?? [];
  if (language === undefined || code === undefined) return [];
  return [language === "unknown" ? "" : language, code];
}

// Children fill their parent from the left, in the order of the nodes: largest first.
export function layOut(flame: DrawnFlame): Box[] {
  const boxes: Box[] = [];
  const path: number[] = []; // box at each depth
  const filled: number[] = [0]; // where the next child at each depth begins
  for (const [depth, name, module, value, self, id, ...waits] of flame.nodes) {
    const parent = flame.parents?.[boxes.length] ?? (depth > 0 ? (path[depth - 1] ?? -1) : -1);
    const begin = flame.starts?.[boxes.length] ?? filled[depth] ?? 0;
    const [language, code] = codeOf(flame, boxes.length);
    path[depth] = boxes.length;
    filled[depth] = begin + value;
    filled[depth + 1] = begin;
    boxes.push({
      index: boxes.length,
      parent,
      depth,
      name: flame.names[name] ?? "",
      // Loops and lines have none of these.
      module: flame.modules[module] || (boxes[parent]?.module ?? ""),
      language: language ?? boxes[parent]?.language ?? "",
      code: code ?? boxes[parent]?.code ?? "",
      value,
      self: self ?? 0,
      id,
      begin,
      waits: waits.map((seconds) => seconds ?? 0),
    });
  }
  return boxes;
}

// Waiting follows what a box calls. Callers have no room for it: they fill their box.
export function layOutWaits(flame: Flame, boxes: Box[]): WaitBox[] {
  if (!flame.waits || flame.side === "self") return [];
  const ends = boxes.map((box) => box.begin);
  for (const box of boxes)
    if (box.parent >= 0) ends[box.parent] = Math.max(ends[box.parent] ?? 0, box.begin + box.value);
  return boxes.flatMap((box) => {
    let begin = ends[box.index] ?? box.begin;
    return box.waits.flatMap((value, state) => {
      if (value <= 0) return [];
      begin += value;
      return [{ box: box.index, state, depth: box.depth + 1, begin: begin - value, value }];
    });
  });
}

// Replace what is inside a box by another graph.
export function graft(flame: Flame, id: string, inside: Flame): Flame {
  const at = flame.nodes.findIndex((node) => node[5] === id);
  const box = flame.nodes[at];
  if (!box) return flame;
  let end = at + 1;
  while ((flame.nodes[end]?.[0] ?? 0) > box[0]) end++;
  const names = flame.names.length;
  const modules = flame.modules.length;
  const codes = flame.codes?.length ?? 0;
  return {
    ...flame,
    ...(flame.nodeCodes && {
      codes: [...(flame.codes ?? []), ...(inside.codes ?? [])],
      nodeCodes: [
        ...flame.nodeCodes.slice(0, at + 1),
        ...inside.nodes.map((_, i) => {
          const code = inside.nodeCodes?.[i] ?? null;
          return code === null ? null : code + codes;
        }),
        ...flame.nodeCodes.slice(end),
      ],
    }),
    isCut: inside.isCut,
    names: [...flame.names, ...inside.names],
    modules: [...flame.modules, ...inside.modules],
    nodes: [
      ...flame.nodes.slice(0, at + 1),
      ...inside.nodes.map(([depth, name, module, value, self, node, ...waits]): FlameNode => [
        depth + box[0] + 1,
        name + names,
        module + modules,
        value,
        self,
        node,
        ...waits,
      ]),
      ...flame.nodes.slice(end),
    ],
  };
}

// The ids from the top down to a box.
export function boxPath(boxes: Box[], index: number): string[] {
  const path: string[] = [];
  for (let at = boxes[index]; at; at = boxes[at.parent]) path.unshift(at.id);
  return path;
}

export interface View {
  begin: number;
  span: number;
  depth: number; // of the box that fills the width; -1: none
}

export function zoomTo(boxes: Box[], box: number, total: number): View {
  const at = boxes[box];
  return at
    ? { begin: at.begin, span: at.value, depth: at.depth }
    : { begin: 0, span: total, depth: -1 };
}

export function findBox(boxes: Box[], depth: number, at: number): number {
  for (const box of boxes)
    if (box.depth === depth && at >= box.begin && at < box.begin + box.value) return box.index;
  return -1;
}

// The total of the boxes that match; a match inside a match is not counted twice.
export function matchedValue(boxes: Box[], matches: (name: string) => boolean): number {
  let sum = 0;
  const isCovered: boolean[] = [];
  for (const box of boxes) {
    const isInside = isCovered[box.parent] ?? false;
    const isMatch = matches(box.name);
    if (isMatch && !isInside) sum += box.value;
    isCovered.push(isInside || isMatch);
  }
  return sum;
}

export function matcher(pattern: string): ((name: string) => boolean) | null {
  if (pattern === "") return null;
  try {
    const regex = new RegExp(pattern, "i");
    return (name) => regex.test(name);
  } catch {
    const text = pattern.toLowerCase();
    return (name) => name.toLowerCase().includes(text);
  }
}
