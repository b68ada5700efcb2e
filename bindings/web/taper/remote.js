// A program in a worker: the page stays responsive while it is loaded and while it runs. Inputs and
// outputs are messages; where the memory is shared, inputs are written to where the method reads
// them.

import { addressOf, asBytes } from "./download.js";
import { TaperError } from "./errors.js";
import { Tensor, tensorsFrom, write } from "./tensor.js";

export async function loadInWorker(source, { weights, wasm, threads, onProgress }) {
  if (typeof Worker !== "function") {
    throw new TaperError(
      "NotSupported",
      "there are no workers here: load without { worker: true }",
    );
  }
  const model = new RemoteModel(onProgress);
  // The worker has another base, so addresses are made absolute here.
  const whole = (from) =>
    from && (asBytes(from) || from instanceof Blob ? from : addressOf(from).href);
  const options = {
    weights: whole(weights),
    wasm: wasm instanceof WebAssembly.Module ? wasm : wasm && addressOf(wasm).href,
    threads,
    onProgress: Boolean(onProgress),
  };
  try {
    await model.load(whole(source), options);
  } catch (error) {
    model.close();
    throw error;
  }
  return model;
}

class RemoteModel {
  #worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  #waiting = new Map();
  #next = 0;
  #methods = [];
  #shared; // LocalModel.share()

  constructor(onProgress) {
    this.#worker.onmessage = ({ data: { id, result, error, progress } }) => {
      if (progress) return onProgress(progress);
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      return error ? reject(new TaperError(error.code, error.message)) : resolve(result);
    };
    this.#worker.onerror = (event) =>
      this.#end(
        new TaperError("Internal", `the worker stopped: ${event.message ?? "it cannot be loaded"}`),
      );
  }

  async load(source, options) {
    const { methods, shared } = await this.#ask("load", { source, options });
    this.#methods = methods;
    this.#shared = shared;
  }

  describe() {
    return this.#methods;
  }

  async run(method, inputs) {
    const { inputs: infos } = this.#methods.find(({ name }) => name === method);
    const tensors = tensorsFrom(method, infos, inputs);
    const outputs = await this.#start(method, infos, tensors);
    // Tensors arrive as plain objects.
    const isTensor = (output) => typeof output === "object" && output !== null;
    return outputs.map((output) =>
      isTensor(output) ? new Tensor(output.data, output.shape, output.dtype) : output,
    );
  }

  #start(method, infos, tensors) {
    const fits = tensors.every(({ data }, i) => data.byteLength <= infos[i].bytes);
    // While the worker is busy the places may be in use.
    if (!this.#shared || this.#waiting.size > 0 || !fits) {
      return this.#ask("run", { method, inputs: tensors.map((tensor) => ({ ...tensor })) });
    }
    const { memory, places } = this.#shared;
    const inputs = tensors.map((tensor, i) => {
      const { dtype, shape, data } = tensor;
      const bytes = data.byteLength;
      write(tensor, infos[i], new Uint8Array(memory.buffer, places.get(method)[i], bytes));
      return { dtype, shape, bytes };
    });
    return this.#ask("runPlaced", { method, inputs });
  }

  reset() {
    return this.#ask("reset", {});
  }

  close() {
    this.#end(new TaperError("InvalidState", "the model is closed"));
  }

  #ask(action, parameters) {
    if (!this.#worker) throw new TaperError("InvalidState", "the model is closed");
    return new Promise((resolve, reject) => {
      this.#waiting.set(this.#next, { resolve, reject });
      this.#worker.postMessage({ id: this.#next++, action, parameters });
    });
  }

  #end(error) {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#shared = undefined;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
