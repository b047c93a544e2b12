// The keys, shown with "?".

const KEYS: [string, string][] = [
  ["1 … 6", "top-down, bottom-up, flat, flame graph, timeline, calls"],
  ["/", "search"],
  ["m", "choose the metric"],
  ["t", "light or dark"],
  ["?", "this help"],
  ["↑ ↓ ← →", "tree: move, close, open; flame graph: move"],
  ["h", "tree: follow the hot path"],
  ["Enter", "flame graph: zoom; timeline: flame graph of the selection"],
  ["o", "flame graph: details"],
  ["i, c", "flame graph: turn upside down, colour by module"],
  ["Esc", "show all, close"],
  ["W S A D", "timeline: zoom in and out, move"],
  ["drag, shift-drag", "timeline: move, select"],
  ["+ −", "timeline: deeper, less deep"],
  ["0", "timeline: all of it"],
  ["Tab", "search of a store: take the word that is offered"],
  ["↓ in the search box", "search of a store: what may come next; when it is empty, queries asked before"],
  ["← → Shift Enter 0", "histogram of a store: select a part of time, take it, all of the time"],
  ["click, shift-click", "facets of a store: only these, all others"],
  ["j k ↑ ↓ PgUp PgDn Home End", "lists: move"],
  ["Enter", "lists: open"],
  ["click, c", "timeline of a recording: the calls at the cursor"],
  ["n N", "calls of a recording: find the next and the previous one"],
  ["1 … 4", "trace: calls, chart, methods, spans"],
  ["n N e E", "trace: next and previous call that was looked for, that failed"],
  ["Esc, Backspace", "trace: back to the list"],
];

export function Help(props: { onClose: () => void }) {
  return (
    <div class="overlay" role="dialog" aria-modal="true" aria-label="keys" onClick={props.onClose}>
      <div class="sheet" onClick={(event) => event.stopPropagation()}>
        <button class="close" aria-label="close" onClick={props.onClose}>
          ×
        </button>
        <h2>Keys</h2>
        <table>
          <tbody>
            {KEYS.map(([key, meaning]) => (
              <tr key={meaning}>
                <th scope="row">
                  <kbd>{key}</kbd>
                </th>
                <td>{meaning}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
