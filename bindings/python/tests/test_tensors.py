"""Tensors of NumPy and PyTorch, and DLPack: in without copies, out as the kind that came in."""

import unittest

import reference
import taper


def compiled(name, **options):
    return taper.export(reference.path(name + ".pt2"), **options)


@reference.needs("numpy")
class Numpy(unittest.TestCase):
    def setUp(self):
        import numpy
        self.np = numpy
        self.inputs = [numpy.load(reference.path(f"add.in{i}.npy")) for i in range(2)]
        self.wanted = numpy.load(reference.path("add.out0.npy"))

    def close_to(self, given, tolerance=1e-5):
        self.assertIsInstance(given, self.np.ndarray)
        self.np.testing.assert_allclose(given, self.wanted, atol=tolerance)

    def test_in_and_out(self):
        for io in ("planned", "application"):
            with compiled("add", io=io).load() as model:
                first = model.forward(*self.inputs)
                self.close_to(first)
                self.close_to(model(*self.inputs))
                self.assertTrue(first.flags.writeable)

    def test_any_layout(self):
        a, b = self.inputs
        with compiled("add").load() as model:
            self.close_to(model.forward(self.np.asfortranarray(a), b[:, ::-1][:, ::-1]))
            wide = self.np.zeros((4, 8), "f4")
            wide[::2, 1::2] = a
            self.close_to(model.forward(wide[::2, 1::2], b))
            read_only = a.copy()
            read_only.flags.writeable = False
            self.close_to(model.forward(read_only, b))
            unaligned = self.np.frombuffer(b"x" + a.tobytes(), "f4", offset=1).reshape(a.shape)
            self.close_to(model.forward(unaligned, b))
            with self.assertRaisesRegex(taper.Error, "given float64"):
                model.forward(a.astype("f8"), b)
            with self.assertRaisesRegex(taper.Error, "input 0"):
                model.forward(a.astype(">f4"), b)
            with self.assertRaisesRegex(taper.Error, "input 0"):
                model.forward(self.np.array([object()] * 8).reshape(2, 4), b)

    def test_writes_what_the_model_writes(self):
        x, y = (self.np.load(reference.path(f"input_mutation.in{i}.npy")) for i in range(2))
        with compiled("input_mutation").load() as model:
            plain = [x.copy(), y.copy()]
            model.forward(*plain)
            self.assertTrue((plain[0] != x).any() or (plain[1] != y).any())
            spread = [self.np.repeat(each, 2, axis=-1)[..., ::2] for each in (x, y)]
            model.forward(*spread)
            for each, wanted in zip(spread, plain):
                self.np.testing.assert_array_equal(each, wanted)

    def test_uses_the_callers_memory(self):
        with compiled("counter", io="application").load() as model:
            x = self.np.load(reference.path("counter.step0.in0.npy"))
            outputs = model.forward(x)
            self.assertEqual(len({each.__array_interface__["data"][0] for each in outputs}),
                             len(outputs))

    def test_dtypes(self):
        names = [self.np.load(reference.path(f"mixed_dtypes.in{i}.npy")) for i in range(4)]
        with compiled("mixed_dtypes").load() as model:
            tensors = [each for each in model.forward(*names).values()
                       if isinstance(each, self.np.ndarray)]
            self.assertEqual(len(tensors), 13)
            for i, each in enumerate(tensors):
                wanted = self.np.load(reference.path(f"mixed_dtypes.out{i}.npy"))
                self.assertEqual(each.dtype, wanted.dtype)
                self.np.testing.assert_allclose(each, wanted, rtol=1e-4, atol=1e-4)


@reference.needs("torch")
class Torch(unittest.TestCase):
    def setUp(self):
        import torch
        self.torch = torch
        self.net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU()).eval()
        self.x = torch.randn(2, 3, 6, 6)

    def exported(self, net, *inputs, **options):
        return taper.export(self.torch.export.export(net, inputs, **options))

    def test_exported_programs_in_memory(self):
        program = self.exported(self.net, self.x)
        with program.load() as model, self.torch.no_grad():
            given = model.forward(self.x)
            self.assertIsInstance(given, self.torch.Tensor)
            self.torch.testing.assert_close(given, self.net(self.x))
            last = self.x.to(memory_format=self.torch.channels_last)
            self.torch.testing.assert_close(model.forward(last), self.net(self.x))
            self.torch.testing.assert_close(model.forward(self.x.requires_grad_()),
                                            self.net(self.x))

    def test_nested_inputs_and_outputs(self):
        class Net(self.torch.nn.Module):
            def forward(self, pair, *, scale):
                a, b = pair
                return {"sum": a + b, "rest": [a * scale, (b,)]}

        a, b, scale = (self.torch.randn(3) for _ in range(3))
        exported = self.torch.export.export(Net(), ((a, b),), {"scale": scale})
        with taper.export(exported).load() as model:
            given = model.forward((a, b), scale=scale)
            self.torch.testing.assert_close(given, Net()((a, b), scale=scale))
            for args, kwargs in ((((a,),), {"scale": scale}), (((a, b),), {}),
                                 ((a,), {"scale": scale}), (((a, b),), {"other": scale})):
                with self.assertRaises(TypeError):
                    model.forward(*args, **kwargs)

    def test_dtypes_that_numpy_lacks(self):
        class Net(self.torch.nn.Module):
            def forward(self, x):
                return x + x, (x > 0)

        for dtype in (self.torch.bfloat16, self.torch.float16, self.torch.int64):
            x = self.torch.arange(-3, 3).to(dtype)
            with self.exported(Net(), x).load() as model:
                for given, wanted in zip(model.forward(x), Net()(x)):
                    self.assertEqual(given.dtype, wanted.dtype)
                    self.torch.testing.assert_close(given, wanted)

    def test_refuses_by_name(self):
        from torch._subclasses import FakeTensorMode
        with self.exported(self.net, self.x).load() as model:
            for bad, text in ((self.x.to("meta"), r"on device meta; call .cpu\(\)"),
                              (self.x.double(), "given float64"),
                              (self.x[:1], "given float32"),
                              (self.x.to_sparse(), r"torch.sparse_coo; call .to_dense\(\)"),
                              (self.x.to_mkldnn(), r"torch._mkldnn; call .to_dense\(\)"),
                              (FakeTensorMode().from_tensor(self.x), "has no data")):
                with self.assertRaisesRegex(taper.Error, text):
                    model.forward(bad)

    def test_lazy_views_and_lost_memory(self):
        z = self.torch.randn(2, 3, 6, 6, dtype=self.torch.complex64)
        negative = z.conj().imag
        self.assertTrue(negative.is_neg())
        lost = self.x.clone()
        lost.untyped_storage().resize_(0)
        with self.exported(self.net, self.x).load() as model, self.torch.no_grad():
            for bad, text in ((negative, "call .resolve_conj"), (lost, "has no data")):
                with self.assertRaisesRegex(taper.Error, text):
                    model.forward(bad)
            given = model.forward(self.torch.nn.Parameter(z.real))
            self.torch.testing.assert_close(given, self.net(z.real))

    def test_dynamic_sizes(self):
        batch = self.torch.export.Dim("batch", min=1, max=8)
        program = self.exported(self.net, self.x, dynamic_shapes=({0: batch},))
        with program.load() as model, self.torch.no_grad():
            info, = model.inputs
            symbol = info.shape[0]
            self.assertEqual(info.ranges[symbol], (1, 8))
            for size in (1, 3, 8):
                x = self.torch.randn(size, 3, 6, 6)
                self.torch.testing.assert_close(model.forward(x), self.net(x))
            with self.assertRaises(taper.Error):
                model.forward(self.torch.randn(9, 3, 6, 6))

    def test_numbers_that_vary_and_numbers_that_export_fixed(self):
        class Net(self.torch.nn.Module):
            def forward(self, x, often: int, scale: float):
                return x.repeat(often, 1) * scale + often

        torch, net, x = self.torch, Net(), self.torch.randn(2, 3)
        exported = torch.export.export(
            net, (x, 3, 0.5), dynamic_shapes=(None, torch.export.Dim.DYNAMIC, None))
        symbol, = exported.range_constraints
        with taper.export(exported, bounds={str(symbol): 9}).load() as model:
            self.assertEqual([info.value for info in model.inputs], [None, 3, 0.5])
            for often in (3, 9, 1):
                torch.testing.assert_close(model.forward(x, often, 0.5), net(x, often, 0.5))
            import numpy as np
            for often, scale in ((np.int32(4), np.float32(0.5)),
                                 (torch.tensor(4), np.float64(0.5))):
                torch.testing.assert_close(model.forward(x, often, scale), net(x, 4, 0.5))
            with self.assertRaisesRegex(taper.Error, "input 1: expected a number, .*, given .*list"):
                model.forward(x, [3], 0.5)
            with self.assertRaises(OverflowError):
                model.forward(x, 2 ** 70, 0.5)
            with self.assertRaisesRegex(taper.Error, "upper bound"):
                model.forward(x, 10, 0.5)
            with self.assertRaisesRegex(taper.Error, "export fixed"):
                model.forward(x, 3, 0.75)

    def test_dlpack_of_others(self):
        class Other:
            def __init__(self, tensor):
                self.tensor = tensor

            def __dlpack__(self, **unused):
                return self.tensor.__dlpack__()

        class Broken:
            def __init__(self, give):
                self.give = give

            def __dlpack__(self, **unused):
                return self.give()

        def fail():
            raise ArithmeticError("of another library")

        used = self.torch.utils.dlpack.to_dlpack(self.x)
        self.torch.from_dlpack(used)
        with self.exported(self.net, self.x).load() as model:
            for bad in (used, 3):
                with self.assertRaisesRegex(taper.Error, "input 0: its __dlpack__.. gives no DLPack"):
                    model.forward(Broken(lambda bad=bad: bad))
            with self.assertRaisesRegex(ArithmeticError, "of another library"):
                model.forward(Broken(fail))
        with self.exported(self.net, self.x).load() as model, self.torch.no_grad():
            native = model._native.run("forward", (Other(self.x),), None)[0]
            self.torch.testing.assert_close(self.torch.from_dlpack(native), self.net(self.x))

    def test_problems_name_the_line(self):
        torch = self.torch

        class Net(torch.nn.Module):
            def forward(self, x):
                return torch.linalg.eigvals(x)

        with self.assertRaisesRegex(taper.CompileError, "linalg_eigvals") as raised:
            self.exported(Net(), torch.rand(3, 3))
        problem, = raised.exception.problems
        self.assertIn("test_tensors.py", problem["source"])
        self.assertTrue(problem["id"] and problem["message"])

    def test_what_pytorch_cannot_save(self):
        torch = self.torch

        class Net(torch.nn.Module):
            def forward(self, x):
                return torch.quantize_per_tensor(x, 0.1, 0, torch.quint8).dequantize()

        with self.assertRaisesRegex(taper.CompileError, "quantize_per_tensor.*quint8"):
            self.exported(Net(), torch.rand(3, 3))


if __name__ == "__main__":
    unittest.main()
