"""Writes operator cases: a kernel's name, its arguments, and what PyTorch computes from them.

A generator is a file gen_*.py that contains

    from op_case import case, family, refuse, tensor
    with family("op_slice_copy"):                        # writes op_slice_copy.txt
        case("aten::slice_copy.Tensor_out", tensor([4, 3]), 1, 1, 3)

The format of the text is described in test/support/op_case_file.h.
"""

import contextlib
import pathlib
import zlib

import torch

FOLDER = pathlib.Path(__file__).parent
DTYPES = {
    torch.uint8: ("u8", 0), torch.int8: ("i8", 1), torch.int16: ("i16", 2), torch.int32: ("i32", 3),
    torch.int64: ("i64", 4), torch.float16: ("f16", 5), torch.float32: ("f32", 6),
    torch.float64: ("f64", 7), torch.bool: ("bool", 11), torch.bfloat16: ("bf16", 15),
    torch.complex32: ("c32", 8), torch.complex64: ("c64", 9), torch.complex128: ("c128", 10),
    torch.uint16: ("u16", 27), torch.uint32: ("u32", 28), torch.uint64: ("u64", 29),
}
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
ALL = FLOATS + INTS + (torch.bool,)
MEMORY_FORMATS = {torch.contiguous_format: 0, torch.preserve_format: 1, torch.channels_last: 2}
# Arguments that a functional overload has and its out variant may lack.
FACTORY = ("dtype", "layout", "device", "pin_memory", "requires_grad")

_lines = None
_wanted = ()


def select(families):
    """Restricts what is written to these families; an empty list means all."""
    global _wanted
    _wanted = tuple(families)


@contextlib.contextmanager
def family(name):
    """Writes the cases of this block to <name>.txt; random numbers depend only on the name."""
    global _lines
    torch.manual_seed(zlib.crc32(name.encode()))
    _lines = []
    try:
        yield
        text = "\n".join(["# Written by make.py; do not edit."] + _lines) + "\n"
        if not _wanted or name in _wanted:
            (FOLDER / (name + ".txt")).write_text(text)
    finally:
        _lines = None


def tensor(sizes, dtype=torch.float32, low=-4.0, high=4.0):
    """Random values; floats are multiples of 1/16 so that the text stays short."""
    if dtype.is_complex:
        parts = tensor([*sizes, 2], torch.float64, low, high)
        return torch.view_as_complex(parts).to(dtype)
    if dtype == torch.bool:
        return torch.randint(0, 2, sizes).to(torch.bool)
    if dtype in FLOATS:
        return (torch.randint(int(low * 16), int(high * 16) + 1, sizes) / 16).to(dtype)
    if dtype in (torch.uint8, torch.uint16, torch.uint32, torch.uint64):
        low = max(low, 0)
    return torch.randint(int(low), int(high) + 1, sizes).to(dtype)


def channels_last(value):
    """The same tensor in channels-last dim order (rank 4 or 5)."""
    form = torch.channels_last if value.dim() == 4 else torch.channels_last_3d
    return value.contiguous(memory_format=form)


def in_order(value, order):
    """The same tensor with this dim order, outermost first."""
    inverse = [order.index(d) for d in range(len(order))]
    return value.permute(order).contiguous().permute(inverse)


def case(name, *args, out=None, expect=None, after=None, out_dtype=None, out_order=None,
         tolerance=None, compare=True, **kwargs):
    """Adds a case of the kernel `name`, with schema arguments as PyTorch takes them.

    expect     the results (tensor, number, bool or list), instead of what PyTorch computes
    out        only the sizes of the result: short for expect=torch.empty(out), compare=False
    after      {argument index: value after the call}, for arguments that the kernel changes
    out_dtype  the dtype of the first output: the result is cast to it
    out_order  the dim order of the outputs of that rank
    tolerance  (relative, absolute)
    compare    False: only the outputs' sizes are compared, not their values
    """
    bound = _bind(name, args, kwargs)
    if out is not None:
        expect, compare = torch.empty(out), False
    if expect is None and after is None:
        expect = _compute(name, bound)
    results = [] if expect is None else _as_results(expect)
    if out_dtype is not None:
        results[0] = results[0].to(out_dtype)
    _emit(name, bound)
    for result in results:
        _lines.extend("  " + line for line in _value_lines(result, None, "-> ", compare, out_order))
    for index, value in (after or {}).items():
        _lines.extend("  " + line for line in _value_lines(value, None, f"after {index} "))
    if tolerance is not None:
        _lines.append(f"  tolerance {tolerance[0]} {tolerance[1]}")


def refuse(name, *args, outs=(), **kwargs):
    """Adds a call that must return an error; `outs` are tensors of the outputs' dtype and sizes."""
    _emit(name, _bind(name, args, kwargs))
    for result in outs if isinstance(outs, (list, tuple)) else [outs]:
        _lines.extend("  " + line for line in _value_lines(result, None, "-> ", False))
    _lines.append("  refused")


class _Argument:
    """A schema argument: its type's text, name, default, and whether it is an output."""

    def __init__(self, kind, name, value=None, is_out=False):
        self.kind, self.name, self.value, self.is_out = kind, name, value, is_out


def _packet(name):
    base = name.split("::")
    return getattr(getattr(torch.ops, base[0]), base[1].split(".")[0])


def _schema(name):
    """The arguments of the PyTorch operator `name`, or None if PyTorch has no such operator."""
    overload = name.split("::")[1].partition(".")[2] or "default"
    try:
        found = getattr(_packet(name), overload)
    except AttributeError:
        return None
    return found._schema.arguments


def _bind(name, args, kwargs):
    """[(schema type text or None, argument name or None, value)] without the outputs."""
    schema = _schema(name)
    if schema is None:
        return [(None, None, value) for value in list(args) + list(kwargs.values())]
    bound = []
    for position, argument in enumerate(a for a in schema if not a.is_out):
        if position < len(args):
            value = args[position]
        elif argument.name in kwargs:
            value = kwargs[argument.name]
        else:
            value = argument.default_value
        bound.append((str(argument.type), argument.name, value))
    unknown = set(kwargs) - {b[1] for b in bound}
    assert not unknown, f"{name} has no argument {unknown}"
    return bound


def _functional(name):
    """The overload that returns new tensors for the arguments of the out variant `name`."""
    wanted = [a.name for a in _schema(name) if not a.is_out]
    types = [str(a.type) for a in _schema(name) if not a.is_out]
    packet = _packet(name)
    for overload in packet.overloads():
        found = getattr(packet, overload)
        arguments = found._schema.arguments
        if any(a.is_out or (a.alias_info and a.alias_info.is_write) for a in arguments):
            continue
        shared = [a for a in arguments if a.name in wanted]
        if ([a.name for a in shared] == wanted and [str(a.type) for a in shared] == types
                and all(a.name in wanted or a.name in FACTORY for a in arguments)):
            return found
    raise LookupError(f"no functional form of {name}; give expect=")


def _compute(name, bound):
    function = _functional(name)
    names = [a.name for a in function._schema.arguments if not a.kwarg_only]
    positional = [value for _, key, value in bound if key in names]
    keyword = {key: value for _, key, value in bound if key not in names}
    return function(*positional, **keyword)


def _as_results(value):
    return list(value) if isinstance(value, tuple) else [value]


def _emit(name, bound):
    _lines.append(name)
    for kind, _, value in bound:
        _lines.extend("  " + line for line in _value_lines(value, kind))


def _number(value):
    return repr(float(value)) if isinstance(value, float) else str(int(value))


def _value_lines(value, kind, prefix="", values=True, order=None):
    """The lines of one argument or result; `kind` is the schema's type, if it is known."""
    kind = kind or ""
    if value is None:
        return [prefix + "none"]
    if isinstance(value, torch.Tensor):
        return [prefix + _tensor_text(value, values, order)]
    if isinstance(value, torch.dtype):
        return [f"{prefix}int {DTYPES[value][1]}"]
    if isinstance(value, torch.memory_format):
        return [f"{prefix}int {MEMORY_FORMATS[value]}"]
    if isinstance(value, str):
        return [f"{prefix}string {value}"]
    if isinstance(value, (list, tuple)) or "List[" in kind:
        return _list_lines(value, kind, prefix, values, order)
    if isinstance(value, bool):
        return [f"{prefix}bool {str(value).lower()}"]
    if isinstance(value, float) or kind in ("float", "Optional[float]"):
        return [f"{prefix}float {float(value)!r}"]
    return [f"{prefix}int {value}"]


def _list_lines(items, kind, prefix, values, order):
    if not isinstance(items, (list, tuple)):
        items = [items]
    if "Tensor" in kind or any(isinstance(item, torch.Tensor) for item in items):
        word = "optional_tensors" if "Optional[Tensor]" in kind or None in [
            item for item in items if not isinstance(item, torch.Tensor)] else "tensors"
        lines = [f"{prefix}{word} {len(items)}"]
        for item in items:
            lines += ["  " + line for line in _value_lines(item, None, "", values, order)]
        return lines
    if "bool" in kind or items and all(isinstance(item, bool) for item in items):
        return [" ".join([prefix + "bools"] + [str(item).lower() for item in items])]
    if "float" in kind or any(isinstance(item, float) for item in items):
        return [" ".join([prefix + "floats"] + [repr(float(item)) for item in items])]
    return [" ".join([prefix + "ints"] + [str(item) for item in items])]


def _dim_order(value):
    """The dim order of a dense tensor; row-major where strides leave a choice or leave gaps."""
    if not torch._prims_common.is_non_overlapping_and_dense_or_false(value):
        return list(range(value.dim()))
    return sorted(range(value.dim()), key=lambda d: (-value.stride(d), d))


def _tensor_text(value, values, order):
    text = DTYPES[value.dtype][0] + "[" + ",".join(str(size) for size in value.shape) + "]"
    if order is None or len(order) != value.dim():
        order = list(range(value.dim())) if value.is_contiguous() else _dim_order(value)
    if order != list(range(value.dim())):
        text += "@" + ",".join(str(d) for d in order)
    if not values:
        return text
    return " ".join([text] + _element_texts(value))


def _element_texts(value):
    if value.dtype.is_complex:
        return _element_texts(torch.view_as_real(value.resolve_conj().contiguous()))
    flat = value.detach().reshape(-1)
    if value.dtype == torch.float64:
        return [_short(repr(x)) for x in flat.tolist()]
    if value.dtype in FLOATS:
        # The shortest text that reads back as the same float32, which holds 16-bit floats exactly.
        return [_short(str(x)) for x in flat.to(torch.float32).numpy()]
    return [str(int(x)) for x in flat.tolist()]


def _short(text):
    return text[:-2] if text.endswith(".0") else text
