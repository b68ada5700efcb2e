"""Loading and running with Python alone: no NumPy, no PyTorch."""

import array
import ctypes
import gc
import os
import subprocess
import sys
import threading
import unittest

import reference
import taper


def compiled(name, **options):
    return taper.export(reference.path(name + ".pt2"), **options)


def inputs_of(case, count):
    return [reference.read_npy(f"{case}.in{i}.npy") for i in range(count)]


class Runs(unittest.TestCase):
    def check(self, case, model, inputs, tolerance=1e-4, **options):
        expected = []
        while os.path.exists(reference.path(f"{case}.out{len(expected)}.npy")):
            expected.append(reference.read_npy(f"{case}.out{len(expected)}.npy"))
        with compiled(model, **options).load() as program:
            outputs = program["forward"]._model._native.run("forward", tuple(inputs), None)
        self.assertEqual(len(outputs), len(expected))
        for given, wanted in zip(outputs, expected):
            self.assertEqual(given.shape, tuple(wanted.shape))
            self.assertLess(reference.largest_difference(given, wanted), tolerance)

    def test_gives_pytorchs_numbers(self):
        for case, model, count in (("add", "add", 2), ("bert_mini", "bert_mini", 3),
                                   ("dynamic_batch_3", "dynamic_batch", 1),
                                   ("cond_no", "cond", 1), ("resnet18", "resnet18", 1)):
            for options in ({}, {"io": "application"}, {"backend": "xnnpack"},
                            {"backend": "xnnpack", "io": "application"}):
                with self.subTest(case=case, **options):
                    self.check(case, model, inputs_of(case, count), **options)

    def test_keeps_state_between_runs(self):
        for io in ("planned", "application"):
            with compiled("counter", io=io).load() as model:
                for again in range(2):
                    for step in range(3):
                        given = model.forward(reference.read_npy(f"counter.step{step}.in0.npy"))
                        for i, each in enumerate(given):
                            wanted = reference.read_npy(f"counter.step{step}.out{i}.npy")
                            self.assertLess(reference.largest_difference(each, wanted), 1e-6)
                    model.reset()

    def test_writes_inputs_that_the_model_writes(self):
        x, y = inputs_of("input_mutation", 2)
        before = reference.flat(x), reference.flat(y)
        with compiled("input_mutation").load() as model:
            model.forward(x, y)
        self.assertNotEqual(before, (reference.flat(x), reference.flat(y)))

    def test_describes_inputs(self):
        with compiled("dynamic_batch").load() as model:
            info, = model.inputs
            self.assertEqual(info.dtype, "float32")
            symbol = next(size for size in info.shape if isinstance(size, str))
            low, high = info.ranges[symbol]
            self.assertEqual(high, info.max_shape[info.shape.index(symbol)])
            self.assertGreaterEqual(low, 0)
            self.assertIn(symbol, repr(info))
            self.assertEqual(model.methods, ("forward",))
            self.assertIn("forward", model)

    def test_several_methods_in_one_program(self):
        with open(reference.path("bert_mini.pt2"), "rb") as file:
            encoder = file.read()
        program = taper.export({"sum": reference.path("add.pt2"), "encode": encoder})
        self.assertEqual(set(program.methods), {"sum", "encode"})
        with program.load() as model:
            given = model["sum"](*inputs_of("add", 2))
            wanted = reference.read_npy("add.out0.npy")
            self.assertLess(reference.largest_difference(given, wanted), 1e-5)
            with self.assertRaisesRegex(KeyError, "no method 'decode'; there are: encode, sum"):
                model["decode"]
            with self.assertRaises(KeyError):
                model.forward()


class Refuses(unittest.TestCase):
    def setUp(self):
        self.model = compiled("add").load()
        self.inputs = inputs_of("add", 2)

    def tearDown(self):
        self.model.close()

    def refused(self, error, text, *inputs):
        with self.assertRaisesRegex(error, text):
            self.model.forward(*inputs)
        self.model.forward(*self.inputs)  # A good call follows.

    def test_inputs_that_do_not_fit(self):
        a, b = self.inputs
        self.refused(TypeError, "takes 2 inputs", a)
        self.refused(TypeError, "takes 2 inputs", a, b, b)
        doubles = memoryview(array.array("d", [0] * 8)).cast("B").cast("d", (2, 4))
        self.refused(taper.Error, r"input 0: expected float32 \(2, 4\), given float64 \(2, 4\); "
                     "convert it to float32", doubles, b)
        self.refused(taper.Error, r"input 1: expected float32 \(2, 4\), given float32 \(8\)", a,
                     array.array("f", [0] * 8))
        self.refused(taper.Error, "expected a tensor .*, given str", "x", b)
        self.refused(taper.Error, "expected a tensor .*, given int", a, 3)
        self.refused(taper.Error, "expected a tensor .*, given NoneType", a, None)
        with self.assertRaisesRegex(TypeError, "keywords"):
            self.model.forward(a, b=b)

    def test_broken_conditions_of_the_model(self):
        with compiled("dynamic_batch").load() as model:
            most = model.inputs[0].max_shape
            sizes = tuple(size + 1 for size in most)
            count = 1
            for size in sizes:
                count *= size
            view = memoryview(bytearray(4 * count)).cast("f", sizes)
            with self.assertRaises(taper.Error):
                model.forward(view)

    def test_a_closed_model(self):
        self.model.close()
        self.model.close()
        for call in (lambda: self.model.forward(*self.inputs), self.model.reset):
            with self.assertRaisesRegex(taper.ClosedError, "the model is closed"):
                call()
        self.model = compiled("add").load()

    def test_files_that_are_no_programs(self):
        with self.assertRaisesRegex(taper.Error, "/nonexistent/x.pte"):
            taper.load("/nonexistent/x.pte")
        with self.assertRaisesRegex(taper.Error, "zip archive"):
            taper.load(reference.path("add.pt2"))
        for data in (b"", b"x", b"x" * 100, compiled("add").to_bytes()[:500]):
            with self.assertRaises(taper.Error):
                taper.load(data)
        for bad in ({"threads": 0}, {"threads": "2"}, {"max_memory": -1}):
            with self.assertRaises(ValueError):
                taper.load(compiled("add").to_bytes(), **bad)
        with self.assertRaisesRegex(taper.Error, "no backend 'none'; there are: "):
            taper.load(compiled("add").to_bytes(), backends=["none"])
        with self.assertRaises(TypeError):
            taper.load(3)

    def test_a_backend_that_is_not_handed_in(self):
        if "xnnpack" not in taper.backends():
            self.skipTest("without xnnpack")
        program = compiled("resnet18", backend="xnnpack")
        with program.load(backends=[]) as model:
            with self.assertRaisesRegex(taper.Error, "Xnnpack"):
                model.forward(*inputs_of("resnet18", 1))

    def test_too_much_memory(self):
        with compiled("resnet18").load(max_memory=1000) as model:
            with self.assertRaisesRegex(taper.Error, "memory"):
                model.forward(*inputs_of("resnet18", 1))


class Layouts(unittest.TestCase):
    def test_views_that_are_not_contiguous_are_copied_and_written_back(self):
        for io in ("planned", "application"):
            with compiled("add", io=io).load() as model:
                a, b = inputs_of("add", 2)
                wide = memoryview(bytearray(2 * a.nbytes)).cast("f")
                for i, value in enumerate(reference.flat(a)):
                    wide[2 * i] = value
                with self.assertRaises(taper.Error):
                    model.forward(wide[::2], b)  # One dimension.
                read_only = memoryview(bytes(a.cast("B"))).cast("f", a.shape)
                given = model.forward(read_only, b)
                wanted = reference.read_npy("add.out0.npy")
                self.assertLess(reference.largest_difference(given, wanted), 1e-5)


    def test_arrays_of_ctypes_which_have_no_strides(self):
        for io in ("planned", "application"):
            with compiled("add", io=io).load() as model:
                a, b = inputs_of("add", 2)
                array = ((ctypes.c_float * a.shape[1]) * a.shape[0])()
                ctypes.memmove(array, (ctypes.c_char * a.nbytes).from_buffer(a), a.nbytes)
                given = model.forward(array, b)
                wanted = reference.read_npy("add.out0.npy")
                self.assertLess(reference.largest_difference(given, wanted), 1e-5)
                with self.assertRaisesRegex(taper.Error, r"given float32 \(\)"):
                    model.forward(ctypes.c_float(1), b)


class State(unittest.TestCase):
    def run_step(self, model, step):
        """The difference of all outputs from those of PyTorch in that step."""
        given = model.forward(reference.read_npy(f"counter.step{step}.in0.npy"))
        return max(reference.largest_difference(each, reference.read_npy(
            f"counter.step{step}.out{i}.npy")) for i, each in enumerate(given))

    def test_goes_on_in_another_model(self):
        with compiled("counter").load() as first, compiled("counter").load() as second:
            at_first = first.state()
            self.assertLess(self.run_step(first, 0), 1e-6)
            saved = first.state()
            self.assertTrue(all(isinstance(name, str) for name in saved))
            self.assertGreater(max(reference.largest_difference(saved[name], at_first[name])
                                   for name in saved), 0)
            self.assertLess(self.run_step(first, 1), 1e-6)
            second.load_state(saved)
            self.assertLess(self.run_step(second, 1), 1e-6)
            first.load_state(saved)  # Back, too.
            self.assertLess(self.run_step(first, 1), 1e-6)
            first.load_state(at_first)
            self.assertLess(self.run_step(first, 0), 1e-6)

    def test_refuses_what_does_not_fit(self):
        with compiled("counter").load() as model:
            self.run_step(model, 0)
            saved = model.state()
            name, *_ = saved
            with self.assertRaisesRegex(taper.Error, f"no buffer '{name}'"):
                model.load_state({})
            for bad in (array.array("b", [1] * 77), 3, None):
                with self.assertRaisesRegex(taper.Error, "buffer 0: expected "):
                    model.load_state({**saved, name: bad})
            self.assertLess(self.run_step(model, 1), 1e-6)  # Nothing has changed.
            model.close()
            with self.assertRaises(taper.ClosedError):
                model.state()
        with compiled("add").load() as model:
            self.assertEqual(model.state(), {})

    def test_what_a_delegate_keeps(self):
        if "vulkan" not in taper.backends():
            self.skipTest("without vulkan")
        with compiled("llama", backend="vulkan").load() as model:
            with self.assertRaisesRegex(taper.Error, "a delegate keeps buffers"):
                model.state()


class Outputs(unittest.TestCase):
    def test_stay_what_they_are_and_outlive_the_model(self):
        for io in ("planned", "application"):
            inputs = inputs_of("add", 2)
            with compiled("add", io=io).load() as model:
                first = model.forward(*inputs)
                before = reference.flat(first)
                model.forward(inputs[1], inputs[0])
            del model
            gc.collect()
            self.assertEqual(reference.flat(first), before)
            view = memoryview(first)
            del first
            self.assertEqual(reference.flat(view), before)

    def test_say_what_they_are(self):
        with compiled("add").load() as model:
            native = model._native.run("forward", tuple(inputs_of("add", 2)), None)[0]
        self.assertIsInstance(native, taper.Tensor)
        self.assertEqual(native.dtype, "float32")
        self.assertEqual(native.nbytes, 24)
        self.assertEqual(repr(native), "taper.Tensor(float32, shape=(2, 3))")
        self.assertEqual(len(native.tolist()), 2)
        self.assertEqual(native.__dlpack_device__(), (1, 0))
        with self.assertRaises(TypeError):
            taper.Tensor()


class Threads(unittest.TestCase):
    def test_many_callers_of_one_model(self):
        inputs = inputs_of("bert_mini", 3)
        wanted = reference.read_npy("bert_mini.out0.npy")
        errors = []
        with compiled("bert_mini").load(threads=2) as model:
            def work():
                for _ in range(5):
                    given = model["forward"]._model._native.run("forward", tuple(inputs), None)[0]
                    errors.append(reference.largest_difference(given, wanted))
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(len(errors), 20)
        self.assertLess(max(errors), 1e-4)

    def test_a_model_that_is_closed_while_it_runs(self):
        inputs = inputs_of("resnet18", 1)
        for _ in range(3):
            model = compiled("resnet18").load(threads=1)
            model.forward(*inputs)
            thread = threading.Thread(target=lambda: model.forward(*inputs))
            thread.start()
            model.close()
            thread.join()

    @unittest.skipUnless(hasattr(os, "fork"), "Windows has no fork")
    @unittest.skipIf("TAPER_TESTS_UNDER_QEMU" in os.environ, "qemu cannot fork with threads")
    @unittest.skipIf("TAPER_TESTS_UNDER_ASAN" in os.environ, "gcc 12: a fork keeps its locks")
    def test_a_forked_process_says_that_it_must_load_anew(self):
        code = """
import os, sys, reference, taper
program = taper.export(reference.path("add.pt2"))
model = program.load(threads=2)
inputs = [reference.read_npy(f"add.in{i}.npy") for i in range(2)]
model.forward(*inputs)
child = os.fork()
if child == 0:
    try:
        model.forward(*inputs)
        sys.exit(1)
    except taper.Error as error:
        assert "forked" in str(error), error
    program.load(threads=2).forward(*inputs)
    sys.exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
        done = subprocess.run([sys.executable, "-c", code], cwd=os.path.dirname(__file__),
                              timeout=120)
        self.assertEqual(done.returncode, 0)

    def test_shutdown_with_a_model_alive(self):
        code = """
import reference, taper, threading
model = taper.export(reference.path("resnet18.pt2")).load(threads=2)
x = reference.read_npy("resnet18.in0.npy")
threading.Thread(target=lambda: [model.forward(x) for _ in range(3)], daemon=True).start()
model.forward(x)
"""
        done = subprocess.run([sys.executable, "-c", code], cwd=os.path.dirname(__file__),
                              timeout=120)
        self.assertEqual(done.returncode, 0)


class Package(unittest.TestCase):
    def test_imports_neither_numpy_nor_torch(self):
        code = "import sys, taper; sys.exit('numpy' in sys.modules or 'torch' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code]).returncode, 0)

    def test_has_the_version_of_the_project(self):
        with open(os.path.join(reference.ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
            self.assertIn(f"project(taper VERSION {taper.__version__} ", file.read())

    def test_explains_itself(self):
        for each in (taper, taper.load, taper.export, taper.Model, taper.Method, taper.Program,
                     taper.TensorInfo, taper.Tensor, taper.Error, taper.CompileError):
            self.assertGreater(len(each.__doc__), 20, each)


if __name__ == "__main__":
    unittest.main()
