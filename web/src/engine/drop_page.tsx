// The viewer without a server and without data: people drop files or folders, and nothing leaves
// the page.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { openDropped, useEngineState } from "../shared/api";
import { filesOfDrop, filesOfInput, sourcesOf, type Dropped, type DroppedFile } from "./dropped";
import { useListener } from "../shared/use_listener";

const FORMATS =
  "HPCToolkit databases (meta.db, experiment.xml), uftrace and cairn recordings, perf.data, trace stores, " +
  "pprof, folded stacks, speedscope, Chrome trace events, OpenTelemetry and Zipkin spans";

// Shows `children` once something was dropped; more can be dropped at any time.
export function DropPage(props: { children: ComponentChildren }) {
  const [dropped, setDropped] = useState<Dropped>({ files: [], sources: [] });
  const [problem, setProblem] = useState("");
  const add = (chosen: DroppedFile[]) => {
    if (chosen.length === 0) return;
    const next = sourcesOf(chosen, dropped);
    setProblem("");
    setDropped(next);
    openDropped(next);
  };
  useDrops(add, (reason) =>
    setProblem(`the browser cannot read what was dropped: ${reason}; use: Open a folder`),
  );
  return (
    <>
      <Problems text={problem} />
      {dropped.sources.length === 0 ? (
        <Welcome onChoose={add} />
      ) : (
        <div key={dropped.sources.length} class="dropped">
          {props.children}
        </div>
      )}
    </>
  );
}

function useDrops(add: (files: DroppedFile[]) => void, fail: (reason: string) => void): void {
  useListener("dragover", (event) => event.preventDefault());
  useListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer)
      filesOfDrop(event.dataTransfer.items).then(add, (error: Error) => fail(error.message));
  });
}

// Sources that do not open, while others do.
function Problems(props: { text: string }) {
  const { failures } = useEngineState();
  const texts = [props.text, ...failures.map(({ text }) => text)].filter((text) => text !== "");
  if (texts.length === 0) return null;
  return (
    <ul class="problems" role="alert">
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

function Welcome(props: { onChoose: (files: DroppedFile[]) => void }) {
  const choose = (event: Event & { currentTarget: HTMLInputElement }) => {
    if (event.currentTarget.files) props.onChoose(filesOfInput(event.currentTarget.files));
  };
  return (
    <main class="welcome">
      <h1>
        <strong class="brand">cairn</strong>
      </h1>
      <p>Drop files or folders here. They stay on this machine: the page sends nothing.</p>
      <p class="choose">
        <label class="button">
          Open files
          <input type="file" multiple onChange={choose} />
        </label>
        <label class="button">
          Open a folder
          <input
            type="file"
            ref={(element) => element?.setAttribute("webkitdirectory", "")}
            onChange={choose}
          />
        </label>
      </p>
      <p class="formats">{FORMATS}</p>
    </main>
  );
}
