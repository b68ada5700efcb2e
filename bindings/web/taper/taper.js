// Runs PyTorch models, compiled by `taper export`, in browsers and in Node.
//
//   import { Taper } from "taper-runtime";
//   const model = await Taper.load("model.pte");
//   const [scores] = await model.run([new Tensor(pixels, [1, 3, 224, 224])]);
//   model.close();

import { threadsHere } from "./crew.js";
import { TaperError } from "./errors.js";
import { loadHere } from "./model.js";
import { loadInWorker } from "./remote.js";

export { TaperError } from "./errors.js";
export { readNpy, writeNpy } from "./npy.js";
export { Tensor } from "./tensor.js";

class Model {
  #loaded;
  #main; // The only method, or forward.

  constructor(loaded, threads) {
    this.#loaded = loaded;
    this.threads = threads;
    this.methods = new Map(loaded.describe().map((method) => [method.name, method]));
    const names = [...this.methods.keys()];
    this.#main = names.length === 1 ? names[0] : "forward";
  }

  get inputs() {
    return this.#method(this.#main).inputs;
  }

  get outputs() {
    return this.#method(this.#main).outputs;
  }

  // Runs a method and returns its outputs. Runs of one model come one after another.
  async run(inputs, { method = this.#main } = {}) {
    this.#method(method);
    return this.#loaded.run(method, inputs);
  }

  // Sets state that runs have changed back to its saved values.
  async reset() {
    await this.#loaded.reset();
  }

  // Gives all memory back. Calls that follow are refused.
  close() {
    this.#loaded.close();
  }

  #method(name) {
    const method = this.methods.get(name);
    if (method) return method;
    const names = [...this.methods.keys()].join(", ");
    throw new TaperError("NotFound", `no method has that name; there are: ${names}`);
  }
}

export const Taper = {
  // Loads a program from an address or from bytes (ArrayBuffer, typed array, Blob).
  async load(source, options = {}) {
    const threads = threadsHere(options.threads);
    const isRemote = options.worker ?? (threads > 1 && typeof Worker === "function");
    const load = isRemote ? loadInWorker : loadHere;
    return new Model(await load(source, { ...options, threads }), threads);
  },
};
