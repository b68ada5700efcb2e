// Compiled by tsc, never run: the types say what the README shows.

import { Taper, TaperError, Tensor, readNpy } from "../taper/taper";

export async function classify(pixels: Float32Array): Promise<number> {
  const model = await Taper.load("model.pte", {
    onProgress: ({ loaded, total }) => console.log(loaded / total),
    worker: true,
    threads: 2,
  });
  try {
    const [scores] = await model.run([new Tensor(pixels, [1, 3, 224, 224])]);
    if (!(scores instanceof Tensor)) throw new TypeError("no tensor");
    const again = await model.run([pixels, readNpy(new ArrayBuffer(0))], { method: "forward" });
    return again.length + model.threads + scores.shape.length + model.inputs[0].name.length;
  } catch (error) {
    if (error instanceof TaperError) console.log(error.code, error.message);
    throw error;
  } finally {
    model.close();
  }
}

// @ts-expect-error: a program is no number.
Taper.load(3);
