// Which files and peers were read and written, those whose system calls took the longest first, and what page faults
// were of: `cairn io`.

import { baseName, formatNs, formatPercent, formatValue, plural } from "../shared/format";
import { durationUnit } from "../shared/units";
import { useAnswer } from "../shared/use_answer";
import type { Info, Io, IoRow } from "../../generated/answers";
import { Card, Link } from "./card";

const bytes = (count: number): string => (count > 0 ? formatValue(count, "(B)") : "");

// The first line of `cairn io`.
export function ioSentence(io: Io): string {
  return [
    `${plural(io.calls, "system call")} took ${formatNs(io.time)}: ${formatValue(io.read, "(B)")} read, ${formatValue(io.written, "(B)")} written, ${plural(io.files, "file or peer", "files and peers")}`,
    ...(io.failed > 0 ? [`${io.failed.toLocaleString("en-US")} failed`] : []),
    ...(io.unended > 0 ? [`the end of ${io.unended.toLocaleString("en-US")} is unknown`] : []),
  ].join("; ");
}

// The calls of a file, one by one.
export const callsOf = (file: string | undefined): string =>
  `SELECT * FROM io ${file === undefined ? "WHERE file IS NULL" : `WHERE file = '${file.replace(/'/g, "''")}'`} LIMIT 1000`;

function FileRow(props: { row: IoRow; io: Io; print: (ns: number) => string }) {
  const { row, io } = props;
  return (
    <tr>
      <th scope="row">
        <span class="function-name">
          <Link
            to={{ v: "sql", sql: callsOf(row.file) }}
            title={`${row.file ?? "no file"}: its calls`}
          >
            {row.file === undefined ? "no file or peer" : baseName(row.file)}
          </Link>
          {row.file?.includes("/") && <small class="location">{row.file}</small>}
        </span>
      </th>
      <td class="share">
        <span>
          <i style={{ width: formatPercent(row.time, io.rows[0]?.time ?? 0).replace(" ", "") }} />
          <span>{formatPercent(row.time, io.time)}</span>
        </span>
      </td>
      <td>{props.print(row.time)}</td>
      <td>{row.count.toLocaleString("en-US")}</td>
      <td>{bytes(row.read)}</td>
      <td>{bytes(row.written)}</td>
    </tr>
  );
}

export function FilesUsed(props: { path: string; info: Info; rows: number }) {
  const { value } = useAnswer<Io>(props.info.hasIo ? `${props.path}/io` : null, {
    by: "file",
    limit: props.rows,
  });
  if (!value || value.rows.length === 0) return null;
  const unit = durationUnit(value.rows[0]?.time ?? 0);
  const rest = value.count - value.rows.length;
  return (
    <Card title="Files and peers" hint={ioSentence(value)}>
      <table class="overview-table">
        <thead>
          <tr>
            <th scope="col">file or peer</th>
            <th scope="col" class="share">
              share
            </th>
            <th scope="col">time ({unit.unit})</th>
            <th scope="col">calls</th>
            <th scope="col">read</th>
            <th scope="col">written</th>
          </tr>
        </thead>
        <tbody>
          {value.rows.map((row) => (
            <FileRow key={row.file ?? ""} row={row} io={value} print={unit.print} />
          ))}
        </tbody>
      </table>
      <p>
        {rest > 0 && `${rest.toLocaleString("en-US")} more. `}
        <Link to={{ v: "sql", sql: CALLS }}>System calls by function</Link>
      </p>
    </Card>
  );
}

// The first line of `cairn io --faults`.
export function faultSentence(io: Io): string {
  const sampled =
    io.samples < io.calls ? `, of which ${io.samples.toLocaleString("en-US")} were sampled` : "";
  return `${plural(io.calls, "page fault")}${sampled}: ${io.major.toLocaleString("en-US")} major, ${io.files.toLocaleString("en-US")} files and other mappings`;
}

// The page faults of a file, or of other memory, by function.
export const faultsOf = (file: string | undefined): string =>
  "SELECT io.call, contexts.name AS function, sum(io.result) AS faults\n" +
  "FROM io JOIN contexts ON contexts.id = io.caller\n" +
  `WHERE io.kind LIKE '%fault' AND io.file ${file === undefined ? "IS NULL" : `= '${file.replace(/'/g, "''")}'`}\n` +
  "GROUP BY io.call, contexts.name ORDER BY faults DESC";

export function PageFaults(props: { path: string; info: Info; rows: number }) {
  const { value } = useAnswer<Io>(props.info.hasIo ? `${props.path}/io` : null, {
    of: "faults",
    by: "file",
    limit: props.rows,
  });
  if (!value || value.rows.length === 0) return null;
  return (
    <Card title="Page faults" hint={faultSentence(value)}>
      <table class="overview-table">
        <thead>
          <tr>
            <th scope="col">file or mapping</th>
            <th scope="col">faults</th>
            <th scope="col">major</th>
          </tr>
        </thead>
        <tbody>
          {value.rows.map((row) => (
            <tr key={row.file ?? ""}>
              <th scope="row">
                <span class="function-name">
                  <Link
                    to={{ v: "sql", sql: faultsOf(row.file) }}
                    title={`${row.file ?? "unknown"}: its page faults by function`}
                  >
                    {baseName(row.file ?? "unknown")}
                  </Link>
                  {row.file?.includes("/") && <small class="location">{row.file}</small>}
                </span>
              </th>
              <td>{row.count.toLocaleString("en-US")}</td>
              <td>{row.major > 0 ? row.major.toLocaleString("en-US") : ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

const CALLS =
  "SELECT io.call, io.file, contexts.name AS function, count(*) AS calls, sum(end_ns - begin_ns) AS time_ns\n" +
  "FROM io JOIN contexts ON contexts.id = io.caller\n" +
  "WHERE io.kind NOT LIKE '%fault' AND io.kind NOT LIKE 'disk%'\n" +
  "GROUP BY io.call, io.file, contexts.name ORDER BY time_ns DESC";
