// The selected row in detail: call path, costs, callers and callees, durations of its calls, cost on
// each thread, source and machine code.

import type { ComponentChildren } from "preact";
import type { Parameters } from "../shared/api";
import { closeOnEscape } from "../shared/focus";
import { LongName } from "../shared/names/long_name";
import { AssemblyView } from "./assembly_view";
import { OthersList } from "./callers_list";
import { FunctionGraphs } from "./function_graphs";
import { baseName, formatPercent, formatValue } from "../shared/format";
import { LatencyPlot, ThreadPlot } from "./plots";
import { SourceView } from "./source_view";
import { columnTitle, formatPercentile, hasShare, share } from "./tree_rows";
import { NO_RANGE } from "../shared/chosen_range";
import type { ViewProps } from "../shared/page";
import { currentState, go, linkTo } from "../shared/state";
import type { Column, ContextDetail, FunctionDetail, Row } from "../../generated/answers";
import { useAnswer } from "../shared/use_answer";

interface Props {
  page: ViewProps;
  isBeside: boolean; // it is always there, and has room for graphs
  isSelected: boolean; // not only the row that the view begins with
  parameters: Parameters; // metric, thread, percentiles
  row: Row;
  columns: Column[];
  isContext: boolean; // one context, not the sum of many
  isRange: boolean; // costs are those of a time range
  withSource: boolean | null; // null: if there is one, and room for it
  withAssembly: boolean;
  isSorted: boolean; // threads, by value
  onOpen: (path: string[]) => void; // show a context, given by the ids from the top down
  onChange: (change: { withSource?: boolean; withAssembly?: boolean; isSorted?: boolean }) => void;
  onClose: () => void;
}

const IN_FUNCTIONS = new Set(["function", "loop", "line", "instruction", "other"]);

export function ContextPanel(props: Props) {
  const { row, isBeside } = props;
  const isOfFunction = IN_FUNCTIONS.has(row.kind) && !props.isRange;
  const location = <Location {...props} withSource={props.withSource ?? false} />;
  const isWide = props.withSource || props.withAssembly;
  const details = (
    <>
      {props.isContext ? (
        <OneContext {...props}>{!isBeside && location}</OneContext>
      ) : (
        <>
          <Costs columns={props.columns} row={row} />
          {!isBeside && location}
        </>
      )}
      {props.isRange && <WholeTime isContext={props.isContext} />}
    </>
  );
  return (
    <aside
      class={`panel${isBeside ? " beside" : isWide ? " wide" : ""}`}
      aria-label={props.isSelected ? "selected row" : "row that costs most"}
      onKeyDown={(event) => closeOnEscape(event, props.onClose)}
    >
      {props.isSelected && (
        <button class="close" aria-label="close" onClick={props.onClose}>
          ×
        </button>
      )}
      <h2>
        <LongName name={row.label} />
      </h2>
      {isOfFunction ? (
        <OfFunction {...props} details={details} />
      ) : (
        <>
          {details}
          {isBeside && location}
        </>
      )}
    </aside>
  );
}

function WholeTime(props: { isContext: boolean }) {
  return (
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
  );
}

// A row in a function: its details and what is known of the function; beside a view also graphs and source.
function OfFunction(props: Props & { details: ComponentChildren }) {
  const { page, row, isBeside } = props;
  const { value, error } = useAnswer<FunctionDetail>(`${page.path}/function`, {
    ...props.parameters,
    row: row.context,
  });
  // The answer about the row before is shown until this one is there.
  const hasSource = value?.context === row.context && value.hasSource;
  const lists = (
    <>
      {error && !value && <p class="status">{error}</p>}
      {value && <FunctionLists {...props} detail={value} />}
    </>
  );
  if (!isBeside)
    return (
      <>
        {props.details}
        {lists}
      </>
    );
  return (
    <div class="panel-parts">
      <div>
        {props.details}
        {lists}
      </div>
      {value && (
        <div>
          <FunctionGraphs
            page={page}
            detail={value}
            context={row.context}
            foldsSelf
            onChoose={(context) => go({ v: "sandwich", at: context, open: "", root: "" })}
          >
            <h3>{value.function.label}: callers above, callees below</h3>
          </FunctionGraphs>
        </div>
      )}
      <div class="whole-width">
        <Location {...props} withSource={props.withSource ?? hasSource} />
      </div>
    </div>
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

function Location(props: Props & { withSource: boolean }) {
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
        <SourceView path={props.page.path} parameters={props.parameters} row={row.context} />
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
        <AssemblyView path={props.page.path} parameters={props.parameters} row={row.context} />
      )}
    </>
  );
}

// The details keep their space while new ones are loading: nothing jumps.
function OneContext(props: Props & { children: ComponentChildren }) {
  const { value, error } = useAnswer<ContextDetail>(`${props.page.path}/context`, {
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
      {props.children}
      {error && <p class="status error">{error}</p>}
      {value && !props.isRange && <LatencyPlot latency={value.latency} />}
      {value && metric && !props.isRange && (
        <ThreadPlot
          path={props.page.path}
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

function FunctionLists(props: Props & { detail: FunctionDetail }) {
  const { detail } = props;
  return (
    <>
      {props.isContext && (
        <Section title={`${detail.function.label}, in all contexts`}>
          <Costs columns={detail.columns} row={detail.function} />
        </Section>
      )}
      <p>
        <a href={linkTo({ v: "sandwich", at: props.row.context })}>Callers and callees (s)</a>
      </p>
      <Section title="Callers">
        <OthersList
          others={detail.callers}
          columns={detail.columns}
          whole={detail.function}
          none="no callers"
          onOpen={props.onOpen}
        />
      </Section>
      <Section title="Callees">
        <OthersList
          others={detail.callees}
          columns={detail.columns}
          whole={detail.function}
          none="no callees"
          onOpen={props.onOpen}
        />
      </Section>
    </>
  );
}
