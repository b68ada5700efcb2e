"""Writes a program for tfjs, which has no converter from PyTorch: the steps that tfjs.js runs.

NAME.json lists them: {"op", "name", "inputs", ...}, and the weights, which lie in NAME.bin. Batch
norms are folded into convolutions and activations are fused into what comes before, as tfjs's own
converter does; images are NHWC. What depends on constants alone is a constant, and so is an input
of ones: the mask of attention.
"""

import json

import numpy as np
import torch

NOTHING = {"dropout", "_assert_tensor_metadata", "to", "contiguous", "clone", "alias"}


class Writer:
    def __init__(self, exported, args):
        self.steps, self.weights, self.data = [], [], []
        self.value, self.name = {}, {}  # Of nodes: constants, and what tfjs.js calls them.
        self.exported = exported
        state = {**exported.state_dict, **exported.constants}
        signature = exported.graph_signature
        given = {
            **signature.inputs_to_parameters,
            **signature.inputs_to_buffers,
            **signature.inputs_to_lifted_tensor_constants,
        }
        inputs = iter(args)
        self.inputs = []
        for node in exported.graph.nodes:
            if node.op != "placeholder":
                continue
            if node.name in given:
                self.value[node] = state[given[node.name]].detach()
                continue
            argument = next(inputs)
            self.inputs.append(node.name)
            if bool((argument == 1).all()):
                self.value[node] = argument
            self.name[node] = node.name

    def weight(self, tensor):
        array = tensor.detach().contiguous().numpy()
        dtype = "float32" if array.dtype.kind == "f" else "int32"
        name = f"weight{len(self.weights)}"
        self.weights.append({"name": name, "dtype": dtype, "shape": list(array.shape)})
        self.data.append(np.ascontiguousarray(array, dtype).tobytes())
        return name

    def ref(self, node):
        if node is None:
            return None
        if node not in self.name:
            self.name[node] = self.weight(self.value[node])
        return self.name[node]

    def step(self, node, op, inputs, **attributes):
        self.steps.append({"op": op, "name": node.name, "inputs": inputs, **attributes})
        self.name[node] = node.name

    def is_constant(self, node):
        used = [a for a in node.all_input_nodes]
        return all(a in self.value for a in used)

    def add(self, node):
        kind = node.target.__name__.split(".")[0].rstrip("_")
        if self.is_constant(node):
            fetch = lambda a: self.value[a]  # noqa: E731
            args = torch.fx.node.map_arg(node.args, fetch)
            self.value[node] = node.target(*args, **torch.fx.node.map_arg(node.kwargs, fetch))
            return
        if kind in NOTHING:
            self.name[node] = self.ref(node.args[0])
            return
        getattr(self, "add_" + kind)(node, *node.args, **node.kwargs)

    def add_conv2d(self, node, x, w, b=None, stride=(1, 1), pad=(0, 0), dilation=(1, 1), groups=1):
        weight = self.value[w]
        assert tuple(dilation) == (1, 1) and pad[0] == pad[1] and stride[0] == stride[1]
        bias = self.value[b] if b is not None else torch.zeros(weight.shape[0])
        (user,) = node.users
        if "batch_norm" in str(user.target):
            scale, shift, mean, var = (self.value[a] for a in user.args[1:5])
            factor = scale / torch.sqrt(var + user.args[7])
            weight, bias = weight * factor[:, None, None, None], (bias - mean) * factor + shift
        is_depthwise = groups == weight.shape[0]
        assert groups == 1 or is_depthwise
        order = (2, 3, 0, 1) if is_depthwise else (2, 3, 1, 0)
        refs = [self.ref(x), self.weight(weight.permute(*order)), self.weight(bias)]
        op = "depthwise" if is_depthwise else "conv"
        self.step(node, op, refs, stride=stride[0], pad=pad[0])

    def add_batch_norm(self, node, x, *_):
        self.name[node] = self.ref(x)

    def activate(self, node, x, kind):
        last = self.steps[-1]
        if last["name"] == self.ref(x) and last["op"] in ("conv", "depthwise"):
            last["activation"] = kind
            self.name[node] = last["name"]
        else:
            self.step(node, kind, [self.ref(x)])

    def add_relu(self, node, x):
        self.activate(node, x, "relu")

    def add_hardtanh(self, node, x, low, high):
        assert (low, high) == (0.0, 6.0)
        self.activate(node, x, "relu6")

    def add_add(self, node, a, b):
        self.step(node, "add", [self.ref(a), self.ref(b)])

    def add_max_pool2d(self, node, x, size, stride, pad):
        self.step(node, "max_pool", [self.ref(x)], size=size[0], stride=stride[0], pad=pad[0])

    def add_adaptive_avg_pool2d(self, node, x, size):
        assert list(size) == [1, 1]
        self.step(node, "mean", [self.ref(x)])

    def reshape(self, node, x, *_):
        self.step(node, "reshape", [self.ref(x)], shape=list(node.meta["val"].shape))

    add_flatten = add_view = add_reshape = add_unsqueeze = reshape

    def add_transpose(self, node, x, a, b):
        order = list(range(node.meta["val"].dim()))
        order[a], order[b] = order[b], order[a]
        self.step(node, "transpose", [self.ref(x)], order=order)

    def add_linear(self, node, x, w, b=None):
        self.step(node, "linear", [self.ref(x), self.ref(w), self.ref(b)])

    def add_embedding(self, node, w, ids, *_):
        self.step(node, "gather", [self.ref(w), self.ref(ids)])

    def add_layer_norm(self, node, x, shape, w, b, eps=1e-5, *_):
        self.step(node, "layer_norm", [self.ref(x), self.ref(w), self.ref(b)], eps=eps)

    def add_gelu(self, node, x):
        self.step(node, "gelu", [self.ref(x)])

    def add_tanh(self, node, x):
        self.step(node, "tanh", [self.ref(x)])

    def add_select(self, node, x, dim, index):
        self.step(node, "select", [self.ref(x)], dim=dim, index=index)

    def add_slice(self, node, x, *_):
        assert node.meta["val"].shape == x.meta["val"].shape
        self.name[node] = self.ref(x)

    def add_scaled_dot_product_attention(self, node, q, k, v, mask=None, *_, scale=None):
        assert mask is None or bool(self.value[mask].all())
        scale = scale or q.meta["val"].shape[-1] ** -0.5
        self.step(node, "attention", [self.ref(a) for a in (q, k, v)], scale=scale)


def write(path, exported, args):
    writer = Writer(exported, args)
    for node in exported.graph.nodes:
        if node.op == "call_function":
            writer.add(node)
        elif node.op == "output":
            result = writer.ref(node.args[0][0])
    graph = {"inputs": writer.inputs, "steps": writer.steps, "result": result}
    graph["weights"] = writer.weights
    path.with_suffix(".json").write_text(json.dumps(graph))
    path.with_suffix(".bin").write_bytes(b"".join(writer.data))
