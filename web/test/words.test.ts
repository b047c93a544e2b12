import assert from "node:assert/strict";
import { test } from "node:test";
import { splitTail } from "../src/shared/names/names";
import {
  axisStep,
  choiceTitle,
  formatChance,
  formatNs,
  formatTick,
  formatValue,
  metricTitle,
  parseNs,
  timeStep,
} from "../src/shared/format";
import { clampRange, panRange, zoomRange } from "../src/shared/range";
import { parseState, printState } from "../src/shared/state";

test("durations have the unit that fits", () => {
  assert.equal(formatNs(12), "12 ns");
  assert.equal(formatNs(1500), "1.5 µs");
  assert.equal(formatNs(999_960), "1 ms");
  assert.equal(formatNs(999_900), "999.9 µs");
  assert.equal(formatNs(140_000_000), "140 ms");
  assert.equal(formatNs(65_000_000), "65 ms");
  assert.equal(formatNs(7.2e12), "2 h");
});

test("values are shown by what they measure", () => {
  assert.equal(formatValue(0.0015, "time (sec)"), "1.5 ms");
  assert.equal(formatValue(1234567, "calls"), "1,234,567");
  assert.equal(formatValue(null, "calls"), "");
  assert.equal(formatValue(30_018_375, "live at peak (B)"), "28.63 MiB");
  assert.equal(metricTitle("live at peak (B)"), "live at peak");
  assert.equal(metricTitle("time (s)"), "time");
  const names = ["live at end (B)", "live at end", "allocated (B)"];
  assert.deepEqual(
    names.map((name) => choiceTitle(name, names)),
    ["live at end (B)", "live at end", "allocated"],
  );
});

test("small probabilities have one digit and a power of ten", () => {
  assert.equal(formatChance(Math.log(0.25)), "0.3");
  assert.equal(formatChance(Math.log(0.0042)), "0.004");
  assert.equal(formatChance(-42.6 * Math.LN10), "3 × 10⁻⁴³");
  assert.equal(formatChance(Math.log(9.9e-6)), "1 × 10⁻⁵");
});

test("durations can be typed", () => {
  assert.equal(parseNs("1.5ms"), 1_500_000);
  assert.equal(parseNs("20"), 20);
  assert.ok(Number.isNaN(parseNs("soon")));
});

test("axis steps are round", () => {
  assert.equal(axisStep(1000, 10), 100);
  assert.equal(axisStep(1300, 10), 200);
  assert.equal(timeStep(1300, 10), 200);
});

test("axes of minutes, hours and days have marks at whole ones", () => {
  const marks = (span: number, count: number) => {
    const step = timeStep(span * 1e9, 6);
    return Array.from({ length: count }, (_, i) => formatTick((i + 1) * step, step));
  };
  assert.deepEqual(marks(250, 4), ["1 min", "2 min", "3 min", "4 min"]);
  assert.deepEqual(marks(110, 4), ["20 s", "40 s", "1 min", "1 min 20 s"]);
  assert.deepEqual(marks(150, 3), ["30 s", "1 min", "1 min 30 s"]);
  assert.deepEqual(marks(3 * 3600, 4), ["30 min", "1 h", "1 h 30 min", "2 h"]);
  assert.deepEqual(marks(30 * 86400, 2), ["120 h", "240 h"]);
});

test("a range stays inside and keeps its width", () => {
  assert.deepEqual(clampRange({ begin: -50, end: 50 }, 1000), { begin: 0, end: 100 });
  assert.deepEqual(clampRange({ begin: 950, end: 1050 }, 1000), { begin: 900, end: 1000 });
  assert.deepEqual(panRange({ begin: 1, end: 3 }, 2), { begin: 3, end: 5 });
  assert.deepEqual(zoomRange({ begin: 0, end: 100 }, 50, 0.5), { begin: 25, end: 75 });
});

test("the state survives the address", () => {
  const state = { v: "flame", q: "a&b=c #1" };
  assert.deepEqual(parseState(printState(state)), state);
  assert.equal(printState({ v: "" }), "#");
});

test("a name is not divided after one or two characters", () => {
  for (const name of ["resolve_map", "tupledealloc", "measure_all", "a_b"])
    assert.notEqual([1, 2].includes(splitTail(name).head.length), true, name);
  const { head, tail } = splitTail("copy_folio_from_iter_atomic");
  assert.deepEqual([head, tail], ["copy_folio_from_iter_", "atomic"]);
});
