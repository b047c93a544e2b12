// The rows of a table from a flame graph that is in the page: of a time range, or of an exported page.
// The same three views as the server has, and the same rule: a row counts every moment once, however
// often its function is on the stack.

import { layOut, type Box } from "./flame_layout";
import type { Column, Flame, Hits, Row, Rows } from "../shared/types";

interface Item {
  label: string;
  module: string;
  kind: string;
  total: number;
  self: number;
  chains: { leaf: number; at: number }[]; // boxes; of the bottom-up view
  children: string[] | null; // ids; null: not listed yet
  context: string;
}

const TOP = "";

export class FlameRows {
  private readonly boxes: Box[];
  private readonly ends: number[]; // by box: one past the last that is inside
  private readonly items = new Map<string, Item>();

  constructor(
    private readonly flame: Flame,
    private readonly view: string,
  ) {
    this.boxes = layOut(flame);
    this.ends = this.boxes.map((box) => box.index + 1);
    for (let i = this.boxes.length - 1; i >= 0; i--) {
      const parent = this.boxes[i]?.parent ?? -1;
      if (parent >= 0) this.ends[parent] = Math.max(this.ends[parent] ?? 0, this.ends[i] ?? 0);
    }
    this.items.set(TOP, this.makeItem("", "", "other"));
    if (view === "bottom-up")
      this.groupBy(TOP, (box) => ({
        at: box.index,
        key: box.name,
        label: box.name,
        kind: "function",
        module: box.module,
      }));
    else if (view === "flat") this.groupFlat();
    else this.listContexts();
  }

  private makeItem(label: string, module: string, kind: string, context = ""): Item {
    return { label, module, kind, total: 0, self: 0, chains: [], children: null, context };
  }

  private listContexts(): void {
    const top = this.items.get(TOP);
    if (top) top.children = [];
    for (const box of this.boxes) {
      const item = this.makeItem(box.name, box.module, "function", box.id);
      item.total = box.value;
      item.self = box.self;
      item.children = [];
      this.items.set(String(box.index), item);
      this.items.get(box.parent < 0 ? TOP : String(box.parent))?.children?.push(String(box.index));
    }
  }

  // Rows below one: boxes of the same key together.
  private groupBy(
    parent: string,
    groupOf: (
      box: Box,
      leaf: number,
    ) => { at: number; key: string; label: string; kind: string; module: string } | null,
  ): void {
    const above = this.items.get(parent);
    if (!above) return;
    const covered = new Map<string, number>();
    const chains =
      parent === TOP ? this.boxes.map((box) => ({ leaf: box.index, at: box.index })) : above.chains;
    above.children = [];
    for (const { leaf, at } of chains) {
      const from = this.boxes[at];
      const box = this.boxes[leaf];
      const group = from && groupOf(from, leaf);
      if (!group || !box) continue;
      const id = `${parent}/${group.key}`;
      let item = this.items.get(id);
      if (!item) {
        item = this.makeItem(group.label, group.module, group.kind, this.boxes[group.at]?.id ?? "");
        this.items.set(id, item);
        above.children.push(id);
      }
      item.chains.push({ leaf, at: group.at });
      item.self += box.self;
      if (leaf < (covered.get(id) ?? 0)) continue;
      item.total += box.value;
      covered.set(id, this.ends[leaf] ?? 0);
    }
  }

  private groupFlat(): void {
    this.groupBy(TOP, (box) => ({
      at: box.index,
      key: box.module,
      label: box.module || "<unknown module>",
      kind: "module",
      module: box.module,
    }));
    for (const id of this.items.get(TOP)?.children ?? [])
      this.groupBy(id, (box) => ({
        at: box.index,
        key: box.name,
        label: box.name,
        kind: "function",
        module: box.module,
      }));
  }

  private childrenOf(id: string): string[] {
    const item = this.items.get(id);
    if (!item) return [];
    if (!item.children && this.view === "bottom-up")
      this.groupBy(id, (box) => {
        const caller = this.boxes[box.parent];
        return caller
          ? {
              at: caller.index,
              key: caller.name,
              label: caller.name,
              kind: "function",
              module: caller.module,
            }
          : null;
      });
    return item.children ?? [];
  }

  private isLeaf(item: Item): boolean {
    if (item.children) return item.children.length === 0;
    return (
      this.view !== "bottom-up" ||
      !item.chains.some(({ at }) => (this.boxes[at]?.parent ?? -1) >= 0)
    );
  }

  private row(id: string): Row {
    const item = this.items.get(id) ?? this.makeItem("", "", "other");
    return {
      id: encodeId(id),
      kind: item.kind,
      label: item.label,
      context: item.context,
      module: item.module || null,
      file: null,
      line: 0,
      isLeaf: this.isLeaf(item),
      values: [item.total, item.self === 0 ? null : item.self],
    };
  }

  columns(): Column[] {
    const metric = this.flame.column;
    const side = (name: "inclusive" | "exclusive", title: string): Column => ({
      name,
      title: `${metric} ${title}`,
      metric,
      side: name,
      isPercentile: false,
      total: this.flame.total,
    });
    return [side("inclusive", "total"), side("exclusive", "self")];
  }

  ask(
    parent: string | undefined,
    offset: number,
    limit: number,
    sort: string,
    isReversed: boolean,
  ): Rows {
    const side = sort === "exclusive" ? 1 : 0;
    const rows = this.childrenOf(parent === undefined ? TOP : decodeId(parent)).map((id) =>
      this.row(id),
    );
    rows.sort((a, b) => ((b.values[side] ?? 0) - (a.values[side] ?? 0)) * (isReversed ? -1 : 1));
    return {
      columns: this.columns(),
      count: rows.length,
      rows: rows.slice(offset, offset + limit),
    };
  }

  // The rows that match, hottest first; of the bottom-up view the functions themselves.
  find(matches: (label: string) => boolean, limit: number): Hits {
    const hits: Hits["hits"] = [];
    const walk: { id: string; path: string[] }[] = this.childrenOf(TOP).map((id) => ({
      id,
      path: [],
    }));
    for (let at = walk.pop(); at; at = walk.pop()) {
      const row = this.row(at.id);
      if (matches(row.label)) hits.push({ path: at.path, row });
      if (this.view === "bottom-up") continue;
      for (const child of this.childrenOf(at.id))
        walk.push({ id: child, path: [...at.path, row.id] });
    }
    hits.sort((a, b) => (b.row.values[0] ?? 0) - (a.row.values[0] ?? 0));
    return { count: hits.length, hits: hits.slice(0, limit) };
  }
}

// Ids must not contain ".", which joins them in the address.
const encodeId = (id: string) => encodeURIComponent(id).replaceAll(".", "%2E");
const decodeId = (id: string) => decodeURIComponent(id);
