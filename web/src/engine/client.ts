// The engine as the page sees it: a worker that answers one question at a time. A question that
// takes too long is stopped, with the worker; the next one starts it again.

import type { Answer, EngineStep } from "./engine";
import { packedOf, type Failure, type Load } from "./load";
import type { FromWorker, ToWorker } from "./worker";

declare const WORKER_SOURCE: string; // of worker.ts, from build.mjs

const DEADLINE_MS = 120_000;

interface Question {
  address: string;
  resolve: (answer: Answer) => void;
  reject: (reason: unknown) => void;
}

export class EngineClient {
  private worker: Worker | null = null;
  private isLoaded = false;
  private loadFailure: string | null = null;
  private current: Question | null = null;
  private readonly waiting: Question[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private sent = 0; // blocks of the page, to the worker
  private isSent = false; // all of them
  failures: Failure[] = []; // of sources that did not open
  onStep: (step: EngineStep | null) => void = () => undefined; // null: it is done

  constructor(
    private readonly load: Load,
    private readonly blocks: PageBlocks | null = null,
  ) {
    blocks?.onMore(() => this.sendBlocks());
  }

  ask(address: string, signal?: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const question = { address, resolve, reject };
      this.waiting.push(question);
      signal?.addEventListener("abort", () => {
        const at = this.waiting.indexOf(question);
        if (at < 0) return; // it is being answered
        this.waiting.splice(at, 1);
        reject(signal.reason);
      });
      this.next();
    });
  }

  close(): void {
    this.loadFailure = "closed";
    this.stop("closed");
  }

  // End what is being computed; its question fails with the reason.
  stop(reason = "stopped"): void {
    this.worker?.terminate();
    this.worker = null;
    clearTimeout(this.timer);
    if (!this.isLoaded) this.loadFailure ??= `${reason} while the data was being opened`;
    this.isLoaded = false;
    this.onStep(null);
    const stopped = this.current;
    this.current = null;
    stopped?.reject(new Error(reason));
    this.next();
  }

  private next(): void {
    if (this.current) return;
    if (this.loadFailure !== null) {
      for (const question of this.waiting.splice(0)) question.reject(new Error(this.loadFailure));
      return;
    }
    if (this.waiting.length === 0) return;
    if (!this.worker) this.start();
    if (!this.isLoaded) return;
    this.current = this.waiting.shift()!;
    this.send({ address: this.current.address });
  }

  private start(): void {
    const url = URL.createObjectURL(new Blob([WORKER_SOURCE], { type: "text/javascript" }));
    this.worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.worker.addEventListener("message", (event: MessageEvent<FromWorker>) =>
      this.receive(event.data),
    );
    this.worker.addEventListener("error", (event) => this.stop(event.message));
    this.worker.postMessage({ load: this.load } satisfies ToWorker);
    this.sent = 0;
    this.isSent = false;
    this.sendBlocks();
  }

  // Those that the page has, as long as it is still being read.
  private sendBlocks(): void {
    const { worker, blocks } = this;
    if (!worker || this.isSent) return;
    for (; blocks && this.sent < blocks.count; this.sent++) {
      const packed = packedOf(blocks.at(this.sent));
      const message: ToWorker = { packed };
      worker.postMessage(message, typeof packed === "string" ? [] : [packed.buffer]);
    }
    this.isSent = !blocks || blocks.isWhole;
    if (this.isSent) this.send({ isWhole: true });
  }

  // An answer, or a sign of progress.
  private expect(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.stop(`stopped after ${DEADLINE_MS / 1000} s`), DEADLINE_MS);
  }

  private send(message: ToWorker): void {
    this.expect();
    this.worker?.postMessage(message);
  }

  private receive(message: FromWorker): void {
    if ("step" in message) {
      this.expect();
      this.onStep(message.step);
      return;
    }
    clearTimeout(this.timer);
    this.onStep(null);
    if ("stopped" in message) {
      if (!this.isLoaded) this.loadFailure = message.stopped;
      this.stop(message.stopped);
    } else if ("failures" in message) {
      this.isLoaded = true;
      this.failures = message.failures;
      if (message.failures.length > 0 && message.failures.length === this.load.sources.length)
        this.loadFailure = message.failures.map(({ text }) => text).join("; ");
    } else {
      const { resolve } = this.current!;
      this.current = null;
      resolve(message);
    }
    this.next();
  }
}

// The engine in a page without a server; "" in a page of a server.
export function engineOfPage(): string {
  return document.getElementById("cairn-engine")?.textContent ?? "";
}

// What `cairn export-html` left out of the page; "" for nothing.
export function leftOutOfPage(): string {
  const list = document.getElementById("cairn-files")?.textContent;
  return list ? (JSON.parse(list) as { leftOut: string }).leftOut : "";
}

// The blocks of data that a page has so far: its script runs before them.
export class PageBlocks {
  private readonly elements = document.getElementsByClassName("cairn-data");

  get isWhole(): boolean {
    return document.readyState !== "loading";
  }

  // The last element may still grow.
  get count(): number {
    return this.isWhole ? this.elements.length : Math.max(0, this.elements.length - 1);
  }

  at(index: number): string {
    return this.elements[index]?.textContent ?? "";
  }

  // Calls when there are more, until the page is whole.
  onMore(listener: () => void): void {
    if (this.isWhole) return;
    const observer = new MutationObserver(listener);
    observer.observe(document.body, { childList: true });
    document.addEventListener("DOMContentLoaded", () => {
      observer.disconnect();
      listener();
    });
  }
}

// The data that `cairn export-html` put into the page, without its blocks; null if there is none.
export function loadOfPage(): Load | null {
  const engine = engineOfPage();
  const list = document.getElementById("cairn-files")?.textContent;
  if (engine === "" || !list) return null;
  const listed = JSON.parse(list) as Pick<Load, "files" | "blockSize" | "sources">;
  const { files, blockSize, sources } = listed;
  return { engine, files, blockSize, sources, dropped: [] };
}
