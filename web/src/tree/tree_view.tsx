// The tree table: rows are loaded when they are opened or scrolled to.

import { useEffect, useRef, useState } from "preact/hooks";
import { closeNode, isInside, lineAt, lineOf, pathOf, type Node } from "./tree_model";
import { printRows, stackOf, openNodes, type CopyFormat, type CopyWhat } from "./copy_rows";
import { endsOf, nameColumn, shownColumns, treeColumns, treeRow, type Sort } from "./tree_rows";
import { Icon } from "../shared/look/icons";
import { useWidth } from "../shared/narrow";
import { useSearch, useSearchSteps, type Search } from "../shared/table/tree_search";
import type { Waiting } from "../shared/api";
import type { Column, Hits, Row } from "../../generated/answers";
import { useTree, type AskRows } from "./use_tree";
import { plural } from "../shared/format";
import type { UnitMode } from "../shared/units";
import { VirtualTable } from "../shared/table/virtual_table";

const HITS_OPENED = 20; // matches that are opened at once

export interface TreeProps {
  ask: AskRows; // another function: another tree
  find?: (pattern: string, waiting: Waiting) => Promise<Hits>;
  open: string; // ids of the selected row and those above it, joined by "."
  search: string;
  sort: Sort;
  layout: { hidden: Set<string>; order: string[]; mode: UnitMode };
  isSkipping: boolean; // rows of lines and loops are left out: paths may name them
  onSelect: (path: string[]) => void;
  onRoot: (path: string[] | null) => void; // show a row as the root; null: one level up
  onSort: (sort: Sort) => void;
  onColumns: (columns: Column[]) => void;
  // The selected row, or without one what leads to the cost, when it is loaded.
  onRow: (row: Row | null, columns: Column[]) => void;
  isList?: boolean; // rows are not opened, and have their location in a column
  startsClosed?: boolean; // the hot path is not opened at first
  none?: string; // said instead of a table without rows
  onOpenRow?: (row: Row) => void; // the key "s": show the function of a row
  copies: { current: ((what: CopyWhat, format: CopyFormat) => string) | null }; // set when loaded
}

export function TreeView(props: TreeProps) {
  const { layout, sort, isList = false } = props;
  const { tree, error, lead, refresh, need, open, reveal, hotPath } = useTree(
    props.ask,
    props.open === "" && !props.startsClosed,
    props.isSkipping,
  );
  const frame = useWidth(tree !== null);
  const [selected, setSelected] = useState<Node | null>(null);
  const search = useSearch(props.search, tree ? props.find : undefined);

  const select = (node: Node | null | undefined) => {
    if (!node) return;
    setSelected(node);
    props.onSelect(pathOf(node));
  };

  const deselect = () => {
    setSelected(null);
    props.onSelect([]);
  };

  useEffect(() => {
    if (!tree || props.open === "" || (selected && pathOf(selected).join(".") === props.open))
      return;
    void reveal(props.open.split(".")).then(setSelected);
  }, [tree, props.open]);

  useEffect(() => {
    if (tree) props.onColumns(tree.columns);
  }, [tree]);

  const current = props.open === "" ? lead : selected;
  useEffect(() => props.onRow(current?.row ?? null, tree?.columns ?? []), [current, tree]);

  // A step that comes before the matches is taken when they are there.
  const awaited = useRef(0);
  const stepTo = (by: number) => {
    if (!search && props.search !== "") awaited.current = by;
    const hit = search?.step(by);
    if (hit) void reveal([...hit.path, hit.row.id]).then(select);
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

  if (!tree) return <p class="status tree">{error ?? "loading…"}</p>;

  if (tree.top.total === 0 && props.none) return <p class="status tree">{props.none}</p>;

  const choose = async (index: number) => {
    const line = lineAt(tree.top, index);
    if (line && "hole" in line) await need(line.hole, line.index);
    if (line) select("node" in line ? line.node : line.hole.nodes.get(line.index));
  };
  const toggle = (node: Node) => {
    if (isList) return;
    if (!node.isOpen) return void open(node);
    closeNode(node);
    if (selected && isInside(selected, node)) select(node);
    refresh();
  };
  const onKey = (key: string, index: number): boolean => {
    if (key === "z") props.onRoot(selected ? pathOf(selected) : []);
    else if (key === "Z" || key === "Backspace") props.onRoot(null);
    else if (key === "h") void hotPath(selected).then(select);
    else if (!selected) return false;
    else if (isList && key.startsWith("Arrow")) return false;
    else if (key === "Escape") deselect();
    else if (key === "s" && props.onOpenRow) props.onOpenRow(selected.row);
    else if (key === "ArrowRight" && selected.isOpen) void choose(index + 1);
    else if (key === "ArrowRight") void open(selected);
    else if (key === "ArrowLeft" && selected.isOpen) toggle(selected);
    else if (key === "ArrowLeft") select(selected.level.parent);
    else return false;
    return true;
  };
  const onRange = (first: number, last: number) => {
    for (let i = first; i < last; i++) {
      const line = lineAt(tree.top, i);
      if (line && "hole" in line) void need(line.hole, line.index);
    }
  };
  const hasDifferences = tree.columns.some(({ form }) => form === "signed");
  // A side names the first column of that side.
  const sortedBy =
    (sort.column === ""
      ? tree.columns[0]
      : tree.columns.find(({ name, side }) => sort.column === name || sort.column === side)
    )?.name ?? "";
  // The parts of a list may all be small: its first row has the longest bar.
  const top = lineAt(tree.top, 0);
  const isLed = (isList || props.startsClosed) && !sort.isReversed && top && "node" in top;
  const ends = hasDifferences
    ? endsOf(openNodes(tree.top).map(({ row }) => row))
    : tree.columns.map(({ name }, i) =>
        isLed && name === sortedBy ? (top.node.row.values[i] ?? 0) : 0,
      );
  const shown = shownColumns(tree.columns, layout, tree.most, ends);
  const listNodes = (what: CopyWhat): Node[] =>
    what === "table"
      ? openNodes(tree.top)
      : selected
        ? what === "row"
          ? [selected]
          : stackOf(selected)
        : [];
  props.copies.current = (what, format) => printRows(listNodes(what), shown, format);
  const line = selected ? lineOf(selected) : -1;
  // Rows that are opened for other matches move the current one.
  const isMatch = (search?.at ?? -1) >= 0;
  const names = nameColumn(shown, frame.width, isList, isList || props.startsClosed);
  return (
    <div class="tree-frame" ref={frame.element}>
      <VirtualTable
        class="tree"
        takesFocus
        label={isList ? "functions and their costs" : "calling contexts and their costs"}
        isTree={!isList}
        columns={treeColumns(shown, names, isList)}
        widths={names.widths}
        isFirstFixed={names.isFirst}
        isStacked={names.isStacked}
        count={tree.top.lines}
        row={(index) => {
          const at = lineAt(tree.top, index);
          if (!at || !("node" in at)) return null;
          const isHit = search?.matches(at.node.row.label) ?? false;
          return treeRow(at.node, shown, names, isHit, toggle, isList);
        }}
        selected={line}
        reveal={line}
        revealFor={selected ? `${pathOf(selected).join(".")} ${isMatch ? line : ""}` : ""}
        onSelect={(index) => void choose(index)}
        onOpen={(index) => {
          const at = lineAt(tree.top, index);
          if (at && "node" in at) toggle(at.node);
        }}
        onKey={onKey}
        onRange={onRange}
        sort={{
          by: sortedBy,
          isAscending: sort.isReversed,
          onChange: (column) =>
            props.onSort({ column, isReversed: column === sortedBy && !sort.isReversed }),
        }}
      />
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
        ? plural(search.count, "match", "matches")
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
            <Icon name="previous" />
          </button>
          <button aria-label="next match" title="next match (n)" onClick={() => props.onStep(1)}>
            <Icon name="next" />
          </button>
        </>
      )}
    </p>
  );
}
