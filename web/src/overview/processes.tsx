// The processes of a measurement of several ones, the busiest first.

import { formatPercent, metricTitle, plural } from "../shared/format";
import { columnUnit } from "../shared/units";
import { useAnswer } from "../shared/use_answer";
import { printNumbers } from "../timeline/thread_numbers";
import type { Overview, Thread } from "../../generated/answers";
import { Card, Link } from "./card";
import { processesOf, wholeOf, type ProcessCost } from "./overview_model";

const THREADS_MAX = 2000; // that one answer lists

export function useProcesses(path: string, overview: Overview | null): ProcessCost[] {
  const count = overview?.threads.length ?? 0;
  const { value } = useAnswer<Thread[]>(
    count > 1 && count <= THREADS_MAX ? `${path}/threads` : null,
    { count: THREADS_MAX },
  );
  return value && overview ? processesOf(overview, value) : [];
}

export function Processes(props: { processes: ProcessCost[]; overview: Overview; rows: number }) {
  const { processes, overview, rows } = props;
  if (processes.length < 2) return null;
  const whole = wholeOf(overview);
  const most = processes[0]?.cost ?? 0;
  const { unit, print } = columnUnit(overview.metric, most, "auto");
  const others = processes.slice(rows);
  return (
    <Card
      title="Processes"
      hint={`${others.length > 0 ? `the busiest ${rows} of ${processes.length.toLocaleString("en-US")}` : "each"}; ${overview.base ?? metricTitle(overview.metric)}`}
    >
      <table class="overview-table">
        <thead>
          <tr>
            <th scope="col">process</th>
            <th scope="col" class="share">
              share
            </th>
            <th scope="col">{unit ? `cost (${unit})` : "cost"}</th>
            <th scope="col">threads</th>
          </tr>
        </thead>
        <tbody>
          {processes.slice(0, rows).map(({ group, label, profiles, cost }) => (
            <tr key={group}>
              <th scope="row">
                <Link
                  to={{ v: "flame", t: printNumbers(profiles) }}
                  title={`${label}: flame graph of ${plural(profiles.length, "thread")}`}
                >
                  {label}
                </Link>
              </th>
              <td class="share">
                <span>
                  <i style={{ width: `${most > 0 ? (100 * cost) / most : 0}%` }} />
                  <span>{formatPercent(cost, whole)}</span>
                </span>
              </td>
              <td>{print(cost)}</td>
              <td>{profiles.length.toLocaleString("en-US")}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        <Link to={{ v: "timeline" }}>Timeline</Link>
      </p>
    </Card>
  );
}
