// The worker's half of a model that runs in a worker (remote.js): does what each message asks for
// and answers with the result or the error.

import { loadHere } from "./model.js";

let model;

const actions = {
  async load({ source, options }) {
    const onProgress = options.onProgress ? (progress) => postMessage({ progress }) : undefined;
    model = await loadHere(source, { ...options, onProgress });
    return model.describe();
  },
  run: ({ method, inputs }) => model.run(method, inputs),
  reset: () => model.reset(),
};

addEventListener("message", async ({ data: { id, action, parameters } }) => {
  try {
    postMessage({ id, result: await actions[action](parameters) });
  } catch (error) {
    postMessage({ id, error: { code: error.code ?? "Internal", message: error.message } });
  }
});
