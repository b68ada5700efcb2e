"""The cases that the suite runs: samples from PyTorch's OpInfo database, and PyTorch's results."""

import copy
import math
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_device_type import toleranceOverride
from torch.testing._internal.opinfo.core import (BinaryUfuncInfo, DecorateInfo, ReductionOpInfo,
                                                  UnaryUfuncInfo)
from torch.utils import _pytree as pytree

DTYPES = {
    "f32": torch.float32,
    "f64": torch.float64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "bool": torch.bool,
}
REDUCED = (torch.float16, torch.bfloat16)
# Operators whose results are uninitialised memory, or random values that may agree by chance.
UNWRITTEN = {"multinomial", "empty", "empty_like", "empty_permuted", "empty_strided", "new_empty",
             "new_empty_strided", "resize_", "resize_as_"}
# Families whose results for NaN are not meaningful: PyTorch refuses it, or they are arbitrary. NaN
# converted to an integer, and infinity times a weight of zero, differ between processors and
# between PyTorch's own kernels.
NO_SPECIAL = ("linalg.", "fft.", "sparse.", "masked.", "torch.", "signal.", "special.", "byte",
              "char", "int", "long", "short", "to", "type_as", "nn.functional.interpolate",
              "nn.functional.upsample", "mode")
SPECIAL_DTYPES = (torch.float32, torch.bfloat16, torch.int32, torch.int8)
ELEMENTWISE = (UnaryUfuncInfo, BinaryUfuncInfo, ReductionOpInfo)
MOST_ELEMENTS = 300_000
LOOK_AT = 60


def name_of(info):
    return info.name + ("." + info.variant_test_name if info.variant_test_name else "")


def operators():
    """The operators of the database by unique name, in its order."""
    found = {}
    for info in op_db:
        name = name_of(info).replace(" ", "_")
        while name in found:
            name += "'"
        found[name] = info
    return found


class Case:
    """One call: its flattened tensors, its other arguments, and PyTorch's results."""

    def __init__(self, operator, dtype, index, sample):
        self.operator, self.dtype, self.index = operator, dtype, index
        leaves, self.spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        self.leaves = [None if isinstance(x, torch.Tensor) else x for x in leaves]
        self.where = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor)]
        self.tensors = [tidy(leaves[i]) for i in self.where]
        self.expected = None
        self.exact = None
        self.random = False

    def key(self):
        return f"{self.operator} {self.dtype} #{self.index}"

    def call(self, info, tensors):
        leaves = list(self.leaves)
        for i, tensor in zip(self.where, tensors):
            leaves[i] = tensor
        first, args, kwargs = pytree.tree_unflatten(leaves, self.spec)
        out = info.op(first, *args, **kwargs)
        return [x for x in pytree.tree_leaves(out) if isinstance(x, torch.Tensor)]

    def run_eager(self, info):
        """Sets the expected results; returns False if the case cannot be used."""
        sizes = sum(t.numel() for t in self.tensors)
        if sizes > MOST_ELEMENTS or any(t.is_complex() or t.is_sparse for t in self.tensors):
            return False
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                torch.manual_seed(1)
                self.expected = [t.clone() for t in self.call(info, self.copies())]
                torch.manual_seed(2)
                again = self.call_unseeded(info)
            except Exception:
                return False
        if not self.expected or any(unusable(t) for t in self.expected):
            return False
        if sum(t.numel() for t in self.expected) > MOST_ELEMENTS:
            return False
        self.random = info.name in UNWRITTEN or not all(
            torch.equal(torch.nan_to_num(a), torch.nan_to_num(b))
            for a, b in zip(self.expected, again))
        return True

    def call_unseeded(self, info):
        """Calls without seeding: some samples set the seed, which would hide random results."""
        seed, torch.manual_seed = torch.manual_seed, lambda *_: None
        try:
            return self.call(info, self.copies())
        finally:
            torch.manual_seed = seed

    def run_exact(self, info):
        """PyTorch's results in double for the same inputs, or None."""
        wide = [t.double() if t.dtype in REDUCED or t.dtype == torch.float32 else t.clone()
                for t in self.tensors]
        leaves = list(self.leaves)
        self.leaves = [torch.float64 if x in REDUCED else x for x in leaves]
        try:
            with torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self.call(info, wide)
        except Exception:
            return None
        finally:
            self.leaves = leaves

    def copies(self):
        return [t.clone() for t in self.tensors]


def tidy(tensor):
    tensor = tensor.detach()
    if tensor.is_sparse or tensor.is_complex():
        return tensor
    if tensor.dim() == 4 and tensor.is_contiguous(memory_format=torch.channels_last):
        return tensor.clone()
    return tensor.resolve_neg().clone(memory_format=torch.contiguous_format)


def unusable(tensor):
    return tensor.layout != torch.strided or tensor.dtype not in DTYPES.values()


def traits(case):
    """The properties by which samples of an operator are considered to be of different kinds."""
    shapes = [tuple(t.shape) for t in case.tensors]
    return (any(0 in s for s in shapes), any(len(s) == 0 for s in shapes), len(set(shapes)) > 1,
            len(shapes), tuple(type(x).__name__ for x in case.leaves),
            tuple(x for x in case.leaves if isinstance(x, (bool, str))))


def draw(name, info, dtype_name, count):
    """Up to `count` cases: first one of each kind, then the others in order."""
    dtype = DTYPES[dtype_name]
    if dtype not in info.dtypes:
        return []
    torch.manual_seed(0)
    seen = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for i, sample in enumerate(info.sample_inputs("cpu", dtype, requires_grad=False)):
                if i >= LOOK_AT:
                    break
                seen.append(Case(name, dtype_name, i, sample))
    except Exception:
        pass
    kinds, first, rest = set(), [], []
    for case in seen:
        kind = traits(case)
        (rest if kind in kinds else first).append(case)
        kinds.add(kind)
    ordered = first[:count * 2:2] + first[1:count * 2:2] + first[count * 2:] + rest
    chosen = []
    for case in ordered:
        if len(chosen) < count and case.run_eager(info):
            chosen.append(case)
    return chosen + special_values(info, dtype, [c for c in ordered[:1] if c in chosen])


def special_values(info, dtype, cases):
    """The same calls with NaN, infinities and both zeros, or the largest and smallest integers."""
    if info.name.startswith(NO_SPECIAL) or dtype not in SPECIAL_DTYPES:
        return []
    if not dtype.is_floating_point and not isinstance(info, ELEMENTWISE):
        return []
    made = []
    for case in cases:
        twin = copy.copy(case)
        twin.index += 1000
        twin.tensors = [with_specials(t, i) if t.dtype == dtype else t.clone()
                        for i, t in enumerate(case.tensors)]
        if twin.run_eager(info):
            made.append(twin)
    return made


def with_specials(tensor, operand):
    if tensor.dtype.is_floating_point:
        values = [math.nan, math.inf, -math.inf, 0.0, -0.0]
    else:
        info = torch.iinfo(tensor.dtype)
        values = [info.max, info.min + 1, 0, 1]
    out = tensor.clone(memory_format=torch.contiguous_format)
    line = out.view(-1)
    for i in range(0, len(line), 2):  # Operands step through the values at different rates.
        line[i] = values[(i // 2) // (len(values) ** operand if operand < 3 else 1) % len(values)]
    return out


def tolerance(info, dtype_name):
    """(rtol, atol): torch.testing's defaults, or OpInfo's if they are wider."""
    dtype = DTYPES[dtype_name]
    rtol, atol = torch.testing._comparison.default_tolerances(dtype)
    for item in info.decorators:
        decorators = item.decorators if isinstance(item, DecorateInfo) else [item]
        for one in decorators:
            if isinstance(one, toleranceOverride) and dtype in one.d:
                rtol = max(rtol, one.d[dtype].rtol)
                atol = max(atol, one.d[dtype].atol)
    if info.name.startswith("fft."):
        # Taper computes them as matrix products, whose errors depend on the largest terms of a sum;
        # integers are transformed as float32.
        plain = torch.testing._comparison.default_tolerances(torch.float32)[1]
        atol = 10 * (atol if dtype.is_floating_point or dtype.is_complex else plain)
    return rtol, atol
