// Every committed model gives PyTorch's numbers (test/models/README.md says what the files are).

import { readNpy, Taper, Tensor } from "../taper/taper.js";

// Largest difference between what is given and what is expected; infinite where only one is NaN.
function distance(given, expected) {
  let most = 0;
  for (let i = 0; i < expected.length; ++i) {
    if (Object.is(given[i], expected[i]) || given[i] === expected[i]) continue;
    const error = Math.abs(Number(given[i]) - Number(expected[i]));
    most = Math.max(most, Number.isNaN(error) ? Infinity : error);
  }
  return most;
}

const largest = (values) =>
  values.reduce(
    (most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most),
    1,
  );

// float16 and bfloat16 as numbers.
function halves({ data, dtype }) {
  const float = new Float32Array(1);
  const bits = new Uint32Array(float.buffer);
  return Float64Array.from(data, (half) => {
    if (dtype === "bfloat16") {
      bits[0] = half << 16;
      return float[0];
    }
    const exponent = (half >> 10) & 31;
    const fraction = half & 1023;
    const sign = half & 0x8000 ? -1 : 1;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    const value = exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24;
    return sign * value;
  });
}

const numbers = (tensor) => (tensor.dtype.endsWith("float16") ? halves(tensor) : tensor.data);
const isExact = ({ dtype }) => dtype.includes("int") || dtype === "bool";

async function runCase({ read, program }, { name, file, inputs, outputs, steps, factor }, options) {
  const model = await Taper.load(program(file.replace(".pt2", ".pte")), options);
  for (let step = 0; step < steps; ++step) {
    const prefix = `test/models/data/${name}${steps > 1 ? `.step${step}` : ""}`;
    const load = async (kind, i) => readNpy(await read(`${prefix}.${kind}${i}.npy`));
    const given = await Promise.all(Array.from({ length: inputs }, (_, i) => load("in", i)));
    const tensors = (await model.run(given)).filter((output) => output instanceof Tensor);
    if (tensors.length !== outputs) throw new Error(`${name}: ${tensors.length} tensors`);
    for (let i = 0; i < outputs; ++i) {
      const expected = await load("out", i);
      const where = `${name}, step ${step}, output ${i}`;
      if (
        tensors[i].shape.join() !== expected.shape.join() ||
        tensors[i].dtype !== expected.dtype
      ) {
        throw new Error(`${where}: ${tensors[i].dtype} (${tensors[i].shape})`);
      }
      const wanted = numbers(expected);
      const error = distance(numbers(tensors[i]), wanted);
      const limit = isExact(expected) ? 0 : 1e-4 * factor * largest(wanted);
      if (!(error <= limit)) throw new Error(`${where}: differs by ${error}, allowed ${limit}`);
    }
  }
  model.close();
}

// Runs all cases of models.txt and says how many there were.
export async function everyModel(env, options = {}) {
  const lines = new TextDecoder().decode(await env.read("test/models/data/models.txt")).split("\n");
  const cases = lines
    .filter((line) => line && !line.startsWith("#"))
    .map((line) => {
      const [name, file, inputs, outputs, steps, factor = "1"] = line.split(" ");
      const count = [inputs, outputs, steps, factor].map(Number);
      return { name, file, inputs: count[0], outputs: count[1], steps: count[2], factor: count[3] };
    });
  const failures = [];
  for (const each of cases) {
    await runCase(env, each, options).catch((error) =>
      failures.push(`${each.name}: ${error.message}`),
    );
  }
  if (failures.length > 0) throw new Error(failures.join("\n"));
  return `${cases.length} cases`;
}
