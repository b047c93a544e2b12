import assert from "node:assert/strict";
import { test } from "node:test";
import { shellQuote } from "../src/shared/copy_command";
import { plotOf, toCsv, tracksOf } from "../src/sql/sql_model";
import { aliasesOf, completeSql, othersIn, tablesOf } from "../src/sql/sql_text";
import type { SqlResult } from "../generated/answers";

const result = (
  columns: [string, SqlResult["columns"][number]["type"]][],
  rows: SqlResult["rows"],
): SqlResult => ({
  columns: columns.map(([name, type]) => ({ name, type })),
  count: rows.length,
  isCut: false,
  elapsed: 1,
  damage: null,
  rows,
});

const tables = tablesOf(
  result(
    [
      ["schema", "text"],
      ["table", "text"],
      ["column", "text"],
      ["type", "text"],
      ["use", "text"],
    ],
    [
      ["main", "calls", "name", "TEXT", "key"],
      ["main", "calls", "begin_ns", "INTEGER", "key"],
      ["main", "calls", "depth", "INTEGER", null],
      ["main", "report", "name", "TEXT", null],
      ["main", "report", "self_ns", "INTEGER", null],
      ["main", "report", "thread", "INTEGER", "parameter"],
      ["s1", "calls", "name", "TEXT", null],
    ],
  ),
);

const words = (text: string) => {
  const cursor = text.indexOf("|");
  return completeSql(text.replace("|", ""), cursor, tables).words.map((word) => word.text);
};

test("tables are offered after FROM, their columns elsewhere", () => {
  assert.deepEqual(
    tables.map(({ name }) => name),
    ["calls", "report", "s1.calls"],
  );
  assert.deepEqual(words("SELECT * FROM |"), ["calls", "report", "s1.calls"]);
  assert.deepEqual(words("SELECT * FROM ca|"), ["calls"]);
  assert.deepEqual(words("SELECT na| FROM calls"), ["name"]);
  assert.deepEqual(words("SELECT c.| FROM calls c"), ["name", "begin_ns", "depth"]);
  assert.deepEqual(words("SELECT r.s| FROM report AS r JOIN calls c ON c.name = r.name"), [
    "self_ns",
  ]);
  assert.deepEqual(words("SELECT * FROM s1.|"), ["calls"]);
  assert.deepEqual(words("sel|"), ["SELECT"]);
  assert.ok(words("SELECT cou| FROM calls").includes("count(*)"));
  // Not inside of a text, not where nothing is typed, and no parameters.
  assert.deepEqual(words("SELECT 'ca|"), []);
  assert.deepEqual(words("SELECT |"), []);
  assert.deepEqual(words("SELECT thr| FROM report"), []);
  assert.deepEqual([...aliasesOf("SELECT 1 FROM calls WHERE x", tables).keys()], ["calls"]);
});

test("a statement names other sources by their id", () => {
  assert.deepEqual(othersIn("SELECT * FROM s1.calls JOIN S2.report, s1.x", 0, 3), [1, 2]);
  assert.deepEqual(othersIn("SELECT s9.x, s0.y, news.z", 0, 3), []);
});

test("a result with names has bars, one of numbers lines", () => {
  const named = result(
    [
      ["name", "text"],
      ["n", "integer"],
      ["x", "real"],
    ],
    [["a", 1, 2.5]],
  );
  assert.deepEqual(plotOf(named), { kind: "bars", x: 0, y: [1, 2] });
  assert.deepEqual(
    plotOf(
      result(
        [
          ["ms", "integer"],
          ["n", "integer"],
        ],
        [[1, 2]],
      ),
    ),
    { kind: "lines", x: 0, y: [1] },
  );
  assert.deepEqual(plotOf(result([["n", "integer"]], [[1]])), { kind: "lines", x: -1, y: [0] });
  assert.equal(plotOf(result([["a", "text"]], [["x"]])), null);
  assert.equal(plotOf(result([["n", "integer"]], [])), null);
});

test("rows with times are on tracks, those at the same time in lanes", () => {
  const epoch = 1_794_960_000_000_000_000n;
  const row = (service: string, at: number, length: number) => [
    service,
    "m",
    String(epoch + BigInt(at)),
    length,
  ];
  const found = tracksOf(
    result(
      [
        ["service", "text"],
        ["method", "text"],
        ["time_ns", "integer"],
        ["duration_ns", "integer"],
      ],
      [row("a", 100, 50), row("b", 0, 10), row("a", 120, 10), row("a", 150, 5), row("a", 100, 20)],
    ),
  );
  assert.equal(found?.duration, 155);
  assert.deepEqual(
    found?.tracks.map(({ name, depth, items }) => [
      name,
      depth,
      items.map(({ begin, end }) => [begin, end]),
    ]),
    [
      [
        "a",
        2,
        [
          [100, 150],
          [100, 120],
          [120, 130],
          [150, 155],
        ],
      ],
      ["b", 1, [[0, 10]]],
    ],
  );
  assert.deepEqual(found?.tracks[0]?.depths, [0, 1, 1, 0]);
  assert.equal(found?.tracks[0]?.items[0]?.name, "m");
  const ends = tracksOf(
    result(
      [
        ["begin_ns", "integer"],
        ["end_ns", "integer"],
      ],
      [
        [5, 9],
        [7, null],
      ],
    ),
  );
  assert.deepEqual(
    ends?.tracks[0]?.items.map(({ begin, end }) => [begin, end]),
    [
      [0, 4],
      [2, 2],
    ],
  );
  assert.equal(tracksOf(result([["n", "integer"]], [[1]])), null);
  assert.equal(
    tracksOf(
      result(
        [
          ["begin_ns", "text"],
          ["end_ns", "integer"],
        ],
        [["x", 1]],
      ),
    ),
    null,
  );
});

test("results are saved with quotes, and commands survive a shell", () => {
  assert.equal(
    toCsv(
      result(
        [
          ["a,b", "text"],
          ["n", "integer"],
        ],
        [['x "y"', null]],
      ),
    ),
    '"a,b",n\n"x ""y""",\n',
  );
  assert.equal(shellQuote("a.data"), "a.data");
  assert.equal(shellQuote("it's $HOME"), "'it'\\''s $HOME'");
});
