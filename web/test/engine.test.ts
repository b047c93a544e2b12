import assert from "node:assert/strict";
import { test } from "node:test";
import { sourcesOf, type DroppedFile } from "../src/engine/dropped";
import { Bytes, FileNode, FileSystem, Folder, Written } from "../src/engine/file_system";

const none = { files: [], sources: [] };
const chosen = (...paths: string[]): DroppedFile[] =>
  paths.map((path) => ({ path, file: { size: 1 } as File }));
const paths = ({ sources }: { sources: { path: string }[] }) => sources.map(({ path }) => path);

test("folders and files are sources of their own", () => {
  const dropped = sourcesOf(chosen("run.db/meta.db", "run.db/src/a.c", "cpu.pprof"), none);
  assert.deepEqual(paths(dropped), ["run.db", "cpu.pprof"]);
  assert.deepEqual(
    dropped.files.map(({ path }) => path),
    ["run.db/meta.db", "run.db/src/a.c", "cpu.pprof"],
  );
});

test("the files of one database are one source", () => {
  assert.deepEqual(paths(sourcesOf(chosen("meta.db", "profile.db"), none)), ["files"]);
});

test("a second source of the same name gets another one", () => {
  const first = sourcesOf(chosen("run.db/meta.db"), none);
  const both = sourcesOf(chosen("run.db/meta.db"), first);
  assert.deepEqual(paths(both), ["run.db", "run.db (2)"]);
  assert.equal(both.files[1]?.path, "run.db (2)/meta.db");
});

test("paths are resolved from the root, and never lead above it", () => {
  const files = new FileSystem();
  files.add("../a/./b//c", new Bytes(new Uint8Array([1, 2, 3])));
  const node = files.find(files.root, "/a/x/../b/c")?.node;
  assert.ok(node instanceof FileNode);
  assert.equal(node.content.size, 3);
  assert.ok(files.find(files.root, "a/b")?.node instanceof Folder);
  assert.equal(files.find(files.root, "a/b/c/d"), null);
  assert.equal(files.find(files.root, "a/nothing")?.node, undefined);
});

test("written files grow, are cut, and read zeros where nothing was written", () => {
  const file = new Written();
  file.write(1000, new Uint8Array([7]));
  file.resize(2000);
  file.write(1999, new Uint8Array([9]));
  const all = new Uint8Array(3000);
  assert.equal(file.read(0, all), 2000);
  assert.deepEqual([all[0], all[1000], all[1500], all[1999]], [0, 7, 0, 9]);
  file.resize(1000);
  file.resize(1001);
  assert.equal(file.read(1000, all), 1);
  assert.equal(all[0], 0);
});

test("a block that is cut or damaged is left to the worker, which says so", async () => {
  const decode = () => {
    throw new SyntaxError("not base64");
  };
  Object.assign(Uint8Array, { fromBase64: decode }); // of browsers
  const { packedOf } = await import("../src/engine/load");
  assert.equal(packedOf("AAA"), "AAA");
});
