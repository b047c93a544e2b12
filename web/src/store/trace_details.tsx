// One call of a trace: its times, attributes, links and exceptions.

import { useState } from "preact/hooks";
import { get } from "../shared/api";
import { formatNs } from "../shared/format";
import { go } from "../shared/state";
import type {
  Attribute,
  SpanList,
  TraceException,
  TraceLink,
  TraceNode,
  Value,
} from "../../generated/answers";

export function printValue(value: Value): string {
  return Array.isArray(value) ? `[${value.map(printValue).join(", ")}]` : (value ?? "null");
}

// `self` is null if it is not known.
export function Details(props: {
  path: string;
  trace: string; // its id
  call: TraceNode;
  self: number | null;
}) {
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
      {call.links && <Links path={props.path} trace={props.trace} list={call.links} />}
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

function Attributes(props: { list: Attribute[] }) {
  return (
    <table class="attributes">
      <tbody>
        {props.list.map(([key, value], i) => (
          <Fact key={i} name={key ?? ""} value={printValue(value)} />
        ))}
      </tbody>
    </table>
  );
}

// The key of a span that is linked to: that of its own record, or of another one of its trace. Null if
// the store does not have the trace.
async function keyOf(path: string, link: TraceLink): Promise<string | null> {
  for (const q of [`id = ${link.trace} span = ${link.span}`, `id = ${link.trace}`]) {
    const found = await get<SpanList>(`${path}/traces`, { q, spans: 1, limit: 1 });
    if (found.spans[0]) return found.spans[0].key;
  }
  return null;
}

function Links(props: { path: string; trace: string; list: TraceLink[] }) {
  const [note, setNote] = useState("");
  const open = (link: TraceLink) =>
    keyOf(props.path, link).then(
      (key) =>
        key === null
          ? setNote(`trace ${link.trace} is not in this store`)
          : go({ key, tab: "spans", zoom: "", call: "", find: "" }),
      (error: Error) => setNote(error.message),
    );
  return (
    <>
      <h3>Links</h3>
      <ul class="span-links">
        {props.list.map((link, i) => (
          <li key={i}>
            <button
              class="link"
              title={`${link.trace}/${link.span}`}
              onClick={() => void open(link)}
            >
              {link.trace === props.trace ? "this trace" : `trace ${link.trace.slice(0, 8)}…`}, span{" "}
              {link.span}
            </button>
            {link.attributes.length > 0 && <Attributes list={link.attributes} />}
          </li>
        ))}
      </ul>
      <p class="status" aria-live="polite">
        {note}
      </p>
    </>
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
