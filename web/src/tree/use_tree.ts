// The rows of a tree table, loaded when they are needed.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { addRows, findNode, makeLevel, openNode, type Level, type Node } from "./tree_model";
import type { TreeColumn } from "./tree_rows";
import type { Waiting } from "../shared/api";
import { PAGE, Pager } from "../shared/table/pager";
import type { Rows } from "../../generated/answers";

const ESTIMATE = "estimated from some threads; reading the others…";

// Rows below one, or the top rows, from an offset on.
export type AskRows = (
  row: string | undefined,
  offset: number,
  limit: number,
  waiting?: Waiting,
) => Promise<Rows>;

export interface Tree {
  columns: TreeColumn[];
  top: Level;
  most: number[]; // the largest value of each column at the top
}

export interface TreeHandle {
  tree: Tree | null;
  error: string | null;
  lead: Node | null; // the end of the hot path, where that was opened; else the first row
  refresh: () => void;
  need: (level: Level, index: number) => Promise<void>; // load the row at an index
  open: (node: Node) => Promise<void>;
  reveal: (path: string[]) => Promise<Node | null>; // open the rows above a row
  hotPath: (from: Node | null) => Promise<Node | null>;
}

// The child that holds most of the first column.
function hottest(level: Level | null): Node | null {
  let found: Node | null = null;
  for (const node of level?.nodes.values() ?? [])
    if ((node.row.values[0] ?? 0) > (found?.row.values[0] ?? 0)) found = node;
  return found;
}

const mostOf = ({ columns, rows }: Rows): number[] =>
  columns.map((_, i) => rows.reduce((most, row) => Math.max(most, row.values[i] ?? 0), 0));

export function useTree(ask: AskRows, startsHot: boolean, isSkipping: boolean): TreeHandle {
  const [tree, setTree] = useState<Tree | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [lead, setLead] = useState<Node | null>(null);
  const [, setVersion] = useState(0);
  const pagers = useRef(new WeakMap<Level, Pager>());
  const refresh = useCallback(() => setVersion((before) => before + 1), []);
  // Requests of a tree that is not shown any more are given up.
  const stop = useMemo(() => new AbortController(), [ask]);
  const { signal } = stop;
  const fail = useCallback(
    (failure: Error) => {
      if (!signal.aborted) setError(failure.message);
    },
    [signal],
  );

  const need = useCallback(
    async (level: Level, index: number): Promise<void> => {
      if (level.nodes.has(index)) return;
      const load = async (offset: number, limit: number) => {
        const answer = await ask(level.parent?.row.id, offset, limit, { signal });
        addRows(level, offset, answer.rows);
        refresh();
      };
      const pager = pagers.current.get(level) ?? new Pager(load);
      pagers.current.set(level, pager);
      await pager.need(index).catch(fail);
    },
    [ask],
  );

  const open = useCallback(
    async (node: Node) => {
      if (node.row.isLeaf) return;
      if (!node.children) {
        const answer = await ask(node.row.id, 0, PAGE, { signal }).catch(fail);
        if (!answer) return;
        node.children ??= makeLevel(node, answer.count);
        addRows(node.children, 0, answer.rows);
      }
      openNode(node);
      refresh();
    },
    [ask],
  );

  const reveal = useCallback(
    async (path: string[]) => {
      let level: Level | null = tree?.top ?? null;
      let node: Node | undefined;
      for (const [i, id] of path.entries()) {
        if (!level) return null;
        node = findNode(level, id);
        for (let index = 0; !node && index < level.total; index += PAGE) {
          await need(level, index);
          node = findNode(level, id);
        }
        if (!node && isSkipping && i < path.length - 1) continue;
        if (!node) return null;
        if (i < path.length - 1) await open(node);
        level = node.children;
      }
      return node ?? null;
    },
    [tree, open, need],
  );

  // Down along the child that holds most, as long as it holds half of its parent.
  const hotPathFrom = useCallback(
    async (from: Node | null) => {
      let node = from;
      for (let next = node; node && next;) {
        node = next;
        await open(node);
        const child = hottest(node.children);
        next = child && (child.row.values[0] ?? 0) >= (node.row.values[0] ?? 0) / 2 ? child : null;
      }
      return signal.aborted ? null : node;
    },
    [open],
  );
  const hotPath = useCallback(
    (from: Node | null) => hotPathFrom(from ?? hottest(tree?.top ?? null)),
    [tree, hotPathFrom],
  );

  useEffect(() => {
    const load = async () => {
      for (;;) {
        const answer = await ask(undefined, 0, PAGE, { signal, onWait: setError });
        if (signal.aborted) return;
        const top = makeLevel(null, answer.count);
        addRows(top, 0, answer.rows);
        setError(answer.isPartial ? ESTIMATE : null);
        setTree({ columns: answer.columns, top, most: mostOf(answer) });
        if (answer.isPartial) continue;
        setLead(startsHot ? await hotPathFrom(hottest(top)) : (top.nodes.get(0) ?? null));
        return;
      }
    };
    load().catch(fail);
    return () => stop.abort();
  }, [ask]);
  return { tree, error, lead, refresh, need, open, reveal, hotPath };
}
