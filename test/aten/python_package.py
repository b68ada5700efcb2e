"""The Python package with PyTorch's own operators, among them one that Python implements.

    python_package.py FOLDER_OF_THE_PACKAGE libtaper_aten.so
"""

import sys

import torch

sys.path.insert(0, sys.argv[1])
import taper

library = torch.library.Library("by_python", "DEF")
library.define("triple(Tensor x) -> Tensor")
library.impl("triple", lambda x: x * 3, "CPU")
library.impl("triple", torch.empty_like, "Meta")


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.ops.by_python.triple(x) + 1, torch.linalg.eigvals(x)


x = torch.randn(3, 3)
exported = torch.export.export(Model(), (x,))
try:
    taper.export(exported)
    sys.exit("it is compiled without kernels='aten'")
except taper.CompileError as error:
    assert len(error.problems) == 2, error
program = taper.export(exported, kernels="aten")
try:
    program.load().forward(x)
    sys.exit("it runs without aten=")
except taper.Error as error:
    assert "(--aten)" in str(error) or "functional1" in str(error), error
try:
    program.load(aten=True)
    sys.exit("there is no library in the package")
except taper.Error as error:
    assert "libtaper_aten.so" in str(error), error
got = program.load(aten=sys.argv[2]).forward(x)
torch.testing.assert_close(tuple(got), Model()(x))
print("ok   the Python package")


def define(factor):
    @torch.library.custom_op("by_python::scale", mutates_args=())
    def scale(x: torch.Tensor) -> torch.Tensor:
        return x * factor

    scale.register_fake(torch.empty_like)
    return scale


class Scaled(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return self.scale(x) + 1


program = taper.export(torch.export.export(Scaled(define(2.0)), (x,)), kernels="aten")
model = program.load(aten=sys.argv[2])
torch.testing.assert_close(model.forward(x), x * 2 + 1)
define(3.0)
try:
    model.forward(x)
    sys.exit("it calls an operator that was removed")
except taper.Error as error:
    assert "defined anew" in str(error), error
torch.testing.assert_close(program.load(aten=sys.argv[2]).forward(x), x * 3 + 1)
print("ok   operators that are defined later, and anew")


@torch.library.custom_op("by_python::call_back", mutates_args=())
def call_back(x: torch.Tensor) -> torch.Tensor:
    return callback(x)


call_back.register_fake(torch.empty_like)
model = taper.export(torch.export.export(Scaled(call_back), (x,)), kernels="aten").load(
    aten=sys.argv[2])
callback = torch.neg
torch.testing.assert_close(model.forward(x), 1 - x)


def refused(text, function):
    """Expects an error of the method with this text while the operator calls the function."""
    global callback
    callback = function
    try:
        model.forward(x)
        sys.exit(f"it does not say '{text}'")
    except taper.Error as error:
        assert text in str(error), error
    callback = torch.neg
    torch.testing.assert_close(model.forward(x), 1 - x)


def fail(x):
    raise ArithmeticError("of the operator")


refused("of the operator", fail)
for use in (model.forward, lambda x: model.reset(), lambda x: model.state()):
    refused("the model is running", use)
print("ok   operators that raise, and that use the model that calls them")
