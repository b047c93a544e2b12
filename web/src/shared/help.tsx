// The keys, shown with "?".

import { useEffect, useRef } from "preact/hooks";

type Keys = [string, string][];

const SECTIONS: [string, Keys][] = [
  [
    "Everywhere",
    [
      ["1 … 6", "top-down, bottom-up, flat, flame graph, timeline, calls"],
      ["/", "search; Enter and Shift Enter: next and previous match"],
      ["n N", "next and previous match"],
      ["m", "choose the metric"],
      ["t", "light or dark"],
      ["?", "this help"],
      ["Esc", "close, show all, leave a field"],
    ],
  ],
  [
    "Tree",
    [
      ["↑ ↓ PgUp PgDn Home End", "move"],
      ["→ ←", "open and go in, close and go out"],
      ["Enter, double click", "open or close"],
      ["h", "follow the hot path"],
      ["r", "fold recursion"],
      ["p", "percentiles of how long calls took"],
      ["click, Enter on a title", "sort by it, once more the other way round"],
      ["← → on a plot", "what its points say"],
    ],
  ],
  [
    "Flame graph",
    [
      ["↑ ↓ ← →", "move"],
      ["Enter, click", "zoom in"],
      ["Backspace, Esc", "one call out, show all"],
      ["o, right click", "details"],
      ["i c u r", "upside down, colour by module, callers, fold recursion"],
    ],
  ],
  [
    "Timeline",
    [
      ["W S A D", "zoom in and out, move"],
      ["← → ↑ ↓ PgUp PgDn", "move a little, other threads"],
      [", .", "move the cursor: the stack there is shown"],
      ["[ ] x", "select from the cursor on, up to the cursor; its thread"],
      ["drag, shift-drag", "move, select time and threads"],
      ["wheel, double click", "zoom"],
      ["z", "zoom to the selection"],
      ["Enter", "flame graph of the selection"],
      ["+ −", "deeper, less deep"],
      ["0", "all of it"],
      ["click, c", "of a recording: the calls at the cursor"],
    ],
  ],
  ["Calls", [["n N", "find the next and the previous one"]]],
  [
    "Store",
    [
      ["Tab", "search: take the word that is offered"],
      ["↓ in the search box", "search: what may come next; when it is empty, queries asked before"],
      ["← → Shift Enter 0", "histogram: select a part of time, take it, all of the time"],
      ["click, Enter; with Shift", "facets: only these; all others"],
      ["j k ↑ ↓ PgUp PgDn Home End", "lists: move"],
      ["Enter", "lists: open"],
    ],
  ],
  [
    "Trace",
    [
      ["1 … 4", "calls, chart, methods, spans"],
      ["n N e E", "next and previous call that was looked for, that failed"],
      ["Esc, Backspace", "back to the list"],
    ],
  ],
];

export function Help(props: { onClose: () => void }) {
  const sheet = useRef<HTMLDivElement>(null);
  // The sheet takes the keyboard, and gives it back.
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    sheet.current?.focus();
    return () => before?.focus?.();
  }, []);
  return (
    <div class="overlay" onClick={props.onClose}>
      <div
        class="sheet"
        ref={sheet}
        tabIndex={-1}
        role="dialog"
        aria-modal="true"
        aria-label="keys"
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
        <h2>Keys</h2>
        <div class="key-sections">
          {SECTIONS.map(([title, keys]) => (
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
