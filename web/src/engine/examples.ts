// Data that the viewer without a server contains, for readers who have none at hand.

import type { DroppedFile } from "./dropped";

interface Packed {
  path: string; // "shop/000000/meta.dat"
  gzip: string; // base64
}

export interface Example {
  title: string;
  note: string;
  folder: string; // or file: the first part of its paths
}

export const EXAMPLES: Example[] = [
  {
    title: "A program",
    note: "one second of a program with four threads, sampled with cairn sample",
    folder: "words.perf.data",
  },
  {
    title: "Requests",
    note: "eighty requests to a shop of six services, with OpenTelemetry",
    folder: "shop",
  },
];

function packed(): Packed[] {
  const text = document.getElementById("cairn-examples")?.textContent;
  return text ? (JSON.parse(text) as { files: Packed[] }).files : [];
}

const isOf = (example: Example, { path }: Packed) =>
  path === example.folder || path.startsWith(`${example.folder}/`);

export function examplesOfPage(): Example[] {
  const files = packed();
  return EXAMPLES.filter((example) => files.some((file) => isOf(example, file)));
}

async function unpack(base64: string): Promise<Blob> {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const unzipped = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unzipped).blob();
}

export async function openExample(example: Example): Promise<DroppedFile[]> {
  return Promise.all(
    packed()
      .filter((file) => isOf(example, file))
      .map(async ({ path, gzip }) => ({
        path,
        file: new File([await unpack(gzip)], path.split("/").pop() ?? path),
      })),
  );
}
