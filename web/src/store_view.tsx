// A store of traces: search box, histogram over time, facets, and the traces that match.

import { useEffect, useRef, useState } from "preact/hooks";
import { FlameView } from "./flame_view";
import { formatNs } from "./format";
import { complete, errorColumn, quote, toggleCondition, withTimes } from "./query_text";
import { go, type State } from "./state";
import type { Groups, Histogram, Names, StoreInfo, TraceList, TraceRow } from "./store_types";
import { TracePage } from "./trace_view";
import type { Flame } from "./types";
import { useAnswer } from "./use_answer";

const PAGE = 100;

interface Props {
  path: string;
  state: State;
}

export function StorePage(props: Props) {
  if (props.state["key"]) return <TracePage {...props} />;
  return (
    <main>
      <SearchBox {...props} />
      {props.state["v"] === "flame" ? <HitsFlame {...props} /> : <SearchPage {...props} />}
    </main>
  );
}

function SearchPage(props: Props) {
  return (
    <>
      <TimeHistogram {...props} />
      <div class="columns">
        <Facets {...props} />
        <Results {...props} />
      </div>
    </>
  );
}

function SearchBox(props: Props) {
  const { state, path } = props;
  const shown = state["q"] ?? "";
  const [text, setText] = useState(shown);
  const [cursor, setCursor] = useState(-1);
  const [chosen, setChosen] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const names = useAnswer<Names>(`${path}/names`);
  const list = useAnswer<TraceList>(`${path}/traces`, { q: shown, limit: 1 });
  useEffect(() => setText(shown), [shown]);
  const offer = cursor < 0 ? { begin: 0, words: [] } : complete(text, cursor, names.value?.names ?? []);
  const column = list.error ? errorColumn(list.error) : -1;

  const accept = (word: string) => {
    setText(`${text.slice(0, offer.begin)}${word} ${text.slice(cursor)}`);
    setCursor(-1);
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const word = offer.words[chosen];
    if (event.key === "Enter" && word && cursor >= 0 && chosen > 0) accept(word);
    else if (event.key === "Tab" && word) accept(word);
    else if (event.key === "ArrowDown" && word) setChosen((chosen + 1) % offer.words.length);
    else if (event.key === "ArrowUp" && word) setChosen((chosen + offer.words.length - 1) % offer.words.length);
    else if (event.key === "Escape") setCursor(-1);
    else if (event.key === "Enter") {
      setCursor(-1);
      go({ q: text.trim(), offset: "" });
    } else return;
    event.preventDefault();
  };
  return (
    <div class="searchbox" role="search">
      <input
        id="search"
        ref={input}
        type="search"
        role="combobox"
        aria-expanded={offer.words.length > 0}
        aria-controls="completions"
        aria-label="query: such as errors last 2h, duration > 100ms, http.status = 500, method = Dao.query"
        placeholder="errors   duration > 100ms   http.status = 500   method = Dao.query   last 2h"
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setCursor(event.currentTarget.selectionStart ?? -1);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setTimeout(() => setCursor(-1), 150)}
      />
      {offer.words.length > 0 && (
        <ul id="completions" role="listbox">
          {offer.words.map((word, i) => (
            <li key={word} role="option" aria-selected={i === chosen} onMouseDown={() => accept(word)}>
              {word}
            </li>
          ))}
        </ul>
      )}
      {list.error && (
        <pre class="mistake" role="alert">
          {column >= 0 ? `${shown}\n${" ".repeat(column)}^ ` : ""}
          {list.error}
        </pre>
      )}
      <p class="status" aria-live="polite">
        {list.value && !list.error ? `${list.value.count.toLocaleString("en-US")} traces` : ""}{" "}
        {state["v"] === "flame" ? (
          <button class="link" onClick={() => go({ v: "" })}>
            list
          </button>
        ) : (
          <button class="link" onClick={() => go({ v: "flame" })}>
            flame graph of all hits
          </button>
        )}
      </p>
    </div>
  );
}

const PLOT = { width: 1200, height: 70 };

function TimeHistogram(props: Props) {
  const { value } = useAnswer<Histogram>(`${props.path}/histogram`, { q: props.state["q"], steps: 120 });
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  if (!value || value.steps.every(([count]) => count === 0)) return <div class="histogram" />;
  const most = Math.max(...value.steps.map(([count]) => count));
  const firstMs = Number(BigInt(value.first) / 1000000n);
  const stepMs = value.step / 1e6;
  const width = PLOT.width / value.steps.length;
  const stepAt = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    return Math.min(value.steps.length - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * value.steps.length)));
  };
  const clock = (step: number) => new Date(firstMs + step * stepMs).toISOString().replace("T", " ").slice(0, 19);
  const select = () => {
    if (!drag) return;
    const [from, to] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to) + 1];
    setDrag(null);
    go({ q: withTimes(props.state["q"] ?? "", firstMs + from * stepMs, firstMs + to * stepMs), offset: "" });
  };
  return (
    <figure class="histogram">
      <svg
        viewBox={`0 0 ${PLOT.width} ${PLOT.height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`traces over time from ${clock(0)} to ${clock(value.steps.length)}, at most ${most} in a step; drag to select`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ from: stepAt(event), to: stepAt(event) });
        }}
        onPointerMove={(event) => drag && setDrag({ ...drag, to: stepAt(event) })}
        onPointerUp={select}
      >
        {value.steps.map(([count, errors], i) => (
          <g key={i}>
            <rect class="plot-bar" x={i * width} width={Math.max(width - 1, 0.5)} y={PLOT.height * (1 - count / most)} height={(PLOT.height * count) / most}>
              <title>{`${clock(i)}: ${count} traces, ${errors} with errors`}</title>
            </rect>
            <rect class="plot-error" x={i * width} width={Math.max(width - 1, 0.5)} y={PLOT.height * (1 - errors / most)} height={(PLOT.height * errors) / most} />
          </g>
        ))}
        {drag && <rect class="plot-drag" x={Math.min(drag.from, drag.to) * width} width={(Math.abs(drag.to - drag.from) + 1) * width} y={0} height={PLOT.height} />}
      </svg>
      <figcaption>
        <span>{clock(0)}</span>
        <span>{clock(value.steps.length)}</span>
      </figcaption>
    </figure>
  );
}

function Facets(props: Props) {
  const names = useAnswer<Names>(`${props.path}/names`);
  const by = props.state["by"] ?? "method";
  return (
    <aside class="facets" aria-label="what the traces have in common">
      <Facet {...props} by="type" />
      <Facet {...props} by="service" />
      <label>
        by{" "}
        <select value={by} onChange={(event) => go({ by: event.currentTarget.value })}>
          {["method", ...(names.value?.names ?? [])].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <Facet {...props} by={by} />
    </aside>
  );
}

function Facet(props: Props & { by: string }) {
  const query = props.state["q"] ?? "";
  const { value } = useAnswer<Groups>(`${props.path}/groups`, { q: query, by: props.by, limit: 12 });
  if (!value || value.groups.length === 0) return null;
  const field = props.by === "method" ? "root" : props.by;
  const most = value.groups[0]?.count ?? 1;
  return (
    <table class="facet">
      <caption>
        {props.by} {value.count > value.groups.length && <small>({value.count.toLocaleString("en-US")})</small>}
      </caption>
      <tbody>
        {value.groups.map((group) => (
          <tr key={group.value}>
            <td>
              <i class="bar" style={{ width: `${(group.count / most) * 100}%` }} />
              <button
                class="link"
                title={`p50 ${formatNs(group.p50)}, p99 ${formatNs(group.p99)}, ${group.errors} with errors`}
                onClick={() => go({ q: toggleCondition(query, `${field} = ${quote(group.value)}`), offset: "" })}
              >
                {group.value || "(empty)"}
              </button>
            </td>
            <td>{group.count.toLocaleString("en-US")}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const COLUMNS: [keyof TraceRow, string, boolean][] = [
  ["time", "time", true],
  ["duration", "duration", true],
  ["errors", "errors", true],
  ["records", "records", true],
  ["type", "type", false],
  ["service", "service", false],
  ["method", "method", false],
];

export function printTime(ns: string): string {
  return new Date(Number(BigInt(ns) / 1000000n)).toISOString().replace("T", " ").replace("Z", "");
}

function Results(props: Props) {
  const { state } = props;
  const sort = state["sort"] ?? "time";
  const offset = Number(state["offset"] ?? 0);
  const { value, error } = useAnswer<TraceList>(`${props.path}/traces`, {
    q: state["q"], sort, reverse: state["rev"], offset, limit: PAGE,
  });
  const sortBy = (name: string) => go({ sort: name, rev: name === sort && state["rev"] !== "1" ? "1" : "", offset: "" });
  return (
    <div class="scroll" tabIndex={0}>
      <table class="list results">
        <caption class="hidden">traces that match</caption>
        <thead>
          <tr>
            {COLUMNS.map(([name, title, isSortable]) => (
              <th key={name} scope="col" aria-sort={name !== sort ? "none" : state["rev"] === "1" ? "ascending" : "descending"}>
                {isSortable ? (
                  <button class="link" onClick={() => sortBy(name)}>
                    {title}
                    {name === sort ? (state["rev"] === "1" ? " ↑" : " ↓") : ""}
                  </button>
                ) : (
                  title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(value?.traces ?? []).map((row) => (
            <tr key={row.key} class={row.errors > 0 ? "failed" : ""} onClick={() => go({ key: row.key })}>
              <td>{printTime(row.time)}</td>
              <td>{formatNs(row.duration)}</td>
              <td>{row.errors || ""}</td>
              <td>{row.records.toLocaleString("en-US")}</td>
              <td>{row.type}</td>
              <td>{row.service}</td>
              <td>
                <button class="link" onClick={() => go({ key: row.key })}>
                  {row.method ?? "?"}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {value?.count === 0 && <p class="status">nothing matches</p>}
      {!value && <p class="status">{error ?? "loading…"}</p>}
      {value && value.count > PAGE && (
        <p class="toolbar">
          <button disabled={offset === 0} onClick={() => go({ offset: String(Math.max(0, offset - PAGE)) })}>
            earlier in the list
          </button>
          <span class="status">
            {offset + 1} – {Math.min(offset + PAGE, value.count)} of {value.count.toLocaleString("en-US")}
          </span>
          <button disabled={offset + PAGE >= value.count} onClick={() => go({ offset: String(offset + PAGE) })}>
            further
          </button>
        </p>
      )}
    </div>
  );
}

function HitsFlame(props: Props) {
  const { state } = props;
  const { value, error } = useAnswer<Flame>(`${props.path}/flame`, { q: state["q"] });
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  return (
    <div class="scroll">
      <p class="status">the 500 longest of the traces that match</p>
      <FlameView flame={value} search="" isInverted={false} byModule={false} zoom={state["zoom"] ?? ""} onZoom={(id) => go({ zoom: id })} />
    </div>
  );
}

export function useStoreInfo(path: string | null) {
  return useAnswer<StoreInfo>(path === null ? null : `${path}/info`);
}
