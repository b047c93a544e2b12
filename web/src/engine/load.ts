// What the engine starts with: itself, and the files it opens.

import { Engine, type Answer, type SourceToOpen } from "./engine";
import { Bytes, type Content } from "./file_system";

export interface Load {
  engine: string; // base64 of the engine, compressed with gzip
  files: { path: string; size: number }[]; // of the blocks
  blocks: string[]; // base64 of the bytes of all files, each compressed with deflate
  dropped: { path: string; file: File }[]; // by the user, read by range
  sources: SourceToOpen[];
}

export interface Failure {
  path: string;
  text: string;
}

function decode(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function decompress(base64: string, format: CompressionFormat): Promise<Uint8Array> {
  const stream = new Blob([decode(base64)]).stream().pipeThrough(new DecompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Cut the bytes of the blocks into files.
async function addBlocks(engine: Engine, load: Load): Promise<void> {
  const files = load.files.map(({ path, size }) => ({ path, bytes: new Uint8Array(size) }));
  let index = 0;
  let filled = 0;
  for (const base64 of load.blocks) {
    let block = await decompress(base64, "deflate-raw");
    for (; block.length > 0; index++, filled = 0) {
      const file = files[index];
      if (!file) throw new Error("the page is damaged: it has more data than files");
      const part = block.subarray(0, file.bytes.length - filled);
      file.bytes.set(part, filled);
      filled += part.length;
      block = block.subarray(part.length);
      if (filled < file.bytes.length) break;
    }
  }
  for (const { path, bytes } of files) engine.files.add(path, new Bytes(bytes));
}

// Of workers; the types of TypeScript have it only there.
declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

const RANGE = 8 << 20; // bytes that are copied at a time

// A file of the user, in a worker.
class Dropped implements Content {
  private readonly reader = new FileReaderSync();

  constructor(private readonly file: File) {}

  get size(): number {
    return this.file.size;
  }

  read(offset: number, into: Uint8Array): number {
    const end = Math.min(this.size, offset + into.length);
    for (let at = offset; at < end; at += RANGE) {
      const part = this.file.slice(at, Math.min(end, at + RANGE));
      into.set(new Uint8Array(this.reader.readAsArrayBuffer(part)), at - offset);
    }
    return Math.max(0, end - offset);
  }
}

// The engine with all sources that open, and why others do not.
export async function startEngine(load: Load): Promise<{ engine: Engine; failures: Failure[] }> {
  const bytes = await decompress(load.engine, "gzip");
  const engine = await Engine.start(await WebAssembly.compile(bytes));
  await addBlocks(engine, load);
  for (const { path, file } of load.dropped) engine.files.add(path, new Dropped(file));
  const failures: Failure[] = [];
  for (const source of load.sources) {
    const answer: Answer = engine.open(source);
    if (answer.ok) continue;
    const { error } = JSON.parse(answer.text) as { error: { text: string } };
    failures.push({ path: source.path, text: error.text });
  }
  return { engine, failures };
}
