// The worker's half of a model that runs in a worker (remote.js): does what each message asks for
// and answers with the result or the error.

import { loadHere } from "./model.js";

let model;

const actions = {
  async load({ source, options }) {
    const onProgress = options.onProgress ? (progress) => postMessage({ progress }) : undefined;
    model = await loadHere(source, { ...options, onProgress });
    return { methods: model.describe(), shared: model.share() };
  },
  run: ({ method, inputs }) => model.run(method, inputs),
  runPlaced: ({ method, inputs }) => model.runPlaced(method, inputs),
  reset: () => model.reset(),
};

// The buffers of outputs, which are given away.
const buffersOf = (result) =>
  Array.isArray(result) ? result.filter((each) => each?.data).map(({ data }) => data.buffer) : [];

addEventListener("message", async ({ data: { id, action, parameters } }) => {
  try {
    const result = await actions[action](parameters);
    postMessage({ id, result }, buffersOf(result));
  } catch (error) {
    postMessage({ id, error: { code: error.code ?? "Internal", message: error.message } });
  }
});
