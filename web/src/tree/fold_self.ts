// A graph of what a function calls, without its calls of itself: what these call, the function calls.

import type { Flame, FlameNode } from "../../generated/answers";

interface Tree {
  node: FlameNode;
  code: number | null;
  children: Map<string, Tree>; // by name and module
}

const keyOf = ([, name, module]: FlameNode): string => `${name} ${module}`;

// The sums of both, where the first one is.
function add(into: Tree, node: FlameNode): void {
  const [depth, name, module, value, self, id, ...waits] = into.node;
  const [, , , moreValue, moreSelf, , ...moreWaits] = node;
  into.node = [
    depth,
    name,
    module,
    value + moreValue,
    (self ?? 0) + (moreSelf ?? 0),
    id,
    ...waits.map((seconds, i) => (seconds ?? 0) + (moreWaits[i] ?? 0)),
  ];
}

function flatten(children: Map<string, Tree>, depth: number, into: Tree[]): void {
  const largestFirst = [...children.values()].sort((a, b) => b.node[3] - a.node[3]);
  for (const tree of largestFirst) {
    const [, ...rest] = tree.node;
    into.push({ ...tree, node: [depth, ...rest] });
    flatten(tree.children, depth + 1, into);
  }
}

// Whether the function calls itself.
export const callsItself = (flame: Flame, name: string): boolean =>
  flame.nodes.some(([depth, index]) => depth === 0 && flame.names[index] === name);

// Only calls of the function by itself are folded: what it calls through others stays where it is.
export function foldSelf(flame: Flame, name: string): Flame {
  if (!callsItself(flame, name)) return flame;
  const top = new Map<string, Tree>();
  const path: Map<string, Tree>[] = []; // what the children of each depth belong to
  flame.nodes.forEach((node, i) => {
    const [depth, index] = node;
    const siblings = depth === 0 ? top : (path[depth - 1] ?? top);
    if (siblings === top && flame.names[index] === name) {
      path[depth] = top;
      return;
    }
    const known = siblings.get(keyOf(node));
    const tree = known ?? { node, code: flame.nodeCodes?.[i] ?? null, children: new Map() };
    if (known) add(known, node);
    siblings.set(keyOf(node), tree);
    path[depth] = tree.children;
  });
  const list: Tree[] = [];
  flatten(top, 0, list);
  return {
    ...flame,
    nodes: list.map(({ node }) => node),
    ...(flame.nodeCodes && { nodeCodes: list.map(({ code }) => code) }),
  };
}
