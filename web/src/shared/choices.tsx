// The choices in the header: search, metric, threads.

import { useLayoutEffect, useState } from "preact/hooks";
import { choiceTitle } from "./format";
import { defaultMetrics } from "./page";
import { go, type State } from "./state";
import { stepSearch } from "./table/tree_search";
import type { Info, Thread } from "../../generated/answers";
import { useAnswer } from "./use_answer";

export function Choices(props: { info: Info; state: State; path: string; view: string }) {
  const { info, state } = props;
  const { m: _, ...withoutMetric } = state;
  const metrics = info.metrics.filter((metric) => metric.isVisible);
  const names = metrics.map(({ name }) => name);
  return (
    <>
      {props.view !== "overview" && (
        <input
          id="search"
          type="search"
          placeholder="search (/)"
          aria-label="search names by regular expression; Enter goes to the next match"
          value={state.q ?? ""}
          onInput={(event) => go({ q: event.currentTarget.value }, true)}
          onKeyDown={(event) => {
            if (event.key === "Enter") stepSearch(event.shiftKey ? -1 : 1);
          }}
        />
      )}
      {props.view !== "timeline" && (
        <select
          id="metric"
          aria-label="metric"
          value={state.m ?? ""}
          onChange={(event) => go({ m: event.currentTarget.value, sort: "", rev: "" })}
        >
          {metrics.map((metric) => (
            <option
              key={metric.name}
              value={metric.name === defaultMetrics(info, withoutMetric)[0] ? "" : metric.name}
            >
              {choiceTitle(metric.name, names)}
            </option>
          ))}
        </select>
      )}
      {info.threadCount > 1 && props.view !== "overview" && (
        <ThreadChooser path={props.path} count={info.threadCount} chosen={state.t ?? ""} />
      )}
    </>
  );
}

// A selection as of `cairn tree --thread`; the field suggests threads.
function ThreadChooser(props: { path: string; count: number; chosen: string }) {
  const [isUsed, setIsUsed] = useState(false);
  const [text, setText] = useState(props.chosen);
  useLayoutEffect(() => setText(props.chosen), [props.chosen]);
  const placeholder = `all ${props.count.toLocaleString("en-US")} threads`;
  const threads = useAnswer<Thread[]>(isUsed ? `${props.path}/threads` : null, { count: 2000 });
  return (
    <>
      <input
        id="threads"
        list="thread-list"
        size={Math.max(10, placeholder.length)}
        placeholder={placeholder}
        aria-label="threads: kinds such as RANK 0-3, or numbers in the list of threads, from 1"
        title="threads to include: RANK 0-3 THREAD 0, or numbers in the list, from 1: 1-3,7; empty: all"
        value={text}
        onFocus={() => setIsUsed(true)}
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={(event) => go({ t: event.currentTarget.value.trim() })}
      />
      <datalist id="thread-list">
        {threads.value?.map((thread) => (
          <option key={thread.profile} value={thread.selector}>
            {thread.label}
          </option>
        ))}
      </datalist>
    </>
  );
}
