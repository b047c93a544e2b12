// The first page of a database or recording: what it contains, where its time goes, and what is
// worth a look; each item is a link to the view that shows it.

import type { ComponentChildren, Ref } from "preact";
import { baseName, formatPercent, formatValue, isSeconds, metricTitle } from "../shared/format";
import { shorten } from "../shared/names";
import { useWidth } from "../shared/narrow";
import type { ViewProps } from "../shared/page";
import { linkTo, type State } from "../shared/state";
import type {
  Column,
  FunctionRow,
  Info,
  Overview,
  Row,
  SlowestCalls as SlowestCallList,
  States,
} from "../../generated/answers";
import { columnUnit, percentileUnit } from "../shared/units";
import { useAnswer } from "../shared/use_answer";
import {
  columnIndex,
  factsOf,
  foldSteps,
  listedSteps,
  notesOf,
  percentileIndex,
  shortLabels,
  THREAD_STATES,
  threadTimes,
  wholeOf,
  type Note,
  type Step,
} from "./overview_model";

const THREADS_LISTED = 8;
const LEAST_SHARE = 0.0005; // smaller ones are 0.0 %
const LEAST_BAR = 0.01; // of the wall time, that of the busiest thread
const NAME_MAX = 48;
const NAME_MIN = 18;
const LETTER_PX = 7.2; // of a name, about
const COLUMN_PX = 88; // of a number, and of the share
const PADDING_PX = 40; // of the card and of cells
const OPTIONAL_FROM_PX = 700; // wider windows have optional columns, as in app.css

function Heads(props: { shown: { title: string; isOptional?: boolean }[] }) {
  return (
    <>
      {props.shown.map(({ title, isOptional }) => (
        <th key={title} scope="col" class={isOptional ? "optional" : ""}>
          {title}
        </th>
      ))}
    </>
  );
}

export function OverviewPage(props: ViewProps) {
  const { info, state } = props;
  const { value, error } = useAnswer<Overview>(`${props.path}/overview`, { metric: state.m });
  const states = useAnswer<States>(
    info.hasTimelines && info.states.length > 0 ? `${props.path}/states` : null,
    { list: 1 },
    ({ isPending }) => isPending,
  ).value;
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  return (
    <div class="scroll overview">
      <dl class="facts">
        {factsOf(info, value, states).map((fact) => (
          <div key={fact.label} class={`card${fact.isBad ? " bad" : ""}`}>
            <dd>
              {fact.to ? (
                <a href={linkTo(fact.to)} aria-label={`${fact.value} ${fact.label}`}>
                  {fact.value}
                </a>
              ) : (
                fact.value
              )}
            </dd>
            <dt>{fact.label}</dt>
          </div>
        ))}
      </dl>
      <div class="overview-grid">
        <div>
          <Functions overview={value} />
          <Threads info={info} overview={value} states={states} />
          <Waiting overview={value} />
        </div>
        <div>
          <HotPath overview={value} />
          <Notes notes={notesOf(info, value, states)} />
          {info.tasks && <SlowestCalls path={props.path} />}
        </div>
      </div>
    </div>
  );
}

function Card(props: {
  title: string;
  hint?: string;
  element?: Ref<HTMLElement>;
  children: ComponentChildren;
}) {
  return (
    <section class="card" aria-label={props.title} ref={props.element ?? null}>
      <h2>
        {props.title} {props.hint && <small>{props.hint}</small>}
      </h2>
      {props.children}
    </section>
  );
}

function Link(props: { to: State; title?: string; children: ComponentChildren }) {
  return (
    <a href={linkTo(props.to)} title={props.title}>
      {props.children}
    </a>
  );
}

const contextOf = (path: string[]): State => ({ v: "top-down", open: path.join(".") });

// File and line, else the module; "" if the name has it already: "memcpy [libc.so.6]".
function locationOf(row: Row): string {
  const file = row.file ? `${baseName(row.file)}${row.line ? `:${row.line}` : ""}` : "";
  const location = file || (row.module ? baseName(row.module) : "");
  return row.label.includes(location) ? "" : location;
}

function Name(props: { other: FunctionRow; max?: number }) {
  const { path, row } = props.other;
  return (
    <>
      <Link to={contextOf(path)} title={row.label}>
        {shorten(row.label, props.max ?? NAME_MAX)}
      </Link>
      <small class="location">{locationOf(row)}</small>
    </>
  );
}

interface Shown {
  index: number;
  title: string;
  isOptional: boolean; // left out of narrow windows
  unit: ReturnType<typeof columnUnit>;
}

// The columns of a list, each with the unit of its largest value.
function shownColumns(
  columns: Column[],
  others: FunctionRow[],
  wanted: [index: number, title: string, isOptional?: boolean][],
): Shown[] {
  return wanted
    .filter(([index]) => index >= 0)
    .map(([index, title, isOptional = false]) => {
      const column = columns[index];
      // Durations of calls differ by more than one unit shows: microseconds, to the nanosecond.
      const isDuration = column?.isPercentile ?? false;
      const most = others.reduce((max, { row }) => Math.max(max, row.values[index] ?? 0), 0);
      const unit = isDuration
        ? percentileUnit(column?.resolution, "auto")
        : columnUnit(column?.metric ?? "", most, "auto");
      return { index, title: unit.unit ? `${title} (${unit.unit})` : title, isOptional, unit };
    });
}

function Functions(props: { overview: Overview }) {
  const { columns, functions, metric } = props.overview;
  const { element, width } = useWidth<HTMLElement>(columns !== undefined);
  if (!columns || !functions)
    return (
      <Card title="Where the time goes">
        <p class="status">computing…</p>
      </Card>
    );
  const self = columnIndex(columns, metric, "exclusive");
  const p50 = percentileIndex(columns, "p50");
  const whole = columns[self]?.total ?? null;
  const most = functions[0]?.row.values[self] ?? 0;
  const shown = shownColumns(columns, functions, [
    [self, "self"],
    [columnIndex(columns, metric, "inclusive"), "total", true],
    [columnIndex(columns, "calls", "exclusive"), "calls"],
    [p50, "p50", true],
    [percentileIndex(columns, "p99"), "p99"],
  ]);
  // What is cut should be the middle of a name, not its end.
  const numbers = shown.filter(({ isOptional }) => !isOptional || innerWidth > OPTIONAL_FROM_PX);
  const room = width - COLUMN_PX * (numbers.length + 1) - PADDING_PX;
  const max = Math.max(NAME_MIN, Math.min(NAME_MAX, Math.floor(room / LETTER_PX)));
  return (
    <Card
      element={element}
      title={isSeconds(metric) ? "Where the time goes" : "Hottest functions"}
      hint={[
        `functions by self ${columns[self]?.base ?? metricTitle(metric)}`,
        ...(columns[p50]?.base ? [`p50 and p99: ${columns[p50].base}`] : []),
      ].join("; ")}
    >
      <table class="overview-table">
        <thead>
          <tr>
            <th scope="col">function</th>
            <th scope="col" class="share" aria-label="share" />
            <Heads shown={shown} />
          </tr>
        </thead>
        <tbody>
          {functions.map((other) => (
            <tr key={other.row.id}>
              <th scope="row">
                <Name other={other} max={max} />
              </th>
              <td class="share">
                <span>
                  <i
                    style={{
                      width: `${most > 0 ? (100 * (other.row.values[self] ?? 0)) / most : 0}%`,
                    }}
                  />
                  <span>{formatPercent(other.row.values[self] ?? null, whole)}</span>
                </span>
              </td>
              {shown.map(({ index, title, isOptional, unit }) => (
                <td key={title} class={isOptional ? "optional" : ""}>
                  {unit.print(other.row.values[index])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        <Link to={{ v: "bottom-up", sort: columns[self]?.name ?? "" }}>All functions</Link>
      </p>
    </Card>
  );
}

function HotStep(props: { step: Step; whole: number; metric: string }) {
  const { whole, metric } = props;
  const { row, path, times } = props.step;
  return (
    <li>
      <i style={{ width: `${whole ? (100 * (row.values[0] ?? 0)) / whole : 0}%` }} />
      <Link to={contextOf(path)} title={row.label}>
        {shorten(row.label, NAME_MAX)}
      </Link>
      {times > 1 && <em title={`${times} calls, each made by the one before`}>× {times}</em>}
      <span>
        {formatValue(row.values[0], metric)}{" "}
        <small>{formatPercent(row.values[0] ?? null, whole)}</small>
      </span>
    </li>
  );
}

function HotPath(props: { overview: Overview }) {
  const { base, hotPath, metric } = props.overview;
  const whole = wholeOf(props.overview);
  const ids = hotPath.map((row) => row.id);
  const steps = foldSteps(hotPath);
  const last = hotPath[hotPath.length - 1];
  return (
    <Card title="Hot path" hint={`down while one callee has half${base ? `; total ${base}` : ""}`}>
      <ol class="hot-path">
        {listedSteps(steps).map((step) =>
          typeof step === "number" ? (
            <li key="between">
              <Link to={contextOf(ids)}>{`… ${step} calls between`}</Link>
            </li>
          ) : (
            <HotStep key={step.row.id} step={step} whole={whole} metric={metric} />
          ),
        )}
      </ol>
      {steps.length === 0 && <p class="status">no costs</p>}
      {last && (
        <p class="faint">
          {formatPercent(last.values[1] ?? 0, last.values[0] ?? null)} of the last one is self cost.{" "}
          <Link to={{ v: "flame", zoom: ids.join(".") }}>Flame graph</Link>
        </p>
      )}
    </Card>
  );
}

const DRAWN = 5; // states; what is left of the bar has no data
const cssName = (kind: string) => kind.replace(" ", "-");

function Threads(props: { info: Info; overview: Overview; states: States | null }) {
  const { info, overview } = props;
  const { threads, labels, metric } = overview;
  const states = isSeconds(metric) ? props.states : null;
  const byProfile = threadTimes(overview, states);
  const most = threads.reduce((max, thread) => Math.max(max, thread[1]), 0);
  // Of the wall time, if that can be compared: corrected costs alone are no part of it.
  const duration = states?.wall ?? (info.costTimes === "corrected" ? 0 : info.duration);
  const wall = isSeconds(metric) && duration > 0 ? duration / 1e9 : null;
  // Bars of threads that hardly ran would be empty: they are compared with the busiest one.
  const whole = wall && most > LEAST_BAR * wall ? Math.max(wall, most) : most;
  const hasWaits = (threads[0]?.length ?? 0) > 2;
  const shown = THREAD_STATES.slice(0, DRAWN).filter((_, i) =>
    [...byProfile.values()].some((values) => (values[i] ?? 0) > 0),
  );
  if (threads.length === 0) return null;
  return (
    <Card
      title="Threads"
      hint={`${threads.length > THREADS_LISTED ? `the busiest ${THREADS_LISTED} of ${threads.length.toLocaleString("en-US")}` : "each"}${wall && whole >= wall ? `, of the${info.costTimes ? " recorded" : ""} wall time` : overview.base ? `, ${overview.base}` : ""}`}
    >
      <table class="thread-bars">
        <tbody>
          {shortLabels(labels.slice(0, THREADS_LISTED)).map(([profile, label, full]) => {
            const values = byProfile.get(profile) ?? [];
            const ran = (values[0] ?? 0) + (values[1] ?? 0); // in calls and outside
            const words = values
              .map(
                (value, i) =>
                  `${hasWaits ? `${THREAD_STATES[i]} ` : ""}${formatValue(value, metric)}`,
              )
              .join(", ");
            return (
              <tr key={profile}>
                <th scope="row">
                  <Link
                    to={{ v: "top-down", t: String(profile) }}
                    title={`${full}: this thread alone`}
                  >
                    {label}
                  </Link>
                </th>
                <td title={words}>
                  <span class="states">
                    {values.slice(0, DRAWN).map((value, i) => (
                      <i
                        key={i}
                        class={`state-${cssName(THREAD_STATES[i] ?? "")}`}
                        style={{ width: `${whole > 0 ? (100 * value) / whole : 0}%` }}
                      />
                    ))}
                  </span>
                </td>
                <td class="number">
                  {wall && ran >= LEAST_SHARE * wall
                    ? formatPercent(ran, wall)
                    : formatValue(ran, metric)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p class="faint">
        {hasWaits &&
          shown.map((kind) => (
            <span key={kind} class="legend-item">
              <i class={`state-${cssName(kind)}`} /> {kind}
            </span>
          ))}{" "}
        {info.hasTimelines && <Link to={{ v: "timeline" }}>Timeline</Link>}
      </p>
    </Card>
  );
}

function Notes(props: { notes: Note[] }) {
  return (
    <Card title="Worth a look">
      <ol class="notes">
        {props.notes.map((note, i) => (
          <li key={i} class={note.isBad ? "bad" : ""}>
            <span>
              {note.subject && (
                <strong title={note.subject}>{shorten(note.subject, NAME_MAX)}</strong>
              )}
              {note.text} {note.link && <Link to={note.link.to}>{note.link.title}</Link>}
            </span>
          </li>
        ))}
      </ol>
      {props.notes.length === 0 && <p class="status">nothing stands out</p>}
    </Card>
  );
}

// Microseconds, to the nanosecond: as in the list of calls.
const MICROSECONDS = columnUnit("sec", null, "auto");

function SlowestCalls(props: { path: string }) {
  const { value, error } = useAnswer<SlowestCallList>(`${props.path}/slowest`, {});
  if (value?.calls.length === 0) return null;
  return (
    <Card
      title="Slowest calls"
      hint={`beyond the mean of their function, one each${value ? `; ${value.base}` : ""}`}
    >
      {!value && <p class="status">{error ?? "computing…"}</p>}
      {value && (
        <table class="overview-table">
          <thead>
            <tr>
              <th scope="col">call</th>
              <Heads shown={["duration (µs)", "mean (µs)", "calls"].map((title) => ({ title }))} />
            </tr>
          </thead>
          <tbody>
            {value.calls.map((call) => (
              <tr key={call.function}>
                <th scope="row">
                  <Link
                    to={{ v: "calls", task: String(call.task), time: String(call.time) }}
                    title={`${call.function}: show this call`}
                  >
                    {shorten(call.function, NAME_MAX)}
                  </Link>
                </th>
                <td>{MICROSECONDS.print(call.duration / 1e9)}</td>
                <td>{MICROSECONDS.print(call.mean / 1e9)}</td>
                <td>{call.count.toLocaleString("en-US")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}

function Waiting(props: { overview: Overview }) {
  const { columns, waiting } = props.overview;
  if (!columns || !waiting || waiting.length === 0) return null;
  const shown = shownColumns(columns, waiting, [
    [columnIndex(columns, "blocked time (sec)", "exclusive"), "blocked"],
    [columnIndex(columns, "pre-empted time (sec)", "exclusive"), "pre-empted"],
  ]).filter(({ index }) => waiting.some(({ row }) => row.values[index]));
  return (
    <Card
      title="Waiting"
      hint={`calls by time blocked or pre-empted, ${columns[columnIndex(columns, "blocked time (sec)", "exclusive")]?.base ?? ""}`}
    >
      <table class="overview-table">
        <thead>
          <tr>
            <th scope="col">function</th>
            <Heads shown={shown} />
          </tr>
        </thead>
        <tbody>
          {waiting.map((other) => (
            <tr key={`${other.row.id} ${other.caller ?? ""}`}>
              <th scope="row">
                <Name other={other} />
                {other.caller && <small> of {shorten(other.caller, NAME_MAX)}</small>}
              </th>
              {shown.map(({ index, title, unit }) => (
                <td key={title}>{unit.print(other.row.values[index])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        <Link to={{ v: "bottom-up", w: "1" }}>All functions with their waits</Link>
      </p>
    </Card>
  );
}
