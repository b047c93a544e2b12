// A table with any number of rows, of which only those on the screen are in the page. The keyboard
// moves through them: arrows or j and k, Page Up and Down, Home and End, Enter.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { takeFocus } from "../focus";
import { usePixels } from "../look/ui_scale";
import { useListener } from "../use_listener";
import { heightOf, scrollTo, topOfMiddle, topOfRow, useViewport, windowOf } from "./virtual_scroll";

export interface TableColumn {
  name: string;
  title: ComponentChildren;
  hint?: string; // tooltip of the title
  isNumber?: boolean;
  isSortable?: boolean;
}

export interface TableRow {
  cells: ComponentChildren[];
  class?: string;
  // Of a tree:
  level?: number; // from 1
  position?: number; // among the rows of its parent, from 1
  siblings?: number; // rows of its parent
  isOpen?: boolean; // undefined: there is nothing below it
}

interface Props {
  label: string;
  class: string; // rows have the class "<class>-row", the head "<class>-head"
  columns: TableColumn[];
  widths: string; // as in grid-template-columns
  count: number;
  row: (index: number) => TableRow | null; // null: not there yet
  selected: number; // -1: none
  onSelect: (index: number) => void;
  onOpen?: (index: number) => void; // Enter, double click
  onKey?: (key: string, index: number) => boolean; // false: the key means nothing here
  onRange?: (first: number, last: number) => void; // the rows on the screen
  sort?: { by: string; isAscending: boolean; onChange: (by: string) => void };
  top?: number; // first visible row at the beginning
  shift?: number; // rows that were added above since the beginning
  origin?: string; // when it changes, the table scrolls to the top
  reveal?: number; // row that must be visible when `revealFor` changes
  revealFor?: string; // default: when `reveal` changes
  revealAt?: "nearest" | "middle" | "top"; // where that row is then; default: as near as it is
  isTree?: boolean;
  isFirstFixed?: boolean; // the first column does not scroll
  isStacked?: boolean; // the first cell of a row is above the others
  isClickOpen?: boolean; // one click opens
  takesFocus?: boolean; // keys work without a click, unless something else has the focus
}

// True while the page is printed.
function useIsPrinting(): boolean {
  const [isPrinting, setIsPrinting] = useState(false);
  useListener("beforeprint", () => setIsPrinting(true));
  useListener("afterprint", () => setIsPrinting(false));
  return isPrinting;
}

const PRINTED_MAX = 1000; // rows above and below those on the screen

// The rows around those on the screen that are there.
function loadedAround({ count, row }: Props, { first, last }: { first: number; last: number }) {
  const [low, high] = [Math.max(0, first - PRINTED_MAX), Math.min(count, last + PRINTED_MAX)];
  while (first > low && row(first - 1)) first--;
  while (last < high && row(last)) last++;
  return { first, last };
}

export function VirtualTable(props: Props) {
  const headPx = usePixels("--row");
  const stackedPx = usePixels("--row-stacked");
  const rowPx = props.isStacked ? stackedPx : headPx;
  const { scroller, view, measure, current } = useViewport(headPx);
  const list = { count: props.count, rowPx };
  const { first, last, top } = windowOf(list, view);
  const printed = useIsPrinting() ? loadedAround(props, { first, last }) : { first, last };

  const scroll = (to: number) => {
    if (scroller.current) scroller.current.scrollTop = to;
  };
  useLayoutEffect(() => {
    if (props.count > 0 && props.top) scroll(topOfRow(list, current(), props.top));
  }, [props.count > 0]);
  useEffect(() => {
    if (props.takesFocus) takeFocus(scroller.current);
  }, []);
  const origin = useRef(props.origin);
  useLayoutEffect(() => {
    if (origin.current !== props.origin) scroll(0);
    origin.current = props.origin;
  }, [props.origin]);
  const shift = useRef(props.shift ?? 0);
  useLayoutEffect(() => {
    const added = (props.shift ?? 0) - shift.current;
    shift.current = props.shift ?? 0;
    if (added !== 0) scroll(current().top + added * rowPx);
  }, [props.shift]);
  const show = (row: number) => scroll(scrollTo(list, current(), row));
  useLayoutEffect(() => {
    if (props.reveal === undefined || props.reveal < 0) return;
    if (props.revealAt === "middle") scroll(topOfMiddle(list, current(), props.reveal));
    else if (props.revealAt === "top") scroll(topOfRow(list, current(), props.reveal));
    else show(props.reveal);
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
    const page = Math.max(1, Math.floor(view.height / rowPx) - 1);
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
  const kinds = `${props.isFirstFixed ? " first-fixed" : ""}${props.isStacked ? " stacked" : ""}`;
  const rows = [];
  for (let i = printed.first; i < printed.last; i++) rows.push(i);
  return (
    <div
      class={`vtable ${props.class}${kinds}`}
      ref={scroller}
      tabIndex={0}
      data-keys={props.takesFocus}
      role={props.isTree ? "treegrid" : "grid"}
      aria-label={props.label}
      aria-rowcount={props.count + 1}
      aria-activedescendant={
        props.selected >= first && props.selected < last
          ? `${props.class}-${props.selected}`
          : undefined
      }
      onKeyDown={onKeyDown}
      onScroll={measure}
    >
      <Head {...props} style={{ ...style, height: `${headPx}px` }} />
      <div role="rowgroup" class="vtable-body" style={{ height: `${heightOf(list)}px` }}>
        {rows.map((i) => (
          <Line
            key={i}
            {...props}
            index={i}
            style={{ ...style, top: `${top + (i - first) * rowPx}px` }}
          />
        ))}
      </div>
      {printed.last - printed.first < props.count && (
        <p class="printed-note">
          rows {(printed.first + 1).toLocaleString("en-US")} to{" "}
          {printed.last.toLocaleString("en-US")} of {props.count.toLocaleString("en-US")}; the
          others are not printed
        </p>
      )}
    </div>
  );
}

function Head(props: Props & { style: Record<string, string> }) {
  const { sort } = props;
  return (
    <div
      class={`vtable-row vtable-head ${props.class}-head`}
      role="row"
      aria-rowindex={1}
      style={props.style}
    >
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
              <button class="link" title={column.hint} onClick={() => sort.onChange(column.name)}>
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
      class={`vtable-row ${props.class}-row ${row?.class ?? ""}${isSelected ? " selected" : ""}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      aria-busy={row ? undefined : true}
      aria-level={props.isTree ? row?.level : undefined}
      aria-posinset={props.isTree ? row?.position : undefined}
      aria-setsize={props.isTree ? row?.siblings : undefined}
      aria-expanded={props.isTree ? row?.isOpen : undefined}
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
