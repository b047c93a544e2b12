// The rows of a function's machine code, the order of its hottest instructions, and the lanes in
// which jumps are drawn.

export interface Instruction {
  offset: number; // in the module
  text: string;
  cost?: number;
  jump?: number; // index of the instruction that it may jump to
  callee?: string;
  inlined?: string; // the function inlined there
  file?: string; // where another source line begins, with `line` and `source`
  line?: number;
  source?: string | null; // its text; null: unknown
}

export interface Assembly {
  function: string;
  module: string;
  buildId: string | null; // null: not recorded
  column: string;
  total: number | null;
  self: number;
  inlined: number; // cost of functions inlined there
  instructions: Instruction[];
}

export interface AssemblyRow {
  at: number; // index of the instruction, or of the one after a source line
  isSource: boolean;
}

export function assemblyRows(instructions: Instruction[]): AssemblyRow[] {
  return instructions.flatMap((instruction, at) =>
    instruction.file === undefined
      ? [{ at, isSource: false }]
      : [
          { at, isSource: true },
          { at, isSource: false },
        ],
  );
}

// Indices of instructions with a cost, the hottest first.
export function hottestFirst(instructions: Instruction[]): number[] {
  return instructions
    .map((instruction, at) => ({ at, cost: instruction.cost ?? 0 }))
    .filter(({ cost }) => cost > 0)
    .sort((a, b) => b.cost - a.cost || a.at - b.at)
    .map(({ at }) => at);
}

export interface Jump {
  from: number; // rows
  to: number;
  lane: number; // 0 is next to the code
}

export const LANE_MAX = 8; // jumps that find no lane share the last one

// Short jumps are next to the code; jumps in one lane do not touch each other, the last lane excepted.
export function layOutJumps(instructions: Instruction[], rows: AssemblyRow[]): Jump[] {
  const rowOf: number[] = [];
  rows.forEach((row, i) => {
    if (!row.isSource) rowOf[row.at] = i;
  });
  const jumps = instructions.flatMap(({ jump }, at) =>
    jump === undefined ? [] : [{ from: rowOf[at] ?? 0, to: rowOf[jump] ?? 0, lane: LANE_MAX - 1 }],
  );
  const taken = Array.from({ length: LANE_MAX - 1 }, () => new Uint8Array(rows.length));
  const length = (jump: Jump) => Math.abs(jump.to - jump.from);
  jumps.sort((a, b) => length(a) - length(b) || a.from - b.from);
  for (const jump of jumps) {
    const first = Math.min(jump.from, jump.to);
    const last = Math.max(jump.from, jump.to);
    const lane = taken.findIndex((rowsTaken) => !rowsTaken.subarray(first, last + 1).includes(1));
    if (lane < 0) continue;
    jump.lane = lane;
    taken[lane]?.fill(1, first, last + 1);
  }
  return jumps;
}
