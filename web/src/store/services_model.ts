// The layout of the graph of services: callers left of callees.

import type { ServiceEdge } from "./store_types";

export interface ServiceNode {
  name: string;
  layer: number; // column, from the left
  row: number; // in its column
  count: number; // spans that were called from outside of the service
  errors: number;
  p50: number; // of the most frequent caller
  p99: number;
}

export interface ServiceGraph {
  nodes: ServiceNode[];
  layers: number;
  rows: number; // of the longest column
}

// Each service is one layer right of its callers. Edges that would lead back are followed by none:
// services are visited from those without callers, then by number of spans.
export function layoutServices(edges: ServiceEdge[]): ServiceGraph {
  const nodes = new Map<string, ServiceNode>();
  const at = (name: string): ServiceNode => {
    const known = nodes.get(name);
    if (known) return known;
    const node = { name, layer: 0, row: 0, count: 0, errors: 0, p50: 0, p99: 0 };
    nodes.set(name, node);
    return node;
  };
  const most = new Map<string, number>();
  for (const edge of edges) {
    const node = at(edge.callee);
    if (edge.caller !== null) at(edge.caller);
    node.count += edge.count;
    node.errors += edge.errors;
    if (edge.count > (most.get(edge.callee) ?? 0)) {
      most.set(edge.callee, edge.count);
      node.p50 = edge.p50;
      node.p99 = edge.p99;
    }
  }
  assignLayers(nodes, edges);
  const columns: ServiceNode[][] = [];
  for (const node of nodes.values()) (columns[node.layer] ??= []).push(node);
  for (const column of columns) {
    column.sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
    column.forEach((node, i) => (node.row = i));
  }
  return {
    nodes: columns.flat(),
    layers: columns.length,
    rows: Math.max(0, ...columns.map((column) => column.length)),
  };
}

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
