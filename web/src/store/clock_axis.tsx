// An axis of dates and times, UTC: marks at round times, the date where it is new.

import { printClock } from "./query_text";

const MS = 1_000_000n;
const SECOND = 1000n * MS;
const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;
const DAY = 24n * HOUR;

const STEPS: bigint[] = [
  ...[1n, 2n, 5n, 10n, 20n, 50n, 100n, 200n, 500n].map((n) => n * MS),
  ...[1n, 2n, 5n, 10n, 15n, 30n].map((n) => n * SECOND),
  ...[1n, 2n, 5n, 10n, 15n, 30n].map((n) => n * MINUTE),
  ...[1n, 2n, 3n, 6n, 12n].map((n) => n * HOUR),
  ...[1n, 2n, 7n, 14n, 30n, 90n, 365n].map((n) => n * DAY),
];

export interface ClockMark {
  share: number; // of the range, from 0 to 1
  text: string;
  isDate: boolean;
}

// About `count` round times of a range.
export function clockMarks(first: bigint, last: bigint, count: number): ClockMark[] {
  const span = last > first ? last - first : 1n;
  const rough = span / BigInt(Math.max(1, count));
  const step = STEPS.find((one) => one >= rough) ?? (rough / DAY + 1n) * DAY;
  const marks: ClockMark[] = [];
  let day = "";
  for (let at = ((first + step - 1n) / step) * step; at <= last; at += step) {
    const [date = "", time = ""] = printClock(at).split(" ");
    const isDate = step >= DAY || (date !== day && time === "00:00:00");
    day = date;
    const clock =
      step < SECOND
        ? time.padEnd(9, ".").padEnd(12, "0")
        : step < MINUTE
          ? time.slice(0, 8)
          : time.slice(0, 5);
    marks.push({
      share: Number(at - first) / Number(span),
      text: isDate ? date : clock,
      isDate,
    });
  }
  return marks;
}

const TEXT = 0.4; // the width of a text, as a share of the room between marks: later ones would be cut

export function ClockAxis(props: { first: bigint; last: bigint; marks: number }) {
  const marks = clockMarks(props.first, props.last, props.marks);
  return (
    <div class="clock-axis" aria-hidden="true">
      {marks.map(({ share, text, isDate }) =>
        share < 1 - TEXT / Math.max(1, props.marks) ? (
          <span key={share} class={isDate ? "date" : ""} style={{ left: `${share * 100}%` }}>
            {text}
          </span>
        ) : null,
      )}
    </div>
  );
}
