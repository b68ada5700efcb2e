// The runtimes that are compared. Each is loaded with a number of threads and gives a function from
// the address of a model, without its extension, to a function that runs it: inputs to the elements
// of the first output.

import { Taper } from "/package/taper/taper.js";

// A module of Taper's; without an address, the package's. Without a worker the page waits, as it does
// for the others.
export function taper(threads, { wasm, worker = false } = {}) {
  return async (address) => {
    const model = await Taper.load(`${address}.pte`, { threads, wasm, worker });
    if (model.threads !== threads) throw new Error("there are no threads here");
    return async (inputs) => (await model.run(inputs))[0].data;
  };
}

async function onnxruntime(threads) {
  const ort = await import("/npm/onnxruntime-web/dist/ort.wasm.bundle.min.mjs");
  ort.env.wasm.numThreads = threads;
  ort.env.wasm.wasmPaths = "/npm/onnxruntime-web/dist/";
  return async (address) => {
    const session = await ort.InferenceSession.create(`${address}.onnx`, {
      executionProviders: ["wasm"],
    });
    return async (inputs) => {
      const feeds = Object.fromEntries(
        session.inputNames.map((name, i) => {
          const { dtype, data, shape } = inputs[i];
          return [name, new ort.Tensor(dtype, data, shape)];
        }),
      );
      return (await session.run(feeds))[session.outputNames[0]].data;
    };
  };
}

async function litert(threads) {
  const { loadAndCompile, loadLiteRt, Tensor } = await import("@litertjs/core");
  await loadLiteRt("/npm/@litertjs/core/wasm/", { threads: threads > 1 });
  return async (address) => {
    const options = { accelerator: "wasm", cpuOptions: { numThreads: threads } };
    const model = await loadAndCompile(`${address}.tflite`, options);
    return async (inputs) => {
      const tensors = inputs.map(({ data, shape, dtype }) =>
        Tensor.fromTypedArray(dtype === "int64" ? Int32Array.from(data, Number) : data, shape),
      );
      const outputs = await model.run(tensors);
      const found = (await outputs[0].data()).slice();
      [...tensors, ...outputs].forEach((tensor) => tensor.delete());
      return found;
    };
  };
}

function script(address) {
  return new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement("script"), { src: address });
    element.onload = resolve;
    element.onerror = () => reject(new Error(`${address} cannot be loaded`));
    document.head.append(element);
  });
}

async function tfjs(threads) {
  await script("/npm/@tensorflow/tfjs/dist/tf.min.js");
  await script("/npm/@tensorflow/tfjs-backend-wasm/dist/tf-backend-wasm.min.js");
  tf.wasm.setWasmPaths("/npm/@tensorflow/tfjs-backend-wasm/dist/");
  tf.env().set("WASM_HAS_MULTITHREAD_SUPPORT", threads > 1);
  if (threads > 1) tf.wasm.setThreadsCount(threads);
  await tf.setBackend("wasm");
  const { load } = await import("./tfjs.js");
  return load;
}

export const peers = { "onnxruntime-web": onnxruntime, LiteRT: litert, tfjs };
