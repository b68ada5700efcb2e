"""Cases of taper::lstm and taper::gru: what PyTorch's layers compute from given gates.

The input weights of the layer are the identity, so that the gates are its inputs; it has no input
biases, because they are part of the gates.
"""

import torch
from torch import nn

from op_case import case, family, refuse, tensor

f32, f64, f16, bf16 = torch.float32, torch.float64, torch.float16, torch.bfloat16
# The operators round 16-bit types after every step; PyTorch rounds a GRU after every operator.
TOLERANCE = {f32: (1e-5, 1e-6), f64: (1e-10, 1e-10), f16: (4e-3, 4e-3), bf16: (3e-2, 3e-2)}


def packed(weights, gates):
    """The recurrent weights of all directions, in the layout of
    kernels_portable/cores/recurrence.h."""
    parts = []
    for weight in weights:
        units, outputs = weight.shape[0] // gates, weight.shape[1]
        blocks = (units + 15) // 16
        whole = torch.zeros(gates, blocks * 16, outputs, dtype=weight.dtype)
        whole[:, :units] = weight.reshape(gates, units, outputs)
        parts.append(whole.reshape(gates, blocks, 16, outputs).permute(1, 3, 0, 2)
                     .reshape(1, blocks, outputs, gates * 16))
    return torch.cat(parts)


class Layer:
    """A PyTorch layer with random weights, and the operator's arguments that correspond to it."""

    def __init__(self, kind, units, steps, batch, directions=1, batch_first=False, project=0,
                 bias=False, dtype=f32):
        self.gates = 4 if kind is nn.LSTM else 3
        each = self.gates * units
        more = {"proj_size": project} if project else {}
        rnn = kind(directions * each, units, bidirectional=directions == 2,
                   batch_first=batch_first, **more)
        hidden, biases, projections = [], [], []
        for d in range(directions):
            end = "_reverse" if d else ""
            outputs = project or units
            hidden.append(tensor([each, outputs], dtype, -0.5, 0.5))
            unity = torch.zeros(each, directions * each)
            unity[:, d * each:(d + 1) * each] = torch.eye(each)
            values = {"weight_ih_l0": unity, "weight_hh_l0": hidden[-1],
                      "bias_ih_l0": torch.zeros(each), "bias_hh_l0": torch.zeros(each)}
            if bias:
                biases.append(tensor([1, 1, units], dtype, -2, 2))
                values["bias_hh_l0"][2 * units:] = biases[-1][0, 0]
            if project:
                projections.append(tensor([project, units], dtype, -0.5, 0.5))
                values["weight_hr_l0"] = projections[-1]
            for name, value in values.items():
                getattr(rnn, name + end).data.copy_(value)
        rnn = rnn.to(dtype)
        sizes = [batch, steps] if batch_first else [steps, batch]
        self.inputs = tensor([*sizes, directions * each], dtype, -3, 3)
        self.h0 = tensor([directions, batch, outputs], dtype, -1, 1)
        self.c0 = tensor([directions, batch, units], dtype, -1, 1)
        self.weight = packed(hidden, self.gates)
        self.bias = torch.cat(biases) if bias else None
        self.projection = torch.stack([p.T.contiguous() for p in projections]) if project else None
        self.batch_first = batch_first
        state = (self.h0, self.c0) if kind is nn.LSTM else self.h0
        with torch.no_grad():
            if steps == 0:
                out = torch.zeros([*sizes, directions * outputs], dtype=dtype)
                self.expected = (out, self.h0) + ((self.c0,) if kind is nn.LSTM else ())
                return
            out, last = rnn(self.inputs, state)
        out = out.contiguous()
        self.expected = (out, *last) if kind is nn.LSTM else (out, last)


with family("op_lstm"):
    NAME = "taper::lstm.out"

    def lstm(*args, **kwargs):
        layer = Layer(nn.LSTM, *args, **kwargs)
        case(NAME, layer.inputs, layer.h0, layer.c0, layer.weight, layer.projection,
             layer.batch_first, expect=layer.expected,
             tolerance=TOLERANCE[kwargs.get("dtype", f32)])

    for dtype in (f32, f64, f16, bf16):
        lstm(5, 4, 2, dtype=dtype)
    lstm(18, 3, 1, directions=2)
    lstm(3, 3, 2, directions=2, batch_first=True)
    lstm(17, 2, 7)
    lstm(34, 2, 1)
    lstm(6, 3, 2, project=4)
    lstm(18, 2, 1, directions=2, project=17)
    lstm(5, 3, 2, project=3, dtype=f16)
    lstm(2, 1, 1)
    lstm(2, 0, 2)
    lstm(2, 3, 0)
    small = Layer(nn.LSTM, 2, 3, 1)
    good = [small.inputs, small.h0, small.c0, small.weight, None, False]

    def wrong(at, value):
        refuse(NAME, *good[:at], value, *good[at + 1:], outs=small.expected)

    wrong(0, small.inputs[0])
    wrong(0, tensor([3, 1, 9]))
    wrong(0, small.inputs.to(f64))
    wrong(0, tensor([3, 1, 8], torch.int32))
    wrong(1, tensor([1, 2, 2]))
    wrong(1, tensor([1, 1, 3]))
    wrong(2, tensor([1, 1, 3]))
    wrong(2, small.c0.to(f64))
    wrong(3, tensor([1, 1, 2, 48]))
    wrong(3, tensor([3, 1, 2, 64]))
    wrong(3, tensor([1, 2, 2, 64]))
    wrong(3, tensor([0, 1, 2, 64]))
    wrong(4, tensor([1, 2, 3]))
    wrong(4, tensor([2, 2]))
    refuse(NAME, *good, outs=(small.expected[0].to(f64), *small.expected[1:]))
    refuse(NAME, *good, outs=(*small.expected[:2], small.expected[2].to(f64)))

with family("op_gru"):
    NAME = "taper::gru.out"

    def gru(*args, **kwargs):
        layer = Layer(nn.GRU, *args, **kwargs)
        case(NAME, layer.inputs, layer.h0, layer.weight, layer.bias, layer.batch_first,
             expect=layer.expected, tolerance=TOLERANCE[kwargs.get("dtype", f32)])

    for dtype in (f32, f64, f16, bf16):
        gru(5, 4, 2, bias=True, dtype=dtype)
    gru(18, 3, 1, directions=2, bias=True)
    gru(3, 3, 2, directions=2, batch_first=True)
    gru(17, 2, 9, bias=True)
    gru(34, 2, 1)
    gru(2, 1, 1)
    gru(2, 0, 2)
    gru(2, 3, 0, bias=True)
    small = Layer(nn.GRU, 2, 3, 1, bias=True)
    good = [small.inputs, small.h0, small.weight, small.bias, False]
    for at, value in ((0, small.inputs[0]), (0, tensor([3, 1, 7])), (0, small.inputs.to(f64)),
                      (1, tensor([1, 1, 3])), (2, tensor([1, 1, 2, 64])),
                      (2, tensor([1, 1, 3, 48])), (3, tensor([2])), (3, small.bias.to(f64))):
        refuse(NAME, *good[:at], value, *good[at + 1:], outs=small.expected)
    refuse(NAME, tensor([3, 1, 6], torch.int64), *good[1:], outs=small.expected)
