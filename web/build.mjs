// Bundles the viewer into dist/ or the folder given with --outdir: one script, one style
// sheet, one page. With --tests, the unit tests into dist-test/; with --engine-tests FOLDER, the
// programs that compare the engine with a server, open damaged data and print notes. The types of answers are
// made first, from the schema of the API.
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { writeTypes } from "./schema.mjs";

const common = {
  bundle: true,
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
};

// What the viewer without a server offers to a reader who has no data at hand (src/engine/examples.ts).
async function examples() {
  const names = (await readdir("examples", { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".py"))
    .map((entry) => `${entry.parentPath ?? entry.path}/${entry.name}`.slice("examples/".length))
    .sort();
  const files = await Promise.all(
    names.map(async (path) => ({
      path,
      gzip: gzipSync(await readFile(`examples/${path}`), { level: 9 }).toString("base64"),
    })),
  );
  return { files };
}

writeTypes();
if (process.argv.includes("--tests")) {
  await rm("dist-test", { recursive: true, force: true });
  const names = (await readdir("test")).filter((name) => name.endsWith(".test.ts"));
  await build({
    ...common,
    entryPoints: names.map((name) => `test/${name}`),
    outdir: "dist-test",
    outExtension: { ".js": ".mjs" },
    platform: "node",
    format: "esm",
    define: { WORKER_SOURCE: '""' },
  });
} else if (process.argv[2] === "--engine-tests") {
  await build({
    ...common,
    entryPoints: ["test/engine_replay.ts", "test/engine_damage.ts", "test/notes_of.ts"],
    outdir: process.argv[3],
    outExtension: { ".js": ".mjs" },
    platform: "node",
    format: "esm",
  });
} else {
  const at = process.argv.indexOf("--outdir");
  const outdir = at < 0 ? "dist" : process.argv[at + 1];
  await mkdir(outdir, { recursive: true });
  const worker = await build({
    ...common,
    entryPoints: ["src/engine/worker.ts"],
    minify: true,
    format: "iife",
    write: false,
  });
  await build({
    ...common,
    define: { WORKER_SOURCE: JSON.stringify(worker.outputFiles[0].text) },
    entryPoints: ["src/app.tsx", "src/app.css"],
    outdir,
    minify: true,
    format: "iife",
  });
  await copyFile("src/index.html", `${outdir}/index.html`);
  await writeFile(`${outdir}/examples.json`, JSON.stringify(await examples()));
}
