// What a view of a store shows when no trace matches: how to find some.

import type { State } from "../shared/state";
import { timesOf, withoutTimes } from "./query_text";
import { search } from "./store_search";

export function NoMatches({ state }: { state: State }) {
  const query = (state.q ?? "").trim();
  const { since, until, last } = timesOf(query);
  const hasTimes = Boolean(since || until || last);
  if (query === "")
    return (
      <div class="status no-matches">
        <p>
          no traces yet. Send some to <code>cairn serve --collect</code>, or add a file with{" "}
          <code>cairn store add</code>.
        </p>
      </div>
    );
  return (
    <div class="status no-matches">
      <p>
        no matches for <code>{query}</code>
      </p>
      <p>
        {hasTimes && (
          <button onClick={() => search(withoutTimes(query))}>The same at all times</button>
        )}
        <button onClick={() => search("")}>All traces</button>
      </p>
    </div>
  );
}
