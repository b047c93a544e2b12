// How far the analysis of a source is: the steps that are done, and of the current one what is done and what is left.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { StopButton } from "../engine/stop_button";
import { useEngineStep } from "../shared/api";
import { formatNs, plural } from "../shared/format";
import { Icon } from "../shared/look/icons";
import { useAnswer } from "../shared/use_answer";
import type { Source, Sources, Step } from "../../generated/answers";
import { Card } from "./card";

// A step that was seen: since when, how much was done then, and how long it took; null: it is the current one.
export interface SeenStep {
  what: string;
  since: number; // ms
  from: number;
  took: number | null;
}

// The steps after another answer, at a time.
export function addStep(seen: SeenStep[], step: Step | undefined, now: number): SeenStep[] {
  const last = seen[seen.length - 1];
  if (!step || last?.what === step.what) return seen;
  const ended = last ? [...seen.slice(0, -1), { ...last, took: now - last.since }] : [];
  return [...ended, { what: step.what, since: now, from: step.done, took: null }];
}

const SURE_MS = 1000; // a shorter time says nothing of the rest

// How long a step still takes, in ms, if it goes on as it did; null: unknown.
export function timeLeft(seen: SeenStep, step: Step, now: number): number | null {
  const done = step.done - seen.from;
  const time = now - seen.since;
  return time < SURE_MS || done <= 0 || step.total <= step.done
    ? null
    : (time * (step.total - step.done)) / done;
}

export const shareOf = ({ done, total }: Step): number =>
  total > 0 ? Math.min(1, done / total) : 0;

const WHOLE_SECOND = 1000;

const printLeft = (ms: number): string => formatNs(Math.max(1, Math.ceil(ms / WHOLE_SECOND)) * 1e9);

function useAnalysis(id: number): { source: Source | undefined; seen: SeenStep[] } {
  const { value } = useAnswer<Sources>("sources", {}, () => true);
  const source = value?.sources[id];
  const [seen, setSeen] = useState<SeenStep[]>([]);
  useEffect(() => setSeen((before) => addStep(before, source?.step, performance.now())), [source]);
  return { source, seen };
}

// In the header of a recording, whose calls are shown meanwhile.
export function AnalysisLine(props: { id: number }) {
  const { source } = useAnalysis(props.id);
  const percent = Math.round(100 * (source?.shareDone ?? 0));
  if (source?.state === "failed") return <span class="status error">{source.failure}</span>;
  return (
    <label class="status">
      {source?.step?.what ?? "analysing"}: <progress max={100} value={percent} /> {percent} %
    </label>
  );
}

// Instead of views, which need the analysis.
export function AnalysisPage(props: { source: Source; note: string | null }) {
  const { source = props.source, seen } = useAnalysis(props.source.id);
  const { step } = source;
  return (
    <div class="scroll analysis">
      <Card title={`Analysing ${source.name}`} hint={source.path}>
        <Steps step={step} seen={seen}>
          <li class={source.state === "failed" ? "status error" : ""}>
            {source.failure ?? props.note ?? "starting…"}
          </li>
        </Steps>
        <p class="faint">
          Views appear when it is done. The result is cached: the next time they are there at once.
        </p>
      </Card>
    </div>
  );
}

// Of a page without a server, until its data is open.
export function OpeningPage(props: { note: string | null }) {
  const step = useEngineStep() ?? undefined;
  const [seen, setSeen] = useState<SeenStep[]>([]);
  useEffect(() => setSeen((before) => addStep(before, step, performance.now())), [step]);
  if (!step)
    return (
      <main class="status" role="status">
        {props.note ?? "loading…"} <StopButton />
      </main>
    );
  return (
    <main>
      <div class="scroll analysis">
        <Card title="Opening" hint="the data stays in this page">
          <Steps step={step} seen={seen} />
          <StopButton />
        </Card>
      </div>
    </main>
  );
}

// The steps that were seen; `children` where none is.
function Steps(props: { step: Step | undefined; seen: SeenStep[]; children?: ComponentChildren }) {
  const { step, seen } = props;
  const current = seen[seen.length - 1];
  return (
    <ol class="steps">
      {seen
        .filter(({ took }) => took !== null)
        .map(({ what, since, took }) => (
          <li key={since}>
            <Icon name="check" /> {what} <small>{formatNs((took ?? 0) * 1e6)}</small>
          </li>
        ))}
      {step && current && <CurrentStep step={step} seen={current} />}
      {!step && props.children}
    </ol>
  );
}

function CurrentStep({ step, seen }: { step: Step; seen: SeenStep }) {
  const left = timeLeft(seen, step, performance.now());
  const share = shareOf(step);
  return (
    <li aria-current="step">
      <strong role="status">{step.what}</strong>
      <progress {...(step.total > 1 ? { max: 1, value: share } : {})} aria-label={step.what} />
      {step.total > 1 && (
        <span>
          {Math.round(100 * share)} %: {step.done.toLocaleString("en-US")} of{" "}
          {plural(step.total, step.unit.replace(/s$/, ""), step.unit)}
          {left !== null && `, about ${printLeft(left)} left`}
        </span>
      )}
    </li>
  );
}
