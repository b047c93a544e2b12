import assert from "node:assert/strict";
import { test } from "node:test";
import { mistakeIn } from "../src/tree/derived_model";

test("a mistake in a formula has a place", () => {
  const of = (formula: string, message: string) =>
    mistakeIn(formula, `derived metric 'x': formula ${formula.slice(2)}: ${message}`);
  assert.deepEqual(of("x=cycles/(2", "no ')' at character 10"), {
    formula: "x=cycles/(2",
    at: 11,
    text: "no ')' at character 10",
  });
  assert.equal(of("x=x1+nosuch/2", "no metric 'nosuch'; there are: 'cycles'").at, 5);
  assert.deepEqual(of("x=2 cycles", "no operator between two operands"), {
    formula: "x=2 cycles",
    at: -1,
    text: "no operator between two operands",
  });
});
