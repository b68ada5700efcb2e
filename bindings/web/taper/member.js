// What a worker of a crew runs: an instance of the module on the memory of the engine, with a stack
// of its own, that takes part in the engine's work until the worker is ended (src/crew.cpp).

import { instantiate, STACK_BYTES } from "./engine.js";

async function serve(port, { module, memory, stack }) {
  const { exports } = await instantiate(module, memory);
  exports.__wasm_init_tls(stack);
  exports.__stack_pointer.value = stack + STACK_BYTES;
  port.postMessage("here");
  try {
    exports.web_serve();
  } catch {
    exports.web_give_up();
  }
}

const listen = (port) => {
  port.onmessage = ({ data }) => serve(port, data);
};
if (typeof WorkerGlobalScope === "function") listen(globalThis);
else import("node:worker_threads").then(({ parentPort }) => listen(parentPort));
