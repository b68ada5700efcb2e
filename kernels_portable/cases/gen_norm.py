"""Cases of softmax, the normalisations, dropout outside training and glu."""

import torch

from op_case import FLOATS, case, channels_last, family, in_order, refuse, tensor

f32, f64, f16, i32 = torch.float32, torch.float64, torch.float16, torch.int32
inf, nan = float("inf"), float("nan")

SPECIAL = torch.tensor([[1.0, nan, 3.0], [inf, 2.0, -inf], [-inf, -1.0, -inf],
                        [-inf, -inf, -inf], [500.0, -500.0, 499.0]])

for op in ["softmax", "log_softmax"]:
    with family("op_" + op):
        name = f"aten::_{op}.out"
        for dtype in FLOATS:
            case(name, tensor([3, 5], dtype), 1, False)
        x = tensor([2, 3, 4])
        for dim in [0, 1, 2, -1, -3]:
            case(name, x, dim, False)
            case(name, in_order(x, [2, 0, 1]), dim, False, out_order=[0, 1, 2])
        case(name, channels_last(tensor([2, 3, 2, 2])), 1, False, out_order=[0, 2, 3, 1])
        case(name, tensor([1, 520]), 1, False, tolerance=(1e-5, 1e-6))
        case(name, tensor([2, 70]), 1, False)
        case(name, SPECIAL, 1, False)
        case(name, tensor([]), 0, False)
        case(name, tensor([0, 2]), 1, False)
        case(name, tensor([2, 0]), 1, False)
        case(name, tensor([2, 5], f16), 1, False, out_dtype=f32, tolerance=(1e-3, 1e-3))
        refuse(name, x, 3, False, outs=x)
        refuse(name, tensor([2, 3], i32), 0, False, outs=tensor([2, 3]))
        refuse(name, tensor([2, 3]), 0, False, outs=tensor([2, 3], i32))

with family("op_native_layer_norm"):
    name = "aten::native_layer_norm.out"
    for dtype in FLOATS:
        case(name, tensor([3, 5], dtype), [5], tensor([5], dtype), tensor([5], dtype), 1e-5)
    x = tensor([2, 3, 4])
    case(name, x, [4], None, None, 1e-5)
    case(name, x, [3, 4], tensor([3, 4]), None, 1e-5)
    case(name, x, [2, 3, 4], None, tensor([2, 3, 4]), 1e-3)
    case(name, tensor([1, 514]), [514], tensor([514]), None, 1e-5)
    case(name, tensor([2, 8]) + 1000, [8], None, None, 1e-5, tolerance=(1e-3, 1e-4))
    case(name, torch.ones(2, 3), [3], None, None, 0.0)
    case(name, tensor([0, 3]), [3], None, None, 1e-5)
    case(name, torch.tensor([[1.0, nan, 2.0], [1.0, 3.0, 2.0]]), [3], None, None, 1e-5)
    outs = [x, tensor([2, 3, 1]), tensor([2, 3, 1])]
    refuse(name, x, [3], None, None, 1e-5, outs=outs)
    refuse(name, x, [], None, None, 1e-5, outs=outs)
    refuse(name, x, [1, 2, 3, 4], None, None, 1e-5, outs=outs)
    refuse(name, x, [4], tensor([3]), None, 1e-5, outs=outs)
    refuse(name, x, [4], None, tensor([4], i32), 1e-5, outs=outs)

with family("op_native_group_norm"):
    name = "aten::native_group_norm.out"
    for dtype in FLOATS:
        case(name, tensor([2, 4, 3], dtype), tensor([4], dtype), tensor([4], dtype), 2, 4, 3, 2, 1e-5)
    x = tensor([2, 6, 2, 3])
    for group in [1, 2, 3, 6]:
        case(name, x, tensor([6]), tensor([6]), 2, 6, 6, group, 1e-5)
    case(name, x, None, None, 2, 6, 6, 3, 1e-3)
    case(name, x, None, tensor([6]), 2, 6, 6, 3, 1e-3)
    case(name, tensor([1, 2, 260]), tensor([2]), None, 1, 2, 260, 1, 1e-5)
    case(name, tensor([2, 4]), tensor([4]), None, 2, 4, 1, 2, 1e-5)
    outs = [x, tensor([2, 3]), tensor([2, 3])]
    refuse(name, x, None, None, 2, 6, 6, 4, 1e-5, outs=outs)
    refuse(name, x, None, None, 2, 6, 6, 0, 1e-5, outs=outs)
    refuse(name, x, None, None, 2, 6, 7, 3, 1e-5, outs=outs)
    refuse(name, x, None, None, 3, 6, 6, 3, 1e-5, outs=outs)
    refuse(name, x, tensor([5]), None, 2, 6, 6, 3, 1e-5, outs=outs)

with family("op_batch_norm"):
    name = "aten::_native_batch_norm_legit_no_training.out"
    for dtype in FLOATS:
        stats = [tensor([3], dtype), tensor([3], dtype), tensor([3], dtype), tensor([3], dtype, 1)]
        case(name, tensor([2, 3, 4], dtype), *stats, 0.1, 1e-5)
    stats = [tensor([3]), tensor([3]), tensor([3]), tensor([3], f32, 1)]
    x = tensor([2, 3, 2, 2])
    for source in [x, channels_last(x), tensor([2, 3]), tensor([2, 3, 1, 2, 2]), tensor([0, 3, 2])]:
        case(name, source, *stats, 0.1, 1e-3)
    case(name, channels_last(x), *stats, 0.1, 1e-3, out_order=[0, 1, 2, 3])
    case(name, x, *stats, 0.1, 1e-3, out_order=[0, 2, 3, 1])
    case(name, x, None, None, *stats[2:], 0.1, 1e-5)
    case(name, x, stats[0], None, *stats[2:], 0.1, 1e-5)
    case(name, tensor([1, 3, 20]), *stats, 0.1, 1e-5)
    outs = [x, tensor([0]), tensor([0])]
    refuse(name, x, tensor([2]), *stats[1:], 0.1, 1e-5, outs=outs)
    refuse(name, x, *stats[:3], tensor([4]), 0.1, 1e-5, outs=outs)
    refuse(name, tensor([3]), *stats, 0.1, 1e-5, outs=[tensor([3])] + outs[1:])
    name = "aten::_native_batch_norm_legit.no_stats_out"
    for source in [x, channels_last(x), tensor([4, 3])]:
        case(name, source, stats[0], stats[1], True, 0.1, 1e-5)
    case(name, x, None, None, True, 0.1, 1e-5)
    refuse(name, x, None, None, False, 0.1, 1e-5, outs=[x, tensor([3]), tensor([3])])
    name = "aten::_native_batch_norm_legit.out"
    for training in [True, False]:
        for source in [x, channels_last(x)]:
            mean, var = stats[2].clone(), stats[3].clone()
            expect = torch.ops.aten._native_batch_norm_legit(
                source, stats[0], stats[1], mean, var, training, 0.25, 1e-5)
            case(name, source, *stats, training, 0.25, 1e-5, expect=expect,
                 after={3: mean, 4: var})

with family("op_native_dropout"):
    name = "aten::native_dropout.out"
    for dtype in FLOATS:
        x = tensor([2, 3], dtype)
        case(name, x, 0.5, False, expect=(x, torch.ones(2, 3, dtype=torch.bool)))
    x = channels_last(tensor([1, 2, 2, 2]))
    case(name, x, 0.0, None, expect=(x, torch.ones(1, 2, 2, 2, dtype=torch.bool)))
    outs = [tensor([2]), tensor([2], torch.bool)]
    refuse(name, tensor([2]), 0.5, True, outs=outs)
    refuse(name, tensor([2]), 1.5, False, outs=outs)
    refuse(name, tensor([2]), nan, False, outs=outs)

with family("op_glu"):
    name = "aten::glu.out"
    for dtype in FLOATS:
        case(name, tensor([3, 6], dtype), 1)
    x = tensor([2, 4, 6])
    for dim in [0, 1, 2, -1]:
        case(name, x, dim)
        case(name, in_order(x, [2, 0, 1]), dim, out_order=[0, 1, 2])
    case(name, channels_last(tensor([1, 4, 2, 2])), 1, out_order=[0, 2, 3, 1])
    case(name, tensor([1, 600]), -1)
    case(name, tensor([0, 2]), 1)
    case(name, tensor([2, 0]), 1)
    refuse(name, x, 3, outs=x)
    refuse(name, tensor([2, 3]), 1, outs=tensor([2, 1]))
    refuse(name, tensor([]), 0, outs=tensor([]))
