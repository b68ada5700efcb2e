// NumPy's .npy files, which the command line reads and writes, too.

import { TaperError } from "./errors.js";
import { arrayOf, Tensor } from "./tensor.js";

const DESCRIPTIONS = {
  float16: "<f2",
  float32: "<f4",
  float64: "<f8",
  int8: "|i1",
  int16: "<i2",
  int32: "<i4",
  int64: "<i8",
  uint8: "|u1",
  uint16: "<u2",
  uint32: "<u4",
  uint64: "<u8",
  bool: "|b1",
  complex64: "<c8",
  complex128: "<c16",
  bfloat16: "|V2",
};
const DTYPES = new Map(Object.entries(DESCRIPTIONS).map(([dtype, text]) => [text, dtype]));

const refuse = (what) => {
  throw new TaperError("InvalidArgument", `this is not an .npy file that can be read: ${what}`);
};

// Reads the bytes of a file.
export function readNpy(source) {
  const bytes = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
  const magic = String.fromCharCode(...bytes.subarray(0, 6));
  if (magic !== "\x93NUMPY" || bytes.length < 12) refuse("it does not begin as one");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = bytes[6] === 1 ? 10 : 12;
  const end = start + (start === 10 ? view.getUint16(8, true) : view.getUint32(8, true));
  const header = new TextDecoder("latin1").decode(bytes.subarray(start, end));
  const description = /'descr': *'([^']*)'/.exec(header)?.[1];
  const shape = /'shape': *\(([0-9, ]*)\)/.exec(header)?.[1];
  if (shape === undefined || description === undefined) refuse("its header is not a dictionary");
  const dtype = DTYPES.get(description) ?? refuse(`its dtype is '${description}'`);
  const sizes = shape
    .split(",")
    .filter((size) => size.trim() !== "")
    .map(Number);
  if (/'fortran_order': *True/.test(header) && sizes.length > 1) refuse("its order is Fortran's");
  const kind = arrayOf(dtype);
  const parts = dtype.startsWith("complex") ? 2 : 1;
  const count = sizes.reduce((product, size) => product * size, parts);
  if (end + count * kind.BYTES_PER_ELEMENT > bytes.length) refuse("it is truncated");
  const elements = bytes.slice(end, end + count * kind.BYTES_PER_ELEMENT);
  return new Tensor(new kind(elements.buffer), sizes, dtype);
}

// Returns the bytes of a file.
export function writeNpy({ data, shape, dtype }) {
  if (!Object.hasOwn(DESCRIPTIONS, dtype)) {
    throw new TaperError("InvalidArgument", `.npy files have no dtype ${dtype}`);
  }
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const descr = DESCRIPTIONS[dtype];
  const header = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${sizes}), }`;
  const padded = header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11) + "\n";
  const start = new Uint8Array([
    0x93,
    0x4e,
    0x55,
    0x4d,
    0x50,
    0x59,
    1,
    0,
    padded.length & 255,
    padded.length >> 8,
  ]);
  const file = new Uint8Array(start.length + padded.length + data.byteLength);
  file.set(start);
  file.set(new TextEncoder().encode(padded), start.length);
  file.set(
    new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
    start.length + padded.length,
  );
  return file;
}
