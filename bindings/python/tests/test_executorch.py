"""taper.executorch is executorch.runtime: the same script runs on both, with the same results."""

import importlib
import io
import os
import tempfile
import unittest

import reference
import taper


def script(runtime, path, inputs):
    """What a user of ExecuTorch's runtime writes; `runtime` is the module that it imports."""
    said = {}
    engine = runtime.Runtime.get()
    said["one runtime"] = engine is runtime.Runtime.get()
    said["xnnpack"] = engine.backend_registry.is_available("XnnpackBackend")
    said["names are listed"] = "XnnpackBackend" in engine.backend_registry.registered_backend_names
    said["no such"] = engine.backend_registry.is_available("NoSuchBackend")
    said["add"] = "aten::add.out" in engine.operator_registry.operator_names
    with open(path, "rb") as file:
        data = file.read()
    outputs = []
    for source in (path, data, bytearray(data), io.BytesIO(data)):
        program = engine.load_program(source, verification=runtime.Verification.Minimal)
        said["methods"] = program.method_names
        meta = program.metadata("forward")
        tensor = meta.input_tensor_meta(0)
        said["meta"] = (meta.name(), meta.num_inputs(), meta.num_outputs(), tensor.sizes(),
                        tensor.dtype(), tensor.nbytes(), tensor.is_memory_planned())
        attributes = [meta.attribute_tensor_meta(i) for i in range(meta.num_attributes())]
        said["attributes"] = [(each.sizes(), each.dtype(), each.nbytes()) for each in attributes]
        method = program.load_method("forward")
        said["once"] = method is program.load_method("forward")
        said["metadata"] = method.metadata.num_inputs()
        outputs.append(method.execute(inputs))
        outputs.append(method.execute(tuple(inputs)))
        for wrong in ([], [each.double() for each in inputs]):
            try:
                method.execute(wrong)
                said["wrong inputs"] = "are taken"
            except RuntimeError:
                said["wrong inputs"] = "are refused"
        try:
            program.load_method("nosuch")
        except KeyError:
            said["no method"] = "KeyError"
    for wrong in (b"no program", "/nonexistent/model.pte"):
        try:
            engine.load_program(wrong)
        except RuntimeError:
            said[wrong] = "RuntimeError"
    try:
        engine.load_program(3)
    except TypeError:
        said["a number"] = "TypeError"
    return said, outputs


@reference.needs("torch")
@reference.needs("executorch")
class SameScript(unittest.TestCase):
    def test_on_both(self):
        import torch
        theirs = importlib.import_module("executorch.runtime")
        ours = importlib.import_module("taper.executorch")
        for name, cases in (("add", ("add.in0", "add.in1")), ("resnet18", ("resnet18.in0",)),
                            ("bert_mini", [f"bert_mini.in{i}" for i in range(3)]),
                            ("counter", ("counter.step0.in0",))):
            for backend in (None, "xnnpack"):
                with self.subTest(name=name, backend=backend), \
                        tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "model.pte")
                    taper.export(reference.path(name + ".pt2"), backend=backend,
                                 compat="executorch").save(path)
                    inputs = [self.tensor(torch, case + ".npy") for case in cases]
                    expected, wanted = script(theirs, path, inputs)
                    said, given = script(ours, path, inputs)
                    self.assertEqual(said, expected)
                    torch.testing.assert_close(given, wanted, rtol=1e-4, atol=1e-4)

    @staticmethod
    def tensor(torch, name):
        import numpy
        return torch.from_numpy(numpy.load(reference.path(name)))


def shared_counter(torch):
    """A program of two methods that share a buffer: `step` adds to it, `read` does not."""
    from executorch.exir import ExecutorchBackendConfig, to_edge
    from executorch.exir.passes import MemoryPlanningPass
    from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass

    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("total", torch.tensor([5.0]))

        def step(self, x):
            return self.total.add_(x) * 2

        def read(self, x):
            return self.total * x

    class Method(torch.nn.Module):
        def __init__(self, counter, name):
            super().__init__()
            self.counter, self.name = counter, name

        def forward(self, x):
            return getattr(self.counter, self.name)(x)

    counter = Counter()
    methods = {name: torch.export.export(Method(counter, name), (torch.ones(1),))
               for name in ("step", "read")}
    config = ExecutorchBackendConfig(
        passes=[InitializedMutableBufferPass(["total"])],
        memory_planning_pass=MemoryPlanningPass(share_mutable_buffers=True))
    return to_edge(methods).to_executorch(config).buffer


@reference.needs("torch")
@reference.needs("executorch")
class SharedState(unittest.TestCase):
    def test_methods_see_what_others_write(self):
        import torch
        data = shared_counter(torch)

        def run(methods):
            return [float(methods[name](torch.tensor([x]))) for name, x in
                    (("step", 1.0), ("read", 1.0), ("step", 3.0), ("read", 10.0))]

        for module in ("executorch.runtime", "taper.executorch"):
            with self.subTest(module=module):
                program = importlib.import_module(module).Runtime.get().load_program(data)
                loaded = {name: program.load_method(name) for name in ("step", "read")}
                self.assertEqual(run({name: lambda x, method=method: method.execute([x])[0]
                                      for name, method in loaded.items()}), [12, 6, 18, 90])
        self.assertEqual(run(taper.load(data, share_state=True)), [12, 6, 18, 90])
        self.assertEqual(run(taper.load(data)), [12, 5, 18, 50])


if __name__ == "__main__":
    unittest.main()
