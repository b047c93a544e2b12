// One call of a trace: its times beside typical ones, attributes, links, events and exceptions.

import { useState } from "preact/hooks";
import { get } from "../shared/api";
import { formatNs } from "../shared/format";
import { go, linkTo, type State } from "../shared/state";
import { useAnswer } from "../shared/use_answer";
import type {
  Attribute,
  Groups,
  SpanList,
  Trace,
  TraceEvent,
  TraceException,
  TraceLink,
  TraceNode,
  Value,
} from "../../generated/answers";
import { including } from "./query_language";
import { fieldName, printClock, quote } from "./query_text";
import { Service } from "./service_colors";
import type { TraceCall } from "./trace_model";

export function printValue(value: Value): string {
  return Array.isArray(value) ? `[${value.map(printValue).join(", ")}]` : (value ?? "null");
}

const sumOf = (call: TraceCall) => call.path.reduce((sum, { begin, end }) => sum + end - begin, 0);

// A call of the waterfall or the flame chart.
export function CallPanel(props: {
  path: string;
  state: State;
  trace: string; // its id
  call: TraceCall;
  calls: TraceCall[];
}) {
  const { call } = props;
  const { value, error } = useAnswer<Trace>(`${props.path}/trace`, {
    key: call.key,
    node: call.node,
    limit: 1,
  });
  const node = value?.nodes[0];
  const isCurrent = node?.node === call.node && node.duration === call.duration;
  const onPath = sumOf(call);
  return (
    <aside class="panel call-panel" aria-label="the selected call">
      <h2 class={call.isFailed ? "failed" : ""}>{call.method}</h2>
      <p class="call-service">
        <Service name={call.service} />
        {isCurrent && value?.type && <span class="faint">{value.type}</span>}
      </p>
      <table>
        <tbody>
          <Fact name="start" value={formatNs(call.start)} />
          <Fact
            name={call.isRunning ? "duration so far" : "duration"}
            value={formatNs(call.duration)}
          />
          <Fact name="self" value={formatNs(call.self)} />
          {onPath > 0 && <Fact name="on the critical path" value={formatNs(onPath)} />}
        </tbody>
      </table>
      {call.isSpan && <Typical path={props.path} call={call} />}
      {error && <p class="status error">{error}</p>}
      {isCurrent && (
        <Content path={props.path} state={props.state} trace={props.trace} call={node} />
      )}
    </aside>
  );
}

// The durations of the same operation in the whole store.
function Typical(props: { path: string; call: TraceCall }) {
  const { call } = props;
  const q = `service = ${quote(call.service)} root = ${quote(call.method)}`;
  const { value } = useAnswer<Groups>(`${props.path}/groups`, { q, by: "operation", limit: 1 });
  const group = value?.groups[0];
  if (!group || group.count < 2) return null;
  const most = Math.max(group.p99, call.duration, 1);
  const at = (ns: number) => `${(100 * ns) / most}%`;
  return (
    <figure class="typical">
      <figcaption>
        {call.duration > group.p99
          ? "slower than 99 % of "
          : call.duration > group.p90
            ? "slower than 90 % of "
            : call.duration > group.p50
              ? "slower than half of "
              : "not slower than half of "}
        <a href={linkTo({ v: "spans", key: "", sel: "", tab: "", q })}>
          {group.count.toLocaleString("en-US")} such spans
        </a>
      </figcaption>
      <div
        class="typical-scale"
        role="img"
        aria-label={`p50 ${formatNs(group.p50)}, p90 ${formatNs(group.p90)}, p99 ${formatNs(group.p99)}; this one ${formatNs(call.duration)}`}
      >
        <i class="typical-range" style={{ left: 0, width: at(group.p50) }} />
        <i
          class="typical-range slow"
          style={{ left: at(group.p50), width: at(group.p90 - group.p50) }}
        />
        <i
          class="typical-range slowest"
          style={{ left: at(group.p90), width: at(group.p99 - group.p90) }}
        />
        <i class="typical-this" style={{ left: at(call.duration) }} />
      </div>
      <div class="typical-values">
        <span>p50 {formatNs(group.p50)}</span>
        <span>p90 {formatNs(group.p90)}</span>
        <span>p99 {formatNs(group.p99)}</span>
      </div>
    </figure>
  );
}

// A call of the list of all calls.
export function Details(props: { path: string; state: State; trace: string; call: TraceNode }) {
  const { call } = props;
  return (
    <aside class="panel call-panel" aria-label="the selected call">
      <h2 class={call.isError ? "failed" : ""}>{call.method}</h2>
      <table>
        <tbody>
          <Fact name="start" value={formatNs(call.start)} />
          <Fact
            name={call.isOpen ? "duration so far" : "duration"}
            value={formatNs(call.duration)}
          />
          <Fact name="self" value={formatNs(call.self)} />
          <Fact name="calls inside" value={(call.calls - 1).toLocaleString("en-US")} />
        </tbody>
      </table>
      <Content {...props} />
    </aside>
  );
}

function Content(props: { path: string; state: State; trace: string; call: TraceNode }) {
  const { call } = props;
  return (
    <>
      {call.exceptions && <Exceptions list={call.exceptions} />}
      {call.message && <p class={call.status === "error" ? "failed" : ""}>{call.message}</p>}
      <h3>Attributes</h3>
      {call.attributes ? (
        <Attributes list={call.attributes} state={props.state} />
      ) : (
        <p class="faint">none</p>
      )}
      {call.resource && (
        <>
          <h3>Resource</h3>
          <Attributes list={call.resource} state={props.state} />
        </>
      )}
      {call.scope && (
        <>
          <h3>
            Scope {call.scope.name} {call.scope.version}
          </h3>
          <Attributes list={call.scope.attributes} />
        </>
      )}
      {call.events && <Events list={call.events} state={props.state} />}
      {call.links && (
        <Links path={props.path} state={props.state} trace={props.trace} list={call.links} />
      )}
    </>
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

const nameOf = (name: string) => (name.length <= SHORT ? name : breakable(name));

function Fact(props: { name: string; value: string }) {
  return (
    <tr>
      <th scope="row" class={props.name.length <= SHORT ? "short" : ""}>
        {nameOf(props.name)}
      </th>
      <td class="wrap">{props.value}</td>
    </tr>
  );
}

// A value leads to the traces that have it too.
function Attributes(props: { list: Attribute[]; state?: State }) {
  const query = props.state?.q ?? "";
  const search = (condition: string) =>
    linkTo({
      key: "",
      sel: "",
      tab: "",
      from: "",
      to: "",
      shut: "",
      q: including(query, condition),
    });
  return (
    <table class="attributes">
      <tbody>
        {props.list.map(([key, value], i) => {
          const name = key ?? "";
          const text = printValue(value);
          const condition = `${fieldName(name)} = ${quote(text)}`;
          return (
            <tr key={i}>
              <th scope="row" class={name.length <= SHORT ? "short" : ""}>
                {nameOf(name)}
              </th>
              <td class="wrap">
                {text}
                {props.state && !Array.isArray(value) && name !== "" && (
                  <>
                    {" "}
                    <a
                      class="find-such"
                      href={search(condition)}
                      title={`traces with ${condition}`}
                    >
                      <span aria-hidden="true">⌕</span>
                      <span class="hidden">find traces with {name}</span>
                    </a>
                  </>
                )}
              </td>
            </tr>
          );
        })}
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

function Links(props: { path: string; state: State; trace: string; list: TraceLink[] }) {
  const [note, setNote] = useState("");
  const open = (link: TraceLink) =>
    keyOf(props.path, link).then(
      (key) =>
        key === null
          ? setNote(`trace ${link.trace} is not in this store`)
          : go({ key, sel: `${key}/0`, tab: "", call: "", find: "", from: "", to: "", shut: "" }),
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

// In the order in which they were sent; an exception is listed with its stack above.
function Events(props: { list: TraceEvent[]; state: State }) {
  return (
    <>
      <h3>Events</h3>
      <ul class="span-links">
        {props.list.map((event, i) => (
          <li key={i}>
            {event.name} <small>{printClock(BigInt(event.time))}</small>
            {event.attributes.length > 0 && (
              <Attributes
                list={event.attributes.map(([key, value]) => [`event.${key ?? ""}`, value])}
                state={props.state}
              />
            )}
          </li>
        ))}
      </ul>
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
          {exception.message && <p>{exception.message}</p>}
          {exception.stack.length > 0 && (
            <pre tabIndex={0} role="group" aria-label="stack trace">
              {exception.stack.map((frame, k) => (
                <span key={k} class="frame">
                  {frame}
                  {"\n"}
                </span>
              ))}
            </pre>
          )}
        </section>
      ))}
    </>
  );
}
