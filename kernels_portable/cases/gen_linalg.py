"""Cases of linear algebra. Matrices are well conditioned: random plus a multiple of the identity."""

import torch

from op_case import case, family, refuse, tensor

f32, f64 = torch.float32, torch.float64
TOLERANCE = (1e-4, 1e-4)


def square(sizes, dtype=f32):
    return tensor(sizes, dtype, -1, 1) + 2 * torch.eye(sizes[-1], dtype=dtype)


with family("op_linalg_det"):
    for name in ("aten::_linalg_det.result", "aten::_linalg_slogdet.sign"):
        for sizes in ([3, 3], [1, 1], [2, 5, 5], [2, 3, 2, 2], [0, 0], [0, 3, 3], [2, 0, 0]):
            case(name, square(sizes), tolerance=TOLERANCE)
        case(name, square([4, 4], f64))
        case(name, torch.tensor([[0.0, 2.0], [3.0, 4.0]]))
        case(name, torch.tensor([[1.0, 2.0], [2.0, 4.0]]))
    refuse("aten::_linalg_det.result", tensor([2, 3]),
           outs=[tensor([]), tensor([2, 3]), tensor([2], torch.int32)])
    refuse("aten::_linalg_det.result", tensor([2, 2], torch.float16),
           outs=[tensor([]), tensor([2, 2]), tensor([2], torch.int32)])

with family("op_linalg_solve_ex"):
    NAME = "aten::_linalg_solve_ex.result"
    for sizes, columns in [([3, 3], 2), ([1, 1], 1), ([2, 4, 4], 3), ([2, 3, 2, 2], 1),
                           ([0, 3, 3], 2), ([3, 3], 0)]:
        case(NAME, square(sizes), tensor([*sizes[:-1], columns]), tolerance=TOLERANCE)
    case(NAME, square([5, 5], f64), tensor([5, 2], f64))
    case(NAME, torch.tensor([[0.0, 2.0], [3.0, 4.0]]), tensor([2, 2]), check_errors=True)
    symmetric = square([2, 3, 3])  # Its LU is that of its transpose.
    case(NAME, symmetric + symmetric.mT, tensor([2, 4, 3]), left=False, tolerance=TOLERANCE)
    refuse(NAME, torch.tensor([[1.0, 2.0], [2.0, 4.0]]), tensor([2, 2]), check_errors=True,
           outs=[tensor([2, 2]), tensor([2, 2]), tensor([2], torch.int32), tensor([], torch.int32)])

with family("op_linalg_solve_triangular"):
    NAME = "aten::linalg_solve_triangular.out"
    for upper in (False, True):
        for unit in (False, True):
            case(NAME, square([4, 4]), tensor([4, 3]), upper=upper, unitriangular=unit,
                 tolerance=TOLERANCE)
        case(NAME, square([2, 3, 3], f64), tensor([2, 3, 2], f64), upper=upper)
        case(NAME, square([3, 3]), tensor([2, 3]), upper=upper, left=False, tolerance=TOLERANCE)
    case(NAME, tensor([0, 0]), tensor([0, 2]), upper=True)
    refuse(NAME, square([3, 3]), tensor([2, 2]), upper=True, outs=tensor([2, 2]))

with family("op_linalg_cholesky_ex"):
    NAME = "aten::linalg_cholesky_ex.L"
    for sizes in ([3, 3], [1, 1], [2, 4, 4], [0, 0], [0, 2, 2]):
        a = square(sizes)
        positive = a @ a.mT + torch.eye(sizes[-1])
        for upper in (False, True):
            case(NAME, positive, upper=upper, tolerance=TOLERANCE)
    a = square([4, 4], f64)
    case(NAME, a @ a.mT, check_errors=True)
    refuse(NAME, torch.tensor([[1.0, 2.0], [2.0, 1.0]]), check_errors=True,
           outs=[tensor([2, 2]), tensor([], torch.int32)])

with family("op_linalg_qr"):
    NAME = "aten::linalg_qr.out"
    for sizes in ([4, 3], [3, 4], [3, 3], [2, 5, 2], [1, 1], [3, 1], [1, 3], [0, 3, 2], [3, 0], [0, 3]):
        for mode in ("reduced", "complete"):
            case(NAME, tensor(sizes), mode, tolerance=TOLERANCE)
    case(NAME, tensor([5, 4], f64))
    case(NAME, torch.tensor([[1.0, 2.0], [0.0, 3.0], [0.0, 4.0]]))
    case(NAME, torch.zeros(3, 2))
    refuse(NAME, tensor([3, 2]), "r", outs=[tensor([0]), tensor([2, 2])])
    refuse(NAME, tensor([3]), outs=[tensor([3, 2]), tensor([2, 2])])

# The signs of the factors are arbitrary, except for matrices of size 1.
with family("op_linalg_svd"):
    NAME = "aten::_linalg_svd.U"
    case(NAME, torch.tensor([[3.0]]))
    case(NAME, torch.diag(torch.tensor([3.0, 2.0, 1.0])))
    refuse(NAME, tensor([2]), outs=[tensor([2, 2]), tensor([2]), tensor([2, 2])])
    refuse(NAME, torch.tensor([[1.0, float("nan")], [0.0, 1.0]]),
           outs=[tensor([2, 2]), tensor([2]), tensor([2, 2])])

with family("op_linalg_eigh"):
    NAME = "aten::_linalg_eigh.eigenvalues"
    case(NAME, torch.diag(torch.tensor([1.0, 2.0, 5.0])))
    case(NAME, torch.tensor([[-3.0]], dtype=f64))
    refuse(NAME, tensor([2, 3]), outs=[tensor([2]), tensor([2, 3])])
    refuse(NAME, torch.tensor([[1.0, float("inf")], [0.0, 1.0]]), "U",
           outs=[tensor([2]), tensor([2, 2])])
