"""Cases of the operators with data-dependent positions: index, gather, scatter, masks, nonzero."""

import math

import torch

from op_case import ALL, FLOATS, INTS, case, channels_last, family, refuse, tensor

f32, i64, i32 = torch.float32, torch.int64, torch.int32


def indices(values, dtype=i64):
    return torch.tensor(values, dtype=dtype)


def mask(sizes):
    return tensor(sizes, torch.bool)


with family("op_index"):
    NAME = "aten::index.Tensor_out"
    for dtype in ALL:
        case(NAME, tensor([4, 3], dtype), [indices([2, 0, -1])])
    data = tensor([3, 4, 2, 3])
    a, b = indices([[0, -1], [1, 2]]), indices([1, 0])
    for chosen in [[a], [None, a], [a, a], [a, None, b], [None, a, b], [b, None, b], [None, None, b, b],
                   [a, b, b, b], [indices(1)], [None, indices(-2), b], [indices([[2], [0]]), b],
                   [None, None, None, b], [indices([0, 1], i32), indices([-1, 1])]]:
        case(NAME, data, chosen)
    case(NAME, data, [None, None], expect=data)
    case(NAME, tensor([5]), [torch.zeros([0], dtype=i64)])
    case(NAME, tensor([0, 3]), [None, indices([0, 2])])
    flags = torch.tensor([True, False, True, False])
    case(NAME, tensor([4, 3]), [flags])
    case(NAME, tensor([3, 4]), [None, flags])
    data = tensor([3, 4])
    case(NAME, data, [None, flags.to(torch.uint8)], expect=data[:, flags])
    case(NAME, tensor([3, 4]), [mask([3, 4])])
    case(NAME, tensor([2, 3, 4]), [mask([2, 3])])
    case(NAME, tensor([2, 3, 4]), [None, mask([3, 4])])
    case(NAME, tensor([2, 3, 4]), [mask([2, 3]), indices([1])])
    case(NAME, tensor([4, 4, 2]), [flags, flags])
    case(NAME, tensor([4, 3, 4]), [flags, None, indices([3, 1])])
    case(NAME, tensor([4, 3]), [flags, indices([[0], [2], [1]])])
    case(NAME, tensor([4, 3]), [torch.zeros([4], dtype=torch.bool)])
    many = (torch.arange(150) * 7) % 9 - 4  # Longer than the lines that the kernel reads.
    case(NAME, tensor([5]), [many])
    case(NAME, tensor([5, 6]), [many.reshape(2, 75).to(i32), many.reshape(1, 2, 75)])
    case(NAME, tensor([5, 2], i32), [many[:, None], indices([1, 0])])
    image = channels_last(tensor([2, 3, 2, 2]))
    case(NAME, image, [None, indices([2, 0])])
    case(NAME, image, [indices([1, 1, 0])], out_order=[0, 1, 2, 3])
    refuse(NAME, tensor([3]), [indices([3])], outs=tensor([1]))
    refuse(NAME, tensor([3]), [indices([-4])], outs=tensor([1]))
    refuse(NAME, tensor([3]), [indices([2**40])], outs=tensor([1]))
    refuse(NAME, tensor([3]), [indices([0]), indices([0])], outs=tensor([1]))
    refuse(NAME, tensor([3, 3]), [indices([0, 1]), indices([0, 1, 2])], outs=tensor([3]))
    refuse(NAME, tensor([3]), [flags], outs=tensor([2]))
    refuse(NAME, tensor([3]), [tensor([1])], outs=tensor([1]))
    refuse(NAME, tensor([0]), [indices([0])], outs=tensor([1]))
    NAME = "aten::index_select.out"
    for dtype in ALL:
        case(NAME, tensor([4, 3], dtype), 0, indices([3, 0, 0]))
    for sizes, dim, chosen in [([2, 3, 4], 1, [2, 1]), ([2, 3, 4], -1, [0]), ([3], 0, []),
                               ([2, 3, 4], 2, [3, 3, 3, 0, 1])]:
        case(NAME, tensor(sizes), dim, indices(chosen))
    case(NAME, tensor([3, 2]), 0, indices(1))
    case(NAME, tensor([]), 0, indices(0))
    case(NAME, tensor([3, 2]), 1, indices([1, 0], i32))
    refuse(NAME, tensor([3, 2]), 0, indices([-1]), outs=tensor([1, 2]))
    refuse(NAME, tensor([3, 2]), 0, indices([3]), outs=tensor([1, 2]))
    refuse(NAME, tensor([3, 2]), 0, indices([[0]]), outs=tensor([1, 2]))
    NAME = "aten::embedding.out"
    for dtype in FLOATS:
        case(NAME, tensor([5, 3], dtype), indices([4, 0, 2]))
    case(NAME, tensor([5, 3]), indices([[4, 0], [1, 1]]), 0)
    case(NAME, tensor([5, 3]), indices(2))
    case(NAME, tensor([5, 3]), indices([1, 3], i32))
    case(NAME, tensor([5, 3]), torch.zeros([2, 0], dtype=i64))
    refuse(NAME, tensor([5, 3]), indices([5]), outs=tensor([1, 3]))
    refuse(NAME, tensor([5, 3]), indices([-1]), outs=tensor([1, 3]))
    refuse(NAME, tensor([5]), indices([1]), outs=tensor([1]))
    refuse(NAME, tensor([5, 3]), tensor([1]), outs=tensor([1, 3]))

with family("op_index_put"):
    NAME = "aten::index_put.out"
    for dtype in ALL:
        case(NAME, tensor([4, 3], dtype), [indices([2, 0])], tensor([2, 3], dtype))
        case(NAME, tensor([4, 2], dtype), [indices([2, 0, 2])], tensor([3, 2], dtype), True)
    data = tensor([3, 4, 2])
    for chosen, sizes in [([indices([1])], [4, 2]), ([None, indices([3, 0])], [3, 2, 2]),
                          ([None, indices([3, 0])], [1]), ([indices([0, 1]), None, indices([1, 0])], [2, 4]),
                          ([indices([[0], [2]]), indices([1, -1, 0])], [2, 3, 2]),
                          ([None, None, indices([1])], []), ([torch.zeros([0], dtype=i64)], [0, 4, 2]),
                          ([torch.tensor([True, False, True])], [2, 4, 2]), ([mask([3, 4])], [1]),
                          ([indices([0]), indices([1]), indices([1])], [1])]:
        for accumulate in [False, True]:
            case(NAME, data, chosen, tensor(sizes), accumulate)
    case(NAME, tensor([2]), [indices([1, 1, 1, 0])], tensor([4]), True)
    case(NAME, tensor([90, 2]), [torch.arange(89, 4, -1)], tensor([85, 2]))
    state, update, at = tensor([1, 6, 2]), tensor([1, 2, 2]), indices([3, 4])
    after = state.clone()
    after[:, at] = update
    case("aten::index_put_", state, [None, at], update, after={0: after})
    refuse(NAME, tensor([3]), [indices([3])], tensor([1]), outs=tensor([3]))
    refuse(NAME, tensor([3]), [indices([-4])], tensor([1]), True, outs=tensor([3]))
    refuse(NAME, tensor([3]), [indices([1])], tensor([2]), outs=tensor([3]))
    refuse(NAME, tensor([3]), [indices([1])], tensor([1, 1]), outs=tensor([3]))
    refuse(NAME, tensor([3]), [indices([1])], tensor([1], i64), outs=tensor([3]))
    refuse("aten::index_put_", tensor([3]), [indices([4])], tensor([1]))

with family("op_gather"):
    NAME = "aten::gather.out"
    for dtype in ALL:
        case(NAME, tensor([3, 4], dtype), 1, indices([[0, 3], [1, 1], [2, 0]]))
    case(NAME, tensor([3, 4]), 0, indices([[2, 0, 1], [1, 1, 0]]))
    case(NAME, tensor([2, 3, 2]), -1, indices([[[1, 0, 1]], [[0, 0, 0]]]))
    case(NAME, tensor([5]), 0, indices([4, 4, 4, 0, 1, 2, 3]))
    case(NAME, tensor([]), 0, indices(0))
    case(NAME, tensor([3, 4]), 1, torch.zeros([0, 4], dtype=i64))
    case(NAME, channels_last(tensor([1, 3, 2, 2])), 1, indices([[[[2, 1], [0, 2]]]]))
    case(NAME, tensor([300]), 0, torch.arange(299, -1, -1))
    refuse(NAME, tensor([3, 4]), 1, indices([[4]]), outs=tensor([1, 1]))
    refuse(NAME, tensor([3, 4]), 1, indices([[-1]]), outs=tensor([1, 1]))
    refuse(NAME, tensor([1, 4]), 1, indices([[0], [0]]), outs=tensor([2, 1]))
    refuse(NAME, tensor([3, 4]), 1, indices([0]), outs=tensor([1]))
    refuse(NAME, tensor([3, 4]), 2, indices([[0]]), outs=tensor([1, 1]))
    refuse(NAME, tensor([0]), 0, indices([0]), outs=tensor([1]))

with family("op_scatter"):
    for dtype in ALL:
        at = indices([[0, 3], [1, 2], [2, 0]])
        case("aten::scatter.src_out", tensor([3, 4], dtype), 1, at, tensor([3, 2], dtype))
        case("aten::scatter.value_out", tensor([3, 4], dtype), 1, at,
             True if dtype == torch.bool else 3)
        case("aten::scatter_add.out", tensor([3, 4], dtype), 1, indices([[0, 0], [1, 2], [3, 3]]),
             tensor([3, 2], dtype))
    for name in ["aten::scatter.src_out", "aten::scatter_add.out"]:
        case(name, tensor([3, 4]), 0, indices([[2, 0, 1]]), tensor([2, 4]))
        case(name, tensor([2, 3, 2]), -2, indices([[[2], [0]]]), tensor([1, 2, 2]))
        case(name, tensor([]), 0, indices(0), tensor([]))
        case(name, tensor([3, 4]), 1, torch.zeros([3, 0], dtype=i64), tensor([3, 4]))
        refuse(name, tensor([3, 4]), 1, indices([[4]]), tensor([1, 1]), outs=tensor([3, 4]))
        refuse(name, tensor([3, 4]), 1, indices([[-1]]), tensor([1, 1]), outs=tensor([3, 4]))
        refuse(name, tensor([3, 4]), 1, indices([[0, 1]]), tensor([1, 1]), outs=tensor([3, 4]))
        refuse(name, tensor([1, 4]), 1, indices([[0], [1]]), tensor([2, 1]), outs=tensor([1, 4]))
        refuse(name, tensor([3, 4]), 1, indices([0]), tensor([1]), outs=tensor([3, 4]))
        refuse(name, tensor([3]), 0, indices([0]), tensor([1], i64), outs=tensor([3]))
    case("aten::scatter_add.out", tensor([2]), 0, torch.zeros([40], dtype=i64), tensor([40]))
    case("aten::scatter.value_out", tensor([3, 4], i32), 0, indices([[2, 0, 1]]), 2.75)
    case("aten::scatter.value_out", tensor([]), 0, indices(0), 1.5)

with family("op_scatter_reduce"):
    NAME = "aten::scatter_reduce.two_out"
    for dtype in ALL:
        for how in ("sum", "prod", "amax", "amin"):
            if dtype == torch.bool and how in ("sum", "prod"):
                continue
            for with_self in (True, False):
                case(NAME, tensor([3, 4], dtype), 1, indices([[0, 0], [1, 2], [3, 3]]),
                     tensor([3, 2], dtype), how, include_self=with_self)
    nan = torch.tensor([1.0, float("nan"), 3.0, float("-inf")])
    for how in ("amax", "amin"):
        for values in (nan, nan.flip(0)):
            case(NAME, tensor([2]), 0, indices([0, 0, 1, 1]), values, how, include_self=False)
            case(NAME, nan, 0, indices([0, 1, 3, 0]), values, how)
    case(NAME, tensor([2, 3, 2]), -2, indices([[[2], [0]]]), tensor([1, 2, 2]), "sum")
    case(NAME, tensor([]), 0, indices(0), tensor([]), "prod")
    case(NAME, tensor([3, 4]), 1, torch.zeros([3, 0], dtype=i64), tensor([3, 4]), "amax")
    refuse(NAME, tensor([3]), 0, indices([3]), tensor([1]), "sum", True, outs=tensor([3]))
    refuse(NAME, tensor([3]), 0, indices([0]), tensor([1]), "mean", True, outs=tensor([3]))
    refuse(NAME, tensor([3]), 0, indices([0]), tensor([1], i64), "sum", True, outs=tensor([3]))

with family("op_nonzero"):
    for dtype in ALL:
        case("aten::nonzero.out", tensor([3, 4], dtype, -1, 1), out_order=[0, 1])
    case("aten::nonzero.out", torch.tensor([0.0, -0.0, math.nan, math.inf, 1e-40]))
    case("aten::nonzero.out", torch.tensor([-0.0, 1.0, 6e-8], dtype=torch.float16))
    for value in [torch.tensor(2.0), torch.tensor(0), tensor([0, 3]), torch.zeros([2, 2, 2])]:
        case("aten::nonzero.out", value, out_order=[0, 1])
    case("aten::nonzero.out", channels_last(tensor([2, 2, 2, 2], low=-1, high=1)))
    refuse("aten::nonzero.out", tensor([3]), outs=tensor([3, 1]))

with family("op_masked_select"):
    NAME = "aten::masked_select.out"
    for dtype in ALL:
        case(NAME, tensor([3, 4], dtype), mask([3, 4]))
    for sizes, chosen in [([3, 4], [4]), ([4], [3, 4]), ([3, 1], [1, 4]), ([], [2]), ([], []), ([0, 2], [1, 2])]:
        case(NAME, tensor(sizes), mask(chosen))
    case(NAME, channels_last(tensor([2, 2, 2, 2])), mask([2, 2, 2, 2]))
    refuse(NAME, tensor([3]), mask([4]), outs=tensor([3]))
    refuse(NAME, tensor([3]), tensor([3]), outs=tensor([3]))
    NAME = "aten::masked_scatter.out"
    for dtype in ALL:
        case(NAME, tensor([3, 4], dtype), mask([3, 4]), tensor([12], dtype))
    for sizes, chosen in [([3, 4], [4]), ([4], [3, 4]), ([3, 1], [1, 4]), ([], [2])]:
        case(NAME, tensor(sizes), mask(chosen), tensor([3, 4]))
    case(NAME, tensor([3]), torch.zeros([3], dtype=torch.bool), tensor([0]))
    refuse(NAME, tensor([3]), torch.ones([3], dtype=torch.bool), tensor([2]), outs=tensor([3]))

with family("op_searchsorted"):
    name = "taper::searchsorted.out"

    def search(x, rows, right=False, **kwargs):
        case(name, x, rows, right, expect=torch.searchsorted(rows, x, right=right), **kwargs)

    row = torch.tensor([-2.0, -1.0, -1.0, 0.5, 3.0])
    x = torch.tensor([[-3.0, -2.0, -1.0, 0.0], [0.5, 3.0, 9.0, float("nan")]])
    for right in [False, True]:
        search(x, row, right)
        search(x, torch.tensor([[-1.0, 0.0, 2.0], [0.5, 0.5, 7.0]]), right)
        search(torch.tensor(0.5), row, right)
        for dtype in ALL[:-1]:
            search(torch.tensor([0, 1, 2, 5, 9]).to(dtype), torch.tensor([1, 2, 2, 5]).to(dtype),
                   right)
    search(tensor([260]), torch.linspace(-4, 4, 17))
    search(tensor([3]), torch.tensor([]))
    search(tensor([0, 3]), row)
    search(x, torch.tensor([float("-inf"), 0.0, float("inf"), float("nan")]))
    refuse(name, x, torch.zeros(3, 4), False, outs=torch.zeros(2, 4, dtype=torch.int64))
    refuse(name, x, row.double(), False, outs=torch.zeros(2, 4, dtype=torch.int64))
    refuse(name, x, torch.tensor(1.0), False, outs=torch.zeros(2, 4, dtype=torch.int64))
    refuse(name, x, row, False, outs=torch.zeros(2, 4))
