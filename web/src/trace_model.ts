// The calls of one trace: which are visible, over time, and by method.

import type { TraceNode } from "./store_types";
import type { Flame } from "./types";

// Numbers of the nodes that no closed one hides.
export function visibleNodes(nodes: TraceNode[], closed: Set<number>): number[] {
  const visible: number[] = [];
  let hiddenBelow = Infinity;
  nodes.forEach((node, i) => {
    if (node.depth > hiddenBelow) return;
    hiddenBelow = closed.has(i) ? node.depth : Infinity;
    visible.push(i);
  });
  return visible;
}

// A flame graph whose boxes lie where their calls were.
export function traceFlame(nodes: TraceNode[]): Flame {
  const names = [...new Set(nodes.map((node) => node.method))];
  const numbers = new Map(names.map((name, i) => [name, i]));
  return {
    column: "time (s)",
    total: (nodes[0]?.duration ?? 0) / 1e9,
    isCut: false,
    names,
    modules: [""],
    nodes: nodes.map((node, i) => [node.depth, numbers.get(node.method) ?? 0, 0, node.duration / 1e9, ownTime(nodes, i) / 1e9, String(i)]),
    starts: nodes.map((node) => node.start / 1e9),
  };
}

function ownTime(nodes: TraceNode[], index: number): number {
  const node = nodes[index];
  if (!node) return 0;
  let own = node.duration;
  for (let i = index + 1; i < nodes.length && (nodes[i] as TraceNode).depth > node.depth; i++)
    if ((nodes[i] as TraceNode).depth === node.depth + 1) own -= (nodes[i] as TraceNode).duration;
  return Math.max(0, own);
}

export interface MethodRow {
  method: string;
  calls: number;
  errors: number;
  total: number; // of outermost calls
  self: number;
  longest: number;
}

// What each method took; recursion is counted once.
export function methodStatistics(nodes: TraceNode[]): MethodRow[] {
  const rows = new Map<string, MethodRow>();
  const path: string[] = [];
  nodes.forEach((node, i) => {
    path.length = node.depth;
    const row = rows.get(node.method) ?? { method: node.method, calls: 0, errors: 0, total: 0, self: 0, longest: 0 };
    row.calls++;
    row.errors += node.isError ? 1 : 0;
    row.total += path.includes(node.method) ? 0 : node.duration;
    row.self += ownTime(nodes, i);
    row.longest = Math.max(row.longest, node.duration);
    rows.set(node.method, row);
    path.push(node.method);
  });
  return [...rows.values()].sort((a, b) => b.self - a.self);
}
