// The types of taper-runtime, which runs PyTorch models in browsers and in Node.

export type DType =
  | "uint8"
  | "int8"
  | "int16"
  | "int32"
  | "int64"
  | "uint16"
  | "uint32"
  | "uint64"
  | "float16"
  | "bfloat16"
  | "float32"
  | "float64"
  | "bool"
  | "complex32"
  | "complex64"
  | "complex128";

// The elements of a tensor. float16 and bfloat16 are the bits of each number, in a Uint16Array;
// bool is one byte of 0 or 1; a complex number is two elements.
export type Elements =
  | Uint8Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Uint16Array
  | Uint32Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

// Elements in row-major order.
export class Tensor {
  // Uses `data` without a copy. `dtype` is needed where the array does not say it: for bool,
  // float16, bfloat16 and complex numbers.
  constructor(data: Elements, shape: readonly number[], dtype?: DType);
  data: Elements;
  shape: number[];
  dtype: DType;
}

// What a method takes or returns.
export interface ValueInfo {
  // Its number among all inputs or outputs of the method.
  index: number;
  // The name of the input where the program keeps it; else "input0", "output0".
  name: string;
  // Null for an output that is not a tensor; such an output has no shape.
  dtype: DType | null;
  // Sizes; one that may change is a text such as "s0", "2*s0" or "up to 16".
  shape?: (number | string)[];
  // The largest sizes.
  maxShape?: number[];
  // How the program lays the tensor out; inputs and outputs of run() are row-major all the same.
  dimOrder?: number[];
  // The size in memory at the largest sizes.
  bytes?: number;
}

export interface MethodInfo {
  name: string;
  // The tensors that run() takes; other inputs have values that export fixed.
  inputs: ValueInfo[];
  outputs: ValueInfo[];
  // The range of each symbol in the shapes.
  ranges: Record<string, { min: number; max: number }>;
}

// A tensor, or its elements alone if the method declares its shape.
export type Input = Tensor | { data: Elements; shape: readonly number[]; dtype?: DType } | Elements;
// An integer is a bigint if a number cannot hold it exactly.
export type Output = Tensor | number | bigint | boolean | string | null;

export interface Model {
  // How many threads run it.
  readonly threads: number;
  readonly methods: ReadonlyMap<string, MethodInfo>;
  // Those of the only method, or of `forward`.
  readonly inputs: ValueInfo[];
  readonly outputs: ValueInfo[];
  // Runs the only method, `forward`, or the one that is named. Runs of one model come one after
  // another. The outputs are copies.
  run(inputs: readonly Input[], options?: { method?: string }): Promise<Output[]>;
  // Sets the model's state back to the saved values.
  reset(): Promise<void>;
  // Gives all memory back. Calls that follow throw.
  close(): void;
}

// The address of a file, or its bytes.
export type Source = string | URL | ArrayBuffer | ArrayBufferView | Blob;

export interface LoadOptions {
  // The weights, of a program that was exported with --external-weights.
  weights?: Source;
  // Called as bytes arrive; `total` is 0 where it is not known.
  onProgress?: (progress: { loaded: number; total: number }) => void;
  // Loads and runs in a worker, so that the page stays responsive, or, if false, in the calling
  // thread, which saves the messages between the two. If not given, a model with threads has a
  // worker where there are workers, and others run in the calling thread.
  worker?: boolean;
  // Runs the model on as many threads; 1 if not given. A browser has threads only in pages that are
  // cross-origin isolated; elsewhere a note on the console says why the model has one. The results
  // are the same.
  threads?: number;
  // Another module than the package's, such as one that is trimmed to the model; for threads, one
  // that is linked as taper-threads.wasm.
  wasm?: string | URL | WebAssembly.Module;
}

export const Taper: {
  load(source: Source, options?: LoadOptions): Promise<Model>;
};

// What load() and run() throw.
export class TaperError extends Error {
  // The name of a code of taper/taper.h: "InvalidArgument", "OperatorMissing", ...
  code: string;
}

// NumPy's files.
export function readNpy(bytes: ArrayBuffer | ArrayBufferView): Tensor;
export function writeNpy(tensor: Tensor): Uint8Array;
