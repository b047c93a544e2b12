// The tree table: rows are asked for when they are opened or scrolled to, and only those on
// the screen are in the page.

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { closeNode, lineAt, lineOf, pathOf, type Line, type Node } from "./tree_model";
import { Header, lineId, lineKey, TreeLine, type Sort } from "./tree_rows";
import { heightOf, ROW, scrollTo, windowOf } from "./tree_scroll";
import { useSearch, useSearchSteps, type Search } from "../shared/tree_search";
import type { Column, Hits, Row } from "../shared/types";
import { useTree, type AskRows } from "./use_tree";

const HITS_OPENED = 20; // as many matches are shown at once

export interface TreeProps {
  ask: AskRows; // another function: another tree
  find?: (pattern: string) => Promise<Hits>;
  open: string; // ids of the selected row and those above it, joined by "."
  search: string;
  sort: Sort;
  hidden: Set<string>; // columns that are not shown
  onSelect: (path: string[]) => void;
  onSort: (sort: Sort) => void;
  onColumns: (columns: Column[]) => void;
  onRow: (row: Row | null, columns: Column[]) => void; // the selected one, once it is there
}

// The head stays above the lines.
const viewportOf = (element: HTMLElement) => ({
  top: element.scrollTop,
  height: Math.max(ROW, element.clientHeight - ROW),
});

function useViewport(isThere: boolean) {
  const scroller = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState({ top: 0, height: 600 });
  const measure = useCallback(() => {
    const element = scroller.current;
    if (element) setAt(viewportOf(element));
  }, []);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(measure);
    if (scroller.current) observer.observe(scroller.current);
    measure();
    return () => observer.disconnect();
  }, [isThere]);
  return { scroller, at, measure };
}

export function TreeView(props: TreeProps) {
  const handle = useTree(props.ask, props.open === "");
  const { tree, error, refresh, need, open, reveal } = handle;
  const { scroller, at, measure } = useViewport(tree !== null);
  const [selected, setSelected] = useState<Node | null>(null);
  const search = useSearch(props.search, tree ? props.find : undefined);

  const show = useCallback(
    (node: Node) => {
      const element = scroller.current;
      if (!element || !tree) return;
      element.scrollTop = scrollTo(viewportOf(element), tree.top.lines, lineOf(node));
    },
    [tree],
  );
  const select = (node: Node) => {
    setSelected(node);
    props.onSelect(pathOf(node));
  };
  const goTo = async (path: string[]) => {
    const node = await reveal(path);
    if (!node) return;
    select(node);
    requestAnimationFrame(() => show(node));
  };

  useEffect(() => {
    if (!tree || props.open === "" || (selected && pathOf(selected).join(".") === props.open))
      return;
    void reveal(props.open.split(".")).then((node) => {
      setSelected(node);
      if (node) requestAnimationFrame(() => show(node));
    });
  }, [tree, props.open]);

  useEffect(() => {
    if (tree) props.onColumns(tree.columns);
  }, [tree]);

  useEffect(() => props.onRow(selected?.row ?? null, tree?.columns ?? []), [selected, tree]);

  // A step asked for before the matches are there is taken when they are.
  const awaited = useRef(0);
  const stepTo = (by: number) => {
    if (!search && props.search !== "") awaited.current = by;
    const hit = search?.step(by);
    if (hit) void goTo([...hit.path, hit.row.id]);
  };
  useSearchSteps(stepTo);

  useEffect(() => {
    const openHits = async () => {
      for (const hit of search?.hits.slice(0, HITS_OPENED) ?? [])
        await reveal([...hit.path, hit.row.id]);
    };
    void openHits();
    if (!search) return;
    if (awaited.current !== 0) stepTo(awaited.current);
    awaited.current = 0;
  }, [search?.hits]);

  const lines = tree?.top.lines ?? 0;
  const part = windowOf(at, lines);
  const shown: Line[] = [];
  for (let i = part.first; tree && i < part.last; i++) {
    const line = lineAt(tree.top, i);
    if (line) shown.push(line);
  }
  useEffect(() => {
    for (const line of shown) if ("hole" in line) void need(line.hole, line.place);
  });

  if (!tree) return <p class="status tree">{error ?? "loading…"}</p>;

  const moveTo = async (number: number) => {
    const line = lineAt(tree.top, Math.min(Math.max(number, 0), lines - 1));
    if (!line) return;
    if ("hole" in line) await need(line.hole, line.place);
    const node = "node" in line ? line.node : line.hole.nodes.get(line.place);
    if (!node) return;
    select(node);
    show(node);
  };
  const close = (node: Node) => {
    closeNode(node);
    refresh();
  };
  const followHotPath = async () => {
    const node = await handle.hotPath(selected);
    if (!node) return;
    select(node);
    requestAnimationFrame(() => show(node));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const number = selected ? lineOf(selected) : -1;
    const page = Math.max(1, Math.floor(at.height / ROW) - 2);
    const keys: Record<string, () => void> = {
      ArrowDown: () => void moveTo(number + 1),
      ArrowUp: () => void moveTo(number - 1),
      PageDown: () => void moveTo(number + page),
      PageUp: () => void moveTo(number - page),
      Home: () => void moveTo(0),
      End: () => void moveTo(lines - 1),
      ArrowRight: () =>
        selected && (selected.isOpen ? void moveTo(number + 1) : void open(selected)),
      ArrowLeft: () => {
        if (selected?.isOpen) close(selected);
        else if (selected?.level.parent) void moveTo(lineOf(selected.level.parent));
      },
      Enter: () => selected && (selected.isOpen ? close(selected) : void open(selected)),
      h: () => void followHotPath(),
    };
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  };

  const selectedLine = selected ? lineOf(selected) : -1;
  return (
    <div class="tree-frame">
      <div
        class="tree"
        ref={scroller}
        tabIndex={0}
        role="treegrid"
        aria-label="calling contexts and their costs"
        aria-rowcount={lines + 1}
        {...(selectedLine >= part.first && selectedLine < part.last
          ? { "aria-activedescendant": lineId(selectedLine) }
          : {})}
        onScroll={measure}
        onKeyDown={onKeyDown}
      >
        <Header
          columns={tree.columns}
          hidden={props.hidden}
          sort={props.sort}
          onSort={props.onSort}
        />
        <div role="rowgroup" style={{ height: `${heightOf(lines)}px`, position: "relative" }}>
          {shown.map((line, i) => (
            <TreeLine
              key={lineKey(line)}
              line={line}
              number={part.first + i}
              top={part.top + i * ROW}
              columns={tree.columns}
              hidden={props.hidden}
              isSelected={"node" in line && line.node === selected}
              isHit={"node" in line && (search?.matches(line.node.row.label) ?? false)}
              onToggle={(node) => (node.isOpen ? close(node) : void open(node))}
              onSelect={select}
            />
          ))}
        </div>
      </div>
      {search && <Matches search={search} onStep={stepTo} />}
    </div>
  );
}

function Matches(props: { search: Search; onStep: (by: number) => void }) {
  const { search } = props;
  const count = search.count.toLocaleString("en-US");
  const words =
    search.count === 0
      ? "no match"
      : search.at < 0
        ? `${count} matches`
        : `match ${search.at + 1} of ${count}`;
  return (
    <p class="status floating matches" role="status">
      {search.error ?? words}
      {search.hits.length > 0 && (
        <>
          <button
            aria-label="previous match"
            title="previous match (N)"
            onClick={() => props.onStep(-1)}
          >
            ↑
          </button>
          <button aria-label="next match" title="next match (n)" onClick={() => props.onStep(1)}>
            ↓
          </button>
        </>
      )}
    </p>
  );
}
