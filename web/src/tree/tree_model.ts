// The rows of a tree that are open, as lines from top to bottom. Only rows that were asked
// for are here: a level knows how many it has, and which of them it has got.

import type { Row } from "../shared/types";

export interface Node {
  row: Row;
  depth: number;
  place: number; // in its level
  level: Level; // that it is in
  isOpen: boolean;
  children: Level | null; // null: not asked for yet
}

export interface Level {
  parent: Node | null;
  depth: number;
  total: number; // rows the server has
  nodes: Map<number, Node>; // those that are here, by place
  opened: number[]; // places of open rows, ascending
  lines: number; // of all its rows and of what is open in them
}

// What a line shows: a row, or one that is not here yet.
export type Line = { node: Node } | { hole: Level; place: number };

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
      place: offset + i,
      level,
      isOpen: false,
      children: null,
    });
  });
}

// A change of the number of lines reaches the rows above, as far as they are open.
function addLines(level: Level, lines: number): void {
  for (let at: Level | null = level; at; at = at.parent?.isOpen ? at.parent.level : null)
    at.lines += lines;
}

export function openNode(node: Node): void {
  if (node.isOpen || !node.children) return;
  const { opened } = node.level;
  const at = opened.findIndex((place) => place > node.place);
  opened.splice(at < 0 ? opened.length : at, 0, node.place);
  node.isOpen = true;
  addLines(node.level, node.children.lines);
}

export function closeNode(node: Node): void {
  if (!node.isOpen || !node.children) return;
  node.level.opened.splice(node.level.opened.indexOf(node.place), 1);
  addLines(node.level, -node.children.lines);
  node.isOpen = false;
}

// The line with this number; null behind the last one.
export function lineAt(top: Level, number: number): Line | null {
  let level = top;
  let rest = number;
  while (rest >= 0 && rest < level.lines) {
    let inside: Level | null = null;
    let skipped = 0; // lines of open rows before
    for (const place of level.opened) {
      const node = level.nodes.get(place);
      if (!node?.children || rest <= place + skipped) break;
      if (rest <= place + skipped + node.children.lines) {
        rest -= place + skipped + 1;
        inside = node.children;
        break;
      }
      skipped += node.children.lines;
    }
    if (!inside) {
      const node = level.nodes.get(rest - skipped);
      return node ? { node } : { hole: level, place: rest - skipped };
    }
    level = inside;
  }
  return null;
}

// The number of the line of a row; the rows above it must be open.
export function lineOf(node: Node): number {
  let number = 0;
  for (let at: Node | null = node; at; at = at.level.parent) {
    number += at.place + (at === node ? 0 : 1);
    for (const place of at.level.opened) {
      if (place >= at.place) break;
      number += at.level.nodes.get(place)?.children?.lines ?? 0;
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
