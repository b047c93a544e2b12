import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseCommands, matchesWords, recentFirst } from "../src/shared/palette";

const command = (group: string, title: string) => ({ group, title, to: {} });

test("commands match by all words, those that begin with the text first", () => {
  const list = [
    command("thread", "flame 12"),
    command("view", "Timeline"),
    command("view", "Flame graph"),
  ];
  const titles = (text: string) => chooseCommands(list, text).map(({ title }) => title);
  assert.deepEqual(titles(""), ["flame 12", "Timeline", "Flame graph"]);
  assert.deepEqual(titles("view fl"), ["Flame graph"]);
  assert.deepEqual(titles("time"), ["Timeline"]);
  assert.deepEqual(titles("nothing"), []);
  assert.ok(matchesWords("Flame graph", "graph fl"));
});

test("what was run before comes first", () => {
  const list = [command("view", "Flat"), command("view", "Flame graph")];
  const recent = [command("function", "fib"), command("view", "Flame graph")];
  const titles = (text: string) =>
    chooseCommands(recentFirst(recent, list), text).map(({ title }) => title);
  assert.deepEqual(titles(""), ["fib", "Flame graph", "Flat"]);
  assert.deepEqual(titles("fla"), ["Flame graph", "Flat"]);
});
