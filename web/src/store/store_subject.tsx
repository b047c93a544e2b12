// The line below the header of a store, as profiles have it: where it is, its times, how much it has, and what it lacks.
// The filter of a store is its query.

import { plural } from "../shared/format";
import type { State } from "../shared/state";
import { Completeness, type Flaw } from "../shared/subject";
import { useAnswer } from "../shared/use_answer";
import type { Source, StoreInfo } from "../../generated/answers";
import { useLive } from "./live";

const utc = (ns: string): string =>
  new Date(Number(BigInt(ns) / 1000000n)).toISOString().slice(0, 19).replace("T", " ");

// "2026-11-19 00:55:07 – 01:10:00 UTC"
export function printSpan(first: string, last: string): string {
  const [from, to] = [utc(first), utc(last)];
  const [day = "", time] = to.split(" ");
  return `${from}${from === to ? "" : ` – ${from.startsWith(day) ? time : to}`} UTC`;
}

export function storeFlaws({ damage, sampled }: StoreInfo): Flaw[] {
  return [
    ...(damage ? [{ text: "damaged", hint: damage, isBad: true }] : []),
    ...(sampled ? [{ text: "sampled", hint: sampled, isBad: false }] : []),
  ];
}

export function StoreSubject(props: { path: string; source: Source; state: State }) {
  const turn = useLive(props.state);
  const { value } = useAnswer<StoreInfo>(`${props.path}/info`, {}, undefined, turn);
  return (
    <div class="subject">
      <span class="subject-facts" role="group" aria-label="what was recorded">
        {value && (
          <>
            <span class="subject-program" title={props.source.path}>
              {props.source.path}
            </span>
            {value.traceCount > 0 && <span>{printSpan(value.first, value.last)}</span>}
            <span>{plural(value.traceCount, "trace")}</span>
            <span>{plural(value.spanCount, "span")}</span>
            <Completeness flaws={storeFlaws(value)} whole="nothing is damaged, or was sampled" />
          </>
        )}
      </span>
    </div>
  );
}
