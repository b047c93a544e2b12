// What the engine starts with: itself, and the files it opens.

import { Engine, type Answer, type SourceToOpen } from "./engine";
import type { Content } from "./file_system";

export interface Load {
  engine: string; // base64 of the engine, compressed with gzip
  files: { path: string; size: number }[]; // of the blocks
  blocks: string[]; // base64 of the bytes of all files, each compressed with deflate
  blockSize: number; // of what all but the last of them decompress to
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

const CACHED_BLOCKS = 16;

// The bytes of all files of a page, one after another. A block is decompressed when it is first needed.
class Blocks {
  private readonly unpacked = new Map<number, Uint8Array>(); // the last used one is last

  constructor(
    private readonly engine: Engine, // not the one that reads: it cannot be asked while it does
    private readonly load: Load,
    private readonly size: number, // of all files
  ) {}

  read(offset: number, into: Uint8Array): void {
    const { blockSize } = this.load;
    for (let at = 0; at < into.length;) {
      const inBlock = (offset + at) % blockSize;
      const block = this.block((offset + at - inBlock) / blockSize);
      const part = block.subarray(inBlock, inBlock + into.length - at);
      into.set(part, at);
      at += part.length;
    }
  }

  private block(index: number): Uint8Array {
    let block = this.unpacked.get(index);
    this.unpacked.delete(index);
    if (!block) {
      const { blocks, blockSize } = this.load;
      const size = Math.min(blockSize, this.size - index * blockSize);
      block = this.engine.inflate(decode(blocks[index] ?? ""), size);
      const [oldest] = this.unpacked.keys();
      if (oldest !== undefined && this.unpacked.size === CACHED_BLOCKS)
        this.unpacked.delete(oldest);
    }
    this.unpacked.set(index, block);
    return block;
  }
}

class InBlocks implements Content {
  constructor(
    private readonly blocks: Blocks,
    private readonly begin: number,
    readonly size: number,
  ) {}

  read(offset: number, into: Uint8Array): number {
    const length = Math.max(0, Math.min(into.length, this.size - offset));
    this.blocks.read(this.begin + offset, into.subarray(0, length));
    return length;
  }
}

async function addBlocks(engine: Engine, module: WebAssembly.Module, load: Load): Promise<void> {
  const size = load.files.reduce((sum, file) => sum + file.size, 0);
  const blocks = new Blocks(await Engine.start(module), load, size);
  let begin = 0;
  for (const file of load.files) {
    engine.files.add(file.path, new InBlocks(blocks, begin, file.size));
    begin += file.size;
  }
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
  const unzipped = new Blob([decode(load.engine)])
    .stream()
    .pipeThrough(new DecompressionStream("gzip"));
  const module = await WebAssembly.compileStreaming(
    new Response(unzipped, { headers: { "Content-Type": "application/wasm" } }),
  );
  const engine = await Engine.start(module);
  if (load.files.length > 0) await addBlocks(engine, module, load);
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
