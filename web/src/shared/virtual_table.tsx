// A table of any number of rows of which only those on the screen are in the page. Rows
// are walked with the keyboard: arrows or j and k, Page Up and Down, Home and End, Enter.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { firstRow, LONGEST_PX, topOfRow, type Window } from "./virtual_scroll";

const BEYOND = 8; // rows kept in the page above and below those on the screen
const WIDE = "(min-width: 2600px)";

export interface TableColumn {
  name: string;
  title: ComponentChildren;
  isNumber?: boolean;
  isSortable?: boolean;
}

export interface TableRow {
  cells: ComponentChildren[];
  class?: string;
  level?: number; // of a tree, from 1
  isOpen?: boolean; // of a row of a tree that has something below it
}

interface Props {
  label: string;
  class?: string;
  columns: TableColumn[];
  widths: string; // as in grid-template-columns
  count: number;
  row: (index: number) => TableRow | null; // null: not there yet
  selected: number; // -1: none
  onSelect: (index: number) => void;
  onOpen?: (index: number) => void; // Enter, double click
  onKey?: (key: string, index: number) => boolean; // false: nothing to do with that key
  onRange?: (first: number, last: number) => void; // what is on the screen now
  sort?: { by: string; isAscending: boolean; onChange: (by: string) => void };
  top?: number; // row to begin with
  shift?: number; // rows that came before the first one since the table was made
  origin?: string; // another one: other rows, to be read from the top
  reveal?: number; // row that must be on the screen, when it becomes another one
  revealFor?: string; // when this becomes another one instead
  isTree?: boolean;
  isClickOpen?: boolean; // one click opens
}

function useRowHeight(): number {
  const [height, setHeight] = useState(matchMedia(WIDE).matches ? 30 : 24);
  useEffect(() => {
    const media = matchMedia(WIDE);
    const update = () => setHeight(media.matches ? 30 : 24);
    media.addEventListener("change", update);
    return () => media.removeEventListener("change", update);
  }, []);
  return height;
}

export function VirtualTable(props: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const rowPx = useRowHeight();
  const [view, setView] = useState({ top: 0, height: 600 });
  const window: Window = {
    count: props.count,
    rowPx,
    heightPx: Math.max(view.height - rowPx, rowPx),
  };
  const at = firstRow(window, view.top);
  const first = Math.max(0, Math.floor(at) - BEYOND);
  const last = Math.min(props.count, Math.ceil(at + window.heightPx / rowPx) + BEYOND);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  const scrollTo = (row: number) => {
    if (scroller.current) scroller.current.scrollTop = topOfRow(window, row);
  };
  useLayoutEffect(() => {
    if (props.count > 0 && props.top) scrollTo(props.top);
  }, [props.count > 0]);
  const origin = useRef(props.origin);
  useLayoutEffect(() => {
    if (origin.current !== props.origin) scrollTo(0);
    origin.current = props.origin;
  }, [props.origin]);
  const shift = useRef(props.shift ?? 0);
  useLayoutEffect(() => {
    const added = (props.shift ?? 0) - shift.current;
    shift.current = props.shift ?? 0;
    if (scroller.current && added !== 0) scroller.current.scrollTop += added * rowPx;
  }, [props.shift]);
  const show = (row: number) => {
    const shown = Math.floor(window.heightPx / rowPx);
    const now = firstRow(window, scroller.current?.scrollTop ?? 0);
    if (row < Math.ceil(now)) scrollTo(row);
    else if (row >= Math.floor(now) + shown) scrollTo(row - shown + 1);
  };
  useLayoutEffect(() => {
    if (props.reveal !== undefined && props.reveal >= 0) show(props.reveal);
  }, [props.revealFor ?? props.reveal, props.count > 0]);
  useEffect(() => props.onRange?.(first, last), [first, last, props.onRange]);

  const move = (to: number) => {
    if (props.count === 0) return;
    const row = Math.min(Math.max(to, 0), props.count - 1);
    props.onSelect(row);
    show(row);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(window.heightPx / rowPx) - 1);
    const { selected } = props;
    const keys: Record<string, () => void> = {
      ArrowDown: () => move(selected + 1),
      j: () => move(selected + 1),
      ArrowUp: () => move(selected - 1),
      k: () => move(selected - 1),
      PageDown: () => move(selected + page),
      PageUp: () => move(selected - page),
      Home: () => move(0),
      End: () => move(props.count - 1),
    };
    const action = keys[event.key];
    if (action) action();
    else if (event.key === "Enter" && selected >= 0 && props.onOpen) props.onOpen(selected);
    else if (!props.onKey?.(event.key, selected)) return;
    event.preventDefault();
  };

  const style = { gridTemplateColumns: props.widths, height: `${rowPx}px` };
  const rows = [];
  for (let i = first; i < last; i++) rows.push(i);
  return (
    <div
      class={`vtable ${props.class ?? ""}`}
      ref={scroller}
      tabIndex={0}
      role={props.isTree ? "treegrid" : "grid"}
      aria-label={props.label}
      aria-rowcount={props.count + 1}
      aria-activedescendant={
        props.selected >= first && props.selected < last
          ? `${props.class}-${props.selected}`
          : undefined
      }
      onKeyDown={onKeyDown}
      onScroll={(event) =>
        setView({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })
      }
    >
      <Head {...props} style={style} />
      <div
        role="rowgroup"
        class="vtable-body"
        style={{ height: `${Math.min(props.count * rowPx, LONGEST_PX)}px` }}
      >
        {rows.map((i) => (
          <Line
            key={i}
            {...props}
            index={i}
            style={{ ...style, top: `${view.top + (i - at) * rowPx}px` }}
          />
        ))}
      </div>
    </div>
  );
}

function Head(props: Props & { style: Record<string, string> }) {
  const { sort } = props;
  return (
    <div class="vtable-row vtable-head" role="row" aria-rowindex={1} style={props.style}>
      {props.columns.map((column) => {
        const isSorted = sort?.by === column.name;
        const order = isSorted ? (sort.isAscending ? "ascending" : "descending") : "none";
        return (
          <span
            key={column.name}
            role="columnheader"
            class={column.isNumber ? "number" : ""}
            {...(column.isSortable ? { "aria-sort": order } : {})}
          >
            {sort && column.isSortable ? (
              <button class="link" onClick={() => sort.onChange(column.name)}>
                {column.title}
                {isSorted ? (sort.isAscending ? " ↑" : " ↓") : ""}
              </button>
            ) : (
              column.title
            )}
          </span>
        );
      })}
    </div>
  );
}

function Line(props: Props & { index: number; style: Record<string, string> }) {
  const { index, columns } = props;
  const row = props.row(index);
  const isSelected = index === props.selected;
  return (
    <div
      id={`${props.class}-${index}`}
      class={`vtable-row ${row?.class ?? ""}${isSelected ? " selected" : ""}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      aria-level={row?.level}
      aria-expanded={row?.isOpen}
      style={props.style}
      onClick={() =>
        props.isClickOpen && props.onOpen ? props.onOpen(index) : props.onSelect(index)
      }
      onDblClick={() => props.onOpen?.(index)}
    >
      {columns.map((column, i) => (
        <span key={column.name} role="gridcell" class={column.isNumber ? "number" : ""}>
          {row ? row.cells[i] : i === columns.length - 1 ? <em class="faint">…</em> : ""}
        </span>
      ))}
    </div>
  );
}
