import assert from "node:assert/strict";
import test from "node:test";
import {
  assemblyRows,
  hottestFirst,
  type Instruction,
  LANE_MAX,
  layOutJumps,
} from "../src/tree/assembly_model";

const code = (jumps: Record<number, number>, count: number): Instruction[] =>
  Array.from({ length: count }, (_, i) => ({
    offset: 4 * i,
    text: "nop",
    ...(jumps[i] === undefined ? {} : { jump: jumps[i] }),
  }));

test("a source line is above its first instruction", () => {
  const instructions = code({}, 3);
  Object.assign(instructions[1] ?? {}, { file: "a.c", line: 7, source: "x++;" });
  assert.deepEqual(
    assemblyRows(instructions).map(({ at, isSource }) => (isSource ? `line of ${at}` : at)),
    [0, "line of 1", 1, 2],
  );
});

test("the hottest instructions come first, equal ones in order", () => {
  const instructions = code({}, 4);
  for (const [i, cost] of [0, 5, 9, 5].entries()) Object.assign(instructions[i] ?? {}, { cost });
  assert.deepEqual(hottestFirst(instructions), [2, 1, 3]);
});

test("jumps that overlap are in different lanes, short ones next to the code", () => {
  const instructions = code({ 5: 0, 3: 1, 4: 4, 8: 9 }, 10);
  const jumps = layOutJumps(instructions, assemblyRows(instructions));
  const lanes = new Map(jumps.map(({ from, lane }) => [from, lane]));
  assert.deepEqual([lanes.get(4), lanes.get(8), lanes.get(3), lanes.get(5)], [0, 0, 0, 1]);
});

test("jumps that find no lane share the last one", () => {
  const many = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [i, 23 - i]));
  const instructions = code(many, 24);
  const jumps = layOutJumps(instructions, assemblyRows(instructions));
  assert.equal(jumps.length, 12);
  assert.equal(jumps.filter(({ lane }) => lane === LANE_MAX - 1).length, 12 - (LANE_MAX - 1));
});
