// The calls of a recording, one after another, with their arguments and results.

import { useState } from "preact/hooks";
import { get } from "./api";
import { formatNs, parseNs } from "./format";
import type { Calls, Found, Task } from "./types";
import { useAnswer } from "./use_answer";

interface Props {
  path: string;
  tasks: Task[];
  task: number;
  time: number;
  onChange: (change: { task?: number; time?: number }) => void;
}

export function CallsView(props: Props) {
  const { value, error } = useAnswer<Calls>(`${props.path}/calls`, {
    task: props.task,
    time: props.time,
    limit: 500,
  });
  const calls = value?.calls ?? [];
  const last = calls[calls.length - 1];
  return (
    <div class="calls">
      <div class="toolbar">
        <label>
          task{" "}
          <select value={props.task} onChange={(event) => props.onChange({ task: Number(event.currentTarget.value) })}>
            {props.tasks.map((task) => (
              <option key={task.index} value={task.index}>
                {task.tid} {task.name}
              </option>
            ))}
          </select>
        </label>
        <label>
          from{" "}
          <input
            key={props.time}
            defaultValue={formatNs(props.time)}
            aria-label="time of the first call shown"
            onChange={(event) => {
              const time = parseNs(event.currentTarget.value);
              if (!Number.isNaN(time)) props.onChange({ time });
            }}
          />
        </label>
        <FindCall {...props} />
        <button onClick={() => props.onChange({ time: 0 })}>start</button>
        {last && <button onClick={() => props.onChange({ time: last.time })}>next</button>}
        {error && <span class="status">{error}</span>}
      </div>
      <div class="scroll" tabIndex={0}>
        <table class="list">
          <caption class="hidden">calls in the order of time</caption>
          <thead>
            <tr>
              <th scope="col">time</th>
              <th scope="col">took</th>
              <th scope="col">call</th>
            </tr>
          </thead>
          <tbody>
            {calls.map((call, i) => {
              const end = call.kind === "enter" ? calls.slice(i + 1).find((other) => other.kind === "exit" && other.depth === call.depth) : undefined;
              const isLeaf = end !== undefined && calls[i + 1] === end;
              if (call.kind === "exit" && isEndOfLeaf(calls, i)) return null;
              return (
                <tr key={i} class={call.kind}>
                  <td>{formatNs(call.time)}</td>
                  <td>{end ? formatNs(end.time - call.time) : ""}</td>
                  <td style={{ paddingLeft: `${call.depth * 16 + 8}px` }}>
                    {call.kind === "exit" ? "} " : ""}
                    <span class="kind-function">{call.name ?? call.kind}</span>
                    {call.values}
                    {isLeaf ? end.values : call.kind === "enter" ? " {" : ""}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </div>
  );
}

const isEndOfLeaf = (calls: Calls["calls"], i: number) =>
  calls[i - 1]?.kind === "enter" && calls[i - 1]?.depth === calls[i]?.depth;

function FindCall(props: Props) {
  const [name, setName] = useState("");
  const [longer, setLonger] = useState("");
  const [note, setNote] = useState("");
  const find = async (event: Event) => {
    event.preventDefault();
    const ns = longer === "" ? 0 : parseNs(longer);
    if (Number.isNaN(ns)) return setNote(`'${longer}' is no duration`);
    setNote("searching…");
    try {
      const found = await get<Found>(`${props.path}/find`, {
        task: props.task,
        function: name,
        longer: ns,
        after: props.time + 1,
      });
      setNote(found.isFound ? `took ${formatNs(found.duration ?? 0)}` : "none after this");
      if (found.isFound && found.time !== undefined) props.onChange({ time: found.time });
    } catch (error) {
      setNote(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <form class="find" onSubmit={(event) => void find(event)}>
      <input placeholder="function" aria-label="function to find" value={name} onInput={(event) => setName(event.currentTarget.value)} />
      <input class="short" placeholder="longer than" aria-label="at least this long" value={longer} onInput={(event) => setLonger(event.currentTarget.value)} />
      <button type="submit" disabled={name === ""}>
        find next
      </button>
      <span class="status" aria-live="polite">
        {note}
      </span>
    </form>
  );
}
