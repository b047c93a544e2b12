// The line below the header: what was recorded, where, when and how long, what times are, how complete the data is, and
// the filters in force.

import { FilterBar } from "./filter_bar";
import { lensParameters } from "./filters";
import { formatCount, formatNs, formatPercent, formatValue, plural } from "./format";
import { Icon } from "./look/icons";
import { Menu } from "./menu";
import type { State } from "./state";
import { useAnswer } from "./use_answer";
import type { Header } from "../../generated/answers";

// "18 Nov 2026, 00:55:07"
export const printStart = (ns: string): string =>
  new Date(Number(BigInt(ns) / 1000000n)).toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });

export interface Flaw {
  text: string;
  hint: string;
  isBad: boolean;
}

const SOME = 0.005; // a smaller share of stacks is none

// What the data lacks, the worst first.
export function flawsOf(header: Header): Flaw[] {
  const { stackCount = 0, wholeCount = stackCount, unnamedCount = 0 } = header;
  const cut = stackCount - wholeCount;
  return [
    ...(header.isDamaged
      ? [{ text: "damaged", hint: "part of the data could not be read", isBad: true }]
      : []),
    ...(header.lostCount > 0
      ? [
          {
            text: `${formatCount(header.lostCount)} lost`,
            hint: `${plural(header.lostCount, "record")} lost while recording`,
            isBad: true,
          },
        ]
      : []),
    ...(cut > SOME * stackCount
      ? [
          {
            text: `${formatPercent(cut, stackCount)} cut`,
            hint: `${plural(cut, "stack")} of ${stackCount.toLocaleString("en-US")} do not reach the start of their thread`,
            isBad: false,
          },
        ]
      : []),
    ...(unnamedCount > SOME * stackCount
      ? [
          {
            text: "names missing",
            hint: `${plural(unnamedCount, "stack")} of ${stackCount.toLocaleString("en-US")} have a function without a name`,
            isBad: false,
          },
        ]
      : []),
  ];
}

// All that is known, by name.
function detailsOf(header: Header): [string, string][] {
  const known: [string, string | undefined | null][] = [
    ["program", header.program],
    ["measured by", header.command],
    ["written by", header.writer],
    ["host", header.host],
    ["kernel", header.kernel],
    ["machine", header.machine],
    [
      "processors",
      [header.processors?.toLocaleString("en-US"), header.processor].filter(Boolean).join(" × "),
    ],
    ["memory", header.memory ? formatValue(header.memory, "(bytes)") : undefined],
    ["start", header.start && printStart(header.start)],
    ["duration", header.duration ? formatNs(header.duration) : undefined],
    ["threads", header.threads.toLocaleString("en-US")],
    ["samples", header.samples > 0 ? header.samples.toLocaleString("en-US") : undefined],
    ["stacks", header.stacks],
    ["not in the kernel", header.stacksRefusal],
    ["metric", header.metric],
    ["times", header.base],
    ["filtered before", header.filtered],
  ];
  return known.filter((pair): pair is [string, string] => Boolean(pair[1]));
}

function Facts({ header }: { header: Header }) {
  const flaws = flawsOf(header);
  const isLess =
    header.whole !== null && header.shown !== null && header.shown < 0.9995 * header.whole;
  return (
    <>
      <span class="subject-program" title={header.program ?? header.title}>
        {header.program ?? header.title}
      </span>
      {header.host && <span class="subject-more">{header.host}</span>}
      {header.start && <span class="subject-more">{printStart(header.start)}</span>}
      {header.duration ? <span>{formatNs(header.duration)}</span> : null}
      {header.base && <span title="what times of costs are">{header.base}</span>}
      {isLess && header.metric && (
        <span title="what the filters leave; percentages are of this">
          <strong>{formatValue(header.shown, header.metric)}</strong> of{" "}
          {formatValue(header.whole, header.metric)}
        </span>
      )}
      <Completeness flaws={flaws} whole="nothing was lost, cut or left without a name" />
    </>
  );
}

export function Completeness(props: { flaws: Flaw[]; whole?: string }) {
  return (
    <>
      {props.flaws.map(({ text, hint, isBad }) => (
        <span key={text} class={isBad ? "flaw bad" : "flaw"} title={hint}>
          <Icon name="warning" /> {text}
        </span>
      ))}
      {props.flaws.length === 0 && props.whole && (
        <span class="whole" title={props.whole}>
          <Icon name="check" /> complete
        </span>
      )}
    </>
  );
}

// Of a run of a comparison: what was recorded, or of further runs of the same side, what they lack.
export function RunFacts(props: { path: string; isFirst: boolean }) {
  const { value } = useAnswer<Header>(`${props.path}/header`);
  const flaws = value ? flawsOf(value) : [];
  if (!value || (!props.isFirst && flaws.length === 0)) return null;
  return (
    <span class="subject-facts" role="group" aria-label={`what was recorded: ${value.name}`}>
      {props.isFirst ? <Facts header={value} /> : <Completeness flaws={flaws} />}
    </span>
  );
}

// The list of calls has what was recorded, whatever views leave out.
export function Subject(props: { path: string; state: State; view: string }) {
  const { state } = props;
  const { value } = useAnswer<Header>(`${props.path}/header`, lensParameters(state));
  return (
    <div class="subject">
      <span class="subject-facts" role="group" aria-label="what was recorded">
        {value && <Facts header={value} />}
      </span>
      {value && (
        <Menu title="Details" label="what was recorded, in detail">
          <table class="subject-details">
            <tbody>
              {detailsOf(value).map(([name, text]) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>{text}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Menu>
      )}
      {props.view !== "calls" && <FilterBar state={state} />}
    </div>
  );
}
