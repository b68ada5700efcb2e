"""Cases of the operators that cut, pad, repeat and reorder: split, flip, pad, tril, sort and others."""

import math

import torch

from op_case import ALL, FLOATS, INTS, case, channels_last, family, in_order, refuse, tensor

f32, i64, i32 = torch.float32, torch.int64, torch.int32

with family("op_split_copy"):
    NAME = "aten::split_copy.Tensor_out"
    for dtype in ALL:
        case(NAME, tensor([5, 2], dtype), 2)
    for sizes, size, dim in [([2, 6], 3, 1), ([2, 5], 4, -1), ([3], 10, 0), ([0, 2], 3, 0),
                             ([2, 0], 1, 0)]:
        case(NAME, tensor(sizes), size, dim)
    refuse(NAME, tensor([4]), 2, outs=[[tensor([2])]])
    refuse(NAME, tensor([4]), 0, outs=[[tensor([4])]])
    refuse(NAME, tensor([4]), -1, outs=[[tensor([4])]])
    refuse(NAME, tensor([4]), 2, 1, outs=[[tensor([2]), tensor([2])]])
    refuse(NAME, tensor([4]), 2, outs=[[tensor([2]), tensor([2], i64)]])
    NAME = "aten::split_with_sizes_copy.out"
    for sizes, parts, dim in [([6, 2], [1, 2, 3], 0), ([2, 4], [0, 4], -1), ([3], [3], 0)]:
        case(NAME, tensor(sizes), parts, dim)
    case(NAME, channels_last(tensor([1, 3, 2, 2])), [1, 2], 1)
    refuse(NAME, tensor([4]), [2, 1], outs=[[tensor([2]), tensor([1])]])
    refuse(NAME, tensor([4]), [2, 3], outs=[[tensor([2]), tensor([3])]])
    refuse(NAME, tensor([4]), [5, -1], outs=[[tensor([5]), tensor([1])]])
    NAME = "aten::unbind_copy.int_out"
    for dtype in ALL:
        case(NAME, tensor([2, 3], dtype))
    case(NAME, tensor([2, 3, 2]), 1)
    case(NAME, tensor([2, 3, 2]), -1)
    case(NAME, tensor([2]), 0)
    refuse(NAME, tensor([3]), outs=[[tensor([]), tensor([])]])
    refuse(NAME, tensor([]), outs=[[tensor([])]])

with family("op_slice_scatter"):
    NAME = "aten::slice_scatter.out"
    for dtype in ALL:
        case(NAME, tensor([4, 3], dtype), tensor([2, 3], dtype), 0, 1, 3)
    for source, dim, start, end, step in [([4, 2], 1, 0, 9, 2), ([4, 1], -1, -1, None, 1),
                                          ([0, 3], 0, 3, 1, 1), ([4, 3], 0, None, None, 1)]:
        case(NAME, tensor([4, 3]), tensor(source), dim, start, end, step)
    refuse(NAME, tensor([4, 3]), tensor([1, 3]), 0, 1, 3, outs=tensor([4, 3]))
    refuse(NAME, tensor([4, 3]), tensor([2, 3]), 0, 1, 3, 0, outs=tensor([4, 3]))
    refuse(NAME, tensor([4, 3]), tensor([2, 3], i64), 0, 1, 3, outs=tensor([4, 3]))
    NAME = "aten::select_scatter.out"
    for dtype in ALL:
        case(NAME, tensor([3, 2], dtype), tensor([2], dtype), 0, 1)
    case(NAME, tensor([3, 2, 2]), tensor([3, 2]), -2, -1)
    refuse(NAME, tensor([3, 2]), tensor([3]), 0, 1, outs=tensor([3, 2]))
    refuse(NAME, tensor([3, 2]), tensor([2]), 0, 3, outs=tensor([3, 2]))
    for offset, sizes in [(0, [2, 3]), (1, [2, 2]), (-2, [2, 1])]:
        case("aten::diagonal_scatter.out", tensor([3, 2, 3]), tensor(sizes), offset, 0, 2)

with family("op_diagonal_copy"):
    NAME = "aten::diagonal_copy.out"
    for dtype in ALL:
        case(NAME, tensor([3, 4], dtype))
    for offset in [1, -1, 3, 4, -3, 100, -100]:
        case(NAME, tensor([3, 4]), offset)
    for a, b in [(0, 2), (2, 0), (-1, 1)]:
        case(NAME, tensor([2, 3, 4]), 1, a, b)
    case(NAME, tensor([0, 4]))
    refuse(NAME, tensor([3, 4]), 0, 1, 1, outs=tensor([3]))
    refuse(NAME, tensor([3, 4]), 0, 0, 2, outs=tensor([3]))
    refuse(NAME, tensor([3]), 0, outs=tensor([3]))
    refuse(NAME, tensor([3, 4]), -2**63, outs=tensor([3]))

with family("op_unfold_copy"):
    NAME = "aten::unfold_copy.out"
    for dtype in ALL:
        case(NAME, tensor([5], dtype), 0, 3, 1)
    for sizes, dim, size, step in [([2, 7], 1, 3, 2), ([7, 2], 0, 2, 3), ([7, 2], -2, 7, 1),
                                   ([2, 3], 1, 1, 100), ([], 0, 1, 1)]:
        case(NAME, tensor(sizes), dim, size, step)
    for size, step in [(6, 1), (2, 0), (-1, 1), (2, -1)]:
        refuse(NAME, tensor([5]), 0, size, step, outs=tensor([1, 5]))

with family("op_as_strided_copy"):
    NAME = "aten::as_strided_copy.out"
    for dtype in ALL:
        case(NAME, tensor([8], dtype), [2, 3], [3, 1], 1)
    for sizes, strides, offset in [([3, 2], [1, 3], 0), ([2, 2], [0, 0], 5), ([], [], 7), ([4], [2], 0),
                                   ([0, 3], [100, 100], 0), ([3, 4], [1, 1], None)]:
        case(NAME, tensor([8]), sizes, strides, offset)
    for sizes, strides, offset in [([9], [1], 0), ([2], [8], 0), ([2], [-1], 4), ([1], [1], 8),
                                   ([1], [1], -1), ([2**31 - 1], [2**62], 0), ([2], [1, 1], 0)]:
        refuse(NAME, tensor([8]), sizes, strides, offset, outs=tensor([2]))

with family("op_flip"):
    NAME = "aten::flip.out"
    for dtype in ALL:
        case(NAME, tensor([3, 4], dtype), [0])
    for sizes, dims in [([3, 4], [1]), ([3, 4], [0, 1]), ([2, 3, 2], [-1, 0]), ([3], []), ([0, 2], [0]),
                        ([1, 3], [0])]:
        case(NAME, tensor(sizes), dims)
    case(NAME, channels_last(tensor([2, 3, 2, 2])), [1, 3], out_order=[0, 2, 3, 1])
    refuse(NAME, tensor([3]), [1], outs=tensor([3]))
    refuse(NAME, tensor([3]), [0, 0], outs=tensor([3]))

with family("op_roll"):
    NAME = "aten::roll.out"
    for dtype in ALL:
        case(NAME, tensor([5], dtype), [2], [0])
    for sizes, shifts, dims in [([3, 4], [1], [0]), ([3, 4], [-1, 2], [0, 1]), ([3, 4], [5], []),
                                ([3, 4], [-100], [1]), ([3, 4], [1, 1], [0, 0]), ([0, 2], [1], [0]),
                                ([2, 3, 2], [1, 2, 1], [0, -2, 2]), ([3], [0], [0])]:
        case(NAME, tensor(sizes), shifts, dims)
    image = channels_last(tensor([1, 2, 2, 3]))
    case(NAME, image, [4], [], out_order=[0, 2, 3, 1])
    refuse(NAME, tensor([3]), [1, 2], [0], outs=tensor([3]))
    refuse(NAME, tensor([3]), [1], [1], outs=tensor([3]))
    refuse(NAME, tensor([3]), [1, 2], [], outs=tensor([3]))

with family("op_constant_pad_nd"):
    NAME = "aten::constant_pad_nd.out"
    for dtype in ALL:
        case(NAME, tensor([2, 3], dtype), [1, 2], True if dtype == torch.bool else 1)
    for sizes, pad, value in [([2, 3], [1, 0, 0, 2], 0.5), ([2, 3], [-1, 1], math.nan),
                              ([2, 3], [-1, -1, 1, 1], 2.0), ([2, 3], [], 1.0), ([2, 3], [-2, -1], 1),
                              ([1, 2, 2], [1, 1, 1, 1, 1, 1], -math.inf), ([0, 2], [0, 0, 1, 1], 3.0),
                              ([3], [-3, 2], 9), ([3], [4, -3], 9)]:
        case(NAME, tensor(sizes), pad, value)
    case(NAME, channels_last(tensor([1, 2, 2, 2])), [1, 1, 0, 1], 0)
    case(NAME, tensor([2], i32), [1, 1], 2.75)
    refuse(NAME, tensor([2, 3]), [1], 0, outs=tensor([2, 4]))
    refuse(NAME, tensor([3]), [1, 1, 1, 1], 0, outs=tensor([5]))
    refuse(NAME, tensor([3]), [-2, -2], 0, outs=tensor([1]))
    refuse(NAME, tensor([3]), [2**62, 2**62], 0, outs=tensor([3]))
    refuse(NAME, tensor([3]), [-2**63, 0], 0, outs=tensor([3]))

with family("op_tril"):
    for name in ["aten::tril.out", "aten::triu.out"]:
        for dtype in ALL:
            case(name, tensor([3, 4], dtype), 1)
        for diagonal in [0, -1, 3, -3, 2**40, -2**40]:
            case(name, tensor([3, 4]), diagonal)
        for sizes in [[2, 2, 3], [4, 2], [0, 3], [3, 0]]:
            case(name, tensor(sizes))
        case(name, in_order(tensor([2, 3, 3]), [0, 2, 1]), out_order=[0, 1, 2])
        refuse(name, tensor([3]), outs=tensor([3]))

with family("op_repeat"):
    NAME = "aten::repeat.out"
    for dtype in ALL:
        case(NAME, tensor([2, 2], dtype), [2, 3])
    for sizes, repeats in [([3], [2, 2]), ([], [3]), ([], []), ([2, 1], [1, 5]), ([2], [0]),
                           ([0, 2], [3, 2]), ([1, 2], [2, 1, 2]), ([2, 3], [1, 1])]:
        case(NAME, tensor(sizes), repeats)
    refuse(NAME, tensor([2, 2]), [2], outs=tensor([4, 2]))
    refuse(NAME, tensor([2]), [-1], outs=tensor([2]))
    refuse(NAME, tensor([2]), [2**62], outs=tensor([2]))
    NAME = "aten::repeat_interleave.Tensor_out"
    for dtype in [i32, i64]:
        case(NAME, torch.tensor([2, 0, 3, 1], dtype=dtype))
    case(NAME, torch.tensor([1, 2]), output_size=3)
    case(NAME, torch.zeros([0], dtype=i64))
    refuse(NAME, torch.tensor([1, -1]), outs=tensor([0], i64))
    refuse(NAME, torch.tensor([1, 1]), output_size=3, outs=tensor([3], i64))
    refuse(NAME, torch.tensor([2**62, 2**62, 2**62]), outs=tensor([3], i64))
    refuse(NAME, tensor([2]), outs=tensor([2], i64))


def distinct(sizes, dtype=f32):
    """Values without ties, so that there is only one sorted order."""
    count = math.prod(sizes)
    return (torch.randperm(count) - count // 3).reshape(sizes).to(dtype)


with family("op_topk"):
    NAME = "aten::topk.values"
    for dtype in FLOATS + INTS:
        case(NAME, distinct([2, 7], dtype if dtype != torch.uint8 else torch.int16), 3)
    for sizes, k, dim, largest in [([2, 7], 3, -1, False), ([7, 2], 3, 0, True), ([2, 7], 7, 1, True),
                                   ([2, 7], 0, 1, True), ([], 1, 0, True), ([40], 5, 0, False),
                                   ([2, 3, 2], 2, 1, True), ([0, 3], 2, 1, True)]:
        case(NAME, distinct(sizes), k, dim, largest)
    case(NAME, torch.tensor([1.0, math.nan, math.inf, -math.inf, 2.0]), 3)
    case(NAME, torch.tensor([1.0, math.nan, math.inf, -math.inf, 2.0]), 5, 0, False)
    refuse(NAME, tensor([3]), 4, outs=[tensor([4]), tensor([4], i64)])
    refuse(NAME, tensor([3]), -1, outs=[tensor([1]), tensor([1], i64)])
    refuse(NAME, tensor([3]), 1, outs=[tensor([1]), tensor([1], i32)])
    refuse(NAME, tensor([3]), 1, outs=[tensor([1], i64), tensor([1], i64)])
    refuse(NAME, tensor([3]), 1, 1, outs=[tensor([1]), tensor([1], i64)])
    for dim, descending in [(0, False), (1, True), (-1, False)]:
        case("aten::sort.values", distinct([4, 5]), dim, descending)
        case("aten::sort.values_stable", tensor([4, 5], i32, -2, 2), stable=True, dim=dim,
             descending=descending)
        case("aten::argsort.stable_out", tensor([4, 5], low=-1, high=1), stable=True, dim=dim,
             descending=descending)
    case("aten::sort.values_stable", torch.tensor([math.nan, 1.0, -math.inf, math.nan, -0.0, 0.0]),
         stable=True)
    case("aten::sort.values", torch.tensor(3.0))
    case("aten::sort.values", distinct([100]))

with family("op_rand"):
    for dtype in FLOATS:
        for name in ["aten::rand.out", "aten::randn.out"]:
            case(name, [2, 3], expect=torch.empty([2, 3], dtype=dtype), compare=False)
        for name in ["aten::rand_like.out", "aten::randn_like.out"]:
            case(name, tensor([2, 3], dtype), expect=torch.empty([2, 3], dtype=dtype), compare=False)
    refuse("aten::rand.out", [2], outs=tensor([2], i64))
    refuse("aten::randn.out", [-2], outs=tensor([2]))

with family("op_allclose"):
    NAME = "aten::allclose.out"
    base = tensor([2, 3])

    def close(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
        case(NAME, a, b, rtol, atol, equal_nan, False,
             expect=torch.tensor(torch.allclose(a, b, rtol, atol, equal_nan)))

    for dtype in FLOATS + INTS:
        close(base.to(dtype), base.to(dtype))
        close(base.to(dtype), (base + 1).to(dtype))
    close(base, base + 1e-3, 1e-5, 1e-2)
    close(torch.tensor([math.nan]), torch.tensor([math.nan]))
    close(torch.tensor([math.nan]), torch.tensor([math.nan]), equal_nan=True)
    close(torch.tensor([math.inf, -math.inf]), torch.tensor([math.inf, -math.inf]))
    close(torch.tensor([math.inf]), torch.tensor([-math.inf]))
    close(torch.tensor([1.0]), torch.tensor([math.inf]))
    close(torch.ones([2, 3]), torch.ones([3]))
    close(tensor([0]), tensor([0]))
    refuse(NAME, tensor([2]), tensor([3]), 1e-5, 1e-8, False, False, outs=tensor([], torch.bool))
    refuse(NAME, tensor([2]), tensor([2]), -1.0, 1e-8, False, False, outs=tensor([], torch.bool))

with family("op_copy_in_place"):
    NAME = "aten::copy_"
    for to, source in [(f32, i64), (i32, f32), (torch.bool, f32), (torch.float16, torch.bfloat16),
                       (torch.uint8, torch.int16), (f32, f32)]:
        value = tensor([3], source, 0, 3)
        case(NAME, tensor([2, 3], to), value, after={0: value.to(to).expand(2, 3)})
    image = tensor([1, 2, 2, 2])
    case(NAME, channels_last(tensor([1, 2, 2, 2])), image, after={0: image})
    refuse(NAME, tensor([3]), tensor([2, 3]))
    refuse(NAME, tensor([3]), tensor([2]))
    refuse(NAME, tensor([1]), tensor([2]))

with family("op_et_copy"):
    for name in ["et_copy::_h2d_copy.out", "et_copy::_d2h_copy.out"]:
        for dtype in ALL:
            value = tensor([2, 2], dtype)
            case(name, value, expect=value)
        refuse(name, tensor([2]), outs=tensor([2], i64))
