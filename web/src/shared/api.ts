// Requests to the server, or to the engine of a page that has none.

import { useEffect, useState } from "preact/hooks";
import { EngineClient, engineOfPage, loadOfPage, PageBlocks } from "../engine/client";
import type { Dropped } from "../engine/dropped";
import type { EngineStep } from "../engine/engine";
import type { Failure } from "../engine/load";

export class ApiError extends Error {
  constructor(
    message: string,
    readonly kind: string,
  ) {
    super(message);
  }
}

export type Parameters = Record<string, string | number | string[] | undefined>;

let pending = 0;
const listeners = new Set<(pending: number) => void>();

// Reports the number of open requests, for the bar at the top of the page.
export function onPending(listener: (pending: number) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function count(change: number): void {
  pending += change;
  for (const listener of listeners) listener(pending);
}

export function query(parameters: Parameters): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (Array.isArray(value)) for (const item of value) search.append(name, item);
    else if (value !== undefined && value !== "") search.append(name, String(value));
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}

let engine: EngineClient | null = null;

export function hasEngine(): boolean {
  return engine !== null;
}

// Answer from the data in the page, if it has some.
export function startEngine(): void {
  const load = loadOfPage();
  if (load) engine = new EngineClient(load, new PageBlocks());
}

// Answer from files of the user.
export function openDropped({ files, sources }: Dropped): void {
  engine?.close();
  engine = new EngineClient({
    engine: engineOfPage(),
    files: [],
    blockSize: 1,
    dropped: files,
    sources,
  });
}

export function stopEngine(): void {
  engine?.stop();
}

// What the engine does, while nothing else can be shown; null: nothing is known.
export function useEngineStep(): EngineStep | null {
  const [step, setStep] = useState<EngineStep | null>(null);
  useEffect(() => {
    const watched = engine;
    if (watched) watched.onStep = setStep;
    return () => {
      if (watched) watched.onStep = () => undefined;
    };
  }, [engine]);
  return step;
}

// Sources that did not open.
export function useEngineState(): { failures: Failure[] } {
  const [failures, setFailures] = useState<Failure[]>([]);
  useEffect(() => onPending(() => setFailures(engine?.failures ?? [])), []);
  return { failures };
}

async function askServer(url: string, signal?: AbortSignal): Promise<[boolean, unknown, number]> {
  const response = await fetch(url, signal ? { signal } : {});
  const body: unknown = await response.json().catch((error: unknown) => {
    if (response.ok) throw error;
    return null;
  });
  return [response.ok, body, response.status];
}

async function ask<T>(url: string, signal?: AbortSignal): Promise<T> {
  const answer = await engine?.ask(url, signal);
  const [ok, body, status] = answer
    ? [answer.ok, JSON.parse(answer.text) as unknown, 0]
    : await askServer(url, signal);
  if (ok) return body as T;
  const error = (body as { error?: { kind: string; text: string } } | null)?.error;
  throw new ApiError(error?.text ?? `the server answered ${status}`, error?.kind ?? "");
}

export async function get<T>(
  path: string,
  parameters: Parameters = {},
  signal?: AbortSignal,
): Promise<T> {
  count(1);
  try {
    return await ask<T>(`/api/v1/${path}${query(parameters)}`, signal);
  } finally {
    count(-1);
  }
}

const RETRY_MS = 40; // at least, from one question to the next

export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop);
  });
}

export interface Waiting {
  signal?: AbortSignal;
  onWait?: (progress: string) => void; // called whenever the server is not ready
}

// The same, asked again while the server is still computing the answer.
export async function getWhenReady<T>(
  path: string,
  parameters: Parameters = {},
  { signal, onWait }: Waiting = {},
): Promise<T> {
  for (;;) {
    const next = performance.now() + RETRY_MS;
    try {
      return await get<T>(path, parameters, signal);
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind !== "not-ready") throw error;
      onWait?.(error.message);
    }
    // The server has mostly waited for its work: it is asked again at once.
    await pause(Math.max(0, next - performance.now()), signal);
  }
}
