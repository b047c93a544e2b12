// The keyboard shortcuts, shown with "?".

import { useRef } from "preact/hooks";
import { useTakeFocus } from "./take_focus";

type Keys = [string, string][];

const SECTIONS: [string, Keys][] = [
  [
    "Everywhere",
    [
      ["1 … 7", "overview, top-down, bottom-up, flat, flame graph, timeline, calls"],
      ["Ctrl-K", "go to a view, function, thread or source"],
      ["Alt ← →", "undo, redo: the steps of the browser's history"],
      ["/", "search; Enter, Shift Enter: next, previous match"],
      ["n N", "next, previous match"],
      ["m", "choose the metric"],
      ["t", "light or dark theme"],
      ["?", "this help"],
      ["Esc", "close, reset the zoom, leave a field"],
    ],
  ],
  [
    "Tree",
    [
      ["↑ ↓ j k PgUp PgDn Home End", "move"],
      ["→ ←", "open or go to the first child, close or go to the parent"],
      ["Enter, double click", "open or close"],
      ["h", "follow the hot path"],
      ["s", "callers and callees of the function of the selected row"],
      ["a", "instructions of the function of the selected row"],
      ["h H in instructions", "next, previous of the hottest instructions"],
      ["r", "fold recursion"],
      ["l", "functions only: leave out lines and loops"],
      ["z Backspace", "show the selected row as the root; one level up"],
      ["w", "count waiting"],
      ["p", "percentiles of call durations"],
      ["click, Enter on a title", "sort by the column; again: reverse"],
      ["← → on a plot", "show the value of each point"],
    ],
  ],
  [
    "Flame graph",
    [
      ["↑ ↓ ← →", "move"],
      ["Enter, double click", "zoom in"],
      ["click, Space", "pin the values of a box"],
      ["Backspace, Esc", "zoom out by one call, reset the zoom"],
      ["o, right click", "open in the tree"],
      [
        "i k c l u r w",
        "upside down, order of time, other colours, functions only, callers, fold recursion, count waiting",
      ],
    ],
  ],
  [
    "Timeline",
    [
      ["W S A D", "zoom in, zoom out, move"],
      ["← → ↑ ↓ PgUp PgDn", "move a little, other threads"],
      [", .", "move the cursor; the panel shows the stack there"],
      ["Space p", "open or close the track, pin it"],
      ["[ ] x", "select from the cursor, up to the cursor, its thread"],
      ["drag, Shift drag", "move, select time and threads"],
      ["wheel, double click", "zoom, zoom to the call"],
      ["f", "zoom to the selection"],
      ["Enter", "flame graph of the selection"],
      ["m", "mark the time of the cursor, or remove the mark"],
      ["e", "measure between two clicks"],
      ["o", "map of all threads"],
      ["k", "critical path, and for whom threads wait"],
      ["+ −", "greater, smaller depth of strips"],
      ["0", "whole time"],
      ["g G", "go along the flow from the call at the cursor, back along the one to it"],
      ["click, c", "calls at the cursor (recordings)"],
    ],
  ],
  [
    "Calls",
    [
      ["n N", "next, previous match"],
      ["← →", "the call around the selected one, the first call inside"],
      ["[ ]", "previous, next call of the same caller"],
    ],
  ],
  [
    "Store",
    [
      ["Tab", "search: accept the suggestion"],
      ["↓ in the search box", "search: show suggestions; in an empty box, recent queries"],
      ["← → Shift Enter 0", "histogram: select a time range, apply it, whole time"],
      ["click, Enter; with Shift", "facets: only this value; exclude it"],
      ["j k ↑ ↓ PgUp PgDn Home End", "lists: move"],
      ["Enter", "lists: open"],
    ],
  ],
  [
    "Trace",
    [
      ["1 … 4", "waterfall, flame chart, methods, all calls"],
      ["W S A D 0", "zoom in, zoom out, move, whole time"],
      ["→ ←", "waterfall: show, hide the calls inside one"],
      ["↑ ↓ ← →", "flame chart: caller, callee, neighbours"],
      ["Enter f", "flame chart: zoom to the call"],
      ["n N e E", "next, previous match; next, previous error"],
      ["Esc, Backspace", "back to the list"],
    ],
  ],
  [
    "SQL",
    [
      ["Ctrl-Enter", "run the statement"],
      ["Tab, ↑ ↓ Enter", "accept a suggestion, choose one"],
      ["W S A D 0", "tracks: zoom in, zoom out, move, whole time"],
    ],
  ],
];

// `first`: the title of the keys of the current view.
export function Help(props: { first: string | undefined; onClose: () => void }) {
  const sheet = useRef<HTMLDivElement>(null);
  useTakeFocus(sheet);
  return (
    <div class="overlay" onClick={props.onClose}>
      <div
        class="sheet"
        ref={sheet}
        tabIndex={-1}
        role="dialog"
        aria-modal="true"
        aria-label="keyboard shortcuts"
        onClick={(event) => event.stopPropagation()}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          props.onClose();
        }}
      >
        <button class="close" aria-label="close" onClick={props.onClose}>
          ×
        </button>
        <h2>Keyboard shortcuts</h2>
        <div class="key-sections">
          {[
            ...SECTIONS.filter(([title]) => title === props.first),
            ...SECTIONS.filter(([title]) => title !== props.first),
          ].map(([title, keys]) => (
            <section key={title}>
              <h3>{title}</h3>
              <table>
                <tbody>
                  {keys.map(([key, meaning]) => (
                    <tr key={meaning}>
                      <th scope="row">
                        <kbd>{key}</kbd>
                      </th>
                      <td>{meaning}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
          ))}
        </div>
      </div>
    </div>
  );
}
