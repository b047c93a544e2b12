// The engine in a worker, so that the page stays responsive and can stop it.

import type { Engine } from "./engine";
import { startEngine, type Load } from "./load";

export type ToWorker = { load: Load } | { address: string };
export type FromWorker =
  | { failures: { path: string; text: string }[] }
  | { ok: boolean; text: string }
  | { stopped: string }; // the engine cannot answer any more

let engine: Engine | null = null;

async function answer(message: ToWorker): Promise<FromWorker> {
  try {
    if ("address" in message) {
      if (!engine) throw new Error("the engine has not started");
      return engine.ask(message.address);
    }
    const started = await startEngine(message.load);
    engine = started.engine;
    return { failures: started.failures };
  } catch (error) {
    return { stopped: error instanceof Error ? error.message : String(error) };
  }
}

self.addEventListener("message", (event: MessageEvent<ToWorker>) => {
  void answer(event.data).then((reply) => self.postMessage(reply));
});
