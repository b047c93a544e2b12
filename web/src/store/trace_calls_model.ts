// The calls of one record of a trace as a tree that grows when calls are opened.

import type { Trace, TraceNode } from "../../generated/answers";

export interface CallNode {
  call: TraceNode;
  parent: CallNode | null;
  children: CallNode[] | null; // null: not loaded yet
  next: number | null; // the first child that is not loaded; null: all are
  isOpen: boolean;
}

// The number of a call in the address: none for the first one.
export const callInState = (node: number): string => (node === 0 ? "" : String(node));

export type CallLine = { node: CallNode } | { more: CallNode };

// The first call of an answer, with the calls below it.
export function growCalls(answer: Trace, parent: CallNode | null): CallNode | null {
  const path: CallNode[] = [];
  const base = answer.nodes[0]?.depth ?? 0;
  for (const call of answer.nodes) {
    const depth = call.depth - base;
    const above = depth > 0 ? (path[depth - 1] ?? null) : parent;
    const node: CallNode = {
      call,
      parent: above,
      children: call.below === 0 ? [] : null,
      next: null,
      isOpen: false,
    };
    if (depth > 0 && above) {
      (above.children ??= []).push(node);
      above.isOpen = true;
    }
    path.length = depth;
    path.push(node);
  }
  const first = path[0] ?? null;
  if (first) first.next = answer.next ?? null;
  return first;
}

// Add the calls of an answer to a call.
export function addCalls(node: CallNode, answer: Trace): void {
  const grown = growCalls(answer, node.parent);
  if (!grown) return;
  for (const child of grown.children ?? []) child.parent = node;
  node.children = [...(node.children ?? []), ...(grown.children ?? [])];
  node.next = grown.next;
  node.isOpen = true;
}

export function visibleCalls(root: CallNode): CallLine[] {
  const lines: CallLine[] = [];
  const todo: CallLine[] = [{ node: root }];
  for (let line = todo.pop(); line; line = todo.pop()) {
    lines.push(line);
    if ("more" in line || !line.node.isOpen) continue;
    if (line.node.next !== null) todo.push({ more: line.node });
    const children = line.node.children ?? [];
    for (let i = children.length - 1; i >= 0; i--) todo.push({ node: children[i] as CallNode });
  }
  return lines;
}
