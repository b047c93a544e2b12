// What is beside the flame graph: the values of a pinned box with percentiles and callers, and the
// list of functions that match a search.

import type { Parameters } from "../shared/api";
import { closeOnEscape } from "../shared/focus";
import { LongName } from "../shared/names/long_name";
import { baseName, formatDuration, formatPercent, formatValue, plural } from "../shared/format";
import { shorten } from "../shared/names/names";
import { linkTo } from "../shared/state";
import type { ContextDetail, FunctionDetail } from "../../generated/answers";
import { useAnswer } from "../shared/use_answer";
import type { Box, DrawnFlame } from "./flame_layout";

const CALLERS_MAX = 5;
const MATCHES_MAX = 100;

export function BoxValues(props: { box: Box; flame: DrawnFlame }) {
  const { box, flame } = props;
  return (
    <table>
      <tbody>
        <tr>
          <th scope="row">{flame.side ?? "total"}</th>
          <td>{formatValue(box.value, flame.column)}</td>
          <td>{formatPercent(box.value, flame.total)}</td>
        </tr>
        {flame.side !== "self" && (
          <tr>
            <th scope="row">self</th>
            <td>{formatValue(box.self, flame.column)}</td>
            <td>{formatPercent(box.self, flame.total)}</td>
          </tr>
        )}
        {box.waits.map((value, i) => (
          <tr key={i}>
            <th scope="row">{flame.waits?.[i]}</th>
            <td>{formatValue(value, flame.column)}</td>
            <td>{formatPercent(value, flame.total)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface PinProps {
  box: Box;
  flame: DrawnFlame;
  path: string; // of the source
  parameters: Parameters;
  isContext: boolean; // boxes are contexts of the top-down view
  ids: string[]; // from the top down to the box
  onZoom: () => void;
  onClose: () => void;
}

export function PinnedBox(props: PinProps) {
  const { box, flame } = props;
  const row = props.isContext ? box.id : null;
  const context = useAnswer<ContextDetail>(row === null ? null : `${props.path}/context`, {
    ...props.parameters,
    view: "top-down",
    row: row ?? "",
  });
  // The boxes at the top are threads.
  const isFunction = row !== null && box.depth > 0;
  const detail = useAnswer<FunctionDetail>(isFunction ? `${props.path}/function` : null, {
    ...props.parameters,
    row: row ?? "",
    limit: CALLERS_MAX,
  });
  const latency = context.value?.row.id === box.id ? context.value.latency : null;
  const callers = context.value?.row.id === box.id ? (detail.value?.callers ?? []) : [];
  return (
    <aside
      class="panel pinned"
      aria-label="selected box"
      onKeyDown={(event) => closeOnEscape(event, props.onClose)}
    >
      <button class="close" aria-label="close" onClick={props.onClose}>
        ×
      </button>
      <h2 title={box.name}>
        <LongName name={shorten(box.name, 120)} />
      </h2>
      <BoxValues box={box} flame={flame} />
      {latency?.p50 != null && (
        <p>
          calls, {latency.base}: p50 {formatDuration(latency.p50, latency.resolution)}, p90{" "}
          {formatDuration(latency.p90 ?? 0, latency.resolution)}, p99{" "}
          {formatDuration(latency.p99 ?? 0, latency.resolution)}
        </p>
      )}
      {box.module && <p class="status wrap">{baseName(box.module)}</p>}
      {callers.length > 0 && (
        <>
          <h3>Callers, in all contexts</h3>
          <ul>
            {callers.map(({ path, row: caller }) => (
              <li key={caller.id}>
                <a href={linkTo({ v: "flame", zoom: path.join(".") })} title={caller.label}>
                  {shorten(caller.label, 40)}
                </a>{" "}
                <small>{formatPercent(caller.values[0] ?? null, flame.total)}</small>
              </li>
            ))}
          </ul>
        </>
      )}
      <p class="find">
        <button onClick={props.onZoom}>Zoom (Enter)</button>
        {props.isContext && <a href={linkTo({ v: "top-down", open: props.ids.join(".") })}>Tree</a>}
        {isFunction && <a href={linkTo({ v: "sandwich", at: box.id })}>Callers and callees</a>}
      </p>
    </aside>
  );
}

export interface NameMatch {
  name: string;
  value: number; // a match inside a match of the same name is not counted twice
  count: number; // boxes
  widest: number; // box
}

export function matchList(boxes: Box[], matches: (name: string) => boolean): NameMatch[] {
  const found = new Map<string, NameMatch>();
  for (const box of boxes) {
    if (!matches(box.name)) continue;
    const item = found.get(box.name) ?? {
      name: box.name,
      value: 0,
      count: 0,
      widest: box.index,
    };
    found.set(box.name, item);
    item.count++;
    if (box.value > (boxes[item.widest]?.value ?? 0)) item.widest = box.index;
    let above = box.parent;
    while (above >= 0 && boxes[above]?.name !== box.name) above = boxes[above]?.parent ?? -1;
    if (above < 0) item.value += box.value;
  }
  return [...found.values()].sort((a, b) => b.value - a.value);
}

export function MatchList(props: {
  list: NameMatch[];
  flame: DrawnFlame;
  onChoose: (box: number) => void;
}) {
  const { list, flame } = props;
  return (
    <aside class="panel" aria-label="matches">
      <h2>{plural(list.length, "function matches", "functions match")}</h2>
      <table class="others">
        <tbody>
          {list.slice(0, MATCHES_MAX).map((item) => (
            <tr key={item.name}>
              <td class="name">
                <button
                  class="link"
                  title={`${item.name}: ${plural(item.count, "box", "boxes")}`}
                  onClick={() => props.onChoose(item.widest)}
                >
                  {shorten(item.name, 60)}
                </button>
              </td>
              <td>
                {formatValue(item.value, flame.column)}{" "}
                <small>{formatPercent(item.value, flame.total)}</small>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </aside>
  );
}
