// Opens damaged data in the engine: it ends in an answer or a message, never in a trap.
//   node engine_damage.mjs ENGINE.wasm <CASES
// CASES is JSON: {copies, cases: [{path, replaces, by}]}. Every file of `path` is cut at as many
// lengths as there are copies, and has bytes changed as often. With `replaces`, that file has the bytes
// of the file `by`, whole and damaged, and the others stay; "" is `path` itself.

import { readFileSync, readdirSync, statSync, writeSync } from "node:fs";
import { Engine } from "../src/engine/engine";
import { Bytes } from "../src/engine/file_system";

interface Case {
  path: string;
  replaces?: string;
  by?: string;
}

// What the class does not show.
interface Inside {
  exports: { alloc(length: number): number };
  call(run: () => number): unknown;
}

const QUESTIONS = ["info", "overview", "threads", "rows", "rows?view=flat", "flame?view=bottom-up"]
  .concat(["timeline", "rows?begin=1", "calls", "traces", "groups?by=method"])
  .map((question) => `/api/v1/sources/0/${question}`);
const SLOW_MS = 60_000;

type Files = Map<string, Uint8Array>;

function readAll(path: string, files: Files = new Map()): Files {
  if (statSync(path).isDirectory())
    for (const name of readdirSync(path)) readAll(`${path}/${name}`, files);
  else files.set(path, readFileSync(path));
  return files;
}

let state = 1;
function random(below: number): number {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % below;
}

function* damages(bytes: Uint8Array, copies: number): Generator<[string, Uint8Array]> {
  for (let i = 0; i < copies; i++) {
    const length = Math.floor((bytes.length * i) / copies);
    yield [`cut at ${length}`, bytes.subarray(0, length)];
  }
  for (let i = 0; i < copies && bytes.length > 0; i++) {
    const changed = bytes.slice();
    const changes: string[] = [];
    for (let k = 0; k < 3; k++) {
      const at = random(bytes.length);
      const value = random(256);
      changed[at] = value;
      changes.push(`${value} at ${at}`);
    }
    yield [changes.join(", "), changed];
  }
}

const module = new WebAssembly.Module(readFileSync(process.argv[2] ?? ""));
const { copies, cases } = JSON.parse(readFileSync(0, "utf8")) as { copies: number; cases: Case[] };
let opened = 0;
let refused = 0;
let failures = 0;

async function look(path: string, files: Files, what: string): Promise<void> {
  const begin = Date.now();
  try {
    const engine = await Engine.start(module);
    for (const [name, bytes] of files) engine.files.add(name, new Bytes(bytes));
    if (engine.open({ path }).ok) opened++;
    else refused++;
    for (const question of QUESTIONS) JSON.parse(engine.ask(question).text);
    if (Date.now() - begin > SLOW_MS) throw new Error(`took ${Date.now() - begin} ms`);
  } catch (error) {
    failures++;
    console.log(`${what}: ${String(error)}`);
  }
}

for (const { path, replaces, by } of cases) {
  // Without a buffer: where a case hangs, the last line names it.
  writeSync(1, `${by ?? path}\n`);
  const files: Files = replaces === "" ? new Map() : readAll(path);
  if (replaces !== undefined && by !== undefined) {
    const name = replaces === "" ? path : `${path}/${replaces}`;
    const bytes = readFileSync(by);
    for (const [damage, damaged] of [["whole", bytes] as const, ...damages(bytes, copies)])
      await look(path, new Map(files).set(name, damaged), `${name}, ${by}, ${damage}`);
  } else
    for (const [name, bytes] of files)
      for (const [damage, damaged] of damages(bytes, copies))
        await look(path, new Map(files).set(name, damaged), `${name}, ${damage}`);
}

// More memory than there is: the message says so.
try {
  const engine = (await Engine.start(module)) as unknown as Inside;
  engine.call(() => engine.exports.alloc(0xffff0000));
  failures++;
  console.log("memory has no end");
} catch (error) {
  if (!/out of memory/.test(String(error))) {
    failures++;
    console.log(`out of memory: ${String(error)}`);
  }
}
console.log(`${opened} opened, ${refused} refused, ${failures} failed`);
process.exitCode = failures > 0 || refused === 0 || opened === 0 ? 1 : 0;
