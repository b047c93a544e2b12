// Opens damaged copies of data in the engine: each ends in an answer or a message, never in a trap.
//   node engine_damage.mjs ENGINE.wasm COPIES PATH...
// Every file is cut at eighths and has bytes changed, COPIES times each.

import { readFileSync, readdirSync, statSync } from "node:fs";
import { Engine } from "../src/engine/engine";
import { Bytes } from "../src/engine/file_system";

const QUESTIONS = ["info", "overview", "threads", "rows", "rows?view=flat", "flame?view=bottom-up"]
  .concat(["timeline", "calls", "traces", "groups?by=method"])
  .map((question) => `/api/v1/sources/0/${question}`);

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
const copies = Number(process.argv[3]);
let opened = 0;
let refused = 0;
let failures = 0;

async function look(path: string, files: Files, what: string): Promise<void> {
  try {
    const engine = await Engine.start(module);
    for (const [name, bytes] of files) engine.files.add(name, new Bytes(bytes));
    if (engine.open({ path }).ok) opened++;
    else refused++;
    for (const question of QUESTIONS) JSON.parse(engine.ask(question).text);
  } catch (error) {
    failures++;
    console.log(`${what}: ${String(error)}`);
  }
}

for (const path of process.argv.slice(4)) {
  const files = readAll(path);
  for (const [name, bytes] of files)
    for (const [damage, damaged] of damages(bytes, copies))
      await look(path, new Map(files).set(name, damaged), `${name}, ${damage}`);
}
console.log(`${opened} opened, ${refused} refused, ${failures} failed`);
process.exitCode = failures > 0 || refused === 0 ? 1 : 0;
