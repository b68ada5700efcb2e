// The threads of a model: workers (member.js) that share the memory of its engine.

import { TaperError } from "./errors.js";

const isNode = globalThis.process?.versions?.node !== undefined;

// Whether this thread may wait for others asleep. That of a page may not.
export const maySleep = isNode || typeof WorkerGlobalScope === "function";

// How many of the threads that a caller asks for a model can have here. Says why if it is one.
export function threadsHere(asked = 1) {
  if (!Number.isInteger(asked) || asked < 1 || asked > 64) {
    throw new TaperError(
      "InvalidArgument",
      `threads must be a number from 1 to 64, given ${String(asked)}`,
    );
  }
  const isShared = typeof SharedArrayBuffer === "function" && (isNode || crossOriginIsolated);
  if (asked === 1 || isShared) return asked;
  console.warn(
    "Taper: the model runs on one thread. Threads need shared memory, which a browser gives to " +
      "pages that are served with the headers Cross-Origin-Opener-Policy: same-origin and " +
      "Cross-Origin-Embedder-Policy: require-corp",
  );
  return 1;
}

// Resolves when the worker has answered.
function answer(worker) {
  return new Promise((resolve, reject) => {
    const fail = ({ message = "it cannot be loaded" }) =>
      reject(new TaperError("Internal", `a thread cannot be started: ${message}`));
    if (isNode) worker.once("message", resolve).once("error", fail);
    else Object.assign(worker, { onmessage: resolve, onerror: fail });
  });
}

// Starts a member for each stack, an address in `memory`. Returns what ends them all.
export async function hire(module, memory, stacks) {
  const { Worker } = isNode ? await import("node:worker_threads") : globalThis;
  const workers = stacks.map((stack) => {
    const worker = new Worker(new URL("./member.js", import.meta.url), { type: "module" });
    worker.postMessage({ module, memory, stack });
    return worker;
  });
  const dismiss = () => workers.forEach((worker) => worker.terminate());
  await Promise.all(workers.map(answer)).catch((error) => {
    dismiss();
    throw error;
  });
  workers.forEach((worker) => worker.unref?.()); // A model that nobody closes keeps no process.
  return dismiss;
}
