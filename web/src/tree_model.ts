// The rows of a tree that are open: which are visible, in which order, how deep.

import type { Row } from "./types";

export interface Node {
  row: Row;
  depth: number;
  parent: Node | null;
  isOpen: boolean;
  children: Node[] | null; // null: not asked for yet
  total: number; // children the server has
}

export type Line = { node: Node } | { more: Node | null; depth: number; rest: number };

export function makeNodes(rows: Row[], parent: Node | null): Node[] {
  return rows.map((row) => ({
    row,
    depth: parent ? parent.depth + 1 : 0,
    parent,
    isOpen: false,
    children: null,
    total: 0,
  }));
}

// Every visible line, top to bottom; "more" where the server has further children.
export function visibleLines(top: Node[], topTotal: number): Line[] {
  const lines: Line[] = [];
  const stack: { list: Node[]; at: number; of: Node | null; total: number }[] = [
    { list: top, at: 0, of: null, total: topTotal },
  ];
  for (let level = stack[0]; level; level = stack[stack.length - 1]) {
    const node = level.list[level.at++];
    if (node) {
      lines.push({ node });
      if (node.isOpen && node.children)
        stack.push({ list: node.children, at: 0, of: node, total: node.total });
      continue;
    }
    const rest = level.total - level.list.length;
    if (rest > 0) lines.push({ more: level.of, depth: level.of ? level.of.depth + 1 : 0, rest });
    stack.pop();
  }
  return lines;
}

export function pathOf(node: Node): string[] {
  const path: string[] = [];
  for (let at: Node | null = node; at; at = at.parent) path.unshift(at.row.id);
  return path;
}
