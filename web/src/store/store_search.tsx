// The search box of a store: the query, suggestions, and its mistakes.

import { loadList, save } from "../shared/saved";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { complete, errorColumn, groupsOf, quote, remember, type Offer } from "./query_text";
import { countOf } from "../shared/format";
import { useLive } from "./live";
import { SavedQueries } from "./saved_queries";
import { go, type State } from "../shared/state";
import type { Groups, Names, TraceList } from "../../generated/answers";
import { useAnswer } from "../shared/use_answer";

interface Props {
  path: string;
  state: State;
}

const HISTORY = "cairn-queries";
const VALUES_MAX = 12;
const NOTHING: Offer = { kind: "name", field: "", begin: 0, typed: "", words: [] };

// The suggestions at the cursor, with values from the store. -1: none.
function useOffer(props: Props, text: string, cursor: number): Offer {
  const names = useAnswer<Names>(`${props.path}/names`);
  const offer =
    cursor < 0
      ? NOTHING
      : text === ""
        ? { ...NOTHING, words: loadList(HISTORY).slice(0, VALUES_MAX) }
        : complete(text, cursor, names.value?.names ?? []);
  const by = offer.kind === "value" ? groupsOf(offer.field) : null;
  const field = offer.field === "method" ? "root" : offer.field;
  const values = useAnswer<Groups>(by === null ? null : `${props.path}/groups`, {
    by: by ?? "",
    q: by !== null && offer.typed !== "" ? `${field} contains ${quote(offer.typed)}` : "",
    limit: VALUES_MAX,
  });
  if (by === null || !values.value) return offer;
  return {
    ...offer,
    words: values.value.groups
      .map((group) => quote(group.value))
      .filter((word) => word.toLowerCase().includes(offer.typed.toLowerCase())),
  };
}

export function SearchBox(props: Props) {
  const shown = props.state.q ?? "";
  const [text, setText] = useState(shown);
  const [cursor, setCursor] = useState(-1);
  const [chosen, setChosen] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const caret = useRef(-1); // where to put the cursor when the text is set
  const turn = useLive(props.state);
  const list = useAnswer<TraceList>(
    `${props.path}/traces`,
    { q: shown, limit: 1 },
    undefined,
    turn,
  );
  // Before the next key: an effect would undo what was typed meanwhile.
  useLayoutEffect(() => setText(shown), [shown]);
  useLayoutEffect(() => {
    if (caret.current >= 0) input.current?.setSelectionRange(caret.current, caret.current);
    caret.current = -1;
  }, [text]);
  const offer = useOffer(props, text, cursor);

  const look = (at: number) => {
    setCursor(at);
    setChosen(-1);
  };
  const submit = (query: string) => {
    look(-1);
    save(HISTORY, remember(loadList(HISTORY), query));
    go({ q: query, top: "", row: "", zoom: "" });
  };
  const accept = (word: string) => {
    if (text === "") return setText(word);
    const rest = text.slice(cursor).replace(/^\S*/, "");
    const next = `${text.slice(0, offer.begin)}${word} `;
    setText(next + rest.trimStart());
    caret.current = next.length;
    look(next.length);
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const count = offer.words.length;
    const word = offer.words[chosen];
    if (event.key === "Enter") {
      if (word !== undefined) accept(word);
      else submit(text.trim());
    } else if (event.key === "Tab" && count > 0) accept(offer.words[Math.max(chosen, 0)] ?? "");
    else if (event.key === "ArrowDown" && count === 0)
      look(input.current?.selectionStart ?? text.length);
    else if (event.key === "ArrowDown") setChosen((chosen + 1) % count);
    else if (event.key === "ArrowUp" && count > 0)
      setChosen((Math.max(chosen, 0) + count - 1) % count);
    else if (event.key === "Escape") {
      // The browser would empty the box: it shows the query that is applied.
      look(-1);
      setText(shown);
      if (cursor < 0) input.current?.blur();
    } else return;
    event.stopPropagation();
    event.preventDefault();
  };
  return (
    <div class="searchbox" role="search">
      <input
        id="search"
        ref={input}
        type="search"
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={offer.words.length > 0}
        aria-controls="completions"
        aria-activedescendant={chosen >= 0 ? `completion-${chosen}` : undefined}
        aria-invalid={list.error !== null}
        aria-describedby="mistake"
        aria-label="query: such as errors last 2h, duration > 100ms, http.status = 500, method = Dao.query"
        placeholder="errors   duration > 100ms   http.status = 500   method = Dao.query   last 2h"
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          look(event.currentTarget.selectionStart ?? -1);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setTimeout(() => look(-1), 150)}
      />
      <Completions offer={offer} chosen={chosen} isHistory={text === ""} onAccept={accept} />
      <Mistake error={list.error} query={shown} />
      <div class="search-line">
        <SearchStatus list={list.error ? null : list.value} />
        <SavedQueries {...props} />
      </div>
    </div>
  );
}

function Completions(props: {
  offer: Offer;
  chosen: number;
  isHistory: boolean;
  onAccept: (word: string) => void;
}) {
  const { words, kind, field } = props.offer;
  if (words.length === 0) return null;
  const title = props.isHistory
    ? "recent queries"
    : kind === "value"
      ? `values of ${field}`
      : kind === "operator"
        ? "operators"
        : "names";
  return (
    <ul id="completions" role="listbox" aria-label={title}>
      <li class="faint" role="presentation">
        {title}
      </li>
      {words.map((word, i) => (
        <li
          key={word}
          id={`completion-${i}`}
          role="option"
          aria-selected={i === props.chosen}
          onMouseDown={(event) => {
            event.preventDefault();
            props.onAccept(word);
          }}
        >
          {word}
        </li>
      ))}
    </ul>
  );
}

function Mistake(props: { error: string | null; query: string }) {
  if (props.error === null) return null;
  const column = errorColumn(props.error, props.query);
  return (
    <pre id="mistake" class="mistake" role="alert">
      {column >= 0 ? `${props.query}\n${" ".repeat(column)}^ ` : ""}
      {props.error}
    </pre>
  );
}

function SearchStatus(props: { list: TraceList | null }) {
  return (
    <p class="status" aria-live="polite">
      {props.list ? countOf(props.list.count, "trace") : ""}
      {props.list?.damage && ` · traces may be missing: ${props.list.damage}`}
    </p>
  );
}
