import assert from "node:assert/strict";
import { test } from "node:test";
import { legendOf, nextColor, packageOf } from "../src/flame/flame_colors";
import { matchList } from "../src/flame/flame_details";
import { printSvg } from "../src/flame/flame_export";
import { layOut } from "../src/flame/flame_layout";
import type { Flame } from "../generated/answers";

const flame: Flame = {
  column: "time (sec)",
  total: 10,
  isCut: false,
  names: ["main", "fib", "a<b>"],
  modules: ["/bin/prog"],
  nodes: [
    [0, 0, 0, 10, 1, "1"],
    [1, 1, 0, 8, 2, "2"],
    [2, 1, 0, 6, 6, "3"],
    [1, 2, 0, 1, 1, "4"],
  ],
};

test("the package of a function", () => {
  const of = (name: string) => packageOf({ name, module: "/lib/libm.so" });
  assert.equal(of("std::map<int, a::b>::at(int)"), "std");
  assert.equal(of("com.example.Dao.query"), "com.example");
  assert.equal(of("sqrt"), "libm.so");
});

test("colours are stepped through, and the first one is not in the address", () => {
  assert.equal(nextColor(undefined), "module");
  assert.equal(nextColor("package"), "language");
  assert.equal(nextColor("language"), "code");
  assert.equal(nextColor("code"), "self");
  assert.equal(nextColor("self"), "");
  assert.equal(nextColor("self", true), "waiting");
});

test("loops and lines have the module of their function", () => {
  const modules = ["/bin/prog", ""];
  const boxes = layOut({ ...flame, modules, nodes: [flame.nodes[0]!, [1, 1, 1, 8, 2, "2"]] });
  assert.equal(boxes[1]?.module, "/bin/prog");
});

test("loops and lines have the language of their function, and the legend has the cost of each", () => {
  const boxes = layOut({
    ...flame,
    codes: [
      ["python", "mine"],
      ["c", "runtime"],
      ["unknown", "library"],
    ],
    nodeCodes: [0, 1, null, 2],
  });
  assert.deepEqual(
    boxes.map(({ language, code }) => [language, code]),
    [
      ["python", "mine"],
      ["c", "runtime"],
      ["c", "runtime"],
      ["", "library"],
    ],
  );
  const colors = new Map([
    ["c", "#111111"],
    ["python", "#222222"],
  ]);
  assert.deepEqual(legendOf(boxes, "language", colors), [
    { color: "#111111", text: "c" },
    { color: "#222222", text: "python" },
  ]);
});

test("matches are listed by function, recursion counted once", () => {
  const list = matchList(layOut(flame), (name) => name !== "main");
  assert.deepEqual(
    list.map(({ name, value, count, widest }) => [name, value, count, widest]),
    [
      ["fib", 8, 2, 1],
      ["a<b>", 1, 1, 3],
    ],
  );
});

test("a picture has the boxes that can be seen, and names are text in it", () => {
  const boxes = layOut(flame);
  const svg = printSvg(
    {
      flame,
      boxes,
      waits: [],
      view: { begin: 0, span: 10, depth: -1 },
      width: 500,
      height: 60,
      row: 20,
      topOf: ({ depth }) => depth * 20,
      colorOf: () => "#abc",
      matches: null,
      selected: -1,
      hovered: -1,
    },
    (index) => boxes[index]?.name ?? "",
    "#000",
  );
  assert.equal(svg.match(/<rect/g)?.length, 4);
  assert.ok(svg.includes("<title>a&#60;b&#62;</title>") && !svg.includes("a<b>"));
});
