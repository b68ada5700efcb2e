// One instance of a module, which serves one program: memory, calls, and errors of taper/taper.h.
// The memory of an instance only grows, so each model has its own, and gives all of it back. With
// threads, other instances share the memory (crew.js).

import { hire, maySleep } from "./crew.js";
import { TaperError } from "./errors.js";

// A module with one function that returns a vector.
const VECTORS = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15,
  253, 98, 11,
]);
// The same with a function that multiplies and adds in one instruction.
const RELAXED = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 19, 1, 17, 0, 65, 0, 253, 15,
  65, 0, 253, 15, 65, 0, 253, 15, 253, 133, 2, 11,
]);
// Sizes and offsets of the structs, which src/web.cpp holds against the header.
const ERROR_BYTES = 640;
const STRUCT_BYTES = 104;
const OK = 0;
// What CMakeLists.txt says of the module for threads, in pages of 64 KB.
const FIRST_PAGES = 256;
const MOST_PAGES = 65536;
export const STACK_BYTES = 1 << 20; // Of each thread.

const modules = new Map(); // Compiled modules by address.

async function compile(address) {
  if (address.protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    return WebAssembly.compile(await readFile(address));
  }
  const response = await fetch(address);
  if (!response.ok) throw new TaperError("NotFound", `${address}: ${response.status}`);
  // A browser keeps the machine code of a module that it compiles from a response of this type.
  const isTyped = response.headers.get("Content-Type")?.startsWith("application/wasm");
  if (isTyped) return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}

// The package's module for this browser.
function ownFile(threads) {
  const relaxed = WebAssembly.validate(RELAXED) ? "-relaxed" : "";
  return `taper${relaxed}${threads > 1 ? "-threads" : ""}.wasm`;
}

// The module at an address, which is compiled once.
async function moduleAt(wasm, threads) {
  if (wasm instanceof WebAssembly.Module) return wasm;
  if (typeof WebAssembly !== "object" || !WebAssembly.validate(VECTORS)) {
    throw new TaperError(
      "NotSupported",
      "this browser is too old: it has no WebAssembly with SIMD, which all have since 2023",
    );
  }
  const address = new URL(wasm ?? ownFile(threads), wasm ? globalThis.location?.href : import.meta.url);
  if (!modules.has(address.href)) {
    const compiled = compile(address);
    modules.set(address.href, compiled);
    compiled.catch(() => modules.delete(address.href)); // The next call tries again.
  }
  return modules.get(address.href);
}

const isShared = (module) =>
  WebAssembly.Module.imports(module).some(({ kind }) => kind === "memory");

// The most that the system has room for.
function sharedMemory(maximum = MOST_PAGES) {
  try {
    return new WebAssembly.Memory({ initial: FIRST_PAGES, maximum, shared: true });
  } catch (error) {
    if (maximum > FIRST_PAGES) return sharedMemory(maximum / 2);
    throw new TaperError("MemoryAllocationFailed", `there is no shared memory: ${error.message}`);
  }
}

// An instance of a module; one that is linked for threads gets its memory from here.
export function instantiate(module, memory) {
  const imports = { env: { memory }, wasi_snapshot_preview1: {} };
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    // The C library asks for the files of a system, of which there are none: EBADF.
    if (kind === "function") imports[from][name] = () => 8;
  }
  return WebAssembly.instantiate(module, imports);
}

export class Engine {
  #exports;
  #memory;
  #error;
  #struct;
  #dismiss = () => {};

  static async create(wasm, threads) {
    const module = await moduleAt(wasm, threads);
    if (threads > 1 && !isShared(module)) {
      throw new TaperError(
        "InvalidArgument",
        "this module has no threads; one that has them is linked as taper-threads.wasm",
      );
    }
    const memory = isShared(module) ? sharedMemory() : undefined;
    const { exports } = await instantiate(module, memory);
    const engine = new Engine(exports, memory ?? exports.memory);
    if (threads > 1) await engine.#hire(module, threads - 1);
    return engine;
  }

  constructor(exports, memory) {
    this.#exports = exports;
    this.#memory = memory;
    exports._initialize();
    this.#error = this.take(ERROR_BYTES);
    this.#struct = this.take(STRUCT_BYTES);
  }

  async #hire(module, count) {
    const stacks = Array.from({ length: count }, () => this.take(STACK_BYTES));
    this.#dismiss = await hire(module, this.#memory, stacks);
    if (!maySleep) this.ask("web_stay_awake");
  }

  // Ends the threads. The memory goes when nobody refers to the engine.
  close() {
    this.#dismiss();
  }

  // The memory if other threads may access it, else undefined.
  get sharedMemory() {
    const isShared =
      typeof SharedArrayBuffer === "function" && this.#memory.buffer instanceof SharedArrayBuffer;
    return isShared ? this.#memory : undefined;
  }

  // The struct that calls read or fill.
  get struct() {
    return this.#struct;
  }

  // A view on the memory, valid until memory is taken or a function is called.
  view(pointer = 0, bytes = undefined) {
    return new DataView(this.#memory.buffer, pointer, bytes);
  }

  bytes(pointer, length) {
    return new Uint8Array(this.#memory.buffer, pointer, length);
  }

  text(pointer) {
    const rest = new Uint8Array(this.#memory.buffer, pointer);
    return new TextDecoder().decode(rest.slice(0, rest.indexOf(0)));
  }

  // Copies a text to memory that is never freed.
  putText(text) {
    const bytes = new TextEncoder().encode(text + "\0");
    const pointer = this.take(bytes.length);
    this.bytes(pointer, bytes.length).set(bytes);
    return pointer;
  }

  // Memory, aligned to 16; what was at `old` is moved there.
  take(bytes, old = 0) {
    const isPossible = bytes < 2 ** 32; // The function would take the rest of a larger number.
    const pointer = isPossible ? this.#exports.realloc(old, Math.max(bytes, 1)) >>> 0 : 0;
    if (pointer === 0) {
      throw new TaperError("MemoryAllocationFailed", `there is no memory for ${bytes} bytes`);
    }
    return pointer;
  }

  // Calls a function that cannot fail.
  ask(name, ...parameters) {
    return this.#exports[name](...parameters);
  }

  // Calls a function with an error as last parameter, and throws what it reports.
  call(name, ...parameters) {
    if (this.#exports[name](...parameters, this.#error) === OK) return;
    const code = this.ask("taper_code_name", this.view(this.#error).getInt32(0, true));
    throw new TaperError(this.text(code), this.text(this.#error + 4));
  }
}
