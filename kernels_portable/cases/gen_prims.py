"""Cases of the prim operators; the expected values are Python's for the same expression."""

import builtins
import math
import operator

import torch

from op_case import case, family, refuse, tensor

I64_MAX = 2**63 - 1

with family("op_prim_number"):
    PAIRS = [(7, 2), (-7, 2), (7, -2), (0, 3), (3, 3), (2.5, 2), (-7, 2.0), (1.5, -0.5), (True, 2)]
    for name, function in [
            ("add.Scalar", operator.add), ("sub.Scalar", operator.sub), ("mul.Scalar", operator.mul),
            ("floordiv.Scalar", operator.floordiv), ("truediv.Scalar", operator.truediv),
            ("mod.Scalar", operator.mod), ("eq.Scalar", operator.eq), ("gt.Scalar", operator.gt),
            ("lt.Scalar", operator.lt), ("ge.Scalar", operator.ge), ("le.Scalar", operator.le),
            ("sym_max.Scalar", torch.sym_max), ("sym_min.Scalar", torch.sym_min)]:
        for a, b in PAIRS:
            case(f"executorch_prim::{name}", a, b, expect=function(a, b))
    for a, b in [(7, 2), (-7, 2), (I64_MAX, -1)]:
        case("executorch_prim::floordiv.int", a, b, expect=a // b)
        case("executorch_prim::mod.int", a, b, expect=a % b)
    case("executorch_prim::floordiv.int", -I64_MAX - 1, -1, expect=-I64_MAX - 1)
    case("executorch_prim::mod.int", -I64_MAX - 1, -1, expect=0)
    case("executorch_prim::add.Scalar", I64_MAX, 1, expect=-I64_MAX - 1)
    case("executorch_prim::lt.Scalar", math.nan, 1, expect=False)
    case("executorch_prim::eq.Scalar", I64_MAX, I64_MAX - 1, expect=False)
    for name in ["floordiv.Scalar", "floordiv.int", "truediv.Scalar", "mod.Scalar", "mod.int"]:
        refuse(f"executorch_prim::{name}", 1, 0, outs=1)
    for value in [2, -3, 2.5, -2.5, 3.5, 0.0]:
        case("executorch_prim::neg.Scalar", value, expect=-value)
        case("executorch_prim::sym_float.Scalar", value, expect=float(value))
        case("executorch_prim::sym_int.Scalar", value, expect=int(value))
        case("executorch_prim::trunc.Scalar", value, expect=math.trunc(value))
        case("executorch_prim::ceil.Scalar", value, expect=math.ceil(value))
        case("executorch_prim::round.Scalar", value, expect=builtins.round(value))
    case("executorch_prim::sym_int.Scalar", 1e300, expect=I64_MAX)
    for value in [True, False]:
        case("executorch_prim::sym_not.Scalar", value, expect=not value)
        case("executorch_prim::sym_ite.Scalar", value, 3, 4, expect=3 if value else 4)

with family("op_assert"):
    for condition in [True, 1, -1, 0.5, math.nan]:
        case("taper::assert", condition, "holds", after={})
    for condition in [False, 0, 0.0, -0.0]:
        refuse("taper::assert", condition, "broken")

with family("op_prim_tensor"):
    for dim in [0, 1, -1, -3]:
        case("aten::sym_size.int", tensor([2, 3, 4]), dim, expect=[2, 3, 4][dim])
    refuse("aten::sym_size.int", tensor([2, 3]), 2, outs=1)
    refuse("aten::sym_size.int", tensor([]), 0, outs=1)
    for sizes, count in [([2, 3], 6), ([], 1), ([0, 2], 0)]:
        case("aten::sym_numel", tensor(sizes), expect=count)
    for dtype in [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.uint8,
                  torch.int8, torch.int16, torch.int32, torch.int64, torch.bool]:
        value = tensor([1, 1], dtype)
        case("aten::_local_scalar_dense", value, expect=value.item())
    case("aten::_local_scalar_dense", torch.tensor(2**62 + 1), expect=2**62 + 1)
    refuse("aten::_local_scalar_dense", tensor([2]), outs=1.0)
