// Names, attributes, queries and file names of an attacker, in every view: no script runs, nothing asks
// another server, and the page keeps its size.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { start } from "./harness.mjs";

const NAMES = [
  "<script>window.hacked = 1</script>",
  '<img src=x onerror="window.hacked = 2">',
  '"><svg onload=window.hacked=3>',
  "' onmouseover='window.hacked = 4' autofocus onfocus='window.hacked = 4",
  "javascript:window.hacked=5",
  "</script></style></title></textarea><script>window.hacked = 6</script>",
  "{{constructor.constructor('window.hacked = 7')()}}${window.hacked=7}",
  "<a href='https://attacker.example/'>click</a><iframe src=//attacker.example>",
  "safe\u202Egpj.exe\u202C\u2066\u2067\u200F\u061C",
  `${"long".repeat(1000)}`,
  "\uD800 alone \uDC00",
  "nul\u0000byte\u0001\u001B[31m\u009B31m",
  "line\nof\rtwo\tcolumns\u2028\u2029",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "a\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301",
  "%s%n%x&amp;&lt;&#60;",
];
const FILE = "<img src=x onerror=window.hacked=9> \u202Egnp.json";

// Each name calls the next one, and has itself as an argument.
function chrome() {
  const base = { pid: 1, tid: 1 };
  const events = NAMES.map((name, i) => ({
    ...base,
    ph: "X",
    ts: 1000 + i,
    dur: 1000 - 2 * i,
    name,
    cat: name,
    args: { [name]: name },
  }));
  for (const kind of ["thread_name", "process_name"])
    events.push({ ...base, ph: "M", ts: 0, name: kind, args: { name: NAMES[1] } });
  return JSON.stringify({ traceEvents: events });
}

function speedscope() {
  return JSON.stringify({
    $schema: "https://www.speedscope.app/file-format-schema.json",
    name: NAMES[0],
    shared: { frames: NAMES.map((name, i) => ({ name, file: name, line: i + 1 })) },
    profiles: NAMES.map((name, i) => ({
      type: "sampled",
      name,
      unit: "milliseconds",
      startValue: 0,
      endValue: 100,
      samples: [[0, i], NAMES.map((_, frame) => frame)],
      weights: [60, 40],
    })),
  });
}

// The reader of stores wants ids; everything else is the attacker's.
function spans() {
  return JSON.stringify(
    NAMES.map((name, i) => ({
      traceId: "00000000000000000000000000000abc",
      id: (i + 1).toString(16).padStart(16, "0"),
      ...(i > 0 ? { parentId: "0000000000000001" } : { kind: "SERVER" }),
      name,
      timestamp: 1794873600000000 + i,
      duration: 1000 - i,
      localEndpoint: { serviceName: name },
      tags: { [name]: name, error: name, "http.url": name, "exception.stacktrace": name },
      annotations: [{ timestamp: 1794873600000001, value: name }],
    })),
  );
}

const OF_DATA = [
  "",
  "&v=top-down&p=1",
  "&v=bottom-up",
  "&v=flat",
  "&v=flame",
  "&v=flame&col=module",
]
  .concat(["&v=timeline", "&v=sandwich"])
  .concat(NAMES.slice(0, 4).map((name) => `&v=top-down&q=${encodeURIComponent(name)}`));
const OF_STORES = ["", "&v=spans", "&v=scatter", "&v=operations", "&v=services", "&v=flame"]
  .concat(["", "&tab=chart", "&tab=methods", "&tab=calls"].map((tab) => `&key=0.0${tab}`))
  .concat(NAMES.slice(0, 4).map((name) => `&q=${encodeURIComponent(name)}`))
  .concat(NAMES.slice(0, 4).map((name) => `&q=${encodeURIComponent(`order = "${name}"`)}`));
const STATES = [
  ...OF_DATA.map((state) => `s=0${state}`),
  "s=0&v=calls",
  ...OF_DATA.map((state) => `s=1${state}`),
  ...OF_STORES.map((state) => `s=2${state}`),
  "s=0&v=compare&cb=1",
  "s=0&v=compare",
  "s=2&v=compare",
  "s=2&v=compare&cb=2&cbq=errors&ct=facets",
  "s=0&v=sql",
  ...["", "&sf=plot", "&sf=tracks"].flatMap((form) => [
    `s=0&v=sql${form}&sql=SELECT+name,begin_ns,total_ns+FROM+calls`,
    `s=2&v=sql${form}&sql=SELECT+service,method,time_ns,duration_ns+FROM+spans`,
  ]),
  `s=2&v=sql&sql=${encodeURIComponent(`SELECT '${NAMES[0]}' AS "${NAMES[1].replaceAll('"', '""')}"`)}`,
];

// In the page: what should not be there.
function lookInPage() {
  const { scrollWidth, scrollHeight } = document.documentElement;
  const found = [];
  if (window.hacked !== undefined) found.push(`a script ran: ${window.hacked}`);
  if (scrollWidth > innerWidth || scrollHeight > innerHeight)
    found.push(`the page has ${scrollWidth} x ${scrollHeight}`);
  const made = document.querySelectorAll("main script, main img, main iframe, main svg[onload]");
  for (const element of made) found.push(`made ${element.outerHTML.slice(0, 80)}`);
  for (const link of document.querySelectorAll("a[href]"))
    if (!/^(#|https?:\/\/127\.0\.0\.1|file:|blob:)/.test(link.getAttribute("href")))
      found.push(`link to ${link.getAttribute("href").slice(0, 80)}`);
  for (const element of document.querySelectorAll("*"))
    for (const { name } of element.attributes)
      if (/^on/.test(name)) found.push(`${element.tagName} has ${name}`);
  const controls = document.body.innerText.match(/[\u202A-\u202E\u2066-\u2069\u0000\u001B\u009B]/);
  if (controls) found.push(`shows U+${controls[0].charCodeAt(0).toString(16)}`);
  return found;
}

async function lookAtAll({ page, show, settled, drawn }, states) {
  const found = [];
  for (const state of states) {
    await show(state);
    await settled();
    for (const sign of [".tree-row", ".vtable-body [role=row]", ".overview-table tbody tr"]) {
      const first = page.locator(sign).first();
      if (await first.isVisible()) {
        await first.hover().catch(() => undefined);
        await first.click().catch(() => undefined);
        await drawn();
        break;
      }
    }
    for (const what of await page.evaluate(lookInPage)) found.push(`${state}: ${what}`);
  }
  return found;
}

export const tests = {
  async "names of an attacker are text in every view, and on a page without a server"({
    cairn,
    shots,
  }) {
    const folder = await mkdtemp(join(tmpdir(), "cairn-hostile-"));
    const paths = [
      join(folder, FILE),
      join(folder, "samples.speedscope.json"),
      join(folder, "store"),
    ];
    await writeFile(paths[0], chrome());
    await writeFile(paths[1], speedscope());
    await writeFile(join(folder, "spans.json"), spans());
    execFileSync(cairn, ["store", "add", "-q", "--create", paths[2], join(folder, "spans.json")]);
    const file = join(folder, "page.html");
    execFileSync(cairn, ["export-html", "-q", paths[0], file]);
    const server = await start(cairn, shots, paths);
    const asked = [];
    // Pages wait for frames most of the time: several are looked at at once.
    const look = async (states, address) => {
      const viewer = await server.open();
      const { page } = viewer;
      page.on("request", (request) => asked.push(request.url()));
      page.on("dialog", (dialog) => {
        asked.push(`dialog ${dialog.message()}`);
        void dialog.dismiss();
      });
      if (address) await page.goto(address);
      await page.waitForSelector(".overview-table tbody tr");
      const found = await lookAtAll(viewer, states);
      if (states.some((state) => state.startsWith("s=2&q=")))
        viewer.expectError(/status of 400 .*q=/); // some names are no queries
      await viewer.settleErrors();
      await viewer.close();
      return found.map((what) => (address ? `page: ${what}` : what));
    };
    try {
      const onPage = STATES.filter((state) => state.startsWith("s=0") && !state.includes("cb="));
      const [ofStore, ofData] = [true, false].map((isStore) =>
        STATES.filter((state) => state.startsWith("s=2") === isStore),
      );
      const found = await Promise.all([
        look(ofData),
        look(ofStore),
        look(onPage, `file://${file}`),
      ]);
      const outside = asked.filter(
        (url) => !/^(https?:\/\/127\.0\.0\.1[:/]|file:|blob:|data:)/.test(url),
      );
      assert.deepEqual([...found.flat(), ...outside], []);
    } finally {
      await server.close();
      await rm(folder, { recursive: true });
    }
  },
};
