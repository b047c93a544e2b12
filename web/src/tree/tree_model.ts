// The visible rows of a tree as lines from top to bottom. Rows are loaded in pages: a level knows how
// many it has, and which of them are loaded.

import type { Row } from "../../generated/answers";

export interface Node {
  row: Row;
  depth: number;
  index: number; // in its level
  level: Level; // that contains it
  isOpen: boolean;
  children: Level | null; // null: not loaded yet
}

export interface Level {
  parent: Node | null;
  depth: number;
  total: number; // rows on the server
  nodes: Map<number, Node>; // loaded rows by index
  opened: number[]; // indices of open rows, ascending
  lines: number; // its rows and those that are open below them
}

// A row, or one that is not loaded yet.
export type Line = { node: Node } | { hole: Level; index: number };

export function makeLevel(parent: Node | null, total: number): Level {
  return {
    parent,
    depth: parent ? parent.depth + 1 : 0,
    total,
    nodes: new Map(),
    opened: [],
    lines: total,
  };
}

export function addRows(level: Level, offset: number, rows: Row[]): void {
  rows.forEach((row, i) => {
    if (level.nodes.has(offset + i)) return;
    level.nodes.set(offset + i, {
      row,
      depth: level.depth,
      index: offset + i,
      level,
      isOpen: false,
      children: null,
    });
  });
}

// Change the number of lines of a level, and of the levels above while they are open.
function addLines(level: Level, lines: number): void {
  for (let at: Level | null = level; at; at = at.parent?.isOpen ? at.parent.level : null)
    at.lines += lines;
}

export function openNode(node: Node): void {
  if (node.isOpen || !node.children) return;
  const { opened } = node.level;
  const at = opened.findIndex((index) => index > node.index);
  opened.splice(at < 0 ? opened.length : at, 0, node.index);
  node.isOpen = true;
  addLines(node.level, node.children.lines);
}

export function closeNode(node: Node): void {
  if (!node.isOpen || !node.children) return;
  node.level.opened.splice(node.level.opened.indexOf(node.index), 1);
  addLines(node.level, -node.children.lines);
  node.isOpen = false;
}

// The line with this number; null after the last one.
export function lineAt(top: Level, number: number): Line | null {
  let level = top;
  let rest = number;
  while (rest >= 0 && rest < level.lines) {
    let inside: Level | null = null;
    let skipped = 0; // lines of open rows before
    for (const index of level.opened) {
      const node = level.nodes.get(index);
      if (!node?.children || rest <= index + skipped) break;
      if (rest <= index + skipped + node.children.lines) {
        rest -= index + skipped + 1;
        inside = node.children;
        break;
      }
      skipped += node.children.lines;
    }
    if (!inside) {
      const node = level.nodes.get(rest - skipped);
      return node ? { node } : { hole: level, index: rest - skipped };
    }
    level = inside;
  }
  return null;
}

// The line number of a row; the rows above it must be open.
export function lineOf(node: Node): number {
  let number = 0;
  for (let at: Node | null = node; at; at = at.level.parent) {
    number += at.index + (at === node ? 0 : 1);
    for (const index of at.level.opened) {
      if (index >= at.index) break;
      number += at.level.nodes.get(index)?.children?.lines ?? 0;
    }
  }
  return number;
}

export function findNode(level: Level, id: string): Node | undefined {
  for (const node of level.nodes.values()) if (node.row.id === id) return node;
  return undefined;
}

export function pathOf(node: Node): string[] {
  const path: string[] = [];
  for (let at: Node | null = node; at; at = at.level.parent) path.unshift(at.row.id);
  return path;
}

// True if a row is somewhere below another one.
export function isInside(node: Node, above: Node): boolean {
  for (let at = node.level.parent; at; at = at.level.parent) if (at === above) return true;
  return false;
}
