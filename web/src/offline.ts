// A page exported with `cairn export-html` has no server: what it can show came along, and
// is answered from there.

import { layOut, type Box } from "./flame_layout";
import type { Parameters } from "./api";
import type { Column, Flame, Info, Row, Rows, Sources, TimelineFrame } from "./types";

interface Exported {
  sources: Sources;
  info: Info;
  flame: Flame;
  timeline: TimelineFrame | null;
}

let exported: Exported | null = null;
let boxes: Box[] = [];

export function loadOffline(): void {
  const element = document.getElementById("cairn-data");
  if (!element?.textContent) return;
  exported = JSON.parse(element.textContent) as Exported;
  boxes = layOut(exported.flame);
}

export function isOffline(): boolean {
  return exported !== null;
}

function columns(flame: Flame): Column[] {
  const metric = flame.column.replace(/ \(I\)$/, "");
  const side = (name: "inclusive" | "exclusive", title: string): Column => ({
    name,
    title,
    metric,
    side: name,
    isPercentile: false,
    total: flame.total,
  });
  return [side("inclusive", `${metric} (I)`), side("exclusive", `${metric} (E)`)];
}

function rowOf(box: Box): Row {
  const next = boxes[box.index + 1];
  return {
    id: String(box.index),
    kind: "function",
    label: box.name,
    module: box.module,
    file: null,
    line: 0,
    isLeaf: !next || next.parent !== box.index,
    values: [box.value, box.own],
  };
}

function childRows(flame: Flame, parameters: Parameters): Rows {
  const parent = parameters["row"] === undefined ? -1 : Number(parameters["row"]);
  const list = boxes.filter((box) => box.parent === parent);
  return { columns: columns(flame), count: list.length, rows: list.map(rowOf) };
}

export function answerOffline(path: string, parameters: Parameters): unknown {
  if (!exported) throw new Error("this page was not exported");
  const name = path.split("/").pop();
  switch (name) {
    case "sources":
      return exported.sources;
    case "info":
      return exported.info;
    case "flame":
      return exported.flame;
    case "rows":
      return childRows(exported.flame, parameters);
    case "timeline":
      if (exported.timeline) return exported.timeline;
      break;
    case "threads":
      return [];
  }
  throw new Error("this needs a server: open the original with cairn view");
}
