// Asks the engine what a server was asked, and compares the answers byte for byte:
//   node engine_replay.mjs ENGINE.wasm <QUESTIONS
// QUESTIONS is JSON: {sources: [{path}], questions: [[address, answer]]}, or {page: FILE, ...} for
// the data in a page of cairn export-html. Answers to questions without one are printed, each as a string in JSON.

import { openSync, readFileSync, readSync, readdirSync, statSync } from "node:fs";
import { inflateRawSync } from "node:zlib";
import { Engine, type SourceToOpen } from "../src/engine/engine";
import { Bytes, type Content, type FileSystem } from "../src/engine/file_system";

interface Questions {
  sources?: SourceToOpen[];
  page?: string;
  questions: [string, string | null][];
}

interface PageList {
  sources: SourceToOpen[];
  files: { path: string; size: number }[];
}

// Of answers that continue when they are asked for again.
const UNFINISHED = /"(isPending|isPartial)": true/;

// Read by range, as files that were dropped into a page.
class OnDisk implements Content {
  private readonly fd: number;
  readonly size: number;

  constructor(path: string) {
    this.fd = openSync(path, "r");
    this.size = statSync(path).size;
  }

  read(offset: number, into: Uint8Array): number {
    return readSync(this.fd, into, 0, into.length, offset);
  }
}

// Pages and a cache so small that most of what is read crosses pages and is read again.
const RANGES = { page: 512, cached: 16384 };

function addFiles(files: FileSystem, path: string): void {
  if (statSync(path).isDirectory()) {
    files.makeFolders(path);
    for (const name of readdirSync(path)) addFiles(files, `${path}/${name}`);
  } else {
    files.add(path, new OnDisk(path));
  }
}

function addPage(files: FileSystem, page: string): SourceToOpen[] {
  const text = readFileSync(page, "utf8");
  const list = JSON.parse(/id="cairn-files">(.*?)<\/script>/s.exec(text)?.[1] ?? "") as PageList;
  const blocks = [...text.matchAll(/class="cairn-data">(.*?)<\/script>/g)].map(([, block]) =>
    inflateRawSync(Buffer.from(block ?? "", "base64")),
  );
  const bytes = Buffer.concat(blocks);
  let at = 0;
  for (const { path, size } of list.files)
    files.add(path, new Bytes(bytes.subarray(at, (at += size))));
  if (at !== bytes.length) throw new Error(`${page}: ${bytes.length} bytes, ${at} in files`);
  return list.sources;
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

const { sources, page, questions } = JSON.parse(readFileSync(0, "utf8")) as Questions;
const module = new WebAssembly.Module(readFileSync(process.argv[2] ?? ""));
const engine = await Engine.start(module, RANGES);
for (const source of sources ?? []) addFiles(engine.files, source.path);
for (const source of sources ?? addPage(engine.files, page ?? "")) {
  const { ok, text } = engine.open(source);
  if (!ok) throw new Error(`${source.path}: ${text}`);
}
let differences = 0;
for (const [address, expected] of questions) {
  let text = engine.ask(address).text;
  for (let i = 0; i < 100 && UNFINISHED.test(text); i++) text = engine.ask(address).text;
  if (expected === null) console.log(JSON.stringify(text));
  if (expected === null || text === expected) continue;
  differences++;
  const at = Math.max(0, firstDifference(expected, text) - 40);
  console.log(`${address}\n  server: ${expected.slice(at, at + 200)}`);
  console.log(`  engine: ${text.slice(at, at + 200)}`);
}
process.exitCode = differences > 0 ? 1 : 0;
