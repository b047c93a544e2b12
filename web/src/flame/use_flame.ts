// The flame graph of a view. Boxes that are too small to be seen are loaded when their caller fills
// the width.

import { useEffect, useState } from "preact/hooks";
import { getWhenReady, query, type Parameters } from "../shared/api";
import { chosenRange, rangeParameters } from "../shared/chosen_range";
import { graft } from "./flame_layout";
import { costParameters, type ViewProps } from "../shared/page";
import { isOn } from "../shared/state";
import type { Flame } from "../../generated/answers";
import { useAnswer, type Answer } from "../shared/use_answer";

const has = (flame: Flame, id: string) => flame.nodes.some((node) => node[5] === id);

// Load what is inside the boxes of a path, unless it is in the graph.
export async function deepen(
  flame: Flame,
  path: string[],
  ask: (row: string) => Promise<Flame>,
): Promise<Flame> {
  let deeper = flame;
  for (let at = -1; at < path.length - 1;) {
    let next = path.length - 1;
    while (next > at && !has(deeper, path[next] ?? "")) next--;
    const id = path[next];
    if (next === at || id === undefined) break;
    deeper = graft(deeper, id, await ask(id));
    at = next;
  }
  return deeper;
}

export function useFlame(props: ViewProps): Answer<Flame> {
  const { state } = props;
  const view = isOn(state, "up") ? "bottom-up" : isOn(state, "fold") ? "collapsed" : "top-down";
  const hasRange = chosenRange(state) !== null;
  const path = `${props.path}/${hasRange ? "range" : "flame"}`;
  const parameters: Parameters = hasRange
    ? rangeParameters(state)
    : { ...costParameters(props), view, skip: isOn(state, "skip") ? 1 : undefined };
  const whole = useAnswer<Flame>(path, parameters);
  const [deeper, setDeeper] = useState<{ of: Flame; flame: Flame } | null>(null);
  const zoom = hasRange ? "" : (state.zoom ?? "");
  useEffect(() => {
    const { value } = whole;
    if (!value || zoom === "") return setDeeper(null);
    const stop = new AbortController();
    const { signal } = stop;
    const ask = (row: string) => getWhenReady<Flame>(path, { ...parameters, row }, { signal });
    deepen(value, zoom.split("."), ask).then(
      (flame) => !signal.aborted && setDeeper({ of: value, flame }),
      () => undefined, // the graph stays as it is
    );
    return () => stop.abort();
  }, [whole.value, zoom, path + query(parameters)]);
  return deeper && deeper.of === whole.value ? { ...whole, value: deeper.flame } : whole;
}
