// Brings the bytes of a program into the memory of an engine, in pieces as they arrive: no second
// copy of large weights is made.

import { TaperError } from "./errors.js";

// What programs can be given as, beside addresses.
export function asBytes(source) {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (ArrayBuffer.isView(source)) {
    return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  }
  return undefined;
}

export function addressOf(source) {
  const isAddress = typeof source === "string" || source instanceof URL;
  try {
    if (isAddress) return new URL(source, globalThis.location?.href);
  } catch {
    // Reported below.
  }
  throw new TaperError(
    "InvalidArgument",
    `expected the address of a program or its bytes, given ${String(source)}`,
  );
}

// An answer to a request, whose length need not be known; 0 if it is not.
async function request(address) {
  const failed = (why) =>
    new TaperError("AccessFailed", `the file cannot be read (${why}): ${address}`);
  if (address.protocol === "file:") {
    const { open } = await import("node:fs/promises");
    const file = await open(address).catch((error) => {
      throw failed(error.code);
    });
    const { size } = await file.stat();
    return { total: size, pieces: file.createReadStream({ highWaterMark: 1 << 20 }) };
  }
  const response = await fetch(address).catch((error) => {
    throw failed(error.message);
  });
  if (!response.ok) throw failed(`${response.status} ${response.statusText}`.trim());
  // The stated length is that of the compressed bytes if there is an encoding.
  const isPlain = !response.headers.get("Content-Encoding");
  const total = isPlain ? Number(response.headers.get("Content-Length") ?? 0) : 0;
  return { total, pieces: piecesOf(response.body.getReader()) };
}

async function* piecesOf(reader) {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

// Returns where the bytes are, and how many.
export async function bring(engine, source, onProgress) {
  const bytes =
    source instanceof Blob ? new Uint8Array(await source.arrayBuffer()) : asBytes(source);
  if (bytes) {
    const pointer = engine.take(bytes.length);
    engine.bytes(pointer, bytes.length).set(bytes);
    onProgress?.({ loaded: bytes.length, total: bytes.length });
    return { pointer, length: bytes.length };
  }
  const { total, pieces } = await request(addressOf(source));
  let room = total;
  let pointer = engine.take(room);
  let loaded = 0;
  for await (const piece of pieces) {
    if (loaded + piece.length > room) {
      room = Math.max(loaded + piece.length, Math.ceil(room * 1.5));
      pointer = engine.take(room, pointer);
    }
    engine.bytes(pointer + loaded, piece.length).set(piece);
    loaded += piece.length;
    onProgress?.({ loaded, total });
  }
  return { pointer, length: loaded };
}
