// Files from an address, "viewer.html?url=https://host/run.perf.data", for the viewer without a server. The server
// that has the file must allow it (CORS). Once anything is open, the page may ask for nothing any more.

import type { DroppedFile } from "./dropped";

export const SIZE_MAX = 1 << 30; // bytes of a file
const IDLE_MS = 30_000; // without a byte

// The addresses that the address of the page names.
export function addressesOf(search: string): string[] {
  return new URLSearchParams(search).getAll("url").filter((address) => address !== "");
}

// Why an address is not fetched; null: it is.
export function refusalOf(address: string): string | null {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return `${address} is not an address such as https://host/run.perf.data`;
  }
  const isLocal = url.hostname === "127.0.0.1" || url.hostname === "localhost";
  if (url.protocol === "https:" || (url.protocol === "http:" && isLocal)) return null;
  return `${address}: only https, or http of this machine`;
}

// The name of a file: the last part of the path.
export function nameOf(address: string): string {
  const last = new URL(address).pathname.split("/").filter(Boolean).pop() ?? "";
  let name = last;
  try {
    name = decodeURIComponent(last);
  } catch {
    // as it is
  }
  return name.replace(/[/\\\0]/g, "_") || "data";
}

const sizeText = (bytes: number) => `${(bytes / (1 << 20)).toFixed(1)} MiB`;

async function fetchAnswer(address: string, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(address, {
      mode: "cors",
      credentials: "omit",
      referrerPolicy: "no-referrer",
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw new Error(`${address}: stopped`, { cause: error });
    throw new Error(
      `${address}: not reachable, or its server does not allow pages of others to read it (Access-Control-Allow-Origin)`,
      { cause: error },
    );
  }
}

// All bytes of an answer, up to the limit.
async function readAnswer(
  address: string,
  answer: Response,
  stop: AbortController,
  onProgress: (text: string) => void,
): Promise<Blob> {
  const promised = Number(answer.headers.get("Content-Length") ?? 0);
  const refuse = (size: number) => {
    stop.abort();
    throw new Error(`${address}: ${sizeText(size)} are more than ${sizeText(SIZE_MAX)}`);
  };
  if (promised > SIZE_MAX) refuse(promised);
  const reader = answer.body?.getReader();
  if (!reader) throw new Error(`${address}: empty`);
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const timer = setTimeout(() => stop.abort(), IDLE_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) break;
    size += value.length;
    if (size > SIZE_MAX) refuse(size);
    parts.push(value);
    onProgress(`${sizeText(size)}${promised > size ? ` of ${sizeText(promised)}` : ""}`);
  }
  return new Blob(parts);
}

export async function fetchFile(
  address: string,
  onProgress: (text: string) => void,
): Promise<DroppedFile> {
  const refusal = refusalOf(address);
  if (refusal !== null) throw new Error(refusal);
  const stop = new AbortController();
  const answer = await fetchAnswer(address, stop.signal);
  if (!answer.ok) throw new Error(`${address}: the server answered ${answer.status}`);
  const path = nameOf(address);
  const content = await readAnswer(address, answer, stop, onProgress);
  return { path, file: new File([content], path) };
}

// From now on the page can send and fetch nothing, whatever its script does.
export function closeNetwork(): void {
  const policy = document.createElement("meta");
  policy.httpEquiv = "Content-Security-Policy";
  policy.content = "connect-src 'none'";
  document.head.append(policy);
}
