# What type checkers know of the package.

import os
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any, final

__version__: str

_Bytes = bytes
_Path = str | os.PathLike[str]
_Source = _Path | bytes | bytearray | memoryview

class Error(RuntimeError): ...
class ClosedError(Error): ...

class CompileError(Error):
    problems: list[dict[str, str]]

@final
class Tensor:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def nbytes(self) -> int: ...
    def tolist(self) -> Any: ...
    def __dlpack__(self, **unused: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

class TensorInfo:
    name: str
    dtype: str | None
    shape: tuple[int | str | None, ...]
    max_shape: tuple[int, ...]
    ranges: dict[str, tuple[int, int]]
    value: Any
    is_planned: bool

class Method:
    name: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    buffers: tuple[TensorInfo, ...]
    memory: int
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def state(self) -> dict[str, Any]: ...
    def load_state(self, state: Mapping[str, Any]) -> None: ...

class Model:
    @property
    def methods(self) -> tuple[str, ...]: ...
    @property
    def inputs(self) -> tuple[TensorInfo, ...]: ...
    @property
    def outputs(self) -> tuple[TensorInfo, ...]: ...
    def forward(self, *args: Any, **kwargs: Any) -> Any: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __getitem__(self, name: str) -> Method: ...
    def __contains__(self, name: str) -> bool: ...
    def reset(self) -> None: ...
    def state(self) -> dict[str, Any]: ...
    def load_state(self, state: Mapping[str, Any]) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Model: ...
    def __exit__(self, *unused: Any) -> None: ...

class Check:
    problems: list[dict[str, str]]
    warnings: list[str]
    notes: list[str]
    data: dict[str, Any]
    def __bool__(self) -> bool: ...

class Output:
    data: Any
    notes: list[str]

class Comparison:
    agrees: bool
    method: str
    tensors: list[SimpleNamespace]
    inside: list[SimpleNamespace]
    first: SimpleNamespace | None
    worst: SimpleNamespace | None
    notes: list[str]
    data: dict[str, Any]
    def __bool__(self) -> bool: ...

class Profile:
    median_s: float
    runs: int
    rows: list[SimpleNamespace]
    notes: list[str]
    data: dict[str, Any]
    def by(self, what: str) -> dict[str, float]: ...

class Quantized:
    layers: list[SimpleNamespace]
    outputs: list[SimpleNamespace]
    tensors: list[SimpleNamespace]
    agreement: float | None
    accuracy: float | None
    accuracy_before: float | None
    bytes: int
    bytes_before: int
    notes: list[str]
    data: dict[str, Any]
    def to_bytes(self) -> _Bytes: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def exported_program(self) -> Any: ...

class Program:
    warnings: list[str]
    methods: dict[str, dict[str, Any]]
    @property
    def report(self) -> str: ...
    @property
    def memory(self) -> dict[str, dict[str, int]]: ...
    @property
    def weights(self) -> bytes: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: str | os.PathLike[str],
             weights_path: str | os.PathLike[str] | None = None) -> None: ...
    def load(self, **options: Any) -> Model: ...

def load(source: _Source, *, threads: int | None = None,
         backends: str | Iterable[str] | None = None,
         data_path: str | os.PathLike[str] | None = None, portable: bool = False,
         max_memory: int | None = None,
         aten: bool | str | os.PathLike[str] = False, share_state: bool = False) -> Model: ...

# `model` may also be a torch.export.ExportedProgram.
def export(model: _Source | Mapping[str, Any] | Any, /, *,
           backend: str | Iterable[str] | None = None,
           bounds: Mapping[str, int] | None = None, external_weights: bool = False,
           **options: Any) -> Program: ...

# `model` may also be a torch.export.ExportedProgram.
def check(model: _Source | Quantized | Mapping[str, Any] | Any, /, **options: Any) -> Check: ...

def command(name: str, *words: Any, **options: Any) -> Output: ...

def quantize(model: _Source | Any, /,
             samples: _Path | Mapping[str, Any] | Iterable[Any] | Any = None,
             *, labels: _Path | Any = None, **options: Any) -> Quantized: ...

def profile(program: _Source | Program, *args: Any, kwargs: Mapping[str, Any] | None = None,
            method: str | None = None, **options: Any) -> Profile: ...

def compare(reference: _Source | Program | Quantized | Any | None, program: _Source | Program,
            *args: Any, kwargs: Mapping[str, Any] | None = None, method: str | None = None,
            expected: Mapping[str, Any] | _Path | None = None,
            **options: Any) -> Comparison: ...

def backends() -> list[str]: ...
