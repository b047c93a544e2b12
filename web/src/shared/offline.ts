// A page written by `cairn export-html` has no server: it answers from the data inside.

import type { Parameters } from "./api";
import { matcher } from "../flame/flame_layout";
import type { Overview } from "../overview/overview_types";
import { FlameRows } from "../flame/flame_rows";
import type { Flame, Info, NestedAnswer, Sources, Thread } from "./types";

interface Exported {
  sources: Sources;
  info: Info;
  overview: Overview;
  flame: Flame;
  flameWithWaits?: Flame;
  timeline: NestedAnswer | null;
  threads: Thread[];
}

let exported: Exported | null = null;
const views = new Map<string, FlameRows>();

export function loadOffline(): void {
  const element = document.getElementById("cairn-data");
  if (!element?.textContent) return;
  exported = JSON.parse(element.textContent) as Exported;
  const { info } = exported;
  delete info.tasks; // calls and other metrics are not exported
  const shown = [info.defaultMetric, exported.flameWithWaits?.column];
  info.metrics = info.metrics.filter((metric) => shown.includes(metric.name));
  info.hasLatencies = false;
}

export function isOffline(): boolean {
  return exported !== null;
}

function flameOf(from: Exported, { metric, waits }: Parameters): Flame {
  const other = from.flameWithWaits;
  return other && (waits === 1 || metric === other.column) ? other : from.flame;
}

function rowsOf(flame: Flame, parameters: Parameters): FlameRows {
  const view = String(parameters["view"] ?? "top-down");
  const key = `${view} ${flame.column}`;
  const rows = views.get(key) ?? new FlameRows(flame, view);
  views.set(key, rows);
  return rows;
}

export function answerOffline(path: string, parameters: Parameters): unknown {
  if (!exported) throw new Error("this page has no data");
  const name = path.split("/").pop();
  switch (name) {
    case "sources":
      return exported.sources;
    case "info":
      return exported.info;
    case "overview":
      return exported.overview;
    case "flame":
      if ((parameters["view"] ?? "top-down") === "top-down") return flameOf(exported, parameters);
      break;
    case "rows": {
      const sort = String(parameters["sort"] ?? "");
      const row = parameters["row"] === undefined ? undefined : String(parameters["row"]);
      return rowsOf(flameOf(exported, parameters), parameters).ask(
        row,
        Number(parameters["offset"] ?? 0),
        Number(parameters["limit"] ?? 200),
        sort,
        parameters["reverse"] === "1",
      );
    }
    case "search":
      return rowsOf(flameOf(exported, parameters), parameters).find(
        matcher(String(parameters["q"] ?? "")) ?? (() => false),
        500,
      );
    case "timeline":
      if (exported.timeline) return exported.timeline;
      break;
    case "threads":
      return exported.threads;
  }
  const source = exported.sources.sources[0]?.path ?? "PATH";
  throw new Error(`Not in this export. Run: cairn view ${source}`);
}
