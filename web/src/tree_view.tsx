// The tree table: rows are asked for when they are opened, and only those on the screen
// are in the page.

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { get, type Parameters } from "./api";
import { baseName, formatPercent, formatValue } from "./format";
import { makeNodes, pathOf, visibleLines, type Line, type Node } from "./tree_model";
import type { Column, Hits, Row, Rows } from "./types";

const ROW = 24;
const PAGE = 200;

interface Props {
  path: string; // "sources/0"
  parameters: Parameters; // view, metric, thread, percentiles, sort
  open: string; // ids of the selected row and those above it, joined by "."
  search: string;
  onSelect: (path: string[], row: Row) => void;
  onSort: (column: string) => void;
}

interface Tree {
  columns: Column[];
  top: Node[];
  total: number;
}

function useTree(props: Props) {
  const [tree, setTree] = useState<Tree | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [version, setVersion] = useState(0);
  const key = JSON.stringify([props.path, props.parameters]);
  const ask = useCallback(
    (row: string | undefined, offset: number) =>
      get<Rows>(`${props.path}/rows`, { ...props.parameters, row, offset, limit: PAGE }),
    [key],
  );
  const refresh = useCallback(() => setVersion((before) => before + 1), []);
  const open = useCallback(
    async (node: Node) => {
      if (node.row.isLeaf) return;
      if (!node.children) {
        const answer = await ask(node.row.id, 0);
        node.children = makeNodes(answer.rows, node);
        node.total = answer.count;
      }
      node.isOpen = true;
      refresh();
    },
    [ask],
  );
  useEffect(() => {
    let isCurrent = true;
    const load = () =>
      ask(undefined, 0).then(
        async (answer) => {
          const top = makeNodes(answer.rows, null);
          if (!isCurrent) return;
          setError(null);
          setTree({ columns: answer.columns, top, total: answer.count });
          if (props.open === "") await openHotPath(top[0], open);
        },
        (failure: Error) => {
          if (!isCurrent) return;
          setError(failure.message);
          if ((failure as { kind?: string }).kind === "not-ready") setTimeout(load, 400);
        },
      );
    void load();
    return () => {
      isCurrent = false;
    };
  }, [ask]);
  return { tree, error, version, ask, open, refresh };
}

// Down from a row along the child that holds most, as long as it holds half of its parent;
// the last row reached.
async function openHotPath(from: Node | undefined, open: (node: Node) => Promise<void>): Promise<Node | null> {
  let node = from ?? null;
  while (node) {
    await open(node);
    const child: Node | undefined = node.children?.[0];
    if (!child || (child.row.values[0] ?? 0) < (node.row.values[0] ?? 0) / 2) break;
    node = child;
  }
  return node;
}

export function TreeView(props: Props) {
  const { tree, error, version, ask, open, refresh } = useTree(props);
  const scroller = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState({ top: 0, height: 600 });
  const [selected, setSelected] = useState<Node | null>(null);
  const [hits, setHits] = useState<Set<string> | null>(null);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = () => setScroll({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [tree !== null]);

  const reveal = useCallback(
    async (path: string[]) => {
      let list = tree?.top ?? [];
      for (const [i, id] of path.entries()) {
        const node = list.find((item) => item.row.id === id);
        if (!node) return;
        if (i === path.length - 1) {
          setSelected(node);
          return;
        }
        await open(node);
        list = node.children ?? [];
      }
    },
    [tree, open],
  );

  useEffect(() => {
    if (tree && props.open !== "" && (!selected || pathOf(selected).join(".") !== props.open))
      void reveal(props.open.split("."));
  }, [tree, props.open]);

  useEffect(() => {
    if (!tree || props.search === "") return setHits(null);
    const timer = setTimeout(() => {
      get<Hits>(`${props.path}/search`, { ...props.parameters, q: props.search, limit: 100 }).then(
        async (answer) => {
          setHits(new Set(answer.hits.map((hit) => hit.row.id)));
          for (const hit of answer.hits.slice(0, 20)) {
            let list = tree.top;
            for (const id of hit.path) {
              const node = list.find((item) => item.row.id === id);
              if (!node) break;
              await open(node);
              list = node.children ?? [];
            }
          }
        },
        () => setHits(new Set()),
      );
    }, 250);
    return () => clearTimeout(timer);
  }, [tree, props.search]);

  if (!tree) return <p class="status">{error ?? "loading…"}</p>;

  void version; // the tree changes in place
  const lines = visibleLines(tree.top, tree.total);
  const first = Math.max(0, Math.floor(scroll.top / ROW) - 10);
  const last = Math.min(lines.length, Math.ceil((scroll.top + scroll.height) / ROW) + 10);

  const select = (node: Node) => {
    setSelected(node);
    props.onSelect(pathOf(node), node.row);
  };
  const loadMore = async (of: Node | null) => {
    const list = of ? (of.children ?? []) : tree.top;
    const answer = await ask(of?.row.id, list.length);
    list.push(...makeNodes(answer.rows, of));
    refresh();
  };
  const close = (node: Node) => {
    node.isOpen = false;
    refresh();
  };
  const hotPath = async (from: Node | null) => {
    const node = await openHotPath(from ?? tree.top[0], open);
    if (node) select(node);
  };

  const moveTo = (index: number) => {
    const line = lines[Math.min(Math.max(index, 0), lines.length - 1)];
    if (!line || !("node" in line)) return;
    select(line.node);
    const top = lines.indexOf(line) * ROW;
    const element = scroller.current;
    if (element && top < element.scrollTop + ROW) element.scrollTop = top - ROW;
    else if (element && top + 3 * ROW > element.scrollTop + element.clientHeight)
      element.scrollTop = top - element.clientHeight + 3 * ROW;
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const index = lines.findIndex((line) => "node" in line && line.node === selected);
    const keys: Record<string, () => void> = {
      ArrowDown: () => moveTo(index + 1),
      ArrowUp: () => moveTo(index - 1),
      PageDown: () => moveTo(index + 20),
      PageUp: () => moveTo(index - 20),
      Home: () => moveTo(0),
      End: () => moveTo(lines.length - 1),
      ArrowRight: () => selected && (selected.isOpen ? moveTo(index + 1) : void open(selected)),
      ArrowLeft: () => {
        if (selected?.isOpen) close(selected);
        else if (selected?.parent) select(selected.parent);
      },
      h: () => void hotPath(selected),
    };
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  };

  return (
    <div
      class="tree"
      ref={scroller}
      tabIndex={0}
      role="treegrid"
      aria-label="calling contexts and their costs"
      aria-rowcount={lines.length}
      onScroll={(event) =>
        setScroll({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })
      }
      onKeyDown={onKeyDown}
    >
      <Header columns={tree.columns} sort={String(props.parameters["sort"] ?? "")} onSort={props.onSort} />
      <div role="rowgroup" style={{ height: `${lines.length * ROW}px`, position: "relative" }}>
        {lines.slice(first, last).map((line, i) => (
          <TreeLine
            key={lineKey(line)}
            line={line}
            top={(first + i) * ROW}
            columns={tree.columns}
            isSelected={"node" in line && line.node === selected}
            isHit={"node" in line && (hits?.has(line.node.row.id) ?? false)}
            onToggle={(node) => (node.isOpen ? close(node) : void open(node))}
            onSelect={select}
            onMore={(of) => void loadMore(of)}
          />
        ))}
      </div>
      {hits && (
        <p class="status floating" aria-live="polite">
          {hits.size === 0 ? "no match" : `${hits.size} matches`}
        </p>
      )}
    </div>
  );
}

function lineKey(line: Line): string {
  return "node" in line ? pathOf(line.node).join(".") : `more ${line.more ? pathOf(line.more).join(".") : ""}`;
}

function Header(props: { columns: Column[]; sort: string; onSort: (name: string) => void }) {
  return (
    <div class="tree-row tree-head" role="row">
      {props.columns.map((column, i) => {
        const isSorted = props.sort === "" ? i === 0 : props.sort === column.name;
        return (
          <button
            key={column.name}
            class="cell number"
            role="columnheader"
            aria-sort={isSorted ? "descending" : "none"}
            title={`sort by ${column.title}`}
            onClick={() => props.onSort(column.name)}
          >
            {column.title.replace(/ \(I\)$/, " ▸ incl").replace(/ \(E\)$/, " ▸ self")}
            {isSorted ? " ↓" : ""}
          </button>
        );
      })}
      <span class="cell label" role="columnheader">
        context
      </span>
    </div>
  );
}

interface LineProps {
  line: Line;
  top: number;
  columns: Column[];
  isSelected: boolean;
  isHit: boolean;
  onToggle: (node: Node) => void;
  onSelect: (node: Node) => void;
  onMore: (of: Node | null) => void;
}

function TreeLine(props: LineProps) {
  const { line } = props;
  const style = { top: `${props.top}px` };
  if (!("node" in line))
    return (
      <div class="tree-row" role="row" style={style}>
        {props.columns.map((column) => (
          <span key={column.name} class="cell number" />
        ))}
        <button class="cell label link" style={{ paddingLeft: `${line.depth * 16 + 20}px` }} onClick={() => props.onMore(line.more)}>
          {line.rest.toLocaleString("en-US")} more…
        </button>
      </div>
    );
  const { node } = line;
  const place = node.row.file ? `${baseName(node.row.file)}${node.row.line ? `:${node.row.line}` : ""}` : "";
  return (
    <div
      class={`tree-row${props.isSelected ? " selected" : ""}${props.isHit ? " hit" : ""}`}
      role="row"
      aria-level={node.depth + 1}
      aria-selected={props.isSelected}
      {...(node.row.isLeaf ? {} : { "aria-expanded": node.isOpen })}
      style={style}
      onClick={() => props.onSelect(node)}
      onDblClick={() => props.onToggle(node)}
    >
      {props.columns.map((column, i) => (
        <ValueCell key={column.name} value={node.row.values[i] ?? null} column={column} />
      ))}
      <span class="cell label" role="gridcell" style={{ paddingLeft: `${node.depth * 16}px` }}>
        <button
          class="twist"
          tabIndex={-1}
          aria-label={node.isOpen ? "close" : "open"}
          disabled={node.row.isLeaf}
          onClick={(event) => {
            event.stopPropagation();
            props.onToggle(node);
          }}
        >
          {node.row.isLeaf ? "" : node.isOpen ? "▾" : "▸"}
        </button>
        <span class={`kind kind-${node.row.kind}`}>{node.row.label}</span>
        <span class="place">{place || (node.row.module ? baseName(node.row.module) : "")}</span>
      </span>
    </div>
  );
}

function ValueCell(props: { value: number | null; column: Column }) {
  const { value, column } = props;
  const share = value !== null && column.total ? Math.min(1, Math.max(0, value / column.total)) : 0;
  return (
    <span class="cell number" role="gridcell">
      <i class="bar" style={{ width: `${share * 100}%` }} />
      <span>{formatValue(value, column.isPercentile ? "sec" : column.metric)}</span>
      <small>{column.isPercentile ? "" : formatPercent(value, column.total)}</small>
    </span>
  );
}
