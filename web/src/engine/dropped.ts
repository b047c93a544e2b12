// Files and folders that the user dropped or chose, as sources: a folder is one, and so is each
// file, unless the files together are the contents of one.

import type { SourceToOpen } from "./engine";

export interface DroppedFile {
  path: string; // "run.db/meta.db"
  file: File;
}

export interface Dropped {
  files: DroppedFile[];
  sources: SourceToOpen[];
}

// Of Chromium; the types of TypeScript lack them.
interface FileHandle {
  kind: "file";
  name: string;
  getFile(): Promise<File>;
}

interface FolderHandle {
  kind: "directory";
  name: string;
  values(): AsyncIterable<FileHandle | FolderHandle>;
}

type ItemWithHandle = DataTransferItem & {
  getAsFileSystemHandle?(): Promise<FileHandle | FolderHandle | null>;
};

// Names that a folder of some format has: dropped beside each other, they are its contents.
const CONTENTS = ["meta.db", "experiment.xml", "task.txt", "config.props"];

function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let i = 2; taken.has(free); i++) free = `${name} (${i})`;
  taken.add(free);
  return free;
}

// Adds files to those of `before`, whose names are taken.
export function sourcesOf(chosen: DroppedFile[], before: Dropped): Dropped {
  const taken = new Set(before.sources.map(({ path }) => path));
  const isLoose = ({ path }: DroppedFile) => !path.includes("/");
  const joins = chosen.some((file) => isLoose(file) && CONTENTS.includes(file.path));
  const names = new Map<string, string>(); // of what was dropped, to those of sources
  const files = chosen.map((file) => {
    const path = joins && isLoose(file) ? `files/${file.path}` : file.path;
    const top = path.split("/")[0] ?? "";
    const name = names.get(top) ?? freeName(top, taken);
    names.set(top, name);
    return { path: name + path.slice(top.length), file: file.file };
  });
  const sources = [...names.values()].map((path) => ({ path }));
  return { files: [...before.files, ...files], sources: [...before.sources, ...sources] };
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

// A reader lists some entries at a time, and none at the end.
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return all;
    all.push(...some);
  }
}

async function filesOf(entry: FileSystemEntry): Promise<DroppedFile[]> {
  if (entry.isFile)
    return [
      { path: entry.fullPath.replace(/^\//, ""), file: await fileOf(entry as FileSystemFileEntry) },
    ];
  const entries = await entriesOf(entry as FileSystemDirectoryEntry);
  return (await Promise.all(entries.map(filesOf))).flat();
}

async function filesOfHandle(folder: FolderHandle, path: string): Promise<DroppedFile[]> {
  const files: DroppedFile[] = [];
  for await (const handle of folder.values()) {
    const at = `${path}/${handle.name}`;
    if (handle.kind === "directory") files.push(...(await filesOfHandle(handle, at)));
    else files.push({ path: at, file: await handle.getFile() });
  }
  return files;
}

// A file is there at once. Entries of a folder cannot be read by a page from disk in Chromium, where
// handles can.
async function filesOfItem(item: DataTransferItem): Promise<DroppedFile[]> {
  const file = item.getAsFile();
  const entry = item.webkitGetAsEntry();
  if (!entry?.isDirectory) return file ? [{ path: file.name, file }] : [];
  const handle = await (item as ItemWithHandle).getAsFileSystemHandle?.();
  return handle?.kind === "directory" ? filesOfHandle(handle, handle.name) : filesOf(entry);
}

// The list is only valid during the event, so all items are begun before anything waits.
export async function filesOfDrop(list: DataTransferItemList): Promise<DroppedFile[]> {
  return (await Promise.all(Array.from(list, filesOfItem))).flat();
}

export function filesOfInput(list: FileList): DroppedFile[] {
  return Array.from(list, (file) => ({ path: file.webkitRelativePath || file.name, file }));
}
