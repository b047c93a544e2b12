// One call of a trace: its times, attributes and exceptions.

import { formatNs } from "../shared/format";
import type { TraceException, TraceNode, Value } from "./store_types";

export function printValue(value: Value): string {
  return Array.isArray(value) ? `[${value.map(printValue).join(", ")}]` : (value ?? "null");
}

// `self` is null if it is not known.
export function Details(props: { call: TraceNode; self: number | null }) {
  const { call, self } = props;
  return (
    <aside class="panel" aria-label="attributes and exceptions of the call">
      <h2 class={call.isError ? "failed" : ""}>{call.method}</h2>
      <table>
        <tbody>
          <Fact name="start" value={formatNs(call.start)} />
          <Fact
            name={call.isOpen ? "duration so far" : "duration"}
            value={formatNs(call.duration)}
          />
          {self !== null && <Fact name="self" value={formatNs(self)} />}
          <Fact name="calls inside" value={(call.calls - 1).toLocaleString("en-US")} />
        </tbody>
      </table>
      <h3>Attributes</h3>
      {call.attributes ? <Attributes list={call.attributes} /> : <p class="status">none</p>}
      {call.exceptions && <Exceptions list={call.exceptions} />}
    </aside>
  );
}

const SHORT = 26; // characters of a name that is not broken

// Long names of attributes may be broken after a dot or an underscore, not anywhere.
function breakable(name: string) {
  return name.split(/(?<=[._])/).map((part, i) => (
    <>
      {i > 0 && <wbr />}
      {part}
    </>
  ));
}

function Fact(props: { name: string; value: string }) {
  return (
    <tr>
      <th scope="row" class={props.name.length <= SHORT ? "short" : ""}>
        {props.name.length <= SHORT ? props.name : breakable(props.name)}
      </th>
      <td class="wrap">{props.value}</td>
    </tr>
  );
}

function Attributes(props: { list: [string, Value][] }) {
  return (
    <table class="attributes">
      <tbody>
        {props.list.map(([key, value], i) => (
          <Fact key={i} name={key} value={printValue(value)} />
        ))}
      </tbody>
    </table>
  );
}

// Each exception is followed by its cause.
function Exceptions(props: { list: TraceException[] }) {
  return (
    <>
      {props.list.map((exception, i) => (
        <section key={i} class="exception">
          <h3 class="failed">
            {i > 0 && "caused by "}
            {exception.class ?? "exception"}
          </h3>
          <p>{exception.message}</p>
          {exception.stack.length > 0 && (
            <pre class="source" tabIndex={0} role="group" aria-label="stack trace">
              {exception.stack.join("\n")}
            </pre>
          )}
        </section>
      ))}
    </>
  );
}
