// What traces of one query have more often than those of the other, the most surprising first.

import { formatChance, formatPercent, plural } from "../shared/format";
import { useAnswer } from "../shared/use_answer";
import { sideParameters } from "./compare_model";
import type { CompareProps } from "./compare_page";
import type { DiffFacets } from "../../generated/answers";

export function CompareFacets(props: CompareProps) {
  const { value, error, isLoading } = useAnswer<DiffFacets>("diff", {
    ...sideParameters(props.state, props.sources),
    form: "facets",
  });
  if (error && !isLoading) return <p class="status error">{error}</p>;
  if (!value) return <p class="status">{error ?? "comparing…"}</p>;
  return (
    <div class="scroll overview">
      <section class="card">
        <h2>
          What goes with one side{" "}
          <small>
            {plural(value.readA, "trace")} of A, {plural(value.readB, "trace")} of B
            {value.isEstimated ? ", a sample of them" : ""}
          </small>
        </h2>
        {value.damage && <p class="status error">{value.damage}</p>}
        {value.facets.length === 0 && <p class="status">no attribute tells the sides apart</p>}
        {value.facets.length > 0 && (
          <table class="overview-table wraps facets-table">
            <thead>
              <tr>
                {["attribute", "more often in", "A", "B", "by chance"].map((title) => (
                  <th key={title} scope="col">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {value.facets.map((facet) => (
                <tr key={`${facet.side} ${facet.key} ${facet.relation} ${facet.value}`}>
                  <th scope="row">
                    {facet.key} {facet.relation} <strong>{facet.value}</strong>
                  </th>
                  <td>{facet.side.toUpperCase()}</td>
                  <td>
                    {facet.hasA.toLocaleString("en-US")}{" "}
                    <span class="optional">of {facet.ofA.toLocaleString("en-US")}</span>{" "}
                    <small>{formatPercent(facet.hasA, facet.ofA)}</small>
                  </td>
                  <td>
                    {facet.hasB.toLocaleString("en-US")}{" "}
                    <span class="optional">of {facet.ofB.toLocaleString("en-US")}</span>{" "}
                    <small>{formatPercent(facet.hasB, facet.ofB)}</small>
                  </td>
                  <td>{formatChance(facet.logP)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
    </div>
  );
}
