// The command palette (Ctrl-K): every view, source, function and thread by name.

import { useRef, useState } from "preact/hooks";
import { shorten } from "./names/names";
import { currentState, linkTo, type State } from "./state";
import { useTakeFocus } from "./take_focus";
import type { Hits, Source, Thread } from "../../generated/answers";
import { useAnswer } from "./use_answer";
import { useListener } from "./use_listener";

export interface Command {
  group: string; // "view", "function", ...
  title: string;
  to: State;
}

const FUNCTIONS_MAX = 12;
const THREADS_MAX = 8;
const COMMANDS_MAX = 30;
const RECENT_MAX = 5;

const quote = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

// Every word occurs in the title.
export function matchesWords(title: string, text: string): boolean {
  const lower = title.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}

// Commands that match, exact beginnings first.
export function chooseCommands(commands: Command[], text: string): Command[] {
  const begins = (command: Command) =>
    command.title.toLowerCase().startsWith(text.toLowerCase()) ? 0 : 1;
  return commands
    .filter((command) => matchesWords(`${command.group} ${command.title}`, text))
    .sort((a, b) => begins(a) - begins(b))
    .slice(0, COMMANDS_MAX);
}

const isSame = (a: Command, b: Command) => a.group === b.group && a.title === b.title;

// Commands with those that were run before, the last one first.
export function recentFirst(recent: Command[], commands: Command[]): Command[] {
  return [...recent, ...commands.filter((one) => !recent.some((other) => isSame(one, other)))];
}

// What was run on this page, by source: functions are contexts of one source.
const recent = new Map<string, Command[]>();
const recentOf = (): Command[] => recent.get(currentState().s ?? "0") ?? [];

function remember(command: Command): void {
  recent.set(currentState().s ?? "0", recentFirst([command], recentOf()).slice(0, RECENT_MAX));
}

interface Props {
  path: string | null; // of a database or recording that is ready
  views: readonly (readonly [string, string])[];
  sources: Source[];
  onClose: () => void;
}

function useCommands(props: Props, text: string): Command[] {
  const isAsking = props.path !== null && text.length > 1;
  const hits = useAnswer<Hits>(isAsking ? `${props.path}/search` : null, {
    view: "bottom-up",
    q: quote(text),
    limit: FUNCTIONS_MAX,
  });
  const threads = useAnswer<Thread[]>(isAsking ? `${props.path}/threads` : null, { count: 2000 });
  // Until the next answer is there, the last one is that of a shorter text.
  const functions = (isAsking ? (hits.value?.hits ?? []) : [])
    .filter(({ row }) => row.label.toLowerCase().includes(text.toLowerCase()))
    .map(({ row }) => ({
      group: "function",
      title: row.label,
      to: { v: "sandwich", at: row.context },
    }));
  const named = (threads.value ?? [])
    .filter((thread) => isAsking && matchesWords(`thread ${thread.label}`, text))
    .slice(0, THREADS_MAX)
    .map((thread) => ({
      group: "thread",
      title: thread.label,
      to: { v: "top-down", t: String(thread.profile) },
    }));
  // The query of a store applies to all its views, a search to one.
  const shared: State = { key: "", ...(props.path === null ? { q: currentState().q ?? "" } : {}) };
  const fixed = [
    ...props.views.map(([v, title]) => ({ group: "view", title, to: { ...shared, v } })),
    { group: "view", title: "Compare", to: { v: "compare" } },
    ...props.sources.map((source) => ({
      group: "source",
      title: source.name,
      to: { ...cleared(), s: String(source.id) },
    })),
  ];
  const before = recentOf();
  const known = chooseCommands(recentFirst(before, [...fixed, ...named]), text);
  return [...known, ...functions.filter((one) => !known.some((other) => isSame(one, other)))];
}

// Nothing else of the state applies to another source.
const cleared = (): State =>
  Object.fromEntries(Object.keys(currentState()).map((name) => [name, ""]));

export function Palette(props: Props) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const commands = useCommands(props, text);
  const chosen = Math.min(at, commands.length - 1);
  useTakeFocus(input);
  const run = (command: Command | undefined) => {
    if (!command) return;
    remember(command);
    props.onClose();
    location.hash = linkTo(command.to);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt(Math.min(commands.length - 1, chosen + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, chosen - 1));
    else if (event.key === "Enter") run(commands[chosen]);
    else if (event.key === "Escape" || (event.key === "k" && (event.ctrlKey || event.metaKey)))
      props.onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="overlay palette-overlay" onClick={props.onClose}>
      <div
        class="sheet palette"
        role="dialog"
        aria-modal="true"
        aria-label="go to"
        onClick={(event) => event.stopPropagation()}
        onKeyDown={onKeyDown}
      >
        <input
          ref={input}
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={commands.length > 0 ? `palette-${chosen}` : undefined}
          aria-label="view, function, thread or source"
          placeholder="go to a view, function, thread or source"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
        />
        <ul id="palette-list" role="listbox" aria-label="matches">
          {commands.map((command, i) => (
            <li
              key={`${command.group} ${command.title} ${i}`}
              id={`palette-${i}`}
              role="option"
              aria-selected={i === chosen}
              title={command.title}
              onClick={() => run(command)}
            >
              <small>{command.group}</small> {shorten(command.title, 80)}
            </li>
          ))}
        </ul>
        {commands.length === 0 && <p class="status">no match</p>}
      </div>
    </div>
  );
}

// Ctrl-K opens and closes it, from anywhere.
export function usePalette(): [boolean, (isOpen: boolean) => void] {
  const [isOpen, setIsOpen] = useState(false);
  useListener("keydown", (event) => {
    if (event.key !== "k" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    setIsOpen((before) => !before);
  });
  return [isOpen, setIsOpen];
}
