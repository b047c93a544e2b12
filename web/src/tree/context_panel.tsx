// The chosen row in detail: how it was reached, what it costs, who calls it and what it
// calls, how long its calls took, what it cost on each thread, and its source.

import type { ComponentChildren } from "preact";
import type { Parameters } from "../shared/api";
import { OthersList } from "./callers_list";
import { baseName, formatPercent, formatValue } from "../shared/format";
import { LatencyPlot, ThreadPlot } from "./plots";
import { SourceView } from "./source_view";
import { share } from "./tree_rows";
import type { Column, ContextDetail, FunctionDetail, Row } from "../shared/types";
import { useAnswer } from "../shared/use_answer";

interface Props {
  path: string;
  parameters: Parameters; // metric, thread, percentiles
  row: Row;
  columns: Column[];
  isContext: boolean; // it is one context, not many together
  withSource: boolean;
  isSorted: boolean; // threads, by value
  onOpen: (path: string[]) => void; // show a context: the ids from the top down to it
  onChange: (change: { withSource?: boolean; isSorted?: boolean }) => void;
  onClose: () => void;
}

const IN_FUNCTIONS = new Set(["function", "loop", "line", "instruction", "other"]);

export function ContextPanel(props: Props) {
  const { row } = props;
  return (
    <aside class={`panel${props.withSource ? " wide" : ""}`} aria-label="the chosen row">
      <button class="close" aria-label="close" onClick={props.onClose}>
        ×
      </button>
      <h2>{row.label}</h2>
      {props.isContext ? (
        <OneContext {...props} />
      ) : (
        <>
          <Costs columns={props.columns} row={row} />
          <Place {...props} />
        </>
      )}
      {IN_FUNCTIONS.has(row.kind) && <Function {...props} />}
    </aside>
  );
}

function Costs(props: { columns: Column[]; row: Row }) {
  return (
    <table>
      <caption class="hidden">costs</caption>
      <tbody>
        {props.columns.map((column, i) => (
          <tr key={column.name}>
            <th scope="row">
              {column.title.replace(/ \(I\)$/, ", inclusive").replace(/ \(E\)$/, ", self")}
            </th>
            <td class="barred">
              <i
                class="bar"
                style={{
                  width: `${column.isPercentile ? 0 : share(props.row.values[i] ?? null, column.total) * 100}%`,
                }}
              />
              <span>
                {formatValue(props.row.values[i], column.isPercentile ? "sec" : column.metric)}
              </span>
            </td>
            <td class="percent">
              {column.isPercentile ? "" : formatPercent(props.row.values[i] ?? null, column.total)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Place(props: Props) {
  const { row } = props;
  return (
    <>
      {row.module && <p class="status wrap">{row.module}</p>}
      {row.file ? (
        <p>
          <button
            class="link"
            aria-expanded={props.withSource}
            onClick={() => props.onChange({ withSource: !props.withSource })}
          >
            {props.withSource ? "▾" : "▸"} {baseName(row.file)}
            {row.line ? `:${row.line}` : ""}
          </button>
        </p>
      ) : (
        <p class="status">nothing says which source file this is in</p>
      )}
      {row.file && props.withSource && (
        <SourceView path={props.path} parameters={props.parameters} row={row.context} />
      )}
    </>
  );
}

// The details keep their room while others are on their way: nothing jumps.
function OneContext(props: Props) {
  const { value, error } = useAnswer<ContextDetail>(`${props.path}/context`, {
    ...props.parameters,
    view: "top-down",
    row: props.row.context,
  });
  const path = value?.path ?? [];
  const metric = props.columns[0];
  return (
    <>
      <nav class="crumbs" aria-label="calls that led here">
        {path.map((step, i) => (
          <span key={step.id}>
            <button
              class="link"
              onClick={() => props.onOpen(path.slice(0, i + 1).map((item) => item.id))}
            >
              {step.label}
            </button>
            {i < path.length - 1 && " › "}
          </span>
        ))}
      </nav>
      <Costs columns={props.columns} row={props.row} />
      <Place {...props} />
      {error && <p class="status error">{error}</p>}
      {value && <LatencyPlot latency={value.latency} />}
      {value && metric && (
        <ThreadPlot
          path={props.path}
          threads={value.threads}
          metric={metric.metric}
          isSorted={props.isSorted}
          onSort={(isSorted) => props.onChange({ isSorted })}
        />
      )}
    </>
  );
}

function Section(props: { title: string; children: ComponentChildren }) {
  return (
    <section>
      <h3>{props.title}</h3>
      {props.children}
    </section>
  );
}

function Function(props: Props) {
  const { value, error } = useAnswer<FunctionDetail>(`${props.path}/function`, {
    ...props.parameters,
    row: props.row.context,
  });
  return (
    <>
      {error && !value && <p class="status">{error}</p>}
      {value && (
        <>
          {props.isContext && (
            <Section title={`${value.function.label}, wherever it is called`}>
              <Costs columns={value.columns} row={value.function} />
            </Section>
          )}
          <Section title="callers">
            <OthersList
              others={value.callers}
              columns={value.columns}
              whole={value.function}
              none="nothing calls it"
              onOpen={props.onOpen}
            />
          </Section>
          <Section title="callees">
            <OthersList
              others={value.callees}
              columns={value.columns}
              whole={value.function}
              none="it calls nothing"
              onOpen={props.onOpen}
            />
          </Section>
        </>
      )}
    </>
  );
}
