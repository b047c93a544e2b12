import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseCommands, matchesWords } from "../src/shared/palette";

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
