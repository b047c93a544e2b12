// SQL about what is open, with the tables of `cairn sql`: a statement, which is in the address, and its result as
// a table, as a plot, or on tracks over time.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { hasEngine } from "../shared/api";
import { CopyCommand, shellQuote } from "../shared/copy_command";
import { countOf, formatNs } from "../shared/format";
import { useIsNarrow, useIsPhone } from "../shared/narrow";
import { loadList, save } from "../shared/saved";
import { go, type State } from "../shared/state";
import { Tabs } from "../shared/tabs";
import { useAnswer } from "../shared/use_answer";
import { VirtualTable } from "../shared/table/virtual_table";
import type { Source, SqlResult } from "../../generated/answers";
import { EXAMPLES, plotOf, toCsv, tracksOf } from "./sql_model";
import { ResultPlot } from "./sql_plot";
import { completeSql, othersIn, tablesOf, type SqlTable } from "./sql_text";
import { ResultTracks } from "./sql_tracks";

interface Props {
  path: string;
  state: State;
  source: Source;
  sources: Source[];
}

const HISTORY = "cairn-statements";
const HISTORY_MAX = 30;
const ROWS = 10000;

export function SqlPage(props: Props) {
  const statement = props.state.sql ?? "";
  const others = othersIn(statement, props.source.id, props.sources.length);
  const isServed = !hasEngine();
  const tables = useAnswer<SqlResult>(isServed ? `${props.path}/tables` : null, {
    with: props.sources
      .map(({ id }) => id)
      .filter((id) => id !== props.source.id)
      .slice(0, 8)
      .map(String),
  });
  const result = useAnswer<SqlResult>(isServed && statement !== "" ? `${props.path}/sql` : null, {
    statement,
    limit: ROWS,
    with: others.map(String),
  });
  const known = useMemo(() => (tables.value ? tablesOf(tables.value) : []), [tables.value]);
  if (!isServed) return <NoServer {...props} />;
  return (
    <div class="sql-page">
      <TableList tables={known} sources={props.sources} error={tables.error} />
      <div class="sql-main">
        <Editor {...props} tables={known} isRunning={statement !== "" && result.isLoading} />
        {statement === "" ? (
          <Begin {...props} />
        ) : (
          <Result
            {...props}
            value={result.value}
            error={result.error}
            isLoading={result.isLoading}
          />
        )}
      </div>
    </div>
  );
}

const run = (statement: string) => {
  if (statement.trim() === "") return;
  const before = loadList(HISTORY).filter((one) => one !== statement);
  save(HISTORY, [statement, ...before].slice(0, HISTORY_MAX));
  go({ sql: statement });
};

// Insert at the cursor of the statement.
const INSERT = "cairn-sql-insert";

function Editor(props: Props & { tables: SqlTable[]; isRunning: boolean }) {
  const shown = props.state.sql ?? "";
  const [text, setText] = useState(shown);
  const [cursor, setCursor] = useState(-1);
  const [chosen, setChosen] = useState(-1);
  const area = useRef<HTMLTextAreaElement>(null);
  const caret = useRef(-1);
  // Before the next key, which would be elsewhere.
  useLayoutEffect(() => setText(shown), [shown]);
  useLayoutEffect(() => {
    if (caret.current < 0) return;
    area.current?.setSelectionRange(caret.current, caret.current);
    caret.current = -1;
  }, [text]);
  useEffect(() => {
    const insert = (event: Event) => {
      const word = (event as CustomEvent<string>).detail;
      const at = area.current?.selectionStart ?? text.length;
      const next = `${text.slice(0, at)}${word} ${text.slice(at)}`;
      caret.current = at + word.length + 1;
      setText(next);
      area.current?.focus();
    };
    addEventListener(INSERT, insert);
    return () => removeEventListener(INSERT, insert);
  }, [text]);
  const offer = cursor < 0 ? { begin: 0, words: [] } : completeSql(text, cursor, props.tables);
  const look = (at: number) => {
    setCursor(at);
    setChosen(-1);
  };
  const accept = (word: string) => {
    const next = `${text.slice(0, offer.begin)}${word}${word.endsWith("(") ? "" : " "}`;
    caret.current = next.length;
    setText(next + text.slice(cursor).replace(/^\w*\s?/, ""));
    look(-1);
    area.current?.focus();
  };
  const submit = () => {
    look(-1);
    run(text.trim());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const count = offer.words.length;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
    else if (event.key === "Tab" && count > 0 && !event.shiftKey)
      accept(offer.words[Math.max(chosen, 0)]?.text ?? "");
    else if (event.key === "Enter" && chosen >= 0) accept(offer.words[chosen]?.text ?? "");
    else if (event.key === "ArrowDown" && count > 0) setChosen((chosen + 1) % count);
    else if (event.key === "ArrowUp" && count > 0)
      setChosen((Math.max(chosen, 0) + count - 1) % count);
    else if (event.key === "Escape" && count > 0) look(-1);
    else {
      event.stopPropagation(); // letters are no keys of the page
      return;
    }
    event.stopPropagation();
    event.preventDefault();
  };
  const history = loadList(HISTORY);
  return (
    <div class="sql-editor">
      <div class="sql-box">
        <textarea
          id="search"
          ref={area}
          rows={Math.min(12, Math.max(4, text.split("\n").length))}
          aria-label="a statement of SQL: one SELECT"
          aria-autocomplete="list"
          aria-controls={offer.words.length > 0 ? "sql-completions" : undefined}
          aria-activedescendant={chosen >= 0 ? `sql-completion-${chosen}` : undefined}
          placeholder={EXAMPLES[props.source.kind]?.[0]?.[1]}
          spellcheck={false}
          autocomplete="off"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            look(event.currentTarget.selectionStart);
          }}
          onClick={() => look(-1)}
          onKeyDown={onKeyDown}
          onBlur={() => setTimeout(() => look(-1), 150)}
        />
        {offer.words.length > 0 && (
          <ul id="sql-completions" role="listbox" aria-label="suggestions">
            {offer.words.map(({ text: word, note }, i) => (
              <li
                key={word}
                id={`sql-completion-${i}`}
                role="option"
                aria-selected={i === chosen}
                onMouseDown={(event) => {
                  event.preventDefault();
                  accept(word);
                }}
              >
                {word} <small>{note}</small>
              </li>
            ))}
          </ul>
        )}
      </div>
      <div class="sql-buttons">
        <button class="primary" onClick={submit} title="Ctrl-Enter">
          Run
        </button>
        {history.length > 0 && (
          <select
            aria-label="recent statements"
            value=""
            onChange={(event) => run(event.currentTarget.value)}
          >
            <option value="">recent…</option>
            {history.map((one) => (
              <option key={one} value={one}>
                {one.replace(/\s+/g, " ").slice(0, 90)}
              </option>
            ))}
          </select>
        )}
        <select aria-label="examples" value="" onChange={(event) => run(event.currentTarget.value)}>
          <option value="">examples…</option>
          {(EXAMPLES[props.source.kind] ?? []).map(([title, statement]) => (
            <option key={title} value={statement}>
              {title}
            </option>
          ))}
        </select>
        <span class="faint">reads only; at most 30 s and {ROWS.toLocaleString("en-US")} rows</span>
      </div>
    </div>
  );
}

function Begin(props: Props) {
  return (
    <section class="sql-begin">
      <h2>Begin with one of these</h2>
      <ul>
        {(EXAMPLES[props.source.kind] ?? []).map(([title, statement]) => (
          <li key={title}>
            <button class="link" onClick={() => run(statement)}>
              {title}
            </button>
            <pre>{statement}</pre>
          </li>
        ))}
      </ul>
    </section>
  );
}

// Those that most questions are about.
const OPENED = ["report", "calls", "spans", "contexts"];

function TableList(props: { tables: SqlTable[]; sources: Source[]; error: string | null }) {
  const others = props.sources.filter(({ id }) =>
    props.tables.some(({ name }) => name.startsWith(`s${id}.`)),
  );
  const isPhone = useIsPhone();
  const list = (
    <>
      {props.error && <p class="status error">{props.error}</p>}
      {props.tables
        .filter(({ name }) => !name.includes("."))
        .map((table) => (
          <OneTable key={table.name} table={table} />
        ))}
      {others.map(({ id, name }) => (
        <details key={id} class="sql-others">
          <summary title={`tables of ${name}: s${id}.calls`}>
            {name} <small>as s{id}</small>
          </summary>
          {props.tables
            .filter((table) => table.name.startsWith(`s${id}.`))
            .map((table) => (
              <OneTable key={table.name} table={table} />
            ))}
        </details>
      ))}
    </>
  );
  return (
    <aside class="sql-tables" aria-label="tables">
      {isPhone ? (
        <details>
          <summary>Tables</summary>
          {list}
        </details>
      ) : (
        <>
          <h2>Tables</h2>
          {list}
        </>
      )}
    </aside>
  );
}

function OneTable(props: { table: SqlTable }) {
  const { table } = props;
  const isNarrow = useIsNarrow();
  const insert = (word: string) => dispatchEvent(new CustomEvent(INSERT, { detail: word }));
  return (
    <details open={!isNarrow && OPENED.includes(table.name)}>
      <summary>{table.name}</summary>
      <ul>
        {table.columns.map((column) => (
          <li key={column.name}>
            <button class="link" onClick={() => insert(column.name)}>
              {column.name}
            </button>
            <small>
              {column.type.toLowerCase()}
              {column.use && ` · ${column.use === "key" ? "fast to select by" : column.use}`}
            </small>
          </li>
        ))}
      </ul>
    </details>
  );
}

const FORMS = [
  ["table", "Table"],
  ["plot", "Plot"],
  ["tracks", "Tracks"],
] as const;

function Result(
  props: Props & { value: SqlResult | null; error: string | null; isLoading: boolean },
) {
  const { value, error, state } = props;
  const plot = useMemo(() => value && plotOf(value), [value]);
  const tracks = useMemo(() => value && tracksOf(value), [value]);
  if (error && !props.isLoading)
    return (
      <pre class="mistake" role="alert">
        {error}
      </pre>
    );
  if (!value) return <p class="status">{error ?? "running…"}</p>;
  const forms = FORMS.filter(([name]) =>
    name === "plot" ? plot !== null : name === "tracks" ? tracks !== null : true,
  );
  const form = forms.find(([name]) => name === state.sf)?.[0] ?? "table";
  return (
    <>
      <div class="toolbar">
        <Tabs
          group="result"
          label="forms of the result"
          tabs={forms}
          chosen={form}
          onChoose={(name) => go({ sf: name === "table" ? "" : name })}
        />
        <span class="status" aria-live="polite">
          {props.isLoading
            ? (error ?? "running…")
            : `${value.isCut ? "the first " : ""}${countOf(value.count, "row")} in ${formatNs(value.elapsed)}`}
        </span>
        <span class="space" />
        <button onClick={() => download(toCsv(value), `${props.source.name}.csv`)}>Save CSV</button>
        <CopyCommand
          text={`cairn sql ${shellQuote(props.source.path)} ${shellQuote(state.sql ?? "")}`}
        />
      </div>
      {value.damage && <p class="status error">the result is incomplete: {value.damage}</p>}
      <div
        class="sql-result"
        id="result-panel"
        role="tabpanel"
        aria-labelledby={`result-tab-${form}`}
      >
        {value.rows.length === 0 ? (
          <p class="status">no rows</p>
        ) : form === "plot" && plot ? (
          <ResultPlot result={value} plot={plot} />
        ) : form === "tracks" && tracks ? (
          <ResultTracks result={value} {...tracks} />
        ) : (
          <ResultTable value={value} />
        )}
      </div>
    </>
  );
}

function download(text: string, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

const isNumber = (type: string) => type === "integer" || type === "real";

export function printCell(cell: string | number | null, type: string): string {
  if (cell === null) return "";
  if (typeof cell === "string") return cell;
  if (type === "integer" || Number.isInteger(cell)) return cell.toLocaleString("en-US");
  return Math.abs(cell) >= 1e-3 && Math.abs(cell) < 1e12
    ? cell.toLocaleString("en-US", { maximumSignificantDigits: 8 })
    : cell.toExponential(4);
}

const CELL_MAX = 400; // letters of a cell; all of it is in its tooltip

function ResultTable(props: { value: SqlResult }) {
  const { value } = props;
  const [sort, setSort] = useState({ by: "", isAscending: false });
  const [selected, setSelected] = useState(-1);
  const order = useMemo(() => {
    const index = value.columns.findIndex((_, i) => String(i) === sort.by);
    if (index < 0) return value.rows;
    const sign = sort.isAscending ? 1 : -1;
    const compare = (a: string | number | null, b: string | number | null) => {
      if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
      const [x, y] = [Number(a), Number(b)];
      return isNumber(value.columns[index]?.type ?? "")
        ? sign * (x - y)
        : sign * (String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0);
    };
    return [...value.rows].sort((a, b) => compare(a[index] ?? null, b[index] ?? null));
  }, [value, sort]);
  const widths = value.columns.map(({ name, type }, i) => {
    const longest = value.rows
      .slice(0, 200)
      .reduce(
        (most, row) => Math.max(most, printCell(row[i] ?? null, type).length),
        name.length + 2,
      );
    return isNumber(type)
      ? `${Math.min(26, longest + 1)}ch`
      : `minmax(${Math.min(longest, 16)}ch, ${Math.min(60, Math.max(4, longest))}fr)`;
  });
  return (
    <VirtualTable
      class="sql-rows"
      takesFocus
      label="result of the statement"
      columns={value.columns.map(({ name, type }, i) => ({
        name: String(i),
        title: name,
        isNumber: isNumber(type),
        isSortable: true,
      }))}
      widths={widths.join(" ")}
      count={order.length}
      row={(i) => ({
        cells: (order[i] ?? []).map((cell, k) => {
          const text = printCell(cell, value.columns[k]?.type ?? "");
          return cell === null ? (
            <span class="faint">null</span>
          ) : (
            <span title={text}>{text.slice(0, CELL_MAX)}</span>
          );
        }),
      })}
      selected={selected}
      onSelect={setSelected}
      sort={{
        ...sort,
        onChange: (by) => setSort({ by, isAscending: sort.by === by && !sort.isAscending }),
      }}
    />
  );
}

// A page without a server has no SQLite: it says how to ask.
function NoServer(props: Props) {
  const statement = props.state.sql ?? EXAMPLES[props.source.kind]?.[0]?.[1] ?? "SELECT 1";
  const command = `cairn sql ${shellQuote(props.source.path)} ${shellQuote(statement)}`;
  return (
    <section class="sql-begin">
      <h2>SQL needs cairn</h2>
      <p>
        This page has no server. On a machine with cairn and {props.source.name}, the same tables
        answer in the terminal, or in the viewer with <code>cairn view</code>:
      </p>
      <pre>{command}</pre>
      <p>
        <CopyCommand text={command} />
      </p>
    </section>
  );
}
