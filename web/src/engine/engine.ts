// The engine: cairn's own C code, compiled to WebAssembly. It opens files in memory and answers
// the questions of the API.

import { FileSystem } from "./file_system";
import { Wasi } from "./wasi";

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  alloc(length: number): number;
  read_by_range(pageLength: number, cachedLength: number): void;
  open(path: number, format: number, folder: number, isRaw: number): number;
  ask(address: number): number;
  inflate(packed: number, packedLength: number, length: number): number;
  answer(): number;
  answer_len(): number;
}

export interface Answer {
  ok: boolean;
  text: string; // JSON: the answer, or {error: {kind, text}}
}

// What is opened: a path, and for exported pages how.
export interface SourceToOpen {
  path: string;
  format?: string;
  folder?: string; // of an analysis that is shown in place of another one
  isRaw?: boolean;
}

// How large files are read: pages of a file, and how much of all files is cached, in bytes.
export interface Ranges {
  page: number;
  cached: number;
}

// How far the engine is.
export interface EngineStep {
  what: string;
  done: number;
  total: number;
  unit: string;
}

export const RANGES: Ranges = { page: 1 << 20, cached: 256 << 20 };

export class Engine {
  private constructor(
    readonly files: FileSystem,
    private readonly wasi: Wasi,
    private readonly exports: Exports,
  ) {}

  static async start(
    module: WebAssembly.Module,
    ranges = RANGES,
    onStep: (step: EngineStep) => void = () => undefined,
  ): Promise<Engine> {
    const files = new FileSystem();
    const wasi = new Wasi(files);
    const progress = (what: number, done: number, total: number, unit: number) =>
      onStep({ what: wasi.string(what), done, total, unit: wasi.string(unit) });
    const instance = await WebAssembly.instantiate(module, {
      wasi_snapshot_preview1: wasi.imports,
      cairn: { progress },
    });
    const exports = instance.exports as unknown as Exports;
    wasi.memory = exports.memory;
    exports._initialize();
    exports.read_by_range(ranges.page, ranges.cached);
    return new Engine(files, wasi, exports);
  }

  // Open a database, recording or store as the next source.
  open({ path, format, folder, isRaw }: SourceToOpen): Answer {
    return this.call(() =>
      this.exports.open(this.string(path), this.string(format), this.string(folder), isRaw ? 1 : 0),
    );
  }

  // Answer an address below /api/v1/.
  ask(address: string): Answer {
    return this.call(() => this.exports.ask(this.string(address)));
  }

  // The bytes that raw deflate decompresses to.
  inflate(packed: Uint8Array, size: number): Uint8Array {
    const { memory, alloc, inflate, answer } = this.exports;
    const at = alloc(packed.length);
    new Uint8Array(memory.buffer, at).set(packed);
    if (inflate(at, packed.length, size) === 0) throw new Error("the page is damaged");
    return new Uint8Array(memory.buffer, answer(), size).slice();
  }

  get memorySize(): number {
    return this.exports.memory.buffer.byteLength;
  }

  // A copy in the engine's memory; 0 for none.
  private string(text: string | undefined): number {
    if (text === undefined) return 0;
    const bytes = new TextEncoder().encode(`${text}\0`);
    const at = this.exports.alloc(bytes.length);
    new Uint8Array(this.exports.memory.buffer, at).set(bytes);
    return at;
  }

  private call(run: () => number): Answer {
    this.wasi.stderr = "";
    try {
      const ok = run() !== 0;
      const { memory, answer, answer_len } = this.exports;
      const bytes = new Uint8Array(memory.buffer, answer(), answer_len());
      return { ok, text: new TextDecoder().decode(bytes) };
    } catch (error) {
      const said = this.wasi.stderr.trim();
      throw new Error(said === "" ? `the engine stopped: ${String(error)}` : said);
    }
  }
}
