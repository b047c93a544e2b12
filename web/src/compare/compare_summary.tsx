// What changed: one sentence, the three causes under it with their evidence, where they are, and everything else
// that changed.

import { formatPercent, formatValue, plural } from "../shared/format";
import { shorten } from "../shared/names/names";
import { CopyCommand, shellQuote } from "../shared/copy_command";
import { go } from "../shared/state";
import { useAnswer } from "../shared/use_answer";
import type { Change, Explanation, WholeLine } from "../../generated/answers";
import { CompareFlame } from "./compare_flame";
import {
  countedOf,
  errorOf,
  evidenceOf,
  reasonOf,
  sentenceParts,
  sideParameters,
  sidesOf,
  signed,
  VERDICTS,
} from "./compare_model";
import type { CompareProps } from "./compare_page";

const CAUSES = 3;

export function CompareSummary(props: CompareProps) {
  const { value, error, isLoading } = useAnswer<Explanation>("diff", {
    ...sideParameters(props.state, props.sources),
    form: "explain",
  });
  if (error && !isLoading) return <p class="status error compare-failed">{error}</p>;
  if (!value) return <p class="status">{error ?? "comparing…"}</p>;
  const causes = value.lines.slice(0, CAUSES);
  const rest = value.lines.slice(CAUSES);
  return (
    <div class="scroll compare-summary">
      <section class="card verdict">
        <h1>
          {sentenceParts(value.sentence).map(({ text, tone }, i) => (
            <span key={i} class={tone}>
              {text}
            </span>
          ))}
        </h1>
        <Whole value={value} />
        {value.damage && <p class="failed">{value.damage}</p>}
      </section>
      <div class="compare-columns">
        <div>
          <section class="card">
            <h2>
              {causes.length === 0 ? "No change" : causes.length === 1 ? "The cause" : "The causes"}{" "}
              <small>{evidenceOf(value)}</small>
            </h2>
            {causes.length === 0 && <Nothing {...props} value={value} />}
            <ol class="causes">
              {causes.map((line, i) => (
                <Cause key={line.node + line.label} line={line} number={i + 1} value={value} />
              ))}
            </ol>
          </section>
          {rest.length > 0 && (
            <section class="card">
              <h2>
                Also changed <small>{plural(rest.length, "smaller change")}</small>
              </h2>
              <Lines lines={rest} value={value} />
            </section>
          )}
          <AlsoKnown {...props} value={value} />
        </div>
        <section class="card compare-where" aria-label="differential flame graph">
          <h2>
            Where <small>width: cost in {props.state.cw === "a" ? "A" : "B"}</small>
          </h2>
          <CompareFlame {...props} isPart />
        </section>
      </div>
    </div>
  );
}

const baseOf = (value: Explanation): string =>
  value.baseA === value.baseB || value.baseB === undefined
    ? (value.baseA ?? "")
    : `A in ${value.baseA ?? "?"}, B in ${value.baseB}`;

// Both sides as numbers, with the error of the difference.
function Whole(props: { value: Explanation }) {
  const { value } = props;
  const { whole, metric } = value;
  return (
    <div class="verdict-numbers">
      <Pair line={whole} metric={metric} />
      <dl>
        <dt>difference</dt>
        <dd>
          {signed(whole.difference, metric)}
          {whole.ratio !== null && ` (× ${whole.ratio.toFixed(3)})`}
        </dd>
        <dt>of the whole</dt>
        <dd>
          {[errorOf(whole, value), value.over === null ? "no error bar" : VERDICTS[whole.verdict]]
            .filter(Boolean)
            .join(", ")}
        </dd>
        {value.lines.length > 0 && (
          <>
            <dt>explained</dt>
            <dd>
              {formatPercent(value.explained, 1)} by {countedOf(value)}
            </dd>
          </>
        )}
        {baseOf(value) !== "" && (
          <>
            <dt>times</dt>
            <dd>{baseOf(value)}</dd>
          </>
        )}
      </dl>
    </div>
  );
}

function Nothing(props: CompareProps & { value: Explanation }) {
  const { value } = props;
  const { a, b } = sidesOf(props.state, props.sources);
  return (
    <p>
      {value.changedCount === 0
        ? "All costs are equal."
        : `${plural(value.changedCount, "function")} differ, none by more than noise.`}{" "}
      {a.length === 1 && b.length === 1 && value.over !== null && (
        <>Several runs of each side show smaller changes: add them with “+ run”.</>
      )}
    </p>
  );
}

interface Measured {
  a: number;
  b: number;
  plusMinus: number | null;
  difference: number;
  runsA: (number | null)[];
  runsB: (number | null)[];
}

// A and B as bars on one scale, with a dot for each run, and the error of the difference at the end of B.
function Pair(props: { line: Measured & WholeLine; metric: string }) {
  const { line, metric } = props;
  const runs = [...line.runsA, ...line.runsB].map((one) => one ?? 0);
  const most = Math.max(line.a, line.b, ...runs, 1e-300) * 1.02;
  const at = (value: number) => `${Math.min(100, Math.max(0, (100 * value) / most))}%`;
  const tone = line.difference > 0 ? "worse" : line.difference < 0 ? "better" : "";
  const row = (name: "A" | "B", value: number, list: (number | null)[]) => (
    <div class="pair-row">
      <span class={`side-mark ${name.toLowerCase()}`}>{name}</span>
      <span class="pair-track">
        <i
          class={`pair-bar ${name === "B" ? tone : ""}`}
          style={{ width: at(Math.max(0, value)) }}
        />
        {list.length > 1 &&
          list.map((run, i) => (
            <i
              key={i}
              class="pair-dot"
              title={`run ${i + 1}: ${formatValue(run ?? 0, metric)}`}
              style={{ left: at(run ?? 0) }}
            />
          ))}
        {name === "B" && line.plusMinus !== null && line.plusMinus > 0 && (
          <i
            class="pair-error"
            title={`± ${formatValue(line.plusMinus, metric)}`}
            style={{
              left: at(value - line.plusMinus),
              width: `calc(${at(value + line.plusMinus)} - ${at(value - line.plusMinus)})`,
            }}
          />
        )}
      </span>
      <span class="pair-value">{formatValue(value, metric)}</span>
    </div>
  );
  return (
    <div class="pair">
      {row("A", line.a, line.runsA)}
      {row("B", line.b, line.runsB)}
    </div>
  );
}

function Cause(props: { line: Change; number: number; value: Explanation }) {
  const { line, value } = props;
  const path = line.path.split(" > ");
  const above = path.slice(0, -1);
  return (
    <li class="cause">
      <span class="cause-number" aria-hidden="true">
        {props.number}
      </span>
      <div class="cause-what">
        <button
          class="link cause-name"
          title={`${line.path || line.label}: differential flame graph`}
          onClick={() => go({ ct: "flame", zoom: line.node })}
        >
          {shorten(line.label, 90)}
        </button>
        <p>
          {reasonOf(line)}
          {line.hasPath && above.length > 0 && (
            <>
              {" "}
              from{" "}
              <span title={line.path}>
                {above.length > 2 ? "… > " : ""}
                {above.slice(-2).join(" > ")}
              </span>
            </>
          )}
        </p>
      </div>
      <Pair line={line} metric={value.metric} />
      <div class={`cause-size ${line.difference > 0 ? "worse" : "better"}`}>
        <strong>{signed(line.difference, value.metric)}</strong>
        <small>
          {[errorOf(line, value), value.over === null ? "" : VERDICTS[line.verdict]]
            .filter(Boolean)
            .join(", ")}
        </small>
      </div>
    </li>
  );
}

function Lines(props: { lines: Change[]; value: Explanation }) {
  const { value } = props;
  return (
    <table class="overview-table wraps">
      <thead>
        <tr>
          {["function", "A", "B", "difference", "± 95 %", "verdict"].map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.lines.map((line) => (
          <tr key={line.node + line.label}>
            <th scope="row">
              <button
                class="link"
                title={`${line.path || line.label}: differential flame graph`}
                onClick={() => go({ ct: "flame", zoom: line.node })}
              >
                {shorten(line.label, 60)}
              </button>
              <small class="location">{reasonOf(line)}</small>
            </th>
            <td>{formatValue(line.a, value.metric)}</td>
            <td>{formatValue(line.b, value.metric)}</td>
            <td>{signed(line.difference, value.metric)}</td>
            <td>{errorOf(line, value)}</td>
            <td>{value.over === null ? "no error bar" : VERDICTS[line.verdict]}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// How to ask the same in a terminal, and to have it checked.
function AlsoKnown(props: CompareProps & { value: Explanation }) {
  const { a, b } = sidesOf(props.state, props.sources);
  const paths = (ids: string[]) =>
    ids.map((id) => shellQuote(props.sources[Number(id)]?.path ?? "")).join(" ");
  const isPlain = [props.state.cat, props.state.cbt, props.state.car, props.state.cbr].every(
    (text) => !text,
  );
  if (!isPlain || props.state.caq || props.state.cbq) return null;
  const separator = a.length > 1 || b.length > 1 ? " -- " : " ";
  const sides = paths(a) + separator + paths(b);
  const commands = [
    ["In a terminal", `cairn diff ${sides}`],
    ["In CI", `cairn gate ${sides} --rule 'total(*) <= +5%'`],
  ] as const;
  return (
    <section class="card" aria-label="the same in a terminal">
      {commands.map(([title, text]) => (
        <p key={title} class="compare-command">
          <span class="faint">{title}</span>
          <code title={text}>{text}</code>
          <CopyCommand text={text} />
        </p>
      ))}
    </section>
  );
}
