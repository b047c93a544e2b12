// The flame graph as a picture in a file.

import { extentOf, type Picture } from "./flame_draw";

const escaped = (text: string) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

const LETTER = 6.6; // pixels

// As it is shown, with the values of each box in its title.
export function printSvg(
  picture: Picture,
  describe: (index: number) => string,
  ink: string,
): string {
  const parts = picture.boxes.flatMap((box) => {
    const [left, size] = extentOf(picture, box);
    if (size < 0.4) return [];
    const top = picture.topOf(box);
    const room = Math.floor((size - 8) / LETTER);
    const label =
      room < 3 ? "" : box.name.length <= room ? box.name : `${box.name.slice(0, room - 1)}…`;
    return [
      `<g><title>${escaped(describe(box.index))}</title>` +
        `<rect x="${left.toFixed(1)}" y="${top}" width="${Math.max(size - 0.6, 0.6).toFixed(1)}" height="${picture.row - 1}" fill="${picture.colorOf(box)}"/>` +
        (label === ""
          ? ""
          : `<text x="${(left + 4).toFixed(1)}" y="${top + picture.row / 2 + 4}">${escaped(label)}</text>`) +
        `</g>`,
    ];
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${picture.width} ${picture.height}" ` +
    `width="${picture.width}" height="${picture.height}" font-family="system-ui, sans-serif" font-size="12" fill="${ink}">\n` +
    `${parts.join("\n")}\n</svg>\n`
  );
}

export function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
