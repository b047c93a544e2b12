// A store of traces: search box, histogram, facets and matching traces; or one trace.

import { Facets } from "./store_facets";
import { HitsFlame } from "./store_flame";
import { TimeHistogram } from "./store_histogram";
import { Results } from "./store_results";
import { SearchBox } from "./store_search";
import type { State } from "../shared/state";
import { TracePage } from "./trace_view";

interface Props {
  path: string;
  state: State;
}

export function StorePage(props: Props) {
  if (props.state.key) return <TracePage {...props} />;
  return (
    <main>
      <SearchBox {...props} />
      {props.state.v === "flame" ? <HitsFlame {...props} /> : <SearchPage {...props} />}
    </main>
  );
}

function SearchPage(props: Props) {
  return (
    <>
      <TimeHistogram {...props} />
      <div class="columns">
        <Facets {...props} />
        <Results {...props} />
      </div>
    </>
  );
}
