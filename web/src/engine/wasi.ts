// The system calls of the engine (WASI preview 1), on a file system in memory.

import { FileNode, type FileSystem, Folder, type Node, type Place, Written } from "./file_system";

const OK = 0;
const EBADF = 8;
const EEXIST = 20;
const EINVAL = 28;
const EISDIR = 31;
const ENOENT = 44;
const ENOTDIR = 54;
const ENOTEMPTY = 55;
const EROFS = 69;

const ROOT = 3; // descriptor of the one folder that is open from the start
const FOLDER = 3; // types of files
const REGULAR = 4;
const CREATE = 1; // flags of path_open
const DIRECTORY = 2;
const EXCLUSIVE = 4;
const TRUNCATE = 8;
const MAY_WRITE = 1n << 6n;
const ALL_RIGHTS = (1n << 30n) - 1n;
const APPEND = 1;

interface Open {
  node: Node;
  offset: number;
  appends: boolean;
}

// The engine ended itself: with a message on stderr.
export class Exit extends Error {}

export class Wasi {
  memory!: WebAssembly.Memory;
  stderr = "";
  private readonly open = new Map<number, Open>();
  private readonly decoder = new TextDecoder();

  constructor(readonly files: FileSystem) {
    this.open.set(ROOT, { node: files.root, offset: 0, appends: false });
  }

  private get view(): DataView {
    return new DataView(this.memory.buffer);
  }

  private bytes(begin: number, length: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, begin, length);
  }

  private text(begin: number, length: number): string {
    return this.decoder.decode(this.bytes(begin, length));
  }

  // A string that ends with 0.
  string(begin: number): string {
    const bytes = new Uint8Array(this.memory.buffer);
    return this.text(begin, bytes.indexOf(0, begin) - begin);
  }

  // The parts of memory that a list of (address, length) names.
  private parts(list: number, count: number): Uint8Array[] {
    const view = this.view;
    return Array.from({ length: count }, (_, i) =>
      this.bytes(view.getUint32(list + 8 * i, true), view.getUint32(list + 8 * i + 4, true)),
    );
  }

  private place(fd: number, path: number, length: number): Place | number {
    const from = this.open.get(fd);
    if (!from) return EBADF;
    if (!(from.node instanceof Folder)) return ENOTDIR;
    return this.files.find(from.node, this.text(path, length)) ?? ENOENT;
  }

  private putStat(at: number, node: Node): number {
    const view = this.view;
    const isFolder = node instanceof Folder;
    this.bytes(at, 64).fill(0);
    view.setBigUint64(at, 1n, true); // device
    view.setBigUint64(at + 8, BigInt(node.number), true);
    view.setUint8(at + 16, isFolder ? FOLDER : REGULAR);
    view.setBigUint64(at + 24, 1n, true); // links
    view.setBigUint64(at + 32, BigInt(isFolder ? 0 : node.content.size), true);
    return OK;
  }

  private read(fd: number, list: number, count: number, offset: bigint | null, out: number) {
    const file = this.open.get(fd);
    if (!file) return EBADF;
    if (!(file.node instanceof FileNode)) return EISDIR;
    const begin = offset === null ? file.offset : Number(offset);
    let done = 0;
    for (const part of this.parts(list, count)) {
      const got = file.node.content.read(begin + done, part);
      done += got;
      if (got < part.length) break;
    }
    if (offset === null) file.offset += done;
    this.view.setUint32(out, done, true);
    return OK;
  }

  private write(fd: number, list: number, count: number, offset: bigint | null, out: number) {
    const parts = this.parts(list, count);
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    this.view.setUint32(out, length, true);
    if (fd < ROOT) {
      for (const part of parts) this.stderr += this.decoder.decode(part);
      return OK;
    }
    const file = this.open.get(fd);
    if (!file) return EBADF;
    if (!(file.node instanceof FileNode)) return EISDIR;
    const content = file.node.content;
    if (!(content instanceof Written)) return EROFS;
    let at = offset !== null ? Number(offset) : file.appends ? content.size : file.offset;
    for (const part of parts) {
      content.write(at, part);
      at += part.length;
    }
    if (offset === null) file.offset = at;
    return OK;
  }

  private openPath(place: Place, flags: number, mayWrite: boolean): Node | number {
    const { node } = place;
    if (!node) {
      if (!(flags & CREATE)) return ENOENT;
      const made = new FileNode(new Written());
      place.folder.entries.set(place.name, made);
      return made;
    }
    if (flags & CREATE && flags & EXCLUSIVE) return EEXIST;
    if (node instanceof Folder) return mayWrite ? EISDIR : node;
    if (flags & DIRECTORY) return ENOTDIR;
    if (flags & TRUNCATE) {
      if (!(node.content instanceof Written)) return EROFS;
      node.content.resize(0);
    }
    return node;
  }

  private readFolder(fd: number, buffer: number, length: number, cookie: bigint, out: number) {
    const folder = this.open.get(fd)?.node;
    if (!folder) return EBADF;
    if (!(folder instanceof Folder)) return ENOTDIR;
    const names = [...folder.entries];
    const encoder = new TextEncoder();
    let used = 0;
    for (let i = Number(cookie); i < names.length && used < length; i++) {
      const [name, node] = names[i]!;
      const text = encoder.encode(name);
      const entry = new Uint8Array(24 + text.length);
      const view = new DataView(entry.buffer);
      view.setBigUint64(0, BigInt(i + 1), true);
      view.setBigUint64(8, BigInt(node.number), true);
      view.setUint32(16, text.length, true);
      view.setUint8(20, node instanceof Folder ? FOLDER : REGULAR);
      entry.set(text, 24);
      const fits = entry.subarray(0, length - used);
      this.bytes(buffer + used, fits.length).set(fits);
      used += fits.length;
    }
    this.view.setUint32(out, used, true);
    return OK;
  }

  private remove(place: Place | number, wantsFolder: boolean): number {
    if (typeof place === "number") return place;
    if (!place.node || place.name === "") return ENOENT;
    if (place.node instanceof Folder !== wantsFolder) return wantsFolder ? ENOTDIR : EISDIR;
    if (place.node instanceof Folder && place.node.entries.size > 0) return ENOTEMPTY;
    place.folder.entries.delete(place.name);
    return OK;
  }

  private rename(from: Place | number, to: Place | number): number {
    if (typeof from === "number") return from;
    if (typeof to === "number") return to;
    if (!from.node || from.name === "" || to.name === "") return ENOENT;
    if (to.node instanceof Folder && to.node.entries.size > 0) return ENOTEMPTY;
    from.folder.entries.delete(from.name);
    to.folder.entries.set(to.name, from.node);
    return OK;
  }

  private seek(fd: number, offset: bigint, whence: number, out: number): number {
    const file = this.open.get(fd);
    if (!file) return EBADF;
    const end = file.node instanceof FileNode ? file.node.content.size : 0;
    const at = Number(offset) + [0, file.offset, end][whence]!;
    if (at < 0) return EINVAL;
    file.offset = at;
    this.view.setBigUint64(out, BigInt(at), true);
    return OK;
  }

  private resize(fd: number, size: bigint): number {
    const node = this.open.get(fd)?.node;
    if (!(node instanceof FileNode)) return EBADF;
    if (!(node.content instanceof Written)) return EROFS;
    node.content.resize(Number(size));
    return OK;
  }

  private describe(fd: number, out: number): number {
    const file = this.open.get(fd);
    if (!file && fd >= ROOT) return EBADF;
    const view = this.view;
    this.bytes(out, 24).fill(0);
    view.setUint8(out, !file ? 2 : file.node instanceof Folder ? FOLDER : REGULAR);
    view.setUint16(out + 2, file?.appends ? APPEND : 0, true);
    view.setBigUint64(out + 8, ALL_RIGHTS, true);
    view.setBigUint64(out + 16, ALL_RIGHTS, true);
    return OK;
  }

  private openAt(
    place: Place | number,
    flags: number,
    rights: bigint,
    fdFlags: number,
    out: number,
  ) {
    if (typeof place === "number") return place;
    const node = this.openPath(place, flags, (rights & MAY_WRITE) !== 0n);
    if (typeof node === "number") return node;
    let fd = ROOT + 1;
    while (this.open.has(fd)) fd++;
    this.open.set(fd, { node, offset: 0, appends: (fdFlags & APPEND) !== 0 });
    this.view.setUint32(out, fd, true);
    return OK;
  }

  private makeFolder(place: Place | number): number {
    if (typeof place === "number") return place;
    if (place.node) return EEXIST;
    place.folder.entries.set(place.name, new Folder());
    return OK;
  }

  private stat(place: Place | number, out: number): number {
    if (typeof place === "number") return place;
    return place.node ? this.putStat(out, place.node) : ENOENT;
  }

  // The functions that the engine imports.
  readonly imports = {
    environ_sizes_get: (count: number, length: number) => {
      this.view.setUint32(count, 0, true);
      this.view.setUint32(length, 0, true);
      return OK;
    },
    environ_get: () => OK,
    clock_time_get: (id: number, _precision: bigint, out: number) => {
      const ms = id === 0 ? Date.now() : performance.now();
      this.view.setBigUint64(out, BigInt(Math.round(ms * 1e6)), true);
      return OK;
    },
    random_get: (begin: number, length: number) => {
      for (let at = 0; at < length; at += 65536)
        crypto.getRandomValues(this.bytes(begin + at, Math.min(65536, length - at)));
      return OK;
    },
    proc_exit: (status: number) => {
      throw new Exit(`status ${status}`);
    },
    fd_close: (fd: number) => (this.open.delete(fd) ? OK : EBADF),
    fd_datasync: () => OK,
    fd_sync: () => OK,
    fd_fdstat_get: (fd: number, out: number) => this.describe(fd, out),
    fd_fdstat_set_flags: (fd: number, flags: number) => {
      const file = this.open.get(fd);
      if (!file) return EBADF;
      file.appends = (flags & APPEND) !== 0;
      return OK;
    },
    fd_filestat_get: (fd: number, out: number) => {
      const file = this.open.get(fd);
      return file ? this.putStat(out, file.node) : EBADF;
    },
    fd_filestat_set_size: (fd: number, size: bigint) => this.resize(fd, size),
    fd_read: (fd: number, list: number, count: number, out: number) =>
      this.read(fd, list, count, null, out),
    fd_pread: (fd: number, list: number, count: number, offset: bigint, out: number) =>
      this.read(fd, list, count, offset, out),
    fd_write: (fd: number, list: number, count: number, out: number) =>
      this.write(fd, list, count, null, out),
    fd_pwrite: (fd: number, list: number, count: number, offset: bigint, out: number) =>
      this.write(fd, list, count, offset, out),
    fd_prestat_get: (fd: number, out: number) => {
      if (fd !== ROOT) return EBADF;
      this.view.setUint32(out, 0, true);
      this.view.setUint32(out + 4, 1, true);
      return OK;
    },
    fd_prestat_dir_name: (_fd: number, out: number) => {
      this.view.setUint8(out, "/".charCodeAt(0));
      return OK;
    },
    fd_readdir: (fd: number, buffer: number, length: number, cookie: bigint, out: number) =>
      this.readFolder(fd, buffer, length, cookie, out),
    fd_seek: (fd: number, offset: bigint, whence: number, out: number) =>
      this.seek(fd, offset, whence, out),
    path_create_directory: (fd: number, path: number, length: number) =>
      this.makeFolder(this.place(fd, path, length)),
    path_filestat_get: (fd: number, _flags: number, path: number, length: number, out: number) =>
      this.stat(this.place(fd, path, length), out),
    path_filestat_set_times: () => OK,
    path_open: (
      fd: number,
      _lookup: number,
      path: number,
      length: number,
      flags: number,
      rights: bigint,
      _inheriting: bigint,
      fdFlags: number,
      out: number,
    ) => this.openAt(this.place(fd, path, length), flags, rights, fdFlags, out),
    path_remove_directory: (fd: number, path: number, length: number) =>
      this.remove(this.place(fd, path, length), true),
    path_rename: (
      fd: number,
      path: number,
      length: number,
      toFd: number,
      to: number,
      toLength: number,
    ) => this.rename(this.place(fd, path, length), this.place(toFd, to, toLength)),
    path_unlink_file: (fd: number, path: number, length: number) =>
      this.remove(this.place(fd, path, length), false),
  };
}
