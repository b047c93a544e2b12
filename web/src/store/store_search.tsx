// The query of a store: the box with its suggestions, the time range, and what is wrong with the query.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { countOf } from "../shared/format";
import { loadList, save } from "../shared/saved";
import { flag, go, isOn, type State } from "../shared/state";
import { useAnswer } from "../shared/use_answer";
import type { Groups, Names, TraceList } from "../../generated/answers";
import { useLive } from "./live";
import { HINT, languageOf, PLACEHOLDER } from "./query_language";
import { errorColumn, groupsOf, quote, remember, replaceAt, type Offer } from "./query_text";
import { SavedQueries } from "./saved_queries";
import { TimePicker } from "./time_picker";

interface Props {
  path: string;
  state: State;
}

const HISTORY = "cairn-queries";
const VALUES_MAX = 12;
const NOTHING: Offer = { kind: "name", field: "", begin: 0, typed: "", words: [] };

// Show the traces of another query, from the first one on.
export const search = (query: string) => go({ q: query, top: "", row: "", zoom: "" });

// The suggestions at the cursor, with values from the store. -1: none.
function useOffer(props: Props, text: string, cursor: number): Offer {
  const names = useAnswer<Names>(`${props.path}/names`);
  const language = languageOf(text);
  const offer =
    cursor < 0
      ? NOTHING
      : text === ""
        ? { ...NOTHING, words: loadList(HISTORY).slice(0, VALUES_MAX) }
        : language.complete(text, cursor, names.value?.names ?? []);
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
      .map((group) => language.quote(group.value))
      .filter((word) => word.toLowerCase().includes(offer.typed.toLowerCase())),
  };
}

export function SearchBox(props: Props) {
  const { state } = props;
  const shown = state.q ?? "";
  const [text, setText] = useState(shown);
  const [cursor, setCursor] = useState(-1);
  const [chosen, setChosen] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const caret = useRef(-1); // where to put the cursor when the text is set
  const turn = useLive(state);
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
    search(query);
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
  const found = list.error ? null : list.value;
  return (
    <div class="searchbox" role="search">
      <div class="query-line">
        <div class="query-box">
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
            aria-label={HINT}
            placeholder={PLACEHOLDER}
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
        </div>
        <TimePicker {...props} />
        <button
          class="live"
          aria-pressed={isOn(state, "live")}
          title="ask for new traces every two seconds"
          onClick={() => go({ live: flag(!isOn(state, "live")) }, true)}
        >
          <i /> Live
        </button>
      </div>
      <Mistake error={list.error} query={shown} />
      {found?.unknown.map((unknown) => (
        <p key={unknown.name} class="mistake" role="alert">
          {unknown.text}
          {unknown.suggestion !== null && (
            <button
              onClick={() =>
                submit(replaceAt(shown, unknown.at, unknown.name, unknown.suggestion ?? ""))
              }
            >
              Use {unknown.suggestion}
            </button>
          )}
        </p>
      ))}
      <div class="search-line">
        <p class="status" aria-live="polite">
          {found ? countOf(found.count, "trace") : ""}
          {found?.sampled &&
            ` · ${found.estimated ? `about ${countOf(Math.round(found.estimated), "trace")} before; ` : ""}${found.sampled}`}
          {found?.damage && <span class="failed"> · traces may be missing: {found.damage}</span>}
        </p>
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
