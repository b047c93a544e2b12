// The viewer without a server and without data: people drop files or folders, open an address or an example, and
// nothing leaves the page.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { openDropped, useEngineState } from "../shared/api";
import { Icon, Logo } from "../shared/look/icons";
import { isDark } from "../shared/look/colors";
import { switchTheme } from "../shared/look/theme";
import { useListener } from "../shared/use_listener";
import { filesOfDrop, filesOfInput, sourcesOf, type Dropped, type DroppedFile } from "./dropped";
import { examplesOfPage, openExample } from "./examples";
import { addressesOf, closeNetwork, fetchFile } from "./remote";

const FORMATS: [title: string, what: string][] = [
  ["Samples", "perf.data of cairn and perf, pprof, folded stacks, speedscope"],
  ["Calls", "recordings of cairn and uftrace, Chrome trace events"],
  ["Databases", "HPCToolkit (meta.db, experiment.xml), cairn analyze"],
  ["Requests", "trace stores of cairn, OpenTelemetry and Zipkin spans"],
];

// Shows `children` once something is open; more can be dropped at any time.
export function DropPage(props: { children: ComponentChildren }) {
  const [dropped, setDropped] = useState<Dropped>({ files: [], sources: [] });
  const [problem, setProblem] = useState("");
  const [loading, setLoading] = useState("");
  const add = (chosen: DroppedFile[]) => {
    if (chosen.length === 0) return;
    if (dropped.sources.length === 0) closeNetwork();
    const next = sourcesOf(chosen, dropped);
    setProblem("");
    setDropped(next);
    openDropped(next);
  };
  const load = (files: Promise<DroppedFile[]>) =>
    files.then(add, (error: Error) => setProblem(error.message)).finally(() => setLoading(""));
  const openAddresses = (addresses: string[]) => {
    if (addresses.length === 0) return;
    setLoading(`fetching ${addresses.join(", ")}`);
    void load(
      Promise.all(
        addresses.map((address) =>
          fetchFile(address, (text) => setLoading(`fetching ${address}: ${text}`)),
        ),
      ),
    );
  };
  useEffect(() => openAddresses(addressesOf(location.search)), []);
  const isOver = useDrops(add, (reason) =>
    setProblem(`the browser cannot read what was dropped: ${reason}; use: Open a folder`),
  );
  const isEmpty = dropped.sources.length === 0;
  return (
    <>
      <Problems text={problem} />
      {isEmpty ? (
        <Welcome
          isOver={isOver}
          loading={loading}
          onChoose={add}
          onAddress={(address) => openAddresses([address])}
          onExample={(files) => {
            setLoading("opening the example");
            void load(files);
          }}
        />
      ) : (
        <div key={dropped.sources.length} class="dropped">
          {props.children}
        </div>
      )}
      {isOver && !isEmpty && <div class="drop-over">Drop to open it, too</div>}
    </>
  );
}

// Returns whether something is being dragged over the page.
function useDrops(add: (files: DroppedFile[]) => void, fail: (reason: string) => void): boolean {
  const [isOver, setIsOver] = useState(false);
  useListener("dragover", (event) => {
    event.preventDefault();
    setIsOver(true);
  });
  useListener("dragleave", (event) => {
    if (event.relatedTarget === null) setIsOver(false);
  });
  useListener("drop", (event) => {
    event.preventDefault();
    setIsOver(false);
    if (event.dataTransfer)
      filesOfDrop(event.dataTransfer.items).then(add, (error: Error) => fail(error.message));
  });
  return isOver;
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

interface Welcoming {
  isOver: boolean;
  loading: string; // "": nothing is
  onChoose: (files: DroppedFile[]) => void;
  onAddress: (address: string) => void;
  onExample: (files: Promise<DroppedFile[]>) => void;
}

function Welcome(props: Welcoming) {
  const choose = (event: Event & { currentTarget: HTMLInputElement }) => {
    if (event.currentTarget.files) props.onChoose(filesOfInput(event.currentTarget.files));
  };
  const examples = examplesOfPage();
  const [, draw] = useState(0);
  useListener("statechange", () => draw((count) => count + 1)); // the theme, too
  return (
    <main class="welcome">
      <div class="welcome-head">
        <h1>
          <strong class="brand">
            <Logo /> <span>cairn</span>
          </strong>{" "}
          viewer
        </h1>
        <button
          class="plain"
          aria-label="switch theme"
          title="light or dark theme"
          onClick={switchTheme}
        >
          <Icon name={isDark() ? "sun" : "moon"} />
        </button>
      </div>
      <section class={props.isOver ? "drop-area over" : "drop-area"} aria-label="open data">
        <p class="drop-title">{props.isOver ? "Drop to open" : "Drop files or folders here"}</p>
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
        <p class="faint" role="status">
          {props.loading || "They stay on this machine: the page sends nothing."}
        </p>
      </section>
      {examples.length > 0 && (
        <section aria-label="examples">
          <h2>Nothing at hand? Look at an example</h2>
          <ul class="examples">
            {examples.map((example) => (
              <li key={example.title}>
                <button onClick={() => props.onExample(openExample(example))}>
                  <strong>{example.title}</strong>
                  <span>{example.note}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section aria-label="open an address">
        <h2>From an address</h2>
        <form
          class="address"
          onSubmit={(event) => {
            event.preventDefault();
            const field = event.currentTarget.elements.namedItem("address");
            if (field instanceof HTMLInputElement) props.onAddress(field.value.trim());
          }}
        >
          <input
            name="address"
            type="url"
            required
            aria-label="address of a file"
            placeholder="https://host/run.perf.data"
          />
          <button type="submit">Open</button>
        </form>
        <p class="faint">
          Its server must allow it (CORS). A link can name it: this page with{" "}
          <code>?url=https://host/run.perf.data</code>
        </p>
      </section>
      <section aria-label="formats">
        <h2>What it opens</h2>
        <dl class="formats">
          {FORMATS.map(([title, what]) => (
            <div key={title}>
              <dt>{title}</dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </section>
    </main>
  );
}
