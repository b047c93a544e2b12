// The engine in a worker, so that the page stays responsive and can stop it.

import type { Engine, EngineStep } from "./engine";
import { Loading, type Load, type Packed } from "./load";

// What to load, then its blocks, then that these were all of them; questions after the answer to that.
export type ToWorker =
  { load: Load } | { packed: Packed } | { isWhole: true } | { address: string };
export type FromWorker =
  | { failures: { path: string; text: string }[] }
  | { ok: boolean; text: string }
  | { step: EngineStep } // what it does meanwhile
  | { stopped: string }; // the engine cannot answer any more

const STEP_MS = 50; // from one message about progress to the next

let shown = { what: "", at: 0 };

function report(step: EngineStep): void {
  const at = performance.now();
  if (step.what === shown.what && at - shown.at < STEP_MS) return;
  shown = { what: step.what, at };
  self.postMessage({ step } satisfies FromWorker);
}

let loading: Loading | null = null;
let engine: Engine | null = null;

async function answer(message: ToWorker): Promise<FromWorker | null> {
  try {
    if ("load" in message) {
      loading = new Loading(message.load, report);
      return null;
    }
    if ("packed" in message) {
      loading?.add(message.packed);
      return null;
    }
    if ("address" in message) {
      if (!engine) throw new Error("the engine has not started");
      return engine.ask(message.address);
    }
    if (!loading) throw new Error("nothing is loaded");
    const opened = await loading.open();
    engine = opened.engine;
    return { failures: opened.failures };
  } catch (error) {
    return { stopped: error instanceof Error ? error.message : String(error) };
  }
}

self.addEventListener("message", (event: MessageEvent<ToWorker>) => {
  void answer(event.data).then((reply) => reply && self.postMessage(reply));
});
