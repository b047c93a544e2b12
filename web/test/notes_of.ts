// Prints what the overview says is worth a look: JSON on stdin, [{info, overview, states}], becomes a
// list of sentences for each.

import { readFileSync } from "node:fs";
import { notesOf } from "../src/overview/overview_model";
import type { Info, Overview, States } from "../generated/answers";

interface Asked {
  info: Info;
  overview: Overview;
  states: States | null; // null: it has no timelines
}

const asked = JSON.parse(readFileSync(0, "utf8")) as Asked[];
console.log(
  JSON.stringify(
    asked.map(({ info, overview, states }) =>
      notesOf(info, overview, states).map(({ subject, text }) => subject + text),
    ),
  ),
);
