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

// Of current browsers; the types of TypeScript lack it.
const { fromBase64 } = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array };

function decode(base64: string): Uint8Array {
  if (fromBase64) return fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function inflate(base64: string, format: CompressionFormat): ReadableStream<Uint8Array> {
  return new Blob([decode(base64)]).stream().pipeThrough(new DecompressionStream(format));
}

// The bytes of the blocks, as files; each part is copied once, to where it belongs.
async function readBlocks(load: Load): Promise<{ path: string; bytes: Uint8Array }[]> {
  const files = load.files.map(({ path, size }) => ({ path, bytes: new Uint8Array(size) }));
  let index = 0;
  let filled = 0;
  const add = (part: Uint8Array) => {
    for (let rest = part; rest.length > 0; index++, filled = 0) {
      const file = files[index];
      if (!file) throw new Error("the page is damaged: it has more data than files");
      const fits = rest.subarray(0, file.bytes.length - filled);
      file.bytes.set(fits, filled);
      filled += fits.length;
      rest = rest.subarray(fits.length);
      if (filled < file.bytes.length) break;
    }
  };
  for (const base64 of load.blocks) {
    const reader = inflate(base64, "deflate-raw").getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) add(read.value);
  }
  return files;
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

// The engine with all sources that open, and why others do not. It is compiled while the data is
// being read.
export async function startEngine(load: Load): Promise<{ engine: Engine; failures: Failure[] }> {
  const source = new Response(inflate(load.engine, "gzip"), {
    headers: { "Content-Type": "application/wasm" },
  });
  const [module, files] = await Promise.all([
    WebAssembly.compileStreaming(source),
    readBlocks(load),
  ]);
  const engine = await Engine.start(module);
  for (const { path, bytes } of files) engine.files.add(path, new Bytes(bytes));
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
