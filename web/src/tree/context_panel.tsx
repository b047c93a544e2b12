// The selected row in detail: call path, costs, callers and callees, durations of its calls, cost on
// each thread, source and machine code.

import type { ComponentChildren } from "preact";
import type { Parameters } from "../shared/api";
import { closeOnEscape } from "../shared/focus";
import { LongName } from "../shared/names/long_name";
import { AssemblyView } from "./assembly_view";
import { OthersList } from "./callers_list";
import { baseName, formatPercent, formatValue } from "../shared/format";
import { LatencyPlot, ThreadPlot } from "./plots";
import { SourceView } from "./source_view";
import { columnTitle, formatPercentile, hasShare, share } from "./tree_rows";
import { NO_RANGE } from "../shared/chosen_range";
import { currentState, linkTo } from "../shared/state";
import type { Column, ContextDetail, FunctionDetail, Row } from "../../generated/answers";
import { useAnswer } from "../shared/use_answer";

interface Props {
  path: string;
  parameters: Parameters; // metric, thread, percentiles
  row: Row;
  columns: Column[];
  isContext: boolean; // one context, not the sum of many
  isRange: boolean; // costs are those of a time range
  withSource: boolean;
  withAssembly: boolean;
  isSorted: boolean; // threads, by value
  onOpen: (path: string[]) => void; // show a context, given by the ids from the top down
  onChange: (change: { withSource?: boolean; withAssembly?: boolean; isSorted?: boolean }) => void;
  onClose: () => void;
}

const IN_FUNCTIONS = new Set(["function", "loop", "line", "instruction", "other"]);

export function ContextPanel(props: Props) {
  const { row } = props;
  return (
    <aside
      class={`panel${props.withSource || props.withAssembly ? " wide" : ""}`}
      aria-label="selected row"
      onKeyDown={(event) => closeOnEscape(event, props.onClose)}
    >
      <button class="close" aria-label="close" onClick={props.onClose}>
        ×
      </button>
      <h2>
        <LongName name={row.label} />
      </h2>
      {props.isContext ? (
        <OneContext {...props} />
      ) : (
        <>
          <Costs columns={props.columns} row={row} />
          <Location {...props} />
        </>
      )}
      {props.isRange ? (
        <p>
          <a
            href={linkTo({
              ...NO_RANGE,
              ...(props.isContext ? { open: currentState().open ?? "" } : {}),
            })}
          >
            {props.isContext ? "This row in the whole time" : "The whole time"}
          </a>
        </p>
      ) : (
        IN_FUNCTIONS.has(row.kind) && <FunctionOf {...props} />
      )}
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
            <th scope="row">{columnTitle(column)}</th>
            <td class="barred">
              <i
                class="bar"
                style={{
                  width: `${!hasShare(column) ? 0 : share(props.row.values[i] ?? null, column.total) * 100}%`,
                }}
              />
              <span>
                {column.isPercentile
                  ? formatPercentile(props.row.values[i], column)
                  : formatValue(props.row.values[i], column.metric)}
              </span>
            </td>
            <td class="percent">
              {!hasShare(column) ? "" : formatPercent(props.row.values[i] ?? null, column.total)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Location(props: Props) {
  const { row } = props;
  const hasInstructions = IN_FUNCTIONS.has(row.kind) && !props.isRange;
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
        <p class="status">source file unknown</p>
      )}
      {row.file && props.withSource && (
        <SourceView path={props.path} parameters={props.parameters} row={row.context} />
      )}
      {hasInstructions && (
        <p>
          <button
            class="link"
            aria-expanded={props.withAssembly}
            onClick={() => props.onChange({ withAssembly: !props.withAssembly })}
          >
            {props.withAssembly ? "▾" : "▸"} Instructions (a)
          </button>
        </p>
      )}
      {hasInstructions && props.withAssembly && (
        <AssemblyView path={props.path} parameters={props.parameters} row={row.context} />
      )}
    </>
  );
}

// The details keep their space while new ones are loading: nothing jumps.
function OneContext(props: Props) {
  const { value, error } = useAnswer<ContextDetail>(`${props.path}/context`, {
    ...(props.isRange ? {} : props.parameters),
    view: "top-down",
    row: props.row.context,
  });
  const path = value?.path ?? [];
  const metric = props.columns[0];
  return (
    <>
      <nav class="crumbs" aria-label="call path">
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
      <Location {...props} />
      {error && <p class="status error">{error}</p>}
      {value && !props.isRange && <LatencyPlot latency={value.latency} />}
      {value && metric && !props.isRange && (
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

function FunctionOf(props: Props) {
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
            <Section title={`${value.function.label}, in all contexts`}>
              <Costs columns={value.columns} row={value.function} />
            </Section>
          )}
          <p>
            <a href={linkTo({ v: "sandwich", at: props.row.context })}>Callers and callees (s)</a>
          </p>
          <Section title="Callers">
            <OthersList
              others={value.callers}
              columns={value.columns}
              whole={value.function}
              none="no callers"
              onOpen={props.onOpen}
            />
          </Section>
          <Section title="Callees">
            <OthersList
              others={value.callees}
              columns={value.columns}
              whole={value.function}
              none="no callees"
              onOpen={props.onOpen}
            />
          </Section>
        </>
      )}
    </>
  );
}
