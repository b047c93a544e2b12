// The time range of a query: the last minutes, hours or days, or from one time to another.

import { useRef, useState } from "preact/hooks";
import type { State } from "../shared/state";
import { useListener } from "../shared/use_listener";
import { timesOf, withLast, withTimes, withoutTimes, type Times } from "./query_text";
import { search } from "./store_search";

const LAST: [duration: string, title: string][] = [
  ["5m", "last 5 minutes"],
  ["15m", "last 15 minutes"],
  ["1h", "last hour"],
  ["6h", "last 6 hours"],
  ["24h", "last 24 hours"],
  ["7d", "last 7 days"],
  ["30d", "last 30 days"],
];

// "2026-11-18 01:02:25.780" without the date if both are of one day, to milliseconds at most.
function shortTime(text: string, other: string | null): string {
  const [date = "", time = ""] = text.split(/[ T]/);
  const short = time.replace(/(\.\d{3})\d*$/, "$1").replace(/(:\d\d)\.000$/, "$1");
  return short !== "" && other?.startsWith(date) ? short : `${date} ${short}`.trim();
}

export function printTimes({ since, until, last }: Times): string {
  if (last !== null) return LAST.find(([value]) => value === last)?.[1] ?? `last ${last}`;
  if (since !== null && until !== null)
    return `${shortTime(since, null)} – ${shortTime(until, since)}`;
  if (since !== null) return `since ${shortTime(since, null)}`;
  return until !== null ? `until ${shortTime(until, null)}` : "all time";
}

export function TimePicker(props: { state: State }) {
  const query = props.state.q ?? "";
  const times = timesOf(query);
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (menu.current) menu.current.open = false;
  };
  useListener("pointerdown", (event) => {
    if (menu.current?.open && !menu.current.contains(event.target as Node)) close();
  });
  const choose = (next: string) => {
    close();
    search(next);
  };
  return (
    <details
      class="menu time-picker"
      ref={menu}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !menu.current?.open) return;
        close();
        menu.current.querySelector("summary")?.focus();
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      <summary title="time range, UTC">
        <span aria-hidden="true">◷</span> {printTimes(times)}
      </summary>
      <div role="group" aria-label="time range">
        <div class="time-choices">
          <button
            aria-pressed={printTimes(times) === "all time"}
            onClick={() => choose(withoutTimes(query))}
          >
            all time
          </button>
          {LAST.map(([duration, title]) => (
            <button
              key={duration}
              aria-pressed={times.last === duration}
              onClick={() => choose(withLast(query, duration))}
            >
              {title}
            </button>
          ))}
        </div>
        <Custom
          key={query}
          times={times}
          onChoose={(from, to) => choose(withTimes(query, from, to))}
        />
      </div>
    </details>
  );
}

// Nanoseconds of a time that fields of the browser have, in UTC; null: none.
function parseField(text: string): bigint | null {
  const ms = Date.parse(`${text}Z`);
  return Number.isNaN(ms) ? null : BigInt(ms) * 1_000_000n;
}

const fieldOf = (text: string | null): string => (text ?? "").replace(" ", "T").slice(0, 23);

function Custom(props: { times: Times; onChoose: (from: bigint, to: bigint) => void }) {
  const [from, setFrom] = useState(fieldOf(props.times.since));
  const [to, setTo] = useState(fieldOf(props.times.until));
  const [begin, end] = [parseField(from), parseField(to)];
  const isRange = begin !== null && end !== null && begin < end;
  return (
    <form
      class="time-custom"
      onSubmit={(event) => {
        event.preventDefault();
        if (isRange) props.onChoose(begin, end);
      }}
    >
      {(
        [
          ["from", from, setFrom],
          ["to", to, setTo],
        ] as const
      ).map(([name, value, set]) => (
        <label key={name}>
          {name} (UTC)
          <input
            type="datetime-local"
            step="any"
            value={value}
            onInput={(event) => set(event.currentTarget.value)}
          />
        </label>
      ))}
      <button type="submit" disabled={!isRange}>
        Apply
      </button>
    </form>
  );
}
