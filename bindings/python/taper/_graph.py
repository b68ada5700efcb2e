"""A graph of torch.compile's: exported, compiled in memory, and run on the tensors as they lie.

Weights are folded into the program. A weight that is changed or replaced is noticed by its
identity, version and address: the graph is compiled anew, and when that happens again and again,
weights become inputs. Those of inference mode have no versions, so they are inputs. Sizes that
differ between calls become symbols with an upper bound, which doubles when it is exceeded. A graph
with operators that Taper refuses becomes parts, each of which is such a graph; a part that fails
for a reason that names no operator is halved.
"""

import contextlib

import torch
from torch._dynamo.convert_frame import compile_lock
from torch.export import Dim
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils._python_dispatch import _disable_current_modes

from taper import _decompositions, _kinds, _parts, _taper
from taper._compile import CompileError, export
from taper._refusals import Refused, eager, one_line, say

_LOAD_OPTIONS = ("threads", "backends", "portable")
_MOST_CHANGES = 2
_MOST_PROGRAMS = 16
MOST_TRIES = 24
_options_that_work = {"{}"}


def _is_static(value):
    """Whether TorchDynamo passes a weight or buffer of the model here, whose changes show."""
    is_weight = isinstance(value, torch.nn.Parameter) or hasattr(value, "_dynamo_static_input_type")
    return is_weight and not value.is_inference()


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
        self._run, self._name = method._model._native.run, method.name
        self._model, self._make = method._model, _kinds.know_torch()
        self._inputs, self._kept, self._held = method.inputs, kept, held

    def takes(self, args):
        return all(len(args[i].shape) == len(info.max_shape)
                   and all(size == most or (not isinstance(declared, int) and size <= most)
                           for size, most, declared in zip(args[i].shape, info.max_shape,
                                                           info.shape))
                   for i, info in zip(self._kept, self._inputs))

    def is_stale(self, args):
        return any(args[i] is not tensor or tensor._version != version
                   or tensor.data_ptr() != address
                   for i, tensor, version, address in self._held)

    def __call__(self, args):
        inputs = tuple([args[i] for i in self._kept])
        return tuple(self._run(self._name, inputs, self._make))


class _Nothing:
    """What runs a graph that gives and writes nothing: AOT Autograd makes views of inputs itself."""

    def takes(self, args):
        return True

    def is_stale(self, args):
        return False

    def __call__(self, args):
        return ()


class _Parted:
    """A program that Taper refuses as a whole: its parts, and the inputs that it writes.

    Inputs that were kept or are written are detached, so that no part takes them for weights to be
    folded.
    """

    def __init__(self, exported, kept, unsupported, make):
        self._kept = kept
        self._parts = _parts.Parts(exported.graph_module, unsupported, make)
        signature = exported.graph_signature
        users = iter(kept)
        self._sources = [self._source(exported, spec, users) for spec in signature.input_specs]
        named = {spec.arg.name: source
                 for spec, source in zip(signature.input_specs, self._sources)}
        self._shapes = [node.meta["val"].shape for node, (index, _) in
                        zip(self._parts.inputs, self._sources) if index in kept]
        self._ranges = exported.range_constraints
        self._writes = []
        for spec in signature.output_specs:
            if spec.kind is OutputKind.USER_INPUT_MUTATION:
                self._writes.append(named[spec.target][0])
            elif spec.kind is OutputKind.BUFFER_MUTATION and spec.target.startswith("held"):
                self._writes.append(int(spec.target[len("held"):]))
            elif spec.kind is not OutputKind.USER_OUTPUT:
                raise Refused(f"the graph has an output of kind {spec.kind.name}")
        self._fresh = {*kept, *self._writes}

    @staticmethod
    def _source(exported, spec, users):
        """Where an input comes from: (index of the argument, None) or (None, its value)."""
        if spec.kind is InputKind.USER_INPUT:
            return next(users), None
        name = spec.target or ""
        if name.startswith("held"):
            return int(name[len("held"):]), None
        values = exported.constants if name in exported.constants else exported.state_dict
        if name not in values:
            raise Refused(f"the graph has an input of kind {spec.kind.name}")
        return None, values[name]

    def takes(self, args):
        for shape, index in zip(self._shapes, self._kept):
            if len(shape) != len(args[index].shape):
                return False
            for declared, size in zip(shape, args[index].shape):
                if isinstance(declared, int):
                    if declared != size:
                        return False
                    continue
                bounds = self._ranges.get(declared.node.expr)
                if bounds is not None and not bounds.lower <= size <= bounds.upper:
                    return False
        return True

    def is_stale(self, args):
        return False  # Weights are handed on, and the parts look themselves whether they changed.

    def __call__(self, args):
        outputs = self._parts.run([value if index is None else
                                   args[index].detach() if index in self._fresh else args[index]
                                   for index, value in self._sources])
        for index, value in zip(self._writes, outputs):
            args[index].copy_(value)
        return tuple(outputs[len(self._writes):])


class Graph:
    """A graph and its programs.

    folds: whether weights become part of the programs.
    tries: for a part, how often parts may still be halved, as a list with that number.
    """

    def __init__(self, graph, examples, options, *, folds=True, tries=None):
        self._graph, self._options, self._folds, self._tries = graph, options, folds, tries
        self._changes = 0
        self._programs = {}  # By the shapes of the inputs that remain.
        self._symbolic = [
            {d for d, size in enumerate(each.shape) if isinstance(size, torch.SymInt)}
            if isinstance(each, torch.Tensor) else set() for each in examples]
        self._sizes = self._sizes_of(examples)
        self._plain = [i for i, each in enumerate(examples)
                       if not isinstance(each, torch.Tensor) and i not in self._sizes]
        self._generalises = True  # While no program has failed for sizes that change.
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
        except Exception as error:  # Whatever torch.export or the compiler does not take.
            self._check_options()
            self._eager = self._halves() or eager(self._graph, one_line(error))
            return self._eager(*args)
        try:
            return program(args)
        except _taper.Error as error:
            if self._generalises and any(self._symbolic):  # Guards that are stricter than the call.
                self._generalises = False
                self._programs.clear()
                return self(*args)
            results = self._graph(*args)  # Raises what PyTorch raises, if it is the caller's error.
            self._eager = eager(self._graph, one_line(error))
            return results

    def _program_for(self, args):
        key = tuple(arg.shape if isinstance(arg, torch.Tensor) else arg
                    for i, arg in enumerate(args)
                    if self._symbolic[i] or i in self._plain) if self._varies() else ()
        program = self._programs.get(key)
        if program is not None and program.is_stale(args):
            self._changes += 1
            self._folds = self._folds and self._changes < _MOST_CHANGES
            self._programs.clear()
            program = None
        if program is None:
            with compile_lock:  # As TorchDynamo does: PyTorch traces on one thread at a time.
                program = self._new_program(args)
                if len(self._programs) >= _MOST_PROGRAMS:
                    self._programs.clear()
                self._programs[key] = program
        return program

    def _new_program(self, args):
        program = self._find(args)
        if program is None:
            with _where_tracing_works():
                program = self._compile_for_more_sizes(args)
        return program

    def _varies(self):
        return bool(self._plain) or any(self._symbolic)

    def _find(self, args):
        """A program that was compiled for other sizes, but takes these."""
        if self._plain:
            return None
        for program in self._programs.values():
            if program.takes(args) and not program.is_stale(args):
                return program
        return None

    def _compile_for_more_sizes(self, args):
        """Compiles for all sizes up to a bound; if that fails, from then on for each size alone."""
        if self._generalises:
            try:
                return self._compile(args)
            except Exception:  # As in __call__.
                if not any(self._symbolic):
                    raise
                self._generalises = False
        return self._compile(args)

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
        if not _parts.has_outputs(exported.graph):
            return _Nothing()
        if _parts.random_nodes(exported.graph_module):
            return self._by_parts(exported, kept, None)
        try:
            model = self._load(exported)
        except CompileError as error:
            return self._by_parts(exported, kept, error)
        method = model["forward"]
        self._check(method, kept)
        held = [(i, args[i], args[i]._version, args[i].data_ptr()) for i in static if i not in kept]
        return _Program(method, kept, held)

    def _export(self, args, kept):
        module = _Held(self._graph, args, kept, self._sizes).eval()
        shapes = tuple({d: Dim.AUTO(min=1, max=_bound(args[i].shape[d]))
                        for d in self._symbolic[i] if self._generalises} or None for i in kept)
        inputs = tuple(args[i].detach() for i in kept)
        exported = torch.export.export(module, inputs, dynamic_shapes=(shapes,) if shapes else None,
                                       strict=False)
        # What writes alone has outputs only in this form, and PyTorch saves no program without.
        return exported if _parts.has_outputs(exported.graph) else exported.run_decompositions({})

    def _load(self, exported):
        options = {name: value for name, value in self._options.items()
                   if name not in _LOAD_OPTIONS}
        options.setdefault("backend", "xnnpack" if "xnnpack" in _taper.backends() else None)
        options.setdefault("io", "application")
        loading = {name: self._options[name] for name in _LOAD_OPTIONS if name in self._options}
        loading.setdefault("threads", torch.get_num_threads())
        return export(exported, **options).load(**loading)

    def _check_options(self):
        """Raises what is wrong with the options if not even the smallest graph compiles with them."""
        if repr(self._options) in _options_that_work:
            return
        with _where_tracing_works():
            self._load(torch.export.export(torch.nn.ReLU(), (torch.ones(2),)))
        _options_that_work.add(repr(self._options))

    def _by_parts(self, exported, kept, error):
        """The program of the graph's parts: `error` says what Taper refuses, if anything."""
        functional = exported.run_decompositions(_decompositions.for_training())
        reasons = {} if error is None else self._refused(functional)
        if error is not None and not reasons and self._tries is not None:
            raise error  # Parts would be this graph again.
        parted = _Parted(functional, kept, set().union(*reasons.values()), self._make_part)
        for reason, nodes in reasons.items():
            say(f"{_parts.names_of(nodes)} of a graph runs", reason)
        return parted

    def _refused(self, functional):
        """The nodes that Taper refuses in this form of the graph, by reason."""
        reasons = {}
        try:
            self._load(functional)
        except CompileError as error:
            for problem in error.problems:
                nodes = _parts.nodes_named(functional.graph_module, {problem["node"]})
                if nodes:
                    reasons.setdefault(problem["message"], set()).update(nodes)
        return reasons

    def _make_part(self, part, examples):
        tries = [MOST_TRIES] if self._tries is None else self._tries
        return Graph(part, examples, self._options, folds=self._folds, tries=tries)

    def _halves(self):
        """The two halves of a part, one of which may compile; None if it is not to be halved."""
        if self._tries is None or self._tries[0] == 0:
            return None
        self._tries[0] -= 1
        return _parts.halves(self._graph, self._make_part)

    def _check(self, method, kept):
        output = next(node for node in self._graph.graph.nodes if node.op == "output")
        wanted = output.args[0]
        if len(method.inputs) != len(kept) or len(method.outputs) != len(wanted):
            raise RuntimeError("the program has other inputs or outputs than the graph")


@contextlib.contextmanager
def _where_tracing_works():
    """AOT Autograd runs its graphs below PyTorch's autograd, where nothing can be traced; PyTorch's
    minifier runs them while TorchDynamo traces something else."""
    keys = torch._C.DispatchKey
    included = torch._C._dispatch_tls_local_include_set()
    excluded = torch._C._dispatch_tls_local_exclude_set()
    for key in (keys.Python, keys.PythonTLSSnapshot):
        included = included.remove(key)
    for key in (keys.AutogradFunctionality, keys.AutogradOther, keys.AutogradNestedTensor,
                keys.ADInplaceOrView):
        excluded = excluded.remove(key)
    with _disable_current_modes(), torch._C._ForceDispatchKeyGuard(included, excluded), \
            torch.no_grad(), torch.autocast("cpu", enabled=False), torch._guards.tracing(None):
        yield


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
