// What the package must do, in Node and in a browser. `env` says how files are reached:
//   read(path)     the bytes of a file of the repository
//   program(name)  the address of a program that scripts/web.sh has compiled
//   broken         what the command line says of files that are no good: [{file, text}]

import { readNpy, Taper, TaperError, Tensor, writeNpy } from "../taper/taper.js";
import { everyModel } from "./models.js";

function require(holds, what) {
  if (!holds) throw new Error(what);
}

// Waits for an error with that code and text.
async function refused(code, text, action) {
  let found;
  try {
    await action();
  } catch (error) {
    found = error;
  }
  require(found, `not refused: ${text}`);
  require(found instanceof TaperError, `${found.name}: ${found.message}, not: ${text}`);
  require(found.code === code &&
    found.message.includes(text), `${found.code}: ${found.message}, not ${code}: ${text}`);
}

async function tensors(env, name, count, kind = "in") {
  const paths = Array.from({ length: count }, (_, i) => `test/models/data/${name}.${kind}${i}.npy`);
  return Promise.all(paths.map(async (path) => readNpy(await env.read(path))));
}

async function gives(model, inputs, expected, options) {
  const outputs = await model.run(inputs, options);
  expected.forEach((tensor, i) => {
    const worst = tensor.data.reduce(
      (most, x, k) => Math.max(most, Math.abs(x - outputs[i].data[k])),
      0,
    );
    require(worst <= 1e-4, `output ${i} differs by ${worst}`);
  });
}

const add = (env, options) => Taper.load(env.program("add.pte"), options);
const floats = (count) => new Float32Array(count);

async function describes(env) {
  const model = await Taper.load(env.program("dynamic_bert.pte"));
  const [info] = model.inputs;
  require(model.inputs.map(({ name }) => name).join() ===
    "input_ids,attention_mask,token_type_ids", "names");
  require(info.dtype === "int64" && info.maxShape.join() === "2,16", "dtype and shape");
  const { min, max } = model.methods.get("forward").ranges[info.shape[1]];
  require(min >= 0 && max === 16, "the range of a symbol");
  require(model.outputs[0].maxShape.join() === "2,16,16" &&
    model.outputs[0].dtype === "float32", "output");
  const inputs = await tensors(env, "dynamic_bert_7", 3);
  await gives(model, inputs, await tensors(env, "dynamic_bert_7", 2, "out"));
  const long = new Tensor(new BigInt64Array(2 * 17), [2, 17]);
  await refused("InvalidArgument", "given int64 (2, 17)", () => model.run([long, long, long]));
  const nested = await Taper.load(env.program("nested.pte"));
  const outputs = await nested.run(await tensors(env, "nested", 5));
  require(outputs.slice(3).map(String).join() ===
    "null,7,0.5,null,true", "outputs that are no tensors");
}

async function methodsAndState(env) {
  const model = await Taper.load(env.program("two.pte"));
  require([...model.methods.keys()].sort().join() === "encode,sum", "names");
  await gives(model, await tensors(env, "add", 2), await tensors(env, "add", 1, "out"), {
    method: "sum",
  });
  await gives(
    model,
    await tensors(env, "bert_mini", 3),
    await tensors(env, "bert_mini", 2, "out"),
    { method: "encode" },
  );
  await refused("NotFound", "no method has that name; there are: ", () =>
    model.run([], { method: "decode" }),
  );
  await refused("NotFound", "no method has that name", () => model.run([]));
  const counters = await Promise.all([0, 1].map(() => Taper.load(env.program("counter.pte"))));
  for (const counter of [counters[0], counters[1], counters[0]]) {
    for (let step = 0; step < 3; ++step) {
      const name = `counter.step${step}`;
      await gives(counter, await tensors(env, name, 1), await tensors(env, name, 2, "out"));
    }
    await counter.reset();
  }
}

async function misuse(env, options) {
  const model = await add(env, options);
  const good = await tensors(env, "add", 2);
  const expected = await tensors(env, "add", 1, "out");
  const detached = floats(8);
  structuredClone(detached, { transfer: [detached.buffer] });
  const [a] = good;
  const wrong = [
    ["InvalidArgument", "forward takes 2 inputs (input0, input1), given 1", [a]],
    ["InvalidArgument", "given 3", [a, a, a]],
    ["InvalidArgument", "expected an array of tensors", a],
    ["InvalidArgument", "expected an array of tensors", undefined],
    ["InvalidArgument", "input1: expected a tensor or a typed array, given number", [a, 3]],
    ["InvalidArgument", "given null", [a, null]],
    [
      "InvalidType",
      "input 1: expected float32 (2, 4), given float64 (2, 4)",
      [a, new Tensor(new Float64Array(8), [2, 4])],
    ],
    [
      "InvalidArgument",
      "input 1: expected float32 (2, 4), given float32 (8)",
      [a, new Tensor(floats(8), [8])],
    ],
    ["InvalidArgument", "expected float32 (2, 4)", [a, new Tensor(floats(1), Array(17).fill(1))]],
    ["InvalidArgument", "has 8 elements, not 7", [a, floats(7)]],
    ["InvalidArgument", "has 8 elements, not 0", [a, detached]],
    ["InvalidArgument", "has 8 elements, not 9", [a, { data: floats(9), shape: [2, 4] }]],
    ["InvalidArgument", "an array of integers", [a, { data: floats(8), shape: [2, -4] }]],
    ["InvalidArgument", "an array of integers", [a, { data: floats(8), shape: [2.5, 4] }]],
    ["InvalidArgument", "an array of integers", [a, { data: floats(8), shape: "2,4" }]],
    ["InvalidArgument", "an array of integers", [a, { data: floats(8), shape: [2 ** 32 + 2, 4] }]],
    ["InvalidArgument", "a typed array, not Array", [a, { data: [1], shape: [1] }]],
    [
      "InvalidArgument",
      "unknown dtype 'float'",
      [a, { data: floats(8), shape: [2, 4], dtype: "float" }],
    ],
    [
      "InvalidArgument",
      "takes a Uint8Array, not Float32Array",
      [a, { data: floats(8), shape: [2, 4], dtype: "bool" }],
    ],
  ];
  for (const [code, text, inputs] of wrong) {
    await refused(code, text, () => model.run(inputs));
    await gives(model, good, expected);
  }
  await refused("NotFound", "there are: forward", () => model.run(good, { method: "backward" }));
  const both = await Promise.all([model.run(good), model.run(good)]);
  require(both.length === 2, "two runs at once");
  model.close();
  model.close();
  await refused("InvalidState", "the model is closed", () => model.run(good));
  await refused("InvalidState", "the model is closed", () => model.reset());
}

async function brokenFiles(env, options) {
  for (const { file, text } of env.broken) {
    const address = env.program(file);
    await refused("InvalidProgram", text, () => Taper.load(address, options));
  }
  await refused("InvalidProgram", "", () => Taper.load(new Uint8Array(0), options));
  for (const source of [3, null, undefined, {}]) {
    await refused("InvalidArgument", "expected the address of a program or its bytes", () =>
      Taper.load(source, options),
    );
  }
  await refused("AccessFailed", "none.pte", () => Taper.load(env.program("none.pte"), options));
  await refused("OperatorMissing", "my::shrink.out", () =>
    Taper.load(env.program("custom_op.pte"), options),
  );
  await refused("NotFound", "XnnpackBackend", () =>
    Taper.load(env.program("delegated.pte"), options),
  );
}

// Files in which a few bytes are wrong are refused, or run; nothing traps.
async function mutants(env) {
  const good = await env.read(env.program("bert_mini.pte"));
  const inputs = await tensors(env, "bert_mini", 3);
  let state = 1;
  const random = (below) => {
    state ^= state << 13; // xorshift32
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  let refusals = 0;
  for (let i = 0; i < 300; ++i) {
    const bytes = new Uint8Array(good.slice(0));
    for (let n = random(4); n >= 0; --n)
      bytes[random(random(2) ? bytes.length : 30000)] = random(256);
    try {
      const model = await Taper.load(
        bytes.subarray(0, random(8) ? bytes.length : random(bytes.length)),
      );
      await model.run(inputs, { method: [...model.methods.keys()][0] });
    } catch (error) {
      require(error instanceof TaperError && error.code !== "Internal", `mutant ${i}: ${error}`);
      ++refusals;
    }
  }
  return `${refusals} of 300 refused`;
}

async function progress(env, options) {
  const seen = [];
  const model = await Taper.load(env.program("unet.pte"), {
    ...options,
    onProgress: (each) => seen.push(each),
  });
  const { byteLength } = await env.read(env.program("unet.pte"));
  const last = seen.at(-1);
  require(last.loaded === byteLength &&
    last.total === byteLength, `progress: ${JSON.stringify(last)}`);
  require(seen.every(
    (each, i) => i === 0 || each.loaded > seen[i - 1].loaded,
  ), "progress goes back");
  model.close();
}

async function sources(env) {
  const inputs = await tensors(env, "add", 2);
  const expected = await tensors(env, "add", 1, "out");
  const bytes = new Uint8Array(await env.read(env.program("add.pte")));
  const shifted = new Uint8Array(bytes.length + 3);
  shifted.set(bytes, 3);
  const given = [
    bytes,
    bytes.buffer,
    shifted.subarray(3),
    new Blob([bytes]),
    new URL(env.program("add.pte")),
  ];
  for (const source of given) await gives(await Taper.load(source), inputs, expected);
  await gives(
    await Taper.load(bytes),
    inputs.map(({ data }) => data),
    expected,
  );
  const weights = env.program("outside.ptd");
  const image = await tensors(env, "mobilenet_v2", 1);
  const scores = await tensors(env, "mobilenet_v2", 1, "out");
  await gives(await Taper.load(env.program("outside.pte"), { weights }), image, scores);
  await refused("NotFound", "", () => Taper.load(env.program("outside.pte")));
  await gives(await Taper.load(env.program("application.pte")), image, scores);
}

// readNpy() and writeNpy() against files that NumPy wrote.
async function npyFiles(env) {
  for (const name of [
    "add.in0",
    "bert_mini.in0",
    "counter.step0.out2",
    "mixed_dtypes.out3",
    "bfloat16.in0",
    "complex.out0",
  ]) {
    const file = await env.read(`test/models/data/${name}.npy`);
    const again = writeNpy(readNpy(file));
    require(again.join() === new Uint8Array(file).join(), `${name} is not the same`);
  }
  const file = new Uint8Array(await env.read("test/models/data/add.in0.npy"));
  for (const length of [0, 5, 11, 60, file.length - 1]) {
    await refused("InvalidArgument", "this is not an .npy file", () =>
      readNpy(file.subarray(0, length)),
    );
  }
}

// A module with the kernels of one model runs that, and names what it lacks for another.
async function trimmed(env) {
  const wasm = env.program("trimmed.wasm");
  const model = await Taper.load(env.program("mobilenet_v2.pte"), { wasm });
  await gives(
    model,
    await tensors(env, "mobilenet_v2", 1),
    await tensors(env, "mobilenet_v2", 1, "out"),
  );
  await refused("OperatorMissing", "aten::gelu.out", () =>
    Taper.load(env.program("bert_mini.pte"), { wasm }),
  );
}

async function oldBrowsers(env) {
  const { validate } = WebAssembly;
  WebAssembly.validate = () => false;
  try {
    await refused("NotSupported", "this browser is too old: it has no WebAssembly with SIMD", () =>
      add(env),
    );
  } finally {
    WebAssembly.validate = validate;
  }
}

async function inWorkers(env) {
  const worker = true;
  if (typeof Worker !== "function") {
    await refused("NotSupported", "there are no workers here", () => add(env, { worker }));
    return "refused where there are none";
  }
  await misuse(env, { worker });
  await brokenFiles(env, { worker });
  await progress(env, { worker });
  const model = await add(env, { worker });
  const pending = model.run(await tensors(env, "add", 2));
  model.close();
  await refused("InvalidState", "the model is closed", () => pending);
  return everyModel(env, { worker });
}

// Of a page that is not isolated: the model runs, on one thread, and a note says why.
async function alone(env) {
  const notes = [];
  const { warn } = console;
  console.warn = (note) => notes.push(note);
  const model = await add(env, { threads: 2 }).finally(() => {
    console.warn = warn;
  });
  require(model.threads === 1, `it has ${model.threads} threads`);
  require(notes.length === 1 && notes[0].includes("Cross-Origin-Embedder-Policy"), notes.join());
  await gives(model, await tensors(env, "add", 2), await tensors(env, "add", 1, "out"));
  return "refused where there is no shared memory";
}

// The same bits, whatever the number of threads.
async function sameBits(env) {
  const inputs = await tensors(env, "mobilenet_v2", 1);
  const found = [];
  for (const threads of [1, 2, 3]) {
    const model = await Taper.load(env.program("mobilenet_v2.pte"), { threads });
    require(model.threads === threads, `${model.threads} threads`);
    const [{ data }] = await model.run(inputs);
    found.push(new Uint32Array(data.buffer).join());
    model.close();
  }
  require(found.every((each) => each === found[0]), "threads change the results");
}

// Runs that begin before others have ended have their own inputs.
async function runsThatOverlap(env, options) {
  const [a, b] = await tensors(env, "add", 2);
  const model = await add(env, options);
  const sums = await Promise.all([model.run([a, b]), model.run([a, a]), model.run([b, b])]);
  const apart = [];
  for (const inputs of [[a, b], [a, a], [b, b]]) apart.push(await model.run(inputs));
  model.close();
  const bits = (results) => results.map(([{ data }]) => data.join()).join(";");
  require(bits(sums) === bits(apart), "runs that overlap change each other's results");
}

async function withThreads(env) {
  for (const threads of [0, -1, 65, 1.5, "2", null]) {
    await refused("InvalidArgument", "threads must be a number from 1 to 64", () =>
      add(env, { threads }),
    );
  }
  const isPage = typeof WorkerGlobalScope !== "function" && typeof document === "object";
  if (isPage && !crossOriginIsolated) return alone(env);
  const threads = 2;
  await sameBits(env);
  const wasm = new URL("../taper/taper.wasm", import.meta.url);
  await refused("InvalidArgument", "this module has no threads", () => add(env, { threads, wasm }));
  await misuse(env, { threads });
  await brokenFiles(env, { threads });
  await runsThatOverlap(env, { threads });
  await everyModel(env, { threads, worker: false });
  return everyModel(env, { threads });
}

export const checks = {
  models: everyModel,
  describes,
  methodsAndState,
  misuse,
  brokenFiles,
  mutants,
  progress,
  sources,
  npyFiles,
  trimmed,
  oldBrowsers,
  inWorkers,
  withThreads,
};

// Runs the checks, or those that are named, and reports each as `[name, passed, text]`.
export async function runChecks(env, report, names = Object.keys(checks)) {
  for (const name of names) {
    const check = checks[name];
    try {
      report([name, true, (await check(env)) ?? ""]);
    } catch (error) {
      report([
        name,
        false,
        error instanceof Error ? (error.stack ?? error.message) : String(error),
      ]);
    }
  }
}
