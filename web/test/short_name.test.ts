// Short names are those of the terminal: the same table is read by tests/unit/model/labels/short_name.c.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { shortName } from "../src/shared/names/short_name";

const ROOT = process.env["CAIRN_SOURCE"] ?? "..";

test("names are shortened as the table says", () => {
  const lines = readFileSync(`${ROOT}/tests/support/short_names.tsv`, "utf8").trimEnd().split("\n");
  assert.ok(lines.length > 50);
  for (const line of lines) {
    const [width, name, short] = line.split("\t");
    assert.equal(shortName(name ?? "", Number(width)), short, line);
    assert.ok([...shortName(name ?? "", Number(width))].length <= Number(width), line);
  }
});

test("any text fits", () => {
  for (const text of [
    "",
    "<",
    ">>>>>>",
    "((((((",
    "a::b::c::d::e",
    "operator<<<<<<<<",
    "..............",
    "ééééééééééé",
  ])
    for (let width = 1; width < 12; width++)
      assert.ok([...shortName(text, width)].length <= width, text);
});
