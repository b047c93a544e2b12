// Rows as text for the clipboard: of one row, of the calls that lead to it, or of all rows that are
// open and loaded.

import { lineAt, type Level, type Node } from "./tree_model";
import { unitTitle, type ShownColumn } from "./tree_rows";

export const COPY_WHAT = ["row", "stack", "table"] as const;
export type CopyWhat = (typeof COPY_WHAT)[number];
export const COPY_FORMATS = ["text", "CSV", "markdown"] as const;
export type CopyFormat = (typeof COPY_FORMATS)[number];

export function stackOf(node: Node): Node[] {
  const nodes: Node[] = [];
  for (let at: Node | null = node; at; at = at.level.parent) nodes.unshift(at);
  return nodes;
}

export function openNodes(top: Level): Node[] {
  const nodes: Node[] = [];
  for (let i = 0; i < top.lines; i++) {
    const line = lineAt(top, i);
    if (line && "node" in line) nodes.push(line.node);
  }
  return nodes;
}

const csvField = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const markdownField = (text: string) => text.replaceAll("|", "\\|");

// CSV has the numbers as they are; the others have them as they are shown.
export function printRows(nodes: Node[], shown: ShownColumn[], format: CopyFormat): string {
  const least = nodes.reduce((depth, node) => Math.min(depth, node.depth), Infinity);
  const indent = (node: Node) => "  ".repeat(node.depth - least);
  if (format === "CSV") {
    const head = [...shown.map(({ column }) => column.name), "depth", "context"];
    const lines = nodes.map((node) => [
      ...shown.map(({ index }) => String(node.row.values[index] ?? "")),
      String(node.depth),
      node.row.label,
    ]);
    return [head, ...lines].map((line) => line.map(csvField).join(",")).join("\n") + "\n";
  }
  const head = [...shown.map(unitTitle), "context"];
  const lines = nodes.map((node) => [
    ...shown.map(({ index, unit }) => unit.print(node.row.values[index]).trim()),
    indent(node) + node.row.label,
  ]);
  if (format === "markdown") {
    const rule = [...shown.map(() => "---:"), "---"];
    const keepIndent = (text: string) =>
      text.replace(/^ +/, (blanks) => "&nbsp;".repeat(blanks.length));
    return (
      [head, rule, ...lines.map((line) => line.map(keepIndent))]
        .map((line) => `| ${line.map(markdownField).join(" | ")} |`)
        .join("\n") + "\n"
    );
  }
  const widths = shown.map((_, i) =>
    Math.max(...[head, ...lines].map((line) => line[i]?.length ?? 0)),
  );
  return (
    [head, ...lines]
      .map((line) =>
        line.map((text, i) => (i < shown.length ? text.padStart(widths[i] ?? 0) : text)).join("  "),
      )
      .join("\n") + "\n"
  );
}
