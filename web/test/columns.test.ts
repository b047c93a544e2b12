import assert from "node:assert/strict";
import { test } from "node:test";
import { columnsOf, parseColumns } from "../src/tree/saved_columns";
import { openNodes, printRows, stackOf } from "../src/tree/copy_rows";
import { addRows, makeLevel, openNode } from "../src/tree/tree_model";
import {
  changeClass,
  endsOf,
  locationOf,
  nameColumn,
  shownColumns,
  treeColumns,
  type ComparedRow,
  type TreeColumn,
} from "../src/tree/tree_rows";
import { columnUnit, durationUnit, percentUnit, signedUnit } from "../src/shared/units";
import type { Column, Row } from "../generated/answers";

const column = (metric: string, side: "inclusive" | "exclusive", total: number): Column => ({
  name: `${metric}_${side}`,
  title: metric,
  metric: `${metric} (sec)`,
  side,
  isPercentile: false,
  total,
  hasShare: true,
});
const columns = [column("time", "inclusive", 0.25), column("time", "exclusive", 0.25)];
const row = (label: string, values: (number | null)[]): Row => ({
  id: label,
  kind: "function",
  label,
  context: label,
  module: "/bin/prog",
  file: "src/a.c",
  line: 3,
  language: null,
  code: null,
  isLeaf: false,
  values,
});
const layout = { hidden: new Set<string>(), order: [] as string[], mode: "auto" as const };

test("columns are ordered, hidden, and have one unit", () => {
  const titles = (changes: Partial<typeof layout>, px = 1000) => {
    const shown = shownColumns(columns, { ...layout, ...changes });
    return treeColumns(shown, nameColumn(shown, px)).map(({ title }) => title);
  };
  assert.deepEqual(titles({}), ["time total (ms)", "time self (ms)", "context"]);
  assert.deepEqual(titles({ order: ["time_exclusive"] })[0], "time self (ms)");
  assert.deepEqual(titles({ hidden: new Set(["time_inclusive"]) }), ["time self (ms)", "context"]);
  // In a narrow table, names come first, and are not indented out of sight.
  assert.deepEqual(titles({}, 500), ["context", "time total (ms)", "time self (ms)"]);
  const names = nameColumn(shownColumns(columns, layout), 500);
  assert.equal(names.widths, "275px 10.5em 10.5em");
  assert.equal(names.bars, "none");
  assert.ok(names.indent(1) > 0 && names.indent(1000) < 275 / 2);
  // On a phone, numbers are below names, with bars where there is room.
  const phone = nameColumn(shownColumns(columns, layout), 400);
  assert.ok(phone.isStacked && phone.isFirst);
  assert.equal(phone.bars, "short");
  assert.equal(phone.widths, "minmax(8.5em, 1fr) minmax(8.5em, 1fr)");
  assert.ok(phone.indent(1000) < 200);
  const many = shownColumns([...columns, ...columns], layout);
  assert.equal(nameColumn(many, 400).widths, "11.5em 11.5em 11.5em 11.5em", "two fill the page");
  assert.equal(nameColumn(many, 400).bars, "short", "also where the others are scrolled to");
  const barsAt = (px: number, isList = false) =>
    nameColumn(shownColumns(columns, layout), px, isList).bars;
  assert.equal(barsAt(800), "short");
  // Bars are left out before names are cut, and are longer in lists.
  assert.equal(barsAt(670), "short");
  assert.equal(barsAt(1280), "short");
  assert.equal(barsAt(1280, true), "long");
  assert.equal(barsAt(1000, true), "short");
});

test("differences have bars, grey where they may be noise", () => {
  const rows = [
    [2, 5, 3, 0.5],
    [4, 0, -4, 0.1],
  ].map((values, i) => ({ ...row(`f${i}`, values), isNoise: i === 1 }));
  assert.deepEqual(endsOf(rows), [4, 5, 4, 0.5]);
  assert.deepEqual(endsOf([]), []);
  const [first, second] = rows as [ComparedRow, ComparedRow];
  assert.equal(changeClass(3, first), "worse");
  assert.equal(changeClass(-3, first), "better");
  assert.equal(changeClass(-4, second), "same");
  const difference: TreeColumn = { ...column("", "inclusive", 9), form: "signed", hasShare: false };
  const side: TreeColumn = { ...column("", "inclusive", 9), hasShare: false, width: 6.5 };
  const shown = shownColumns([side, side, difference, side], layout, [], [0, 0, 4]);
  assert.equal(shown[2]?.end, 4);
  assert.equal(nameColumn(shown, 380).widths, "6em 6em 11.5em 6em", "three fill a phone");
});

test("a location is said once", () => {
  assert.equal(locationOf(row("f", [])), "a.c:3");
  assert.equal(locationOf(row("a.c:3", [])), "");
  assert.equal(locationOf({ ...row("f", []), file: null }), "prog");
});

test("rows are copied as text, CSV and markdown", () => {
  const top = makeLevel(null, 1);
  addRows(top, 0, [row("main", [0.25, null])]);
  const main = top.nodes.get(0);
  assert.ok(main);
  main.children = makeLevel(main, 1);
  addRows(main.children, 0, [row('a|"b"', [0.001, 0.001])]);
  openNode(main);
  const leaf = main.children.nodes.get(0);
  assert.ok(leaf);
  const shown = shownColumns(columns, layout);
  assert.deepEqual(stackOf(leaf), openNodes(top));
  assert.equal(
    printRows(openNodes(top), shown, "text"),
    "time total (ms)  time self (ms)  context\n" +
      "         250.00                  main\n" +
      '           1.00            1.00    a|"b"\n',
  );
  assert.equal(
    printRows([leaf], shown, "CSV"),
    'time_inclusive,time_exclusive,depth,context\n0.001,0.001,1,"a|""b"""\n',
  );
  assert.match(
    printRows(openNodes(top), shown, "markdown"),
    /\| 1.00 \| 1.00 \| &nbsp;&nbsp;a\\\|"b" \|/,
  );
});

test("columns are saved whole, and other text is no columns", () => {
  const state = { v: "flat", m: "calls", cols: "a\nb", unit: "ns" };
  const columns = columnsOf(state);
  assert.deepEqual(columns, { more: "", hide: "", cols: "a\nb", unit: "ns", derive: "" });
  assert.deepEqual(parseColumns(columns), columns);
  for (const saved of [null, "", 7, undefined]) assert.equal(parseColumns(saved), null);
  assert.deepEqual(parseColumns({ v: "calls", cols: 7 }), { ...columns, cols: "", unit: "" });
});

test("durations have four digits, and their points are below each other", () => {
  const { unit, print } = durationUnit(1474452000);
  assert.equal(unit, "ms");
  const texts = [1474452000, 189647000, 16340000, 7707000, 42000].map(print);
  assert.deepEqual(
    texts.map((text) => text.trim()),
    ["1,474", "189.6", "16.34", "7.707", "0.042"],
  );
  assert.deepEqual(
    texts.map((text) => text.length - Math.max(text.indexOf("."), text.indexOf("\u2008"))),
    [4, 4, 4, 4, 4],
  );
  assert.equal(print(12), "< 0.001");
  assert.equal(durationUnit(9999e6).unit, "ms");
  assert.equal(durationUnit(10e9).unit, "s");
});

test("differences have their sign, unless they are nothing", () => {
  const { print } = signedUnit(columnUnit("time (sec)", 0.4, "auto"));
  assert.deepEqual([0.035, -0.00024, 0, 1e-9, null].map(print), [
    "+35.00",
    "−0.24",
    "0.00",
    "< 0.01",
    "",
  ]);
  assert.deepEqual([89.656, -0.673, -0.004].map(percentUnit.print), ["+89.7", "−0.7", "0.0"]);
});
