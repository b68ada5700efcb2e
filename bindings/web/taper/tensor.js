// Tensors: a dtype, a shape, and a typed array with the elements in row-major order.

import { TaperError } from "./errors.js";

// The number of each dtype in taper/taper.h, and the array that holds its elements. float16 and
// bfloat16 are bits, since not every browser has an array of them. A complex number is two
// elements.
const DTYPES = {
  uint8: [0, Uint8Array],
  int8: [1, Int8Array],
  int16: [2, Int16Array],
  int32: [3, Int32Array],
  int64: [4, BigInt64Array],
  float16: [5, Uint16Array],
  float32: [6, Float32Array],
  float64: [7, Float64Array],
  complex32: [8, Uint16Array],
  complex64: [9, Float32Array],
  complex128: [10, Float64Array],
  bool: [11, Uint8Array],
  bfloat16: [15, Uint16Array],
  uint16: [27, Uint16Array],
  uint32: [28, Uint32Array],
  uint64: [29, BigUint64Array],
};
// What a typed array holds if nothing else is said.
const DEFAULTS = [
  "float32",
  "float64",
  "int64",
  "int32",
  "int16",
  "int8",
  "uint8",
  "uint16",
  "uint32",
  "uint64",
];
const NAMES = new Map(Object.entries(DTYPES).map(([name, [number]]) => [number, name]));

export const numberOf = (dtype) => DTYPES[dtype][0];
export const nameOf = (number) => NAMES.get(number);
export const arrayOf = (dtype) => DTYPES[dtype][1];

function refuse(what) {
  throw new TaperError("InvalidArgument", what);
}

function nameOfValue(value) {
  if (value === null || value === undefined) return String(value);
  return typeof value === "object" ? (value.constructor?.name ?? "object") : typeof value;
}

function dtypeOf(data) {
  const found = DEFAULTS.find((name) => data instanceof arrayOf(name));
  return found ?? refuse(`a tensor's data must be a typed array, not ${nameOfValue(data)}`);
}

export class Tensor {
  // Uses `data` without a copy. The dtype is needed where the kind of array does not say it: bool,
  // float16, bfloat16 and complex numbers.
  constructor(data, shape, dtype = dtypeOf(data)) {
    if (typeof dtype !== "string") refuse(`a dtype must be a string, not ${nameOfValue(dtype)}`);
    if (!Object.hasOwn(DTYPES, dtype)) refuse(`unknown dtype '${dtype}'`);
    const kind = arrayOf(dtype);
    if (!(data instanceof kind)) {
      refuse(`a tensor of ${dtype} takes a ${kind.name}, not ${nameOfValue(data)}`);
    }
    const isSize = (size) => Number.isInteger(size) && size >= 0 && size < 2 ** 31;
    if (!Array.isArray(shape) || !shape.every(isSize)) {
      refuse("a tensor's shape must be an array of integers from 0 to 2147483647");
    }
    const parts = dtype.startsWith("complex") ? 2 : 1;
    const count = shape.reduce((product, size) => product * size, parts);
    if (data.length !== count) {
      refuse(`a tensor of shape (${shape.join(", ")}) has ${count} elements, not ${data.length}`);
    }
    this.data = data;
    this.shape = [...shape];
    this.dtype = dtype;
  }
}

// The tensor that a caller gives for an input: a Tensor, an object with the same fields, or only
// the elements of a tensor with the declared dtype and shape.
function tensorFrom(value, info) {
  if (ArrayBuffer.isView(value)) return new Tensor(value, info.maxShape, info.dtype);
  if (value instanceof Tensor || (typeof value === "object" && value !== null && "data" in value)) {
    return new Tensor(value.data, value.shape, value.dtype);
  }
  return refuse(`${info.name}: expected a tensor or a typed array, given ${nameOfValue(value)}`);
}

// The tensors that a caller gives a method.
export function tensorsFrom(method, infos, inputs) {
  if (!Array.isArray(inputs)) refuse(`${method}: expected an array of tensors`);
  if (inputs.length !== infos.length) {
    const names = infos.map((info) => info.name).join(", ");
    refuse(`${method} takes ${infos.length} inputs (${names}), given ${inputs.length}`);
  }
  return infos.map((info, i) => tensorFrom(inputs[i], info));
}

// Writes the elements of an input to `bytes`, in the order that the method reads them in.
export function write(tensor, info, bytes) {
  const data = reordered(tensor.data, tensor.shape, info.dimOrder);
  bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
}

// The same elements in another order: from row-major to `dimOrder` (dims from the outermost in
// memory to the innermost), or back.
export function reordered(data, shape, dimOrder, isBack = false) {
  if (dimOrder.every((dim, i) => dim === i)) return data;
  const parts = data.length / shape.reduce((product, size) => product * size, 1);
  const strides = shape.map((_, d) => shape.slice(d + 1).reduce((a, b) => a * b, 1));
  const result = new data.constructor(data.length);
  let next = 0;
  const walk = (depth, offset) => {
    if (depth < shape.length) {
      const dim = dimOrder[depth];
      for (let i = 0; i < shape[dim]; ++i) walk(depth + 1, offset + i * strides[dim]);
      return;
    }
    for (let part = 0; part < parts; ++part, ++next) {
      const plain = offset * parts + part;
      if (isBack) result[plain] = data[next];
      else result[next] = data[plain];
    }
  };
  walk(0, 0);
  return result;
}
