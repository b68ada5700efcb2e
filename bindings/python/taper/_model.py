"""Programs that are loaded: what a user of the runtime sees."""

import os
import threading

from taper import _kinds, _structure, _taper

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_taper.note_fork)


class TensorInfo:
    """An input, an output or a buffer as the program declares it.

    name: the name of the input, where the program knows it; else "input0", "output0".
    dtype: the name of the dtype, such as "float32"; None for a value that is no tensor.
    shape: the sizes. A size that may change is a text, such as "s0" or "2*s0"; without a name for
        it, ``None``.
    max_shape: the largest sizes.
    ranges: for the symbols in `shape`, their least and greatest values.
    value: of an input that is no tensor, the value that export has fixed, or, of a number that
        varies, its value at the sample inputs.
    """

    __slots__ = ("name", "dtype", "shape", "max_shape", "ranges", "value", "is_planned")

    def __init__(self, name, declared, sizes=None, ranges=None):
        self.name = name
        self.dtype = declared[0]
        self.value = None
        self.shape = self.max_shape = ()
        self.ranges = ranges or {}
        self.is_planned = True
        if self.dtype is None:
            self.value = declared[1]
            return
        _, self.max_shape, dynamic, self.is_planned = declared
        self.shape = sizes or ((None,) * len(self.max_shape) if dynamic else self.max_shape)

    def __repr__(self):
        if self.dtype is None:
            return f"TensorInfo({self.name!r}, value={self.value!r})"
        sizes = ", ".join("?" if size is None else str(size) for size in self.shape)
        ranges = "".join(f", {low} <= {name} <= {high}"
                         for name, (low, high) in self.ranges.items())
        return f"TensorInfo({self.name!r}, {self.dtype} ({sizes}){ranges})"


def _read_signature(text):
    """The lines "input 0 x (s17, 6)" and "symbol s17 from 2 to 10", as two dicts."""
    inputs, symbols = {}, {}
    for line in text.splitlines():
        words = line.split(" ")
        if words[0] == "input":
            sizes = line[line.index("(") + 1:-1]
            inputs[int(words[1])] = (words[2], tuple(
                int(size) if size.lstrip("-").isdigit() else size for size in sizes.split(", ")))
        elif words[0] == "symbol":
            symbols[words[1]] = (int(words[3]), int(words[5]))
    return inputs, symbols


def _inputs_of(declared, signature):
    known, symbols = _read_signature(signature)
    infos = []
    for i, each in enumerate(declared):
        name, sizes = known.get(i, (f"input{i}", None))
        named = " ".join(str(size) for size in sizes or ())
        ranges = {symbol: bounds for symbol, bounds in symbols.items() if symbol in named}
        infos.append(TensorInfo(name, each, sizes, ranges))
    return tuple(infos)


class Method:
    """A method of a loaded program; call it with what the model's forward took.

    Positional and keyword arguments are nested as they were when the model was exported, and the
    result is nested as the model's was. Outputs are tensors of the same kind as the inputs.

    inputs, outputs: what it takes and gives, a TensorInfo for each.
    buffers: what it keeps from one run to the next; see state().
    memory: the bytes that it needs.
    """

    def __init__(self, model, name):
        self._model, self.name = model, name
        inputs, outputs, buffers, in_text, out_text, signature, self.memory = (
            model._open().describe(name))
        self.inputs = _inputs_of(inputs, signature)
        self.outputs = tuple(TensorInfo(f"output{i}", each) for i, each in enumerate(outputs))
        self.buffers = tuple(TensorInfo(*each) for each in buffers)
        self._in = self._fitting(in_text, len(inputs))
        self._out = self._fitting(out_text, len(outputs))
        self._is_flat = self._in is None or (
            not self._in[2][1][2] and all(item == _structure.LEAF for item in self._in[2][0][2]))
        self._count = len(inputs)
        self._gives_one = self._out == _structure.LEAF or (self._out is None and len(outputs) == 1)
        self._keys = () if self._in is None else self._in[2][1][1]

    @staticmethod
    def _fitting(text, leaves):
        """The structure, unless it is not known or another number of values crosses the border."""
        structure = _structure.parse(text) if text else None
        if structure is None or _structure.count(structure) != leaves:
            return None
        return structure

    def __call__(self, *args, **kwargs):
        if kwargs or not self._is_flat:
            args = self._flatten(args, kwargs)
        elif len(args) != self._count:
            raise self._wrong_count(len(args))
        native = self._model._native or self._model._open()
        outputs = native.run(self.name, args, _kinds.maker_of(args))
        if self._gives_one:
            return outputs[0]
        return tuple(outputs) if self._out is None else _structure.build(self._out, iter(outputs))

    def state(self):
        """What the method's buffers hold: a dict from their names to copies.

        They are NumPy's arrays where NumPy is, so ``numpy.savez(path, **model.state())`` saves
        them.
        """
        return self._model._open().state(self.name, _kinds.default_maker())

    def load_state(self, state):
        """Sets the buffers to what state() gave, here or in another process."""
        self._model._open().set_state(self.name, dict(state))

    def _wrong_count(self, given):
        names = ", ".join(info.name for info in self.inputs)
        return TypeError(f"{self.name}() takes {len(self.inputs)} inputs ({names}), given {given}")

    def _flatten(self, args, kwargs):
        """All leaves in one tuple, in the order in which the program takes them."""
        if self._in is None:
            raise TypeError(f"{self.name}(): the program does not know the names of its inputs; "
                            "pass them by position")
        unknown = sorted(set(kwargs) - set(self._keys))
        missing = [key for key in self._keys if key not in kwargs]
        expected = self._in[2][0][2]
        if unknown or missing or len(args) != len(expected):
            raise TypeError(f"{self.name}() takes {len(expected)} positional arguments and the "
                            f"keywords {list(self._keys)}; given {len(args)} and {list(kwargs)}")
        leaves = []
        _structure.flatten(self._in, (args, kwargs), leaves, self.name)
        return tuple(leaves)

    def __repr__(self):
        return f"Method({self.name!r}, inputs={list(self.inputs)}, outputs={list(self.outputs)})"


class Model:
    """A loaded program. Make one with :func:`load`.

    It may be used by several threads: one of them runs it at a time, the others wait, and Python
    code goes on meanwhile. ``close()`` gives back its memory, files and threads; it is a context
    manager, too.
    """

    def __init__(self, native, source):
        self._native, self._source = native, source
        self._methods = {}
        self._lock = threading.Lock()
        self._names = tuple(native.methods())
        self._main_method = None

    @property
    def methods(self):
        """The names of the methods."""
        return self._names

    def __getitem__(self, name):
        """The method of that name."""
        method = self._methods.get(name)
        if method is None:
            if name not in self._names:
                raise KeyError(f"no method {name!r}; there are: {', '.join(self._names)}")
            with self._lock:
                method = self._methods.setdefault(name, Method(self, name))
        return method

    def __contains__(self, name):
        return name in self._names

    def forward(self, *args, **kwargs):
        """Runs the method "forward", or the only one."""
        return (self._main_method or self._main)(*args, **kwargs)

    __call__ = forward

    @property
    def _main(self):
        if self._main_method is None:
            only = len(self._names) == 1 and "forward" not in self._names
            self._main_method = self[self._names[0] if only else "forward"]
        return self._main_method

    @property
    def inputs(self):
        """The inputs of "forward", or of the only method: a tuple of TensorInfo."""
        return self._main.inputs

    @property
    def outputs(self):
        """The outputs of "forward", or of the only method: a tuple of TensorInfo."""
        return self._main.outputs

    def reset(self):
        """Sets the buffers of all methods back to the values that the program saved."""
        self._open().reset()

    def state(self):
        """What the buffers of "forward" hold, or of the only method; see Method.state()."""
        return self._main.state()

    def load_state(self, state):
        """Sets the buffers of "forward", or of the only method, to what state() gave."""
        self._main.load_state(state)

    def _open(self):
        if self._native is None:
            raise _taper.ClosedError("the model is closed")
        return self._native

    def close(self):
        """Gives back what the model holds. Calls afterwards raise ClosedError."""
        native, self._native = self._native, None
        if native is not None:
            native.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def __repr__(self):
        state = "closed" if self._native is None else ", ".join(self._names)
        return f"Model({self._source}: {state})"


def _aten_path(aten):
    if aten is True:
        return os.path.join(os.path.dirname(__file__), "libtaper_aten.so")
    return None if aten is None or aten is False else os.fspath(aten)


def load(source, *, threads=None, backends=None, data_path=None, portable=False, max_memory=None,
         aten=False, share_state=False):
    """Opens a program and verifies all of it.

    source: the path of a .pte, or its bytes.
    threads: how many threads run it; default: one for each fast core, at most four.
    backends: names of the backends that may run its delegates; default: all, see backends().
    data_path: a .ptd with the weights of a program that keeps them apart.
    portable: use the portable kernels alone, which is slow.
    max_memory: refuse a method that needs more bytes than this.
    aten: run what has no kernel by PyTorch's own operators (export with kernels="aten"): the path
        of libtaper_aten.so, or True if it lies in this package's folder. It knows the operators
        that are registered now; define one anew, and programs that use it must be loaded anew.
    share_state: the methods of a program of ExecuTorch that was lowered with
        share_mutable_buffers=True see what the others write into its buffers. Leave it out for a
        program of several memories (export with memory=...).
    """
    for name, number in (("threads", threads), ("max_memory", max_memory)):
        if number is not None and (not isinstance(number, int) or number < 1):
            raise ValueError(f"{name} must be a whole number above 0, not {number!r}")
    if isinstance(backends, str):
        backends = (backends,)
    names = None if backends is None else tuple(backends)
    for name in names or ():
        if not isinstance(name, str):
            raise TypeError(f"backends must be names, not {name!r}")
    in_memory = not isinstance(source, (str, os.PathLike))
    if in_memory and not hasattr(source, "__len__"):
        raise TypeError(f"expected the path or the bytes of a .pte, given {type(source).__name__}")
    native = _taper.Model(None if in_memory else os.fspath(source), source if in_memory else None,
                          min(threads or 0, 256), names,
                          None if data_path is None else os.fspath(data_path), portable,
                          min(max_memory or 0, 2 ** 64 - 1), _aten_path(aten),
                          share_state)
    return Model(native, "bytes" if in_memory else os.fspath(source))
