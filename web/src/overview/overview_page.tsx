// The first page of a database or recording: where its time goes, and whether something is wrong; each item is a
// link to the view that shows it.

import { useState } from "preact/hooks";
import { lensParameters } from "../shared/filters";
import { Icon } from "../shared/look/icons";
import { Name } from "../shared/names/name";
import type { ViewProps } from "../shared/page";
import { linkTo } from "../shared/state";
import { usePixels } from "../shared/look/ui_scale";
import { useAnswer } from "../shared/use_answer";
import { useListener } from "../shared/use_listener";
import type { Overview, States } from "../../generated/answers";
import { Card, Link } from "./card";
import { Functions, SlowestCalls, Waiting } from "./function_tables";
import { HotPath } from "./hot_path";
import { factsOf, notesOf, type Fact, type Note } from "./overview_model";
import { Threads } from "./thread_strips";

const ROWS_MIN = 8;
const ROWS_MAX = 20;
const SHARE = 0.45; // of the window, that a list may fill

// Rows of a list, by the height of the window.
function useRows(): number {
  const px = usePixels("--row");
  const [height, setHeight] = useState(innerHeight);
  useListener("resize", () => setHeight(innerHeight));
  return Math.min(ROWS_MAX, Math.max(ROWS_MIN, Math.floor((SHARE * height) / px)));
}

export function OverviewPage(props: ViewProps) {
  const { info, state } = props;
  const rows = useRows();
  const { value, error } = useAnswer<Overview>(`${props.path}/overview`, {
    ...lensParameters(state),
    metric: state.m,
  });
  const states = useAnswer<States>(
    info.hasTimelines && info.states.length > 0 ? `${props.path}/states` : null,
    { list: 1 },
    ({ isPending }) => isPending,
  ).value;
  if (!value) return <p class="status">{error ?? "loading…"}</p>;
  return (
    <div class="scroll overview">
      <Facts facts={factsOf(info, value, states)} />
      <div class="overview-grid">
        <Functions overview={value} rows={rows} />
        <Notes notes={notesOf(info, value, states)} />
        <Threads path={props.path} info={info} overview={value} states={states} rows={rows} />
        <HotPath overview={value} />
        <Waiting overview={value} />
        {info.tasks && <SlowestCalls path={props.path} />}
      </div>
    </div>
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
          <dt>{fact.label}</dt>
        </div>
      ))}
    </dl>
  );
}

function Notes(props: { notes: Note[] }) {
  return (
    <Card title="Worth a look" area="notes">
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
