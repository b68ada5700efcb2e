"""Cases of the operators on quantized numbers. PyTorch has no out variants of these: the expected
values come from its functional operators, or from arithmetic spelled out here."""

import torch
import torch.ao.quantization.fx._decomposed  # Defines torch.ops.quantized_decomposed.

from op_case import case, channels_last, family, in_order, refuse, tensor

f16, bf16, f32, f64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
u8, i8, i16, u16, i32, i64 = (torch.uint8, torch.int8, torch.int16, torch.uint16, torch.int32,
                              torch.int64)
Q = torch.ops.quantized_decomposed
NS = "quantized_decomposed::"
LAST = [0, 2, 3, 1]
NARROW = {f16: (2e-3, 2e-3), bf16: (2e-2, 2e-2)}
RANGES = {u8: (0, 255), i8: (-128, 127), i16: (-2**15, 2**15 - 1), u16: (0, 2**16 - 1),
          i32: (-2**31, 2**31 - 1)}

with family("op_quantize"):
    NAME = NS + "quantize_per_tensor.out"
    for dtype, (low, high) in RANGES.items():
        zero = 3 if dtype != i32 else -7
        args = (tensor([3, 5]), 0.03, zero, low, min(high, 2**31 - 200), dtype)
        case(NAME, *args, expect=Q.quantize_per_tensor(*args))
    for dtype in (f16, bf16):
        args = (tensor([20], dtype), 0.1, 0, -128, 127, i8)
        case(NAME, *args, expect=Q.quantize_per_tensor(*args))
    ties = torch.arange(-6, 7) / 2
    for zero in (0, 1):
        args = (ties, 1.0, zero, -128, 127, i8)
        case(NAME, *args, expect=Q.quantize_per_tensor(*args))
    args = (tensor([300], f32, -100, 100), 0.37, 10, -20, 90, i8)
    case(NAME, *args, expect=Q.quantize_per_tensor(*args))
    args = (tensor([]), 0.5, 1, 0, 255, u8)
    case(NAME, *args, expect=Q.quantize_per_tensor(*args))
    args = (tensor([0, 3]), 0.5, 1, 0, 255, u8)
    case(NAME, *args, expect=Q.quantize_per_tensor(*args))
    args = (channels_last(tensor([2, 3, 2, 2])), 0.5, 1, 0, 255, u8)
    case(NAME, *args, expect=Q.quantize_per_tensor(*args), out_order=LAST)
    case(NAME, torch.tensor([float("inf"), -float("inf"), float("nan"), 1e30]), 0.5, 1, -100, 100,
         i8, expect=torch.tensor([100, -100, -100, 100], dtype=i8))
    X = tensor([3])
    refuse(NAME, X, 0.5, 0, 0, 256, u8, outs=tensor([3], u8))
    refuse(NAME, X, 0.5, 0, 100, 0, u8, outs=tensor([3], u8))
    refuse(NAME, X, 0.5, 2**40, 0, 255, u8, outs=tensor([3], u8))
    refuse(NAME, X, 0.5, 0, 0, 127, u8, outs=tensor([3], i8))
    refuse(NAME, tensor([3], i32), 0.5, 0, 0, 127, u8, outs=tensor([3], u8))
    refuse(NAME, X, 0.5, 0, 0, 127, i64, outs=tensor([3], i64))

    NAME = NS + "quantize_per_tensor.Tensor_out"
    for kind, zero in ((f64, i64), (f32, i32)):
        args = (tensor([3, 5]), torch.tensor([0.03], dtype=kind), torch.tensor([3], dtype=zero),
                -128, 127, i8)
        case(NAME, *args, expect=Q.quantize_per_tensor.tensor(*args))
    refuse(NAME, X, torch.tensor([0.5, 1.0]), torch.tensor([0, 0]), 0, 127, u8,
           outs=tensor([3], u8))

    NAME = NS + "quantize_per_channel.out"
    scales, zeros = torch.tensor([0.03, 0.5, 0.1]), torch.tensor([0, 3, -2])
    for axis, sizes in [(0, [3, 4]), (1, [4, 3]), (1, [2, 3, 5]), (2, [2, 2, 3])]:
        args = (tensor(sizes), scales, zeros, axis, -128, 127, i8)
        case(NAME, *args, expect=Q.quantize_per_channel(*args))
    args = (tensor([2, 3]), torch.tensor([0.03, 0.5, 0.1], dtype=f64), zeros, 1, -128, 127, i8)
    case(NAME, args[0], args[1], args[2], -1, -128, 127, i8, expect=Q.quantize_per_channel(*args))
    args = (channels_last(tensor([2, 3, 2, 2])), scales, zeros, 1, -128, 127, i8)
    case(NAME, *args, expect=Q.quantize_per_channel(*args), out_order=LAST)
    # If the zero point has a fraction, the result is truncated.
    fractions = torch.tensor([0.75, 3.25, -2.5])
    for axis, sizes in [(0, [3, 9]), (1, [2, 3, 5])]:
        args = (tensor(sizes), scales, fractions, axis, 0, 255, u8)
        case(NAME, *args, expect=Q.quantize_per_channel(*args))
    refuse(NAME, tensor([2, 3]), scales, zeros, 0, -128, 127, i8, outs=tensor([2, 3], i8))
    refuse(NAME, tensor([2, 3]), scales, zeros, 2, -128, 127, i8, outs=tensor([2, 3], i8))
    refuse(NAME, tensor([2, 3]), scales, zeros[:2], 1, -128, 127, i8, outs=tensor([2, 3], i8))
    refuse(NAME, tensor([]), scales[:1], zeros[:1], 0, -128, 127, i8, outs=tensor([], i8))

    NAME = NS + "quantize_per_token.out"
    for kind in (f32, f64):
        args = (tensor([2, 2, 7]), torch.tensor([[[0.03], [0.5]], [[0.1], [0.2]]], dtype=kind),
                torch.tensor([[[0], [3]], [[-4], [1]]]), -128, 127, i8)
        case(NAME, *args, expect=Q.quantize_per_token(*args))
    args = (ties.reshape(1, 13), torch.tensor([[1.0]]), torch.tensor([[1]]), -128, 127, i8)
    case(NAME, *args, expect=Q.quantize_per_token(*args))
    refuse(NAME, tensor([2, 3]), torch.tensor([[0.1]]), torch.tensor([[0]]), -128, 127, i8,
           outs=tensor([2, 3], i8))

with family("op_dequantize"):
    NAME = NS + "dequantize_per_tensor.out"
    for dtype, (low, high) in RANGES.items():
        args = (tensor([3, 5], dtype, 0, 200 if dtype != i8 else 100), 0.03, 3, low, high, dtype)
        case(NAME, *args, None, expect=Q.dequantize_per_tensor(*args))
    for out in (f16, bf16, f64):
        args = (tensor([20], i8, -100, 100), 0.1, -5, -128, 127, i8)
        case(NAME, *args, out, expect=Q.dequantize_per_tensor(*args, out_dtype=out),
             tolerance=NARROW.get(out))
    args = (channels_last(tensor([2, 3, 2, 2], u8)), 0.5, 1, 0, 255, u8)
    case(NAME, *args, None, expect=Q.dequantize_per_tensor(*args), out_order=LAST)
    case(NAME, tensor([0], u8), 0.5, 1, 0, 255, u8, None, expect=tensor([0]))
    refuse(NAME, tensor([3], i8), 0.5, 0, 0, 127, u8, None, outs=tensor([3]))
    refuse(NAME, tensor([3], i8), 0.5, 0, 0, 127, i8, None, outs=tensor([3], f16))
    refuse(NAME, tensor([3], i8), 0.5, 0, 0, 127, i8, f16, outs=tensor([3]))
    refuse(NAME, tensor([3], i8), 0.5, 0, 0, 128, i8, None, outs=tensor([3]))

    NAME = NS + "dequantize_per_tensor.Tensor_out"
    args = (tensor([3, 5], u8, 0, 255), torch.tensor([0.03], dtype=f64), torch.tensor([3]), 0, 255,
            u8)
    case(NAME, *args, None, expect=Q.dequantize_per_tensor.tensor(*args))
    refuse(NAME, tensor([3], u8), torch.tensor([]), torch.tensor([]), 0, 255, u8, None,
           outs=tensor([3]))

    NAME = NS + "dequantize_per_channel.out"
    scales, zeros = torch.tensor([0.03, 0.5, 0.1]), torch.tensor([0, 3, -2])
    for axis, sizes in [(0, [3, 4]), (1, [4, 3]), (1, [2, 3, 5]), (2, [2, 2, 3])]:
        args = (tensor(sizes, i8, -100, 100), scales, zeros, axis, -128, 127, i8)
        case(NAME, *args, None, expect=Q.dequantize_per_channel(*args))
    args = (tensor([2, 3], i8, -100, 100), scales, None, 1, -128, 127, i8)
    case(NAME, *args, None, expect=Q.dequantize_per_channel(*args))
    args = (channels_last(tensor([2, 3, 2, 2], i8)), scales, zeros, 1, -128, 127, i8)
    case(NAME, *args, None, expect=Q.dequantize_per_channel(*args), out_order=LAST)
    for kind in (u8, i8):
        low, high = RANGES[kind]
        args = (tensor([3, 9], kind, low, high), scales, torch.tensor([7.6875, 0.5, -2.25]), 0, low,
                high, kind)
        case(NAME, *args, None, expect=Q.dequantize_per_channel(*args))
        # With 16-bit scales the product has 16 bits, too, unless zero points are float32.
        for narrow in (f16, bf16):
            for points in (zeros, None, torch.tensor([7.6875, 0.5, -2.25])):
                args = (tensor([2, 3, 9], kind, low, high), scales.to(narrow), points, 1, low, high,
                        kind)
                case(NAME, *args, None, expect=Q.dequantize_per_channel(*args))
        # Zero points of the same dtype wrap around, those of 16 bits are subtracted in 16 bits.
        for points in (zeros.abs().to(kind), torch.tensor([7.6875, 0.503, 2.25]).to(bf16),
                       torch.tensor([7.6875, 0.503, 2.25]).to(f16)):
            for dtype in (f32, f16, bf16):
                args = (tensor([3, 9], kind, low, high), scales.to(dtype), points, 0, low, high,
                        kind)
                case(NAME, *args, None, expect=Q.dequantize_per_channel(*args))
    refuse(NAME, tensor([2, 3], i8), scales, zeros, 0, -128, 127, i8, None, outs=tensor([2, 3]))
    refuse(NAME, tensor([2, 3], i8), scales, zeros, -3, -128, 127, i8, None, outs=tensor([2, 3]))

    NAME = NS + "dequantize_per_token.out"
    for out in (f32, f16):
        args = (tensor([2, 2, 7], i8, -100, 100),
                torch.tensor([[[0.03], [0.5]], [[0.1], [0.2]]], dtype=f64),
                torch.tensor([[[0], [3]], [[-4], [1]]]), -128, 127, i8, out)
        case(NAME, *args, expect=Q.dequantize_per_token(*args), tolerance=NARROW.get(out))
    refuse(NAME, tensor([2, 3], i8), torch.tensor([[0.1]]), torch.tensor([[0]]), -128, 127, i8, f32,
           outs=tensor([2, 3]))

with family("op_choose_qparams"):
    NAME = NS + "choose_qparams.Tensor_out"
    for x in (tensor([3, 5]), tensor([200], f32, 1, 3), tensor([5], f32, -3, -1), torch.zeros(3),
              tensor([7], f16)):
        for low, high, dtype in ((-128, 127, i8), (0, 255, u8)):
            args = (low, high, 2.0**-12, dtype)
            case(NAME, x, *args, expect=Q.choose_qparams.tensor(x.float(), *args))
    outs = [tensor([1], f64), tensor([1], i64)]
    refuse(NAME, tensor([0]), -128, 127, 1e-6, i8, outs=outs)
    refuse(NAME, tensor([2]), 127, 127, 1e-6, i8, outs=outs)
    refuse(NAME, tensor([2], i32), -128, 127, 1e-6, i8, outs=outs)

    NAME = NS + "choose_qparams_per_token_asymmetric.out"
    for x in (tensor([3, 5]), tensor([2, 2, 150]), tensor([4, 3], f32, 1, 3),
              tensor([4, 3], f32, -3, -1), torch.zeros([1, 3])):
        case(NAME, x, i8, expect=Q.choose_qparams_per_token_asymmetric(x, i8))
    refuse(NAME, tensor([2, 0]), i8, outs=[tensor([2, 1], f64), tensor([2, 1], i64)])

with family("op_quantized_add"):
    NAME = NS + "add.out"

    def added(a, sa, za, la, ha, b, sb, zb, lb, hb, so, zo, lo, ho):
        x = (a.float() - za) * sa + (b.float() - zb) * sb
        return torch.clamp(torch.round(x * (1.0 / so)) + zo, lo, ho).to(a.dtype)

    for dtype, low, high in ((u8, 0, 255), (i8, -128, 127)):
        args = (tensor([3, 70], dtype, low, high), 0.1, 3, low, high,
                tensor([3, 70], dtype, low, high), 0.3, 5, low, high, 0.35, 4, low, high)
        case(NAME, *args, expect=added(*args))
    args = (tensor([2], u8), 0.1, 3, 0, 255)
    refuse(NAME, *args, tensor([3], u8), *args[1:], *args[1:], outs=tensor([2], u8))
    refuse(NAME, *args, tensor([2], i8), *args[1:], *args[1:], outs=tensor([2], u8))

with family("op_quantized_embedding"):

    def embedded(values, scales, zeros, indices):
        groups = scales.shape[1] if scales.dim() == 2 else 1
        grouped = values.float().reshape(values.shape[0], groups, -1)
        zeros = torch.zeros_like(scales) if zeros is None else zeros
        each = lambda param: param.float().reshape(values.shape[0], groups, 1)
        rows = ((grouped - each(zeros)) * each(scales)).reshape(values.shape[0], -1)
        return rows[indices.long()]

    def packed(values, bits):
        if bits == 8:
            return values
        if bits == 4:
            pairs = (values + 8).to(u8).reshape(values.shape[0], -1, 2)
            return pairs[..., 0] << 4 | pairs[..., 1]
        fours = (values + 2).to(u8).reshape(values.shape[0], -1, 4)
        return fours[..., 0] | fours[..., 1] << 2 | fours[..., 2] << 4 | fours[..., 3] << 6

    for bits, word in ((8, "byte"), (4, "4bit"), (2, "2bit")):
        low, high = -2**(bits - 1), 2**(bits - 1) - 1
        values = tensor([5, 8], i8, low, high)
        for scales, zeros in [(tensor([5], f32, 0, 1), None), (tensor([5, 2], f32, 0, 1),
                                                               tensor([5, 2], f32, -2, 2))]:
            for indices in (torch.tensor([4, 0, 4]), torch.tensor([[1, 2]], dtype=i32),
                            torch.tensor(3)):
                expect = embedded(values, scales, zeros, indices)
                args = (packed(values, bits), scales, zeros, low, high, indices)
                case(NS + f"embedding_{word}.out", *args, expect=expect)
                case(NS + f"embedding_{word}.dtype_out", *args, None, expect=expect)
        case(NS + f"embedding_{word}.dtype_out", *args, f16, expect=expect.to(f16))
        for bad in (-1, 5):
            refuse(NS + f"embedding_{word}.out", packed(values, bits), tensor([5]), None, low, high,
                   torch.tensor([bad]), outs=tensor([1, 8]))
        refuse(NS + f"embedding_{word}.out", packed(values, bits), tensor([5, 3]), None, low, high,
               torch.tensor([0]), outs=tensor([1, 8]))
        refuse(NS + f"embedding_{word}.out", packed(values, bits), tensor([4]), None, low, high,
               torch.tensor([0]), outs=tensor([1, 8]))

with family("op_quantized_matmul"):
    NAME = NS + "mixed_mm.out"
    for dtype in (f32, f16):
        x, w, s = tensor([3, 40], dtype), tensor([40, 9], i8, -50, 50), tensor([40], dtype, 0, 1)
        case(NAME, x, w, s, None, tolerance=(4e-3, 4e-3) if dtype == f16 else (1e-5, 1e-4),
             expect=(x.double() @ (w * s.double()[:, None])).to(dtype))
    x, w, s, z = tensor([2, 5]), tensor([5, 3], i8), tensor([5], f32, 0, 1), tensor([5])
    case(NAME, x, w, s, z, expect=x @ ((w - z[:, None]) * s[:, None]))
    refuse(NAME, x, w, tensor([3]), None, outs=tensor([2, 3]))
    refuse(NAME, tensor([2, 4]), w, s, None, outs=tensor([2, 3]))
    refuse(NAME, x, tensor([5, 3], u8), s, None, outs=tensor([2, 3]))

    NAME = NS + "mixed_linear.out"
    for rows, groups in ((1, 1), (6, 1), (3, 2), (3, 8)):
        x, w = tensor([rows, 40]), tensor([9, 40], i8, -50, 50)
        s = tensor([9] if groups == 1 else [9, groups], f32, 0, 1)
        wide = s.reshape(9, groups).repeat_interleave(40 // groups, 1)
        case(NAME, x, w, s, None, None, expect=x @ (w * wide).T, tolerance=(1e-5, 1e-4))
    z = tensor([9, groups])
    shift = z.repeat_interleave(40 // groups, 1)
    case(NAME, x, w, s, z, None, expect=x @ ((w - shift) * wide).T, tolerance=(1e-5, 1e-4))
    case(NAME, x, w, s, None, f16, expect=(x @ (w * wide).T).to(f16), tolerance=(4e-3, 4e-3))
    refuse(NAME, x, w, tensor([9, 3]), None, None, outs=tensor([3, 9]))
    refuse(NAME, x, w, tensor([8]), None, None, outs=tensor([3, 9]))
    refuse(NAME, x, w, s, None, f16, outs=tensor([3, 9]))

with family("op_look_up"):
    NAME = "taper::look_up.out"
    e4m3 = torch.arange(256).to(u8).view(torch.float8_e4m3fn).float().unsqueeze(-1)
    for table, sizes in ((e4m3, [5, 7]), (tensor([256, 1]), [2, 3, 4]), (e4m3, [4, 0]),
                         (tensor([256, 2]), [2, 3, 5]), (tensor([256, 4]), [1, 300])):
        codes, s = tensor(sizes, u8, 0, 255), tensor([sizes[-2]], f32, 0, 1)
        case(NAME, codes, table, s, expect=table[codes.long()].flatten(-2) * s.unsqueeze(-1))
    case(NAME, torch.arange(256).to(u8).reshape(1, 256), e4m3, torch.ones(1),
         expect=e4m3.reshape(1, 256))
    codes, table, s = tensor([2, 4, 3], u8, 0, 255), tensor([256, 2]), tensor([1])
    case(NAME, codes, table, s, expect=table[codes.long()].flatten(-2) * s)
    codes, table, s = tensor([2, 3], u8), tensor([256, 1]), tensor([2])
    refuse(NAME, codes, tensor([255, 1]), s, outs=tensor([2, 3]))
    refuse(NAME, codes, tensor([256]), s, outs=tensor([2, 3]))
    refuse(NAME, codes, table, tensor([3]), outs=tensor([2, 3]))
    refuse(NAME, tensor([3], u8), table, tensor([1]), outs=tensor([3]))
    refuse(NAME, tensor([2, 3], i8), table, s, outs=tensor([2, 3]))

with family("op_packed_linear"):
    NAME = "taper::packed_linear.out"

    def stored(values, bits):
        """The bytes of a matrix, rows padded with zeros."""
        if bits == 8:
            return values
        per = 8 // bits
        rows, columns = values.shape
        whole = torch.zeros(rows, -(-columns // per) * per, dtype=torch.int32)
        whole[:, :columns] = values + 2**(bits - 1)
        shifts = torch.arange(per, dtype=torch.int32) * bits
        return (whole.reshape(rows, -1, per) << shifts).sum(-1).to(u8)

    def layer(x, values, scales, zeros, bias):
        each = lambda param: param.double().repeat_interleave(
            values.shape[1] // scales.shape[1], 1)
        weight = values.double()
        weight = (weight if zeros is None else weight - each(zeros)) * each(scales)
        y = x.double() @ weight.T
        return (y if bias is None else y + bias.double()).float()

    def layer_case(x, bits, n, groups, zero_dtype=None, bias=False, dtype=i8, scale_dtype=f32):
        k = x.shape[-1]
        low, high = (0, 255) if dtype == u8 else (-2**(bits - 1), 2**(bits - 1) - 1)
        values = tensor([n, k], i16, low, high)
        scales = tensor([n, groups], scale_dtype, 0, 1)
        zeros = None if zero_dtype is None else tensor([n, groups], zero_dtype, -3, 3)
        b = tensor([n]) if bias else None
        weight = stored(values, bits).to(dtype if bits == 8 else u8)
        case(NAME, x, weight, scales, zeros, b, bits, expect=layer(x, values, scales, zeros, b),
             tolerance=(1e-5, 1e-3))

    for bits in (8, 4, 2):
        layer_case(tensor([3, 16]), bits, 5, 1, bias=True)
        layer_case(tensor([2, 2, 24]), bits, 3, 3, zero_dtype=i8)
        layer_case(tensor([9, 40]), bits, 6, 5, zero_dtype=f32, bias=True)
        layer_case(tensor([19]), bits, 5, 1)
        layer_case(tensor([1, 72]), bits, 9, 2, scale_dtype=bf16)
    layer_case(tensor([2, 12]), 8, 3, 4, zero_dtype=f32, dtype=u8)
    layer_case(tensor([2, 15]), 4, 3, 5)  # Groups of three begin within bytes.
    layer_case(tensor([0, 16]), 4, 3, 1)
    x, w, s = tensor([2, 8]), tensor([3, 4], u8), tensor([3, 2], f32, 0, 1)
    refuse(NAME, x, w, s, None, None, 3, outs=tensor([2, 3]))
    refuse(NAME, x, w, s, None, None, 8, outs=tensor([2, 3]))
    refuse(NAME, x, w, tensor([2, 2]), None, None, 4, outs=tensor([2, 3]))
    refuse(NAME, x, w, tensor([3, 3]), None, None, 4, outs=tensor([2, 3]))
    refuse(NAME, x, w, s, tensor([3, 1]), None, 4, outs=tensor([2, 3]))
    refuse(NAME, x, w, s, tensor([3, 2], i64), None, 4, outs=tensor([2, 3]))
    refuse(NAME, x, w, s, None, tensor([2]), 4, outs=tensor([2, 3]))
    refuse(NAME, x, tensor([3, 4], i8), s, None, None, 4, outs=tensor([2, 3]))
    refuse(NAME, tensor([2, 7]), w, s, None, None, 4, outs=tensor([2, 3]))

    NAME = "taper::packed_linear_rows.out"
    for bits, n, groups, sizes, each in ((8, 5, 1, [3, 16], True), (4, 3, 2, [2, 2, 64], True),
                                         (2, 4, 1, [1, 40], False), (4, 2, 3, [9, 24], True),
                                         (8, 2, 1, [1, 70], False)):
        q = tensor(sizes, i8, -128, 127)
        one = sizes[:-1] + [1] if each else [1]
        s, z = tensor(one, f32, 0, 1), tensor(one, i8, -128, 127)
        values = tensor([n, sizes[-1]], i8, -2**(bits - 1), 2**(bits - 1) - 1)
        scales, b = tensor([n, groups], f32, 0, 1), tensor([n])
        zeros = tensor([n, groups], i8, -3, 3) if each or bits == 2 else None
        x = (q.double() - z.double()) * s.double()
        case(NAME, q, s, z, stored(values, bits), scales, zeros, b, bits,
             expect=layer(x, values, scales, zeros, b), tolerance=(1e-4, 1e-2))
    refuse(NAME, q, s, z, stored(values, bits), scales, None, tensor([3]), bits, outs=tensor([1, 2]))
    refuse(NAME, q, tensor([2]), z, stored(values, bits), scales, None, b, bits,
           outs=tensor([1, 2]))

with family("op_quantize_rows"):
    from torchao.quantization.quant_primitives import (MappingType, choose_qparams_affine,
                                                       quantize_affine)

    def rows(x, symmetric, eps):
        block = [1] * (x.dim() - 1) + [x.shape[-1]]
        mapping = MappingType.SYMMETRIC if symmetric else MappingType.ASYMMETRIC
        s, z = choose_qparams_affine(x, mapping, block, i8, eps=eps, zero_point_dtype=i8,
                                     keepdim=True)
        return quantize_affine(x, block, s, z, i8, -128, 127), s, z

    NAME = "taper::quantize_rows.out"
    for symmetric in (False, True):
        for x in (tensor([3, 17]), tensor([2, 2, 9], f32, 3, 9), tensor([2, 5], f32, -9, -3),
                  torch.zeros(2, 4), tensor([3, 40]) * 1e-9):
            eps = 1.1920928955078125e-07
            case(NAME, x, symmetric, eps, expect=rows(x, symmetric, eps))
    refuse(NAME, tensor([2, 3]), True, 0.0,
           outs=[tensor([2, 3], i8), tensor([2, 1]), tensor([2, 1], i8)])
