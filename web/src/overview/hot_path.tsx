// The path of the most costly calls.

import { formatPercent, formatValue } from "../shared/format";
import { Name } from "../shared/names/name";
import { columnUnit } from "../shared/units";
import type { Overview, Row } from "../../generated/answers";
import { Card, contextOf, Link } from "./card";
import { foldSteps, listedSteps, wholeOf, type Step } from "./overview_model";

function HotStep(props: { step: Step; whole: number; print: (value?: number | null) => string }) {
  const { whole } = props;
  const { row, path, times } = props.step;
  const value = row.values[0] ?? 0;
  return (
    <li>
      <span class="step">
        <i style={{ width: `${whole ? Math.min(100, (100 * value) / whole) : 0}%` }} />
        <Link to={contextOf(path)} title={row.label}>
          <Name name={row.label} />
        </Link>
        {times > 1 && <em title={`${times} calls, each made by the one before`}>× {times}</em>}
      </span>
      <span class="number">{props.print(value)}</span>
      <small class="number">{formatPercent(value, whole)}</small>
    </li>
  );
}

const SELF_LEAST = 0.005; // of the last row: what is less is printed as 0

const isSpread = ({ values: [total, self] }: Row): boolean =>
  (self ?? 0) < SELF_LEAST * (total ?? 0);

export function HotPath(props: { overview: Overview }) {
  const { base, hotPath, metric } = props.overview;
  if (!hotPath)
    return (
      <Card title="Hot path">
        <p class="status">computing…</p>
      </Card>
    );
  const whole = wholeOf(props.overview);
  const ids = hotPath.map((row) => row.id);
  const steps = foldSteps(hotPath);
  const last = hotPath[hotPath.length - 1];
  const { unit, print } = columnUnit(metric, whole, "auto");
  return (
    <Card
      title="Hot path"
      hint={`while one callee has half${base ? `; total ${base}` : ""}${unit ? `\u00a0(${unit})` : ""}`}
    >
      <ol class="hot-path">
        {listedSteps(steps).map((step) =>
          typeof step === "number" ? (
            <li key="between">
              <Link to={contextOf(ids)}>{`… ${step} calls between`}</Link>
            </li>
          ) : (
            <HotStep key={step.row.id} step={step} whole={whole} print={print} />
          ),
        )}
      </ol>
      {steps.length === 0 && <p class="status">no costs</p>}
      {last && (
        <p class="faint">
          {isSpread(last)
            ? "What the last one calls shares its cost: nothing has half of it."
            : `${formatPercent(last.values[1] ?? 0, last.values[0] ?? null)} of the last one is self cost, ${formatValue(last.values[1] ?? 0, metric)}.`}{" "}
          <Link to={{ v: "flame", zoom: ids.join(".") }}>Flame graph</Link>
        </p>
      )}
    </Card>
  );
}
