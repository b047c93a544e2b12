// For whom threads wait: the sentence of `cairn waits`, what the critical path consists of, and the
// waits by place and cause.

import type { WaitCause, WaitRow, Waits } from "../../generated/answers";
import { formatNs, formatPercent } from "../shared/format";
import { Name } from "../shared/names/name";
import { useAnswer } from "../shared/use_answer";
import { explained } from "./critical_path";
import type { FlowEnd } from "./flows";
import type { Selection } from "./track_draw";

const ROWS = 8;
const CAUSES = 8;

const inferredOf = ({ inferred, time }: WaitCause): string =>
  inferred === 0
    ? ""
    : inferred < time
      ? `${formatNs(inferred)} of it inferred`
      : "inferred: its wake-up was not recorded";

export const wordOf = ({ kind, isInferred }: WaitRow): string =>
  isInferred ? `${kind} (inferred)` : kind;

function Causes(props: { waits: Waits }) {
  const { waits } = props;
  const took = waits.end - waits.begin;
  const rest = waits.causes.slice(CAUSES);
  return (
    <table class="swatches">
      <thead>
        <tr>
          <th scope="col">critical path</th>
          <th scope="col" colSpan={2}>
            time
          </th>
        </tr>
      </thead>
      <tbody>
        {waits.causes.slice(0, CAUSES).map((cause, i) => (
          <tr key={i} title={inferredOf(cause)}>
            <th scope="row">
              <Name name={cause.inferred > 0 ? `${cause.name} (inferred)` : cause.name} />
            </th>
            <td>{formatNs(cause.time)}</td>
            <td class="percent">{formatPercent(cause.time, took)}</td>
          </tr>
        ))}
        {rest.length > 0 && (
          <tr>
            <th scope="row">{rest.length.toLocaleString("en-US")} more</th>
            <td>{formatNs(rest.reduce((sum, { time }) => sum + time, 0))}</td>
            <td />
          </tr>
        )}
      </tbody>
    </table>
  );
}

function Rows(props: { waits: Waits; onEnd: (end: FlowEnd) => void }) {
  const { waits, onEnd } = props;
  return (
    <>
      <h3>Waits</h3>
      <p class="status">
        {formatNs(waits.time)} in all
        {waits.count > ROWS && `; the longest ${ROWS} of ${waits.count.toLocaleString("en-US")}`}
      </p>
      <ul class="flow-list">
        {waits.rows.map((row, i) => (
          <li key={i}>
            <button
              title={`the longest of ${row.count.toLocaleString("en-US")}: ${formatNs(row.longest)}`}
              onClick={() => onEnd({ profile: row.profile, time: row.longestAt, call: null })}
            >
              {formatNs(row.time)} {row.thread} in {row.in}
            </button>{" "}
            <small>
              {wordOf(row)}
              {row.lock && `, for ${row.lock}`}
              {row.wokenBy && `, woken by ${row.wokenBy}`}
            </small>
          </li>
        ))}
      </ul>
    </>
  );
}

interface Props {
  path: string;
  selection: Selection | null;
  onEnd: (end: FlowEnd) => void; // go there
}

export function WaitsPanel(props: Props) {
  const { value, error } = useAnswer<Waits>(`${props.path}/waits`, {
    ...explained(props.selection),
    limit: ROWS,
  });
  if (!value) return <p class="status">{error ?? "computing…"}</p>;
  return (
    <>
      <h3>Critical path</h3>
      <p class="status">
        <i class="path-key" />
        {value.sentence}
      </p>
      {!value.hasWakeups && (
        <p class="status">
          wake-ups were not recorded: for whom threads wait is unknown; cairn sample --off-cpu
          records them as root
        </p>
      )}
      <Causes waits={value} />
      <Rows waits={value} onEnd={props.onEnd} />
    </>
  );
}
