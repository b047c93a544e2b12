// What is around a function in all its contexts: a flame graph of its callers above, of what it calls below. Both are as
// wide as its total cost.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { colorMode } from "../flame/flame_colors";
import { FlameView } from "../flame/flame_view";
import { costParameters, type ViewProps } from "../shared/page";
import { useAnswer } from "../shared/use_answer";
import type { Flame, FunctionDetail } from "../../generated/answers";
import { callsItself, foldSelf } from "./fold_self";

// A graph is as wide as the function, whatever part of it the boxes have.
const asWideAs = (flame: Flame | null, total: number): Flame | null => flame && { ...flame, total };

export function FunctionGraphs(props: {
  page: ViewProps;
  detail: FunctionDetail;
  context: string;
  foldsSelf: boolean; // a recursive function is one box
  onChoose: (context: string) => void;
  children: ComponentChildren; // between the two
}) {
  const { page, detail } = props;
  const { state } = page;
  const total = detail.function.values[0] ?? 0;
  const costs = costParameters({ ...page, view: "flame" });
  const above = useAnswer<Flame>(`${page.path}/flame`, {
    ...costs,
    view: "bottom-up",
    side: "total",
    row: detail.function.id,
  });
  const below = useAnswer<Flame>(`${page.path}/flame`, {
    ...costs,
    view: "callees",
    row: props.context,
  });
  const callers = useMemo(() => asWideAs(above.value, total), [above.value, total]);
  const { label } = detail.function;
  const folds = props.foldsSelf && below.value !== null && callsItself(below.value, label);
  const callees = useMemo(
    () => asWideAs(folds && below.value ? foldSelf(below.value, label) : below.value, total),
    [below.value, total, folds, label],
  );
  const color = colorMode(state.col);
  // The nearest callers are at the bottom.
  const bottom = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (bottom.current) bottom.current.scrollTop = bottom.current.scrollHeight;
  }, [callers]);
  return (
    <div class="sandwich">
      <section aria-label="callers" ref={bottom}>
        {callers ? (
          <FlameView
            flame={callers}
            search={state.q ?? ""}
            isInverted
            color={color === "waiting" ? "function" : color}
            zoom=""
            title="callers"
            none="no callers"
            onZoom={(id) => id !== "" && props.onChoose(id)}
          />
        ) : (
          <p class="status">{above.error ?? "loading…"}</p>
        )}
      </section>
      {props.children}
      <section aria-label="callees">
        {callees ? (
          <FlameView
            flame={callees}
            search={state.q ?? ""}
            isInverted={false}
            color={color === "waiting" ? "function" : color}
            zoom=""
            title="callees"
            none={folds ? "calls only itself" : "calls nothing"}
            onZoom={(id) => id !== "" && props.onChoose(id)}
          />
        ) : (
          <p class="status">{below.error ?? "loading…"}</p>
        )}
      </section>
    </div>
  );
}
