// Requests to the server.

import { answerOffline, isOffline } from "./offline";

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

async function ask<T>(url: string, signal?: AbortSignal): Promise<T> {
  const response = await fetch(url, signal ? { signal } : {});
  if (response.ok) return (await response.json()) as T;
  const body: unknown = await response.json().catch(() => null);
  const error = (body as { error?: { kind: string; text: string } } | null)?.error;
  throw new ApiError(error?.text ?? `the server answered ${response.status}`, error?.kind ?? "");
}

export async function get<T>(
  path: string,
  parameters: Parameters = {},
  signal?: AbortSignal,
): Promise<T> {
  if (isOffline()) return answerOffline(path, parameters) as T;
  count(1);
  try {
    return await ask<T>(`/api/v1/${path}${query(parameters)}`, signal);
  } finally {
    count(-1);
  }
}

const RETRY_MS = 100; // the server has waited for its work already

export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal?.reason);
    if (signal?.aborted) return stop();
    setTimeout(resolve, ms);
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
    try {
      return await get<T>(path, parameters, signal);
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind !== "not-ready") throw error;
      onWait?.(error.message);
    }
    await pause(RETRY_MS, signal);
  }
}
