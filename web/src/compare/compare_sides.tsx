// The two sides: the runs of each as chips, and which threads, times or traces of them are compared.

import { useLayoutEffect, useState } from "preact/hooks";
import { go, type State } from "../shared/state";
import { RunFacts } from "../shared/subject";
import type { Source } from "../../generated/answers";
import { parseTimes, printTimes, sidesOf, swapped, withSides, type Sides } from "./compare_model";
import type { CompareProps } from "./compare_page";

export function CompareSides(props: CompareProps) {
  const { sources, state } = props;
  const sides = sidesOf(state, sources);
  return (
    <div class="toolbar compare-sides">
      <Side {...props} name="a" sides={sides} />
      <button
        title="exchange A and B"
        aria-label="exchange A and B"
        onClick={() => go(swapped(state, sources))}
      >
        ⇄
      </button>
      <Side {...props} name="b" sides={sides} />
    </div>
  );
}

const kindOf = (source: Source | undefined) => (source?.kind === "store" ? "store" : "data");

function Side(props: CompareProps & { name: "a" | "b"; sides: Sides }) {
  const { sources, state, name, sides } = props;
  const runs = sides[name];
  const kind = kindOf(sources[Number(runs[0] ?? 0)]);
  const title = name.toUpperCase();
  const set = (next: string[]) => go(withSides({ ...sides, [name]: next }));
  const candidates = sources.filter(
    (source) => !runs.includes(String(source.id)) && kindOf(source) === kind,
  );
  return (
    <span class="compare-side" role="group" aria-label={`side ${title}`}>
      <span class={`side-mark ${name}`}>{title}</span>
      {runs.map((id) => (
        <span key={id} class="chip run">
          <select
            aria-label={`run of ${title}`}
            value={id}
            title={sources[Number(id)]?.path}
            onChange={(event) =>
              set(runs.map((one) => (one === id ? event.currentTarget.value : one)))
            }
          >
            {sources
              .filter((source) => kindOf(source) === kind)
              .map((source) => (
                <option key={source.id} value={String(source.id)}>
                  {source.name}
                </option>
              ))}
          </select>
          {runs.length > 1 && (
            <button
              class="link remove"
              aria-label={`remove the run ${sources[Number(id)]?.name} of ${title}`}
              onClick={() => set(runs.filter((one) => one !== id))}
            >
              ×
            </button>
          )}
        </span>
      ))}
      {candidates.length > 0 && kind === "data" && (
        <select
          class="add-run"
          aria-label={`add a run to ${title}`}
          value=""
          onChange={(event) => set([...runs, event.currentTarget.value])}
        >
          <option value="">+ run</option>
          {candidates.map((source) => (
            <option key={source.id} value={String(source.id)}>
              {source.name}
            </option>
          ))}
        </select>
      )}
      <Selection state={state} name={name} isStore={kind === "store"} />
      {kind === "data" &&
        runs.map((id, i) => <RunFacts key={id} path={`sources/${id}`} isFirst={i === 0} />)}
    </span>
  );
}

// Threads and time of a side, or the query of its traces.
function Selection(props: { state: State; name: "a" | "b"; isStore: boolean }) {
  const { state, name, isStore } = props;
  const title = name.toUpperCase();
  const text = isStore
    ? name === "a"
      ? state.caq
      : state.cbq
    : name === "a"
      ? state.cat
      : state.cbt;
  const times = name === "a" ? state.car : state.cbr;
  const choose = (value: string): State =>
    isStore
      ? name === "a"
        ? { caq: value }
        : { cbq: value }
      : name === "a"
        ? { cat: value }
        : { cbt: value };
  return (
    <>
      <Field
        label={isStore ? `query of ${title}` : `threads of ${title}`}
        placeholder={isStore ? "all traces" : "all threads"}
        value={text ?? ""}
        isWide={isStore}
        onChange={(value) => go({ ...choose(value), zoom: "", open: "" })}
      />
      {!isStore && (
        <Field
          label={`time of ${title}`}
          placeholder="whole time"
          hint="time from the start: 1.5 ms - 20 ms; empty: all of it"
          value={printTimes(parseTimes(times))}
          onChange={(value) => {
            const range = parseTimes(value);
            const next = range ? `${range.begin}-${range.end}` : "";
            go({ ...(name === "a" ? { car: next } : { cbr: next }), zoom: "", open: "" });
          }}
        />
      )}
    </>
  );
}

function Field(props: {
  label: string;
  placeholder: string;
  hint?: string;
  value: string;
  isWide?: boolean;
  onChange: (value: string) => void;
}) {
  const [text, setText] = useState(props.value);
  useLayoutEffect(() => setText(props.value), [props.value]);
  return (
    <input
      class={props.isWide ? "query" : "short"}
      aria-label={props.label}
      placeholder={props.placeholder}
      title={props.hint}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
      onChange={(event) => props.onChange(event.currentTarget.value.trim())}
    />
  );
}
