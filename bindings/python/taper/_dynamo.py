"""torch.compile(model, backend="taper").

TorchDynamo hands over a graph of PyTorch's functions; here it is exported, compiled in memory, and
run on the tensors as they lie. What Taper does not compile runs in eager mode, and the reason is
said once.

Weights are folded into the program. A weight that is changed or replaced is noticed by its identity
and version: the graph is compiled anew, and when that happens again and again, weights become
inputs. Sizes that differ between calls become symbols with an upper bound, which doubles when it is
exceeded.

    torch.compile(model, backend="taper", options={"backend": "xnnpack", "threads": 2})
"""

import warnings

import torch
from torch.export import Dim

from taper import _kinds, _taper
from taper._compile import export

_LOAD_OPTIONS = ("threads", "backends", "portable")
_MOST_CHANGES = 2
_MOST_PROGRAMS = 16
_said = set()


def backend(graph, examples, *, options=None):
    """What torch.compile calls for each graph; returns what runs instead of it."""
    options = dict(options or {})
    reason = _refusal(graph, examples)
    if reason is not None:
        return _eager(graph, reason)
    _kinds.kind_of(torch.empty(0))  # The compiled half learns of PyTorch's tensors.
    return torch._dynamo.disable(_Graph(graph, examples, options))


def _eager(graph, reason):
    if reason not in _said:
        _said.add(reason)
        warnings.warn(f"taper: a graph runs in eager mode: {reason}", stacklevel=2)
    return graph.forward


def _tensors(examples):
    return [each for each in examples if isinstance(each, torch.Tensor)]


def _refusal(graph, examples):
    """Why this graph is not even tried; None if it is."""
    for each in _tensors(examples):
        if each.device.type != "cpu":
            return f"an input is on device {each.device}; Taper runs on the processor"
        if each.layout != torch.strided:
            return f"an input has layout {each.layout}"
    if torch.is_grad_enabled() and any(each.requires_grad for each in _tensors(examples)):
        return "gradients are needed; call the model under torch.no_grad() or inference_mode()"
    if torch.is_autocast_enabled("cpu"):
        return "autocast is on; convert the model to the dtype instead"
    return _aliases(graph)


def _aliases(graph):
    """Why outputs that share memory with inputs or each other need eager mode; None if none do."""
    def storage(node):
        value = getattr(node, "meta", {}).get("example_value")
        return value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None

    seen = {storage(node) for node in graph.graph.nodes if node.op == "placeholder"} - {None}
    output = next(node for node in graph.graph.nodes if node.op == "output")
    for node in output.all_input_nodes:
        key = storage(node)
        if key is None:
            continue
        if key in seen:
            return "an output shares memory with an input or another output"
        seen.add(key)
    return None


def _is_static(value):
    """Whether TorchDynamo passes a weight or buffer of the model here."""
    return isinstance(value, torch.nn.Parameter) or hasattr(value, "_dynamo_static_input_type")


def _version(tensor):
    return None if tensor.is_inference() else tensor._version


class _Held(torch.nn.Module):
    """The graph as a module of the inputs that remain: weights are attributes, and sizes that
    TorchDynamo passes beside the tensors are read off the tensors again."""

    def __init__(self, graph, values, kept, sizes):
        super().__init__()
        self.graph_module = graph
        self._kept, self._sizes, self._plain = kept, sizes, {}
        for i, value in enumerate(values):
            if i in kept or i in sizes:
                continue
            if isinstance(value, torch.Tensor):
                self.register_buffer(f"held{i}", value.detach())
            else:
                self._plain[i] = value
        self._count = len(values)

    def forward(self, *inputs):
        at = dict(zip(self._kept, inputs))
        for i, (tensor, dim) in self._sizes.items():
            at[i] = at[tensor].shape[dim]
        at.update(self._plain)
        return self.graph_module(*(at[i] if i in at else getattr(self, f"held{i}")
                                   for i in range(self._count)))


class _Program:
    """One compilation: what runs, for which sizes, and the weights that it holds."""

    def __init__(self, method, kept, held):
        self.run, self.name = method._model._native.run, method.name
        self.model = method._model  # Keeps it open.
        self.inputs, self.kept, self.held = method.inputs, kept, held

    def takes(self, shapes):
        return all(len(shape) == len(info.max_shape)
                   and all(size == most or (not isinstance(declared, int) and size <= most)
                           for size, most, declared in zip(shape, info.max_shape, info.shape))
                   for shape, info in zip(shapes, self.inputs))

    def is_stale(self, args):
        return any(args[i] is not tensor or _version(tensor) != version
                   for i, tensor, version in self.held)


class _Graph:
    """A graph and its programs."""

    def __init__(self, graph, examples, options):
        self._graph, self._options = graph, options
        self._folds = True
        self._changes = 0
        self._programs = {}  # By the shapes of the inputs that remain.
        self._symbolic = [
            {d for d, size in enumerate(each.shape) if isinstance(size, torch.SymInt)}
            if isinstance(each, torch.Tensor) else set() for each in examples]
        self._sizes = self._sizes_of(examples)
        self._plain = [i for i, each in enumerate(examples)
                       if not isinstance(each, torch.Tensor) and i not in self._sizes]
        self._eager = None

    @staticmethod
    def _sizes_of(examples):
        """For each size that is passed beside the tensors, a tensor and its dim of that size."""
        found = {}
        for i, each in enumerate(examples):
            if not isinstance(each, torch.SymInt):
                continue
            for j, other in enumerate(examples):
                if not isinstance(other, torch.Tensor):
                    continue
                for d, size in enumerate(other.shape):
                    if isinstance(size, torch.SymInt) and size.node.expr == each.node.expr:
                        found.setdefault(i, (j, d))
        return found

    def __call__(self, *args):
        if self._eager is not None:
            return self._eager(*args)
        try:
            program = self._program_for(args)
            results = program.run(program.name, tuple(args[i] for i in program.kept))
        except Exception as error:  # Whatever torch.export or the program does not take.
            self._eager = _eager(self._graph, _one_line(error))
            return self._eager(*args)
        make = torch.utils.dlpack.from_dlpack
        return tuple(make(each) if type(each) is _taper.Tensor else each for each in results)

    def _program_for(self, args):
        key = tuple(arg.shape if isinstance(arg, torch.Tensor) else arg
                    for i, arg in enumerate(args)
                    if self._symbolic[i] or i in self._plain) if self._varies() else ()
        program = self._programs.get(key)
        if program is not None and program.is_stale(args):
            self._changes += 1
            self._folds = self._changes < _MOST_CHANGES
            self._programs.clear()
            program = None
        if program is None:
            program = self._find(args) or self._compile(args)
            if len(self._programs) >= _MOST_PROGRAMS:
                self._programs.clear()
            self._programs[key] = program
        return program

    def _varies(self):
        return bool(self._plain) or any(self._symbolic)

    def _find(self, args):
        """A program that was compiled for other sizes, but takes these."""
        if self._plain:
            return None
        for program in self._programs.values():
            if program.takes([args[i].shape for i in program.kept]) and not program.is_stale(args):
                return program
        return None

    def _compile(self, args):
        fixed = set(self._plain) | set(self._sizes)
        static = {i for i, arg in enumerate(args)
                  if self._folds and i not in fixed and _is_static(arg)}
        kept = [i for i in range(len(args)) if i not in static and i not in fixed]
        exported = self._export(args, kept)
        written = _written_buffers(exported)
        if written:  # What the graph writes stays an input, so that it is written where it lies.
            kept = [i for i in range(len(args)) if i in kept or f"held{i}" in written]
            exported = self._export(args, kept)
        options = {name: value for name, value in self._options.items()
                   if name not in _LOAD_OPTIONS}
        options.setdefault("backend", "xnnpack" if "xnnpack" in _taper.backends() else None)
        options.setdefault("io", "application")
        model = export(exported, **options).load(
            **{name: self._options[name] for name in _LOAD_OPTIONS if name in self._options})
        method = model["forward"]
        self._check(method, kept)
        held = [(i, args[i], _version(args[i])) for i in static if i not in kept]
        return _Program(method, kept, held)

    def _export(self, args, kept):
        module = _Held(self._graph, args, kept, self._sizes).eval()
        shapes = tuple({d: Dim.AUTO(min=1, max=_bound(args[i].shape[d]))
                        for d in self._symbolic[i]} or None for i in kept)
        inputs = tuple(args[i].detach() for i in kept)
        with torch.no_grad():
            return torch.export.export(module, inputs, dynamic_shapes=(shapes,), strict=False)

    def _check(self, method, kept):
        output = next(node for node in self._graph.graph.nodes if node.op == "output")
        wanted = output.args[0]
        if len(method.inputs) != len(kept) or len(method.outputs) != len(wanted):
            raise RuntimeError("the program has other inputs or outputs than the graph")


def _written_buffers(exported):
    """The names of the attributes that the program writes."""
    def writes(node):
        schema = getattr(node.target, "_schema", None)
        return schema is not None and schema.is_mutable

    if not any(writes(node) for node in exported.graph.nodes):
        return set()
    signature = exported.run_decompositions({}).graph_signature
    return {name.rpartition(".")[2] for name in signature.buffers_to_mutate.values()}


def _bound(size):
    """The power of two that is at least twice the size."""
    return 1 << (2 * max(int(size), 1) - 1).bit_length()


def _one_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
