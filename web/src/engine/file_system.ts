// The files that the engine sees: folders and files in memory, and files of the user that are
// read by range.

// Bytes that are read by range. Reads fill `into` as far as there are bytes.
export interface Content {
  readonly size: number;
  read(offset: number, into: Uint8Array): number;
}

export class Bytes implements Content {
  constructor(private readonly bytes: Uint8Array) {}

  get size(): number {
    return this.bytes.length;
  }

  read(offset: number, into: Uint8Array): number {
    const part = this.bytes.subarray(offset, offset + into.length);
    into.set(part);
    return part.length;
  }
}

// A file that the engine writes. Its memory grows by half, so that appending takes linear time.
export class Written implements Content {
  private bytes = new Uint8Array(256);
  size = 0;

  read(offset: number, into: Uint8Array): number {
    const part = this.bytes.subarray(offset, Math.min(this.size, offset + into.length));
    into.set(part);
    return part.length;
  }

  resize(size: number): void {
    if (size > this.bytes.length) {
      const larger = new Uint8Array(Math.max(size, Math.ceil(this.bytes.length * 1.5)));
      larger.set(this.bytes.subarray(0, this.size));
      this.bytes = larger;
    } else if (size < this.size) {
      this.bytes.fill(0, size, this.size);
    }
    this.size = size;
  }

  write(offset: number, from: Uint8Array): void {
    if (offset + from.length > this.size) this.resize(offset + from.length);
    this.bytes.set(from, offset);
  }
}

let lastNumber = 0;

export class FileNode {
  readonly number = ++lastNumber;

  constructor(public content: Content) {}
}

export class Folder {
  readonly number = ++lastNumber;
  readonly entries = new Map<string, FileNode | Folder>();
}

export type Node = FileNode | Folder;

// Where a path leads: its folder, its last name ("" for the root) and the node, if it exists.
export interface Place {
  folder: Folder;
  name: string;
  node: Node | undefined;
}

// The names of a path; ".." of the root is the root.
function namesOf(path: string): string[] {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return names;
}

export class FileSystem {
  readonly root = new Folder();

  constructor() {
    this.makeFolders("/tmp");
  }

  makeFolders(path: string): Folder {
    let folder = this.root;
    for (const name of namesOf(path)) {
      const next = folder.entries.get(name) ?? new Folder();
      if (!(next instanceof Folder)) throw new Error(`${path}: ${name} is a file`);
      folder.entries.set(name, next);
      folder = next;
    }
    return folder;
  }

  add(path: string, content: Content): void {
    const names = namesOf(path);
    const name = names.pop() ?? "";
    this.makeFolders(names.join("/")).entries.set(name, new FileNode(content));
  }

  // Null if a folder on the way does not exist.
  find(from: Folder, path: string): Place | null {
    let place: Place = { folder: from, name: "", node: from };
    for (const name of namesOf(path)) {
      if (!(place.node instanceof Folder)) return null;
      place = { folder: place.node, name, node: place.node.entries.get(name) };
    }
    return place;
  }
}
