// Runs what tfjs_graph.py wrote, with tfjs and its WebAssembly backend (the global `tf`).

const flat = (x) => x.reshape([-1, x.shape.at(-1)]);

const steps = {
  conv: ([x, filter, bias], { stride: strides, pad, activation }) =>
    tf.fused.conv2d({ x, filter, strides, pad, bias, activation }),
  depthwise: ([x, filter, bias], { stride: strides, pad, activation }) =>
    tf.fused.depthwiseConv2d({ x, filter, strides, pad, bias, activation }),
  linear([x, weight, bias]) { // Its fused.matMul gives wrong sums for some sizes.
    const out = tf.matMul(flat(x), weight, false, true);
    return out.add(bias).reshape([...x.shape.slice(0, -1), weight.shape[0]]);
  },
  add: ([a, b]) => tf.add(a, b),
  relu: ([x]) => tf.relu(x),
  relu6: ([x]) => tf.relu6(x),
  max_pool: ([x], { size, stride, pad }) => tf.maxPool(x, size, stride, pad),
  mean: ([x]) => tf.mean(x, [1, 2], true),
  reshape: ([x], { shape }) => x.reshape(shape),
  transpose: ([x], { order }) => tf.transpose(x, order),
  gather: ([table, places]) => tf.gather(table, places),
  layer_norm([x, scale, shift], { eps }) {
    const centred = x.sub(tf.mean(x, -1, true));
    const variance = tf.mean(tf.square(centred), -1, true);
    return centred.mul(tf.rsqrt(variance.add(eps))).mul(scale).add(shift);
  },
  gelu: ([x]) => x.mul(tf.erf(x.mul(Math.SQRT1_2)).add(1)).mul(0.5),
  tanh: ([x]) => tf.tanh(x),
  select: ([x], { dim, index }) => tf.gather(x, index, dim),
  attention([q, k, v], { scale }) {
    return tf.matMul(tf.softmax(tf.matMul(q, k, false, true).mul(scale)), v);
  },
};

// Returns a function that runs the model at an address and returns its first output.
export async function load(address) {
  const graph = await (await fetch(`${address}.json`)).json();
  const bytes = await (await fetch(`${address}.bin`)).arrayBuffer();
  const weights = new Map();
  let offset = 0;
  for (const { name, dtype, shape } of graph.weights) {
    const count = shape.reduce((a, b) => a * b, 1);
    const array = dtype === "int32" ? Int32Array : Float32Array;
    weights.set(name, tf.tensor(new array(bytes, offset, count), shape, dtype));
    offset += 4 * count;
  }
  return async (inputs) => {
    const result = tf.tidy(() => {
      const values = new Map(weights);
      inputs.forEach(({ data, shape, dtype }, i) => {
        const x =
          dtype === "int64"
            ? tf.tensor(Int32Array.from(data, Number), shape, "int32")
            : tf.tensor(data, shape);
        values.set(graph.inputs[i], shape.length === 4 ? tf.transpose(x, [0, 2, 3, 1]) : x);
      });
      for (const step of graph.steps) {
        const operands = step.inputs.map((name) => values.get(name));
        values.set(step.name, steps[step.op](operands, step));
      }
      return values.get(graph.result);
    });
    const data = await result.data();
    result.dispose();
    return data;
  };
}
