// The base of the times of a page, where it is not that of the line below the header: with waiting, for example.

import { lensParameters } from "./filters";
import type { State } from "./state";
import { useAnswer } from "./use_answer";
import type { Header } from "../../generated/answers";

export function Base(props: { path: string; state: State; base: string | undefined }) {
  // Asked once the page has its answer: Stop is for the question that a page waits for.
  const header = props.base ? `${props.path}/header` : null;
  const { value } = useAnswer<Header>(header, lensParameters(props.state));
  if (!props.base || !value || value.base === props.base) return null;
  return (
    <span class="status" title="what the times of this page are">
      {props.base}
    </span>
  );
}
