// Metrics computed from others: "IPC = instructions / cycles". A formula with a mistake is not added:
// the mistake is shown below it.

import { useState } from "preact/hooks";
import { ApiError, get } from "../shared/api";

import { go, splitList, type State } from "../shared/state";
import type { Rows } from "../../generated/answers";
import { mistakeIn, type Mistake } from "./derived_model";

export function Derived(props: { path: string; state: State }) {
  const list = splitList(props.state.derive);
  const [text, setText] = useState("");
  const [mistake, setMistake] = useState<Mistake | null>(null);
  const set = (next: string[]) => go({ derive: next.join("\n") });
  const add = async (formula: string) => {
    try {
      await get<Rows>(`${props.path}/rows`, { view: "flat", derive: formula, limit: 1 });
    } catch (error) {
      const isRight = error instanceof ApiError && error.kind === "not-ready";
      if (!isRight) return setMistake(mistakeIn(formula, (error as Error).message));
    }
    setText("");
    set([...list, formula]);
  };
  return (
    <>
      <strong>Derived metrics</strong>
      {list.map((formula) => (
        <span key={formula} class="column-choice">
          <code>{formula}</code>
          <span class="space" />
          <button
            aria-label={`remove ${formula}`}
            onClick={() => set(list.filter((other) => other !== formula))}
          >
            ×
          </button>
        </span>
      ))}
      <form
        class="column-choice"
        onSubmit={(event) => {
          event.preventDefault();
          void add(text.trim());
        }}
      >
        <input
          class="formula"
          aria-label="derived metric: NAME=FORMULA over names of metrics"
          aria-invalid={mistake !== null}
          aria-describedby="formula-mistake"
          placeholder="per call [ns]='time (sec)'/calls*1e9"
          title="NAME [unit]=FORMULA; names of metrics that are not one word in single quotes"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setMistake(null);
          }}
        />
        <button>Add</button>
      </form>
      {mistake && (
        <pre id="formula-mistake" class="mistake" role="alert">
          {mistake.at >= 0 ? `${mistake.formula}\n${" ".repeat(mistake.at)}^ ` : ""}
          {mistake.text}
        </pre>
      )}
    </>
  );
}
