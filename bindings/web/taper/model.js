// A program in this thread: its methods, and how they run.

import { addressOf, asBytes, bring } from "./download.js";
import { Engine } from "./engine.js";
import { TaperError } from "./errors.js";
import { arrayOf, nameOf, numberOf, reordered, Tensor, tensorsFrom, write } from "./tensor.js";

// Kinds of values and fields of structs in taper/taper.h.
const TENSOR = 1;
const STRING = 2;
const DOUBLE = 3;
const INT = 4;
const BOOL = 5;
const INFO = { kind: 0, dtype: 4, rank: 8, dynamic: 12, sizes: 16, dimOrder: 80, bytes: 96 };
const VALUE = {
  kind: 0,
  dtype: 4,
  rank: 8,
  sizes: 12,
  data: 76,
  bytes: 80,
  integer: 88,
  number: 96,
};

const range = (count) => Array.from({ length: count }, (_, i) => i);

// The values of a method as `taper_describe_input` or `taper_describe_output` tells of them.
function describe(engine, call, count, handle, method, known, prefix) {
  return range(count).map((index) => {
    engine.call(call, handle, method, index, engine.struct);
    const view = engine.view(engine.struct);
    const int = (offset) => view.getInt32(offset, true);
    if (int(INFO.kind) !== TENSOR) return { index, name: `${prefix}${index}`, dtype: null };
    const dims = range(int(INFO.rank));
    const maxShape = dims.map((d) => int(INFO.sizes + 4 * d));
    const { name, shape } = known.get(index) ?? {};
    const isDynamic = int(INFO.dynamic) !== 0;
    return {
      index,
      name: name ?? `${prefix}${index}`,
      dtype: nameOf(int(INFO.dtype)),
      shape: shape ?? (isDynamic ? maxShape.map((size) => `up to ${size}`) : maxShape),
      maxShape,
      dimOrder: dims.map((d) => view.getUint8(INFO.dimOrder + d)),
      bytes: Number(view.getBigUint64(INFO.bytes, true)),
    };
  });
}

// What the program says of sizes that may change (exir/emit/signature.h): lines such as
// `input 0 x (s17, 6)` and `symbol s17 from 2 to 10`.
function readSignature(text) {
  const inputs = new Map();
  const ranges = {};
  for (const line of text.split("\n")) {
    const input = /^input (\d+) (\S+) \((.*)\)$/.exec(line);
    const symbol = /^symbol (\S+) from (\d+) to (\d+)$/.exec(line);
    if (input) {
      const sizes = input[3].split(", ").filter((size) => size !== "");
      const shape = sizes.map((size) => (/^\d+$/.test(size) ? Number(size) : size));
      inputs.set(Number(input[1]), { name: input[2], shape });
    } else if (symbol) {
      ranges[symbol[1]] = { min: Number(symbol[2]), max: Number(symbol[3]) };
    }
  }
  return { inputs, ranges };
}

class Method {
  #engine;
  #handle;
  #text; // The name, in the engine's memory.
  #outputs;
  #places = []; // Of each input of `inputs`, the memory that it is copied to.

  constructor(engine, handle, name) {
    this.#engine = engine;
    this.#handle = handle;
    this.#text = engine.putText(name);
    this.name = name;
    engine.call("taper_describe_method", handle, this.#text, engine.struct);
    const [inputs, outputs] = [0, 4].map((offset) =>
      engine.view(engine.struct).getUint32(offset, true),
    );
    const signature = readSignature(this.#signature());
    const about = (call, count, known, prefix) =>
      describe(engine, call, count, handle, this.#text, known, prefix);
    // Other inputs than tensors have values that export fixed.
    this.inputs = about("taper_describe_input", inputs, signature.inputs, "input").filter(
      (info) => info.dtype !== null,
    );
    this.#outputs = about("taper_describe_output", outputs, new Map(), "output");
    this.outputs = this.#outputs;
    this.ranges = signature.ranges;
  }

  #signature() {
    const engine = this.#engine;
    const key = engine.putText(`taper.signature.${this.name}`);
    const where = engine.struct;
    try {
      engine.call("taper_named_data", this.#handle, key, where, where + 4);
    } catch (error) {
      if (error.code === "NotFound") return "";
      throw error;
    }
    const [data, size] = [0, 4].map((offset) => engine.view(engine.struct).getUint32(offset, true));
    return new TextDecoder().decode(engine.bytes(data, size).slice());
  }

  load() {
    this.#engine.call("taper_load_method", this.#handle, this.#text);
  }

  run(inputs) {
    tensorsFrom(this.name, this.inputs, inputs).forEach((tensor, i) => {
      this.#bind(i, tensor, tensor.data.byteLength); // The library checks it before it is copied.
      write(tensor, this.inputs[i], this.#engine.bytes(this.#place(i), tensor.data.byteLength));
    });
    return this.#execute();
  }

  // The same with inputs that lie in their places already: their dtypes, shapes and bytes.
  runPlaced(inputs) {
    inputs.forEach((input, i) => this.#bind(i, input, input.bytes));
    return this.#execute();
  }

  get places() {
    return this.inputs.map((_, i) => this.#place(i));
  }

  #place(i) {
    return (this.#places[i] ??= this.#engine.take(this.inputs[i].bytes));
  }

  #execute() {
    this.#engine.call("taper_run", this.#handle, this.#text);
    return this.#outputs.map((info) => this.#output(info));
  }

  // Tells the method what an input is, and where.
  #bind(i, { dtype, shape }, bytes) {
    const engine = this.#engine;
    const pointer = this.#place(i);
    const view = engine.view(engine.struct);
    const set = (offset, value) => view.setInt32(offset, value, true);
    set(VALUE.kind, TENSOR);
    set(VALUE.dtype, numberOf(dtype));
    set(VALUE.rank, shape.length);
    shape.slice(0, 16).forEach((size, d) => set(VALUE.sizes + 4 * d, size));
    set(VALUE.data, pointer);
    set(VALUE.bytes, bytes);
    const { index } = this.inputs[i];
    engine.call("taper_bind_input", this.#handle, this.#text, index, engine.struct);
  }

  #output(info) {
    const engine = this.#engine;
    engine.call("taper_get_output", this.#handle, this.#text, info.index, engine.struct);
    const view = engine.view(engine.struct);
    const int = (offset) => view.getInt32(offset, true);
    const [data, bytes] = [VALUE.data, VALUE.bytes].map((offset) => view.getUint32(offset, true));
    const integer = view.getBigInt64(VALUE.integer, true);
    switch (int(VALUE.kind)) {
      case TENSOR: {
        const dtype = nameOf(int(VALUE.dtype));
        const shape = range(int(VALUE.rank)).map((d) => int(VALUE.sizes + 4 * d));
        const elements = new (arrayOf(dtype))(engine.bytes(data, bytes).slice().buffer);
        return new Tensor(reordered(elements, shape, info.dimOrder, true), shape, dtype);
      }
      case STRING:
        return new TextDecoder().decode(engine.bytes(data, bytes).slice());
      case DOUBLE:
        return view.getFloat64(VALUE.number, true);
      case INT: // A number that JavaScript cannot hold exactly stays a bigint.
        return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
      case BOOL:
        return integer !== 0n;
      default:
        return null;
    }
  }
}

// A module that stops, for lack of memory or of stack, is in no defined state.
const stopped = (error) =>
  new TaperError("Internal", `the model stopped and is closed: ${error.message}`);

// The name that errors give a program.
const nameFor = (source) =>
  asBytes(source) || source instanceof Blob ? source.name : addressOf(source).href;

// Loads a program.
export async function loadHere(source, { weights, wasm, threads, onProgress }) {
  const name = nameFor(source);
  const engine = await Engine.create(wasm, threads);
  try {
    const program = await bring(engine, source, onProgress);
    const data = weights ? await bring(engine, weights, onProgress) : { pointer: 0, length: 0 };
    return open(engine, program, data, threads, name);
  } catch (error) {
    engine.close();
    throw error;
  }
}

function open(engine, program, data, threads, name) {
  try {
    return new LocalModel(engine, program, data, threads);
  } catch (error) {
    const known = error instanceof WebAssembly.RuntimeError ? stopped(error) : error;
    if (known instanceof TaperError && name) known.message += `: ${name}`;
    throw known;
  }
}

class LocalModel {
  #engine;
  #handle;
  #methods = new Map();

  constructor(engine, program, weights, threads) {
    this.#engine = engine;
    engine.call(
      "web_open",
      program.pointer,
      program.length,
      weights.pointer,
      weights.length,
      threads,
      engine.struct,
    );
    this.#handle = engine.view(engine.struct).getBigUint64(0, true);
    engine.call("taper_method_count", this.#handle, engine.struct);
    const count = engine.view(engine.struct).getUint32(0, true);
    for (const index of range(count)) {
      engine.call("taper_method_name", this.#handle, index, engine.struct);
      const name = engine.text(engine.view(engine.struct).getUint32(0, true));
      this.#methods.set(name, new Method(engine, this.#handle, name));
    }
    // A program's only method is loaded at once, so that what it lacks is known at once.
    if (count === 1) this.#methods.forEach((method) => method.load());
  }

  // What the methods are, without what runs them.
  describe() {
    this.#open();
    return [...this.#methods.values()].map(({ name, inputs, outputs, ranges }) => ({
      name,
      inputs,
      outputs,
      ranges,
    }));
  }

  // The memory, if it is shared, and for each method the places of its inputs in it.
  share() {
    this.#open();
    const memory = this.#engine.sharedMemory;
    if (!memory) return undefined;
    const places = [...this.#methods].map(([name, method]) => [name, method.places]);
    return { memory, places: new Map(places) };
  }

  async run(method, inputs) {
    return this.#guarded(() => this.#methods.get(method).run(inputs));
  }

  async runPlaced(method, inputs) {
    return this.#guarded(() => this.#methods.get(method).runPlaced(inputs));
  }

  async reset() {
    this.#guarded(() => this.#engine.call("taper_reset_state", this.#handle));
  }

  // Ends the threads and forgets the instance, and with it the whole memory.
  close() {
    this.#engine?.close();
    this.#engine = undefined;
    this.#methods.clear();
  }

  #open() {
    if (!this.#engine) throw new TaperError("InvalidState", "the model is closed");
  }

  #guarded(action) {
    this.#open();
    try {
      return action();
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      this.close();
      throw stopped(error);
    }
  }
}
