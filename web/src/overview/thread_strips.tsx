// What the busiest threads did over the run: a strip of states for each, and the share of the time that it ran.

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { isDark } from "../shared/look/colors";
import { formatNs, formatPercent, formatValue, isSeconds } from "../shared/format";
import { useWidth } from "../shared/narrow";
import { Cut } from "../shared/names/name";
import { usePixels } from "../shared/look/ui_scale";
import { useAnswer } from "../shared/use_answer";
import { parseNested, type NestedFrame, type NestedRow } from "../timeline/nested";
import { printNumbers } from "../timeline/thread_numbers";
import { drawActivity, prepare, readTheme } from "../timeline/track_draw";
import type { Info, NestedTimeline, Overview, States } from "../../generated/answers";
import { Card, Link } from "./card";
import { shortLabels, THREAD_STATES, threadTimes, wallOf } from "./overview_model";

const COLUMN_PX = 2;
const LEAST_SHARE = 0.0005; // smaller ones would be 0.0 %

const shareOf = (ran: number, wall: number): string =>
  ran > 0 && ran < LEAST_SHARE * wall ? "< 0.1 %" : formatPercent(ran, wall);

function Strip(props: { frame: NestedFrame; row: NestedRow; width: number; title: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const height = usePixels("--gap-16");
  const { frame, row, width } = props;
  useLayoutEffect(() => {
    const context = canvas.current && prepare(canvas.current, width, height);
    if (!context) return;
    const area = { range: { begin: frame.begin, end: frame.end }, left: 0, width, top: 0, height };
    drawActivity(context, frame, row, area, readTheme());
  }, [frame, row, width, height, isDark()]);
  return (
    <canvas
      ref={canvas}
      class="strip"
      role="img"
      aria-label={props.title}
      title={props.title}
      style={{ width: `${width}px`, height: `${height}px` }}
    />
  );
}

const cssName = (kind: string) => kind.replace(" ", "-");

// States as parts of one bar, where there are no timelines.
function Bar(props: { values: number[]; whole: number; title: string }) {
  return (
    <span class="states" title={props.title}>
      {props.values.slice(0, THREAD_STATES.length - 1).map((value, i) => (
        <i
          key={i}
          class={`state-${cssName(THREAD_STATES[i] ?? "")}`}
          style={{ width: `${props.whole > 0 ? (100 * value) / props.whole : 0}%` }}
        />
      ))}
    </span>
  );
}

const LEGEND = ["running", "pre-empted", "blocked"] as const;

export function Threads(props: {
  path: string;
  info: Info;
  overview: Overview;
  states: States | null;
  rows: number;
}) {
  const { info, overview } = props;
  const { threads, metric } = overview;
  const states = isSeconds(metric) ? props.states : null;
  const times = threadTimes(overview, states);
  const wall = wallOf(info, overview, states);
  const most = threads.reduce((max, thread) => Math.max(max, thread[1]), 0);
  const labels = shortLabels(overview.labels.slice(0, props.rows));
  const { element, width } = useWidth<HTMLTableCellElement>(labels.length > 0);
  const columns = Math.max(50, Math.round(width / COLUMN_PX));
  const { value } = useAnswer<NestedTimeline>(
    info.hasTimelines && width > 0 ? `${props.path}/timeline` : null,
    {
      nested: 1,
      depth: 1,
      columns,
      count: labels.length,
      thread: printNumbers(labels.map(([profile]) => profile)),
    },
    ({ isPending }) => isPending,
  );
  const frame = useMemo(() => value && parseNested(value), [value]);
  if (threads.length === 0) return null;
  // A thread that runs for a part of each column is never in that state.
  const present = new Set(
    [...(frame?.rows.values() ?? [])].flatMap((row) => [
      ...row.states.map(({ name }) => name),
      ...(row.busy.some(({ share }) => share > 0) ? ["running"] : []),
    ]),
  );
  const count = threads.length.toLocaleString("en-US");
  return (
    <Card
      title="Threads"
      hint={`${threads.length > labels.length ? `the busiest ${labels.length} of ${count}` : "each"}${info.hasTimelines ? ` over the run, ${formatNs(info.duration)}` : ""}; share ${wall ? `of the${info.costTimes ? " recorded" : ""} wall time` : `${overview.base ?? ""}`}`}
    >
      <table class="thread-bars">
        <tbody>
          {labels.map(([profile, label, full], i) => {
            const values = times.get(profile) ?? [];
            const ran = (values[0] ?? 0) + (values[1] ?? 0); // in calls and outside
            const words = values
              .map((one, at) =>
                one > 0 && (values.length > 1 || at === 0)
                  ? `${THREAD_STATES[at]} ${formatValue(one, metric)}`
                  : "",
              )
              .filter((word) => word !== "")
              .join(", ");
            const row = frame?.rows.get(profile);
            return (
              <tr key={profile}>
                <th scope="row">
                  <Link
                    to={{ v: "top-down", t: String(profile) }}
                    title={`${full}: this thread alone`}
                  >
                    <Cut text={label} />
                  </Link>
                </th>
                <td ref={i === 0 ? element : null}>
                  {!info.hasTimelines && (
                    <Bar values={values} whole={wall ?? most} title={`${full}: ${words}`} />
                  )}
                  {frame && row && (
                    <Strip frame={frame} row={row} width={width} title={`${full}: ${words}`} />
                  )}
                </td>
                <td class="number">{wall ? shareOf(ran, wall) : formatValue(ran, metric)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p class="faint">
        {LEGEND.filter((kind) => present.has(kind)).map((kind) => (
          <span key={kind} class="legend-item">
            <i class={`state-${cssName(kind)}`} /> {kind}
          </span>
        ))}{" "}
        {info.hasTimelines && <Link to={{ v: "timeline" }}>Timeline</Link>}
      </p>
    </Card>
  );
}
