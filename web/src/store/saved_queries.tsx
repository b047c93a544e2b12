// Queries that were saved in this browser, and what can be done with the matches.

import { loadList, save } from "../shared/saved";
import { useState } from "preact/hooks";
import { get } from "../shared/api";
import { go, type State } from "../shared/state";
import { toCsv } from "./hits_csv";
import type { TraceList, TraceRow } from "../../generated/answers";

interface Props {
  path: string;
  state: State;
}

const SAVED = "cairn-saved-queries";
const PAGE = 1000;
const EXPORT_MAX = 100_000;

async function allHits(path: string, query: string): Promise<TraceRow[]> {
  const rows: TraceRow[] = [];
  for (;;) {
    const page = await get<TraceList>(`${path}/traces`, {
      q: query,
      limit: PAGE,
      offset: rows.length,
    });
    rows.push(...page.traces);
    if (page.traces.length < PAGE || rows.length >= EXPORT_MAX) return rows;
  }
}

function download(text: string, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

export function SavedQueries(props: Props) {
  const query = props.state.q ?? "";
  const [saved, setSaved] = useState(() => loadList(SAVED));
  const [note, setNote] = useState("");
  const change = (list: string[]) => {
    save(SAVED, list);
    setSaved(list);
  };
  const exportHits = () => {
    setNote("exporting…");
    allHits(props.path, query).then(
      (rows) => {
        download(toCsv(rows), "traces.csv");
        setNote(
          rows.length >= EXPORT_MAX
            ? `the first ${EXPORT_MAX.toLocaleString("en-US")}; all: cairn store search --format csv`
            : "",
        );
      },
      (error: unknown) => setNote(error instanceof Error ? error.message : String(error)),
    );
  };
  return (
    <span class="saved">
      {query !== "" && !saved.includes(query) && (
        <button class="link" onClick={() => change([query, ...saved])}>
          Save query
        </button>
      )}
      {saved.map((text) => (
        <span key={text} class={text === query ? "saved-query chosen" : "saved-query"}>
          <button class="link" onClick={() => go({ q: text, top: "", row: "" })}>
            {text}
          </button>
          <button
            class="link remove"
            aria-label={`remove the saved query ${text}`}
            onClick={() => change(saved.filter((other) => other !== text))}
          >
            ×
          </button>
        </span>
      ))}
      <button class="link" onClick={exportHits}>
        Export CSV
      </button>
      <span class="status" aria-live="polite">
        {note}
      </span>
    </span>
  );
}
