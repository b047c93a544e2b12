// Facets: the number of matching traces, or spans, by type, service and other attributes. A click on a value adds
// it to the query, or removes it.

import { formatNs, splitMethod } from "../shared/format";
import { has, toggle } from "./query_language";
import { fieldName, quote } from "./query_text";
import { flag, go, type State } from "../shared/state";
import type { Group, Groups, Names } from "../../generated/answers";
import { useAnswer } from "../shared/use_answer";
import { useServiceColor } from "./service_colors";

interface Props {
  path: string;
  state: State;
}

const ALWAYS = ["type", "service"];
const BETWEEN = "\n"; // names of facets in the address
const VALUES = 10;
const VALUES_ALL = 200;

export function Facets(props: Props) {
  const names = useAnswer<Names>(`${props.path}/names`);
  const chosen = (props.state.by ?? "method").split(BETWEEN).filter((name) => name !== "");
  const all = ["method", ...(names.value?.names ?? [])].filter((name) => !chosen.includes(name));
  // "-" means none: without a value, the default applies.
  const choose = (list: string[]) => go({ by: list.join(BETWEEN) || "-" });
  return (
    <aside class="facets" aria-label="facets">
      {ALWAYS.map((by) => (
        <Facet key={by} {...props} by={by} />
      ))}
      {chosen
        .filter((by) => by !== "-")
        .map((by) => (
          <Facet
            key={by}
            {...props}
            by={by}
            onClose={() => choose(chosen.filter((name) => name !== by && name !== "-"))}
          />
        ))}
      <label>
        <select
          aria-label="add a facet"
          value=""
          onChange={(event) =>
            choose([...chosen.filter((name) => name !== "-"), event.currentTarget.value])
          }
        >
          <option value="">add a facet…</option>
          {all.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
    </aside>
  );
}

// The name of a facet in a query.
function conditionName(by: string): string {
  if (by === "method") return "root";
  return ALWAYS.includes(by) ? by : fieldName(by);
}

function Facet(props: Props & { by: string; onClose?: () => void }) {
  const query = props.state.q ?? "";
  const isLong = props.state.all === props.by;
  const { value } = useAnswer<Groups>(`${props.path}/groups`, {
    q: query,
    by: ALWAYS.includes(props.by) || props.by === "method" ? props.by : fieldName(props.by),
    limit: isLong ? VALUES_ALL : VALUES,
    spans: flag(props.state.v === "spans"),
  });
  const most = value?.groups[0]?.count ?? 1;
  const rest = (value?.count ?? 0) - (value?.groups.length ?? 0);
  return (
    <table class="facet">
      <caption>
        {props.by}
        {props.onClose && (
          <button
            class="link remove"
            aria-label={`remove the facet ${props.by}`}
            title="remove"
            onClick={props.onClose}
          >
            ×
          </button>
        )}
      </caption>
      <tbody>
        {(value?.groups ?? []).map((group) => (
          <FacetValue
            key={group.value}
            group={group}
            most={most}
            query={query}
            condition={`${conditionName(props.by)} = ${quote(group.value)}`}
            isService={props.by === "service"}
          />
        ))}
        {value?.count === 0 && (
          <tr>
            <td class="faint" colSpan={2}>
              none
            </td>
          </tr>
        )}
        {(rest > 0 || isLong) && (
          <tr>
            <td colSpan={2}>
              <button class="link" onClick={() => go({ all: isLong ? "" : props.by })}>
                {isLong ? "fewer" : `${rest.toLocaleString("en-US")} more…`}
              </button>
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function FacetValue(props: {
  group: Group;
  most: number;
  query: string;
  condition: string;
  isService: boolean;
}) {
  const { group, query, condition } = props;
  const color = useServiceColor();
  const isOn = has(query, condition);
  const change = (event: MouseEvent) =>
    go({
      q: toggle(query, event.shiftKey && !isOn ? `NOT ${condition}` : condition),
      top: "",
      row: "",
    });
  return (
    <tr class={isOn ? "chosen" : ""}>
      <td>
        <button
          class="link"
          aria-pressed={isOn}
          title={`${group.value}\np50 ${formatNs(group.p50)}, p90 ${formatNs(group.p90)}, p99 ${formatNs(group.p99)}, ${group.errors} with errors\nclick: only these; shift-click: exclude these`}
          onClick={change}
        >
          {isOn ? "✓ " : ""}
          {props.isService && <i class="swatch" style={{ background: color(group.value) }} />}
          {splitMethod(group.value).short || "(empty)"}
        </button>
        <i class="facet-bar" style={{ width: `${(group.count / props.most) * 100}%` }} />
      </td>
      <td>{group.count.toLocaleString("en-US")}</td>
    </tr>
  );
}
