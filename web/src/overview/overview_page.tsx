// The first page of a database or recording: where its time goes, and whether something is wrong; each item is a
// link to the view that shows it.

import { Fragment, type ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { lensParameters } from "../shared/filters";
import { FlameView } from "../flame/flame_view";
import { useFlame } from "../flame/use_flame";
import { Icon } from "../shared/look/icons";
import { Name } from "../shared/names/name";
import { useIsWide, useMedia } from "../shared/narrow";
import type { ViewProps } from "../shared/page";
import { go, linkTo, type State } from "../shared/state";
import { usePixels } from "../shared/look/ui_scale";
import { useAnswer } from "../shared/use_answer";
import { useListener } from "../shared/use_listener";
import type { Overview, States } from "../../generated/answers";
import { Card, Link } from "./card";
import { FilesUsed, PageFaults } from "./files_used";
import { Functions, SlowestCalls, Waiting } from "./function_tables";
import { HotPath } from "./hot_path";
import { factsOf, notesOf, type Fact, type Note } from "./overview_model";
import { Processes, useProcesses } from "./processes";
import { Threads } from "./thread_strips";

const ROWS_MIN = 8;
const ROWS_MAX = 60;
const ROWS_STEP = 20; // a little more height asks for nothing
const SHARE = 0.45; // of the window, that a list may fill

// Rows of a list, by the height of the window.
function useRows(): number {
  const px = usePixels("--row");
  const [height, setHeight] = useState(innerHeight);
  useListener("resize", () => setHeight(innerHeight));
  return Math.min(ROWS_MAX, Math.max(ROWS_MIN, Math.floor((SHARE * height) / px)));
}

type CardName =
  "functions" | "notes" | "processes" | "threads" | "path" | "waiting" | "files" | "slowest";

// Cards of each column, by the number of columns: what matters is at the top of each, and a column ends where its
// cards end.
const COLUMNS: Record<number, CardName[][]> = {
  1: [["notes", "functions", "processes", "threads", "path", "waiting", "files", "slowest"]],
  2: [
    ["functions", "threads", "waiting"],
    ["notes", "processes", "files", "path", "slowest"],
  ],
  3: [
    ["functions", "waiting", "files"],
    ["notes", "threads"],
    ["processes", "path", "slowest"],
  ],
};

function useColumnCount(): number {
  const isTwo = useMedia("(min-width: 1201px)");
  const isThree = useIsWide();
  return isThree ? 3 : isTwo ? 2 : 1;
}

export function OverviewPage(props: ViewProps) {
  const { info, state } = props;
  const rows = useRows();
  const count = useColumnCount();
  const { value, error } = useAnswer<Overview>(`${props.path}/overview`, {
    ...lensParameters(state),
    metric: state.m,
    functions: Math.ceil(rows / ROWS_STEP) * ROWS_STEP,
    threads: Math.ceil(rows / ROWS_STEP) * ROWS_STEP,
  });
  const states = useAnswer<States>(
    info.hasTimelines && info.states.length > 0 ? `${props.path}/states` : null,
    { list: 1 },
    ({ isPending }) => isPending,
  ).value;
  const processes = useProcesses(props.path, value);
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  const cards: Record<CardName, ComponentChildren> = {
    functions: <Functions overview={value} rows={rows} />,
    notes: <Notes notes={notesOf(info, value, states)} />,
    processes: <Processes processes={processes} overview={value} rows={ROWS_MIN} />,
    threads: <Threads path={props.path} info={info} overview={value} states={states} rows={rows} />,
    path: <HotPath overview={value} />,
    waiting: <Waiting overview={value} />,
    files: (
      <>
        <FilesUsed path={props.path} info={info} rows={ROWS_MIN} />
        <PageFaults path={props.path} info={info} rows={ROWS_MIN} />
      </>
    ),
    slowest: info.tasks && <SlowestCalls path={props.path} />,
  };
  return (
    <div class="scroll overview">
      <Facts facts={factsOf(info, value, states, processes)} />
      <div class="overview-columns">
        {COLUMNS[count]?.map((names) => (
          <div key={names.join()}>
            {names.map((name) => (
              <Fragment key={name}>{cards[name]}</Fragment>
            ))}
          </div>
        ))}
      </div>
      {count === 3 && <Flames {...props} hint={value.base} />}
    </div>
  );
}

// As the numbers of the page: of the whole time, all threads, without waiting.
const flameState = ({ s, m, mine, fh, fc, ff, fx, fp }: State): State =>
  Object.fromEntries(Object.entries({ s, m, mine, fh, fc, ff, fx, fp }).filter(([, one]) => one));

// Where windows are wide, in what the columns leave of the height.
function Flames(props: ViewProps & { hint: string | undefined }) {
  const { value } = useFlame({ ...props, view: "flame", state: flameState(props.state) });
  if (!value || value.nodes.length === 0) return null;
  return (
    <Card
      title="Flame graph"
      {...(props.hint ? { hint: `boxes are as wide as their ${props.hint}` } : {})}
    >
      <div class="overview-flames">
        <FlameView
          flame={value}
          search=""
          isInverted={false}
          color="function"
          zoom=""
          title="overview"
          onZoom={(_, path) => go({ v: "flame", zoom: path.join(".") })}
        />
      </div>
    </Card>
  );
}

function Facts(props: { facts: Fact[] }) {
  return (
    <dl class="facts card">
      {props.facts.map((fact) => (
        <div key={fact.label} class={fact.isBad ? "fact bad" : "fact"}>
          <dd>
            {fact.to ? (
              <a href={linkTo(fact.to)} aria-label={`${fact.value} ${fact.label}`}>
                {fact.value}
              </a>
            ) : (
              fact.value
            )}
          </dd>
          <dt>{fact.label.replace(/(\d) (?=%|[nµm]?s\b)/g, "$1\u00a0")}</dt>
        </div>
      ))}
    </dl>
  );
}

function Notes(props: { notes: Note[] }) {
  return (
    <Card title="Worth a look">
      <ol class="notes">
        {props.notes.map((note, i) => (
          <li key={i} class={note.isBad ? "bad" : ""}>
            {note.isBad ? <Icon name="warning" /> : <span class="bullet">{i + 1}</span>}
            <span>
              {note.subject && (
                <strong>
                  <Name name={note.subject} />
                </strong>
              )}
              {note.text} {note.link && <Link to={note.link.to}>{note.link.title}</Link>}
            </span>
          </li>
        ))}
      </ol>
      {props.notes.length === 0 && (
        <p class="status">
          <Icon name="check" /> nothing stands out
        </p>
      )}
    </Card>
  );
}
