// What the engine starts with: itself, and the files it opens.

import { Engine, RANGES, type Answer, type EngineStep, type SourceToOpen } from "./engine";
import type { Content } from "./file_system";

export interface Load {
  engine: string; // base64 of the engine, compressed with gzip
  files: { path: string; size: number }[]; // of the blocks, which follow one by one
  blockSize: number; // of what all but the last of them decompress to
  dropped: { path: string; file: File }[]; // by the user, read by range
  sources: SourceToOpen[];
}

export interface Failure {
  path: string;
  text: string;
}

// A part of the bytes of all files, one after another, compressed with deflate; base64 where the browser does not decode
// it itself.
export type Packed = Uint8Array | string;

// Of current browsers; the types of TypeScript lack it.
const { fromBase64 } = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array };

// What the page sends of a block. One that is cut or damaged is sent as it is: the worker says so when it is read.
export function packedOf(base64: string): Packed {
  try {
    return fromBase64 ? fromBase64(base64) : base64;
  } catch {
    return base64;
  }
}

function decode(base64: Packed): Uint8Array {
  if (typeof base64 !== "string") return base64;
  if (fromBase64) return fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

const CACHED_BLOCKS = 16;
const AHEAD_BLOCKS = 32;

// The bytes of all files of a page, one after another. A block is decompressed when it is first needed, or before.
class Blocks {
  private readonly unpacked = new Map<number, Uint8Array>(); // the last used one is last
  private readonly ahead = new Map<number, Uint8Array>(); // not used yet

  constructor(
    private readonly engine: Engine, // not the one that reads: it cannot be asked while it does
    private readonly packed: Packed[],
    private readonly blockSize: number,
    private readonly size: number, // of all files
  ) {}

  prepare(index: number): void {
    if (this.ahead.size < AHEAD_BLOCKS) this.ahead.set(index, this.inflate(index));
  }

  read(offset: number, into: Uint8Array): void {
    const { blockSize } = this;
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
      block = this.ahead.get(index) ?? this.inflate(index);
      this.ahead.delete(index);
      const [oldest] = this.unpacked.keys();
      if (oldest !== undefined && this.unpacked.size === CACHED_BLOCKS)
        this.unpacked.delete(oldest);
    }
    this.unpacked.set(index, block);
    return block;
  }

  private inflate(index: number): Uint8Array {
    const size = Math.min(this.blockSize, this.size - index * this.blockSize);
    return this.engine.inflate(decode(this.packed[index] ?? ""), size);
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

// Files that are read whole when they are opened.
const READ_WHOLE = /(^|\/)meta\.db$/;

interface Started {
  engine: Engine;
  blocks: Blocks;
}

// The engine while the page is still being read: it starts, and decompresses what it will need first, with the blocks that
// are there.
export class Loading {
  private readonly packed: Packed[] = [];
  private readonly started: Promise<Started>;
  private readonly early = new Set<number>(); // blocks

  constructor(
    private readonly load: Load,
    private readonly onStep: (step: EngineStep) => void,
  ) {
    let begin = 0;
    for (const { path, size } of load.files) {
      const last = Math.floor((begin + size - 1) / load.blockSize);
      const first = Math.floor(begin / load.blockSize);
      if (READ_WHOLE.test(path)) for (let i = first; i <= last; i++) this.early.add(i);
      begin += size;
    }
    this.started = this.start(begin);
    this.started.catch(() => undefined); // open() fails with it
  }

  private async start(size: number): Promise<Started> {
    const unzipped = new Blob([decode(this.load.engine)])
      .stream()
      .pipeThrough(new DecompressionStream("gzip"));
    const module = await WebAssembly.compileStreaming(
      new Response(unzipped, { headers: { "Content-Type": "application/wasm" } }),
    );
    const engine = await Engine.start(module, RANGES, this.onStep);
    const inflater = await Engine.start(module);
    return { engine, blocks: new Blocks(inflater, this.packed, this.load.blockSize, size) };
  }

  // The next block of the page.
  add(packed: Packed): void {
    const index = this.packed.push(packed) - 1;
    if (!this.early.has(index)) return;
    this.started.then(({ blocks }) => blocks.prepare(index)).catch(() => undefined); // reading it fails with it
  }

  // All blocks are there: the engine with all sources that open, and why others do not.
  async open(): Promise<{ engine: Engine; failures: Failure[] }> {
    const { engine, blocks } = await this.started;
    let begin = 0;
    for (const { path, size } of this.load.files) {
      engine.files.add(path, new InBlocks(blocks, begin, size));
      begin += size;
    }
    for (const { path, file } of this.load.dropped) engine.files.add(path, new Dropped(file));
    const failures: Failure[] = [];
    for (const source of this.load.sources) {
      const answer: Answer = engine.open(source);
      if (answer.ok) continue;
      const { error } = JSON.parse(answer.text) as { error: { text: string } };
      failures.push({ path: source.path, text: error.text });
    }
    return { engine, failures };
  }
}
