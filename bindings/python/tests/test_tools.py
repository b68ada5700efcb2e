"""taper.check, quantize, profile and compare, with Python alone; NumPy's and PyTorch's tensors."""

import ast
import io
import math
import os
import subprocess
import tempfile
import unittest

import reference
import taper
from taper import _npy, _reports
from test_compiler import command

DIGITS = os.path.join(reference.ROOT, "demo", "digits")
REFUSED = os.path.join(reference.ROOT, "test", "cli", "data", "many.pt2")


def digits(what):
    """The demo's images, their labels, and the logits that PyTorch computed for them."""
    return reference.read_npy(DIGITS + f"_{what}.npy")


def picture(images, i):
    return memoryview(images.cast("B")[i * 256:(i + 1) * 256]).cast("f", (1, 1, 8, 8))


def logits_of(model):
    """A list of ten numbers for each image."""
    images = digits("images")
    with taper.export(model).load() as loaded:
        return [reference.flat(loaded.forward(picture(images, i))) for i in range(images.shape[0])]


def decibels(got, wanted):
    signal = sum(x * x for x in wanted)
    return 10 * math.log10(signal / sum((x - y) ** 2 for x, y in zip(got, wanted)))


class Checks(unittest.TestCase):
    def test_nothing_prevents_a_good_model(self):
        found = taper.check(DIGITS + ".pt2")
        self.assertTrue(found)
        self.assertEqual(found.problems, [])
        with open(DIGITS + ".pt2", "rb") as file:
            found = taper.check({"encode": file.read()})
        self.assertEqual(repr(found), "encode.pt2: no problems found")

    def test_names_all_problems_as_the_command_does(self):
        found = taper.check(REFUSED)
        self.assertFalse(found)
        said = subprocess.run(command("taper") + ["check", REFUSED], capture_output=True, text=True)
        self.assertEqual(repr(found), said.stdout.rstrip("\n"))
        with self.assertRaises(taper.CompileError) as raised:
            taper.export(REFUSED)
        self.assertEqual(found.problems, raised.exception.problems)
        self.assertEqual(found._repr_html_().count("<tr>"), 1 + len(found.problems))

    def test_takes_bounds(self):
        path = os.path.join(os.path.dirname(REFUSED), "open.pt2")
        self.assertFalse(taper.check(path))
        self.assertTrue(taper.check(path, bound={"s77": 8}))
        found = taper.check(path, bound={"s77": 8, "nonsense": 1500})
        self.assertEqual([problem["id"] for problem in found.problems], ["no-such-symbol"])

    def test_takes_the_model_that_it_asks_for(self):
        path = os.path.join(os.path.dirname(REFUSED), "two_models.pt2")
        self.assertIn("name one with --model", repr(taper.check(path)))
        self.assertTrue(taper.check(path, model="all"))
        with self.assertRaisesRegex(taper.Error, "name one with --model"):
            taper.quantize(path, float16=True)
        small = taper.quantize(path, float16=True, model="twice")
        program = taper.export(path, model="twice", debug_info=True)
        with self.assertRaisesRegex(taper.Error, "name one with --model"):
            taper.compare(path, program)
        self.assertTrue(taper.compare(path, program, model="twice"))
        self.assertTrue(taper.export(small).to_bytes())

    def test_compares_with_bounds_of_sizes(self):
        path = os.path.join(os.path.dirname(REFUSED), "counted.pt2")
        program = taper.export(path, bounds={"u0": 9}, debug_info=True)
        self.assertTrue(taper.compare(path, program, bound={"u0": 9}))


class Quantises(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.images, cls.labels = digits("images"), digits("labels")
        cls.small = taper.quantize(DIGITS + ".pt2", cls.images, labels=cls.labels)

    def test_reports_what_the_result_computes(self):
        got, wanted = logits_of(self.small), reference.flat(digits("logits"))
        right = sum(row.index(max(row)) == label
                    for row, label in zip(got, reference.flat(self.labels)))
        self.assertAlmostEqual(self.small.accuracy, right / len(got), delta=1.5 / len(got))
        self.assertGreater(self.small.accuracy_before, 0.9)
        given = decibels([x for row in got for x in row], wanted)
        self.assertGreater(given, 25)
        self.assertAlmostEqual(self.small.outputs[0].snr_db, given, delta=1)
        self.assertLess(self.small.bytes, self.small.bytes_before)

    def test_layers_say_how_they_are_stored(self):
        formats = {layer.name: layer.format for layer in self.small.layers if layer.format}
        self.assertEqual(set(formats.values()), {"int8"})
        self.assertIn("linear", formats)
        kept = taper.quantize(DIGITS + ".pt2", self.images, keep=["linear"])
        state = {layer.name: layer.quantised for layer in kept.layers}
        self.assertFalse(state.pop("linear"))
        self.assertTrue(all(state.values()))
        self.assertIn("linear", repr(kept))
        self.assertIn("<td>linear</td>", kept._repr_html_())

    def test_all_forms_of_samples_are_the_same(self):
        few = memoryview(self.images.cast("B")[:8 * 256]).cast("f", (8, 1, 8, 8))
        wanted = taper.quantize(DIGITS + ".pt2", few).to_bytes()
        each = [picture(self.images, i) for i in range(8)]
        for samples in ({"x": few}, each, iter(each), [(image,) for image in each]):
            self.assertEqual(taper.quantize(DIGITS + ".pt2", samples).to_bytes(), wanted)

    def test_without_samples(self):
        small = taper.quantize(DIGITS + ".pt2", weights="int4:32")
        self.assertIsNone(small.agreement)
        formats = {layer.name: layer.format for layer in small.layers}
        self.assertEqual(formats["linear"], "int4 in groups of 32")
        with tempfile.TemporaryDirectory() as folder:
            small.save(os.path.join(folder, "small.pt2"))
            self.assertEqual(taper.export(os.path.join(folder, "small.pt2")).to_bytes(),
                             taper.export(small).to_bytes())

    def test_refuses(self):
        for samples, text in ((None, "calibrate"), ([], "no .npy or .npz file"),
                              (reference.read_npy("add.in0.npy"), "'x' is float32")):
            with self.assertRaisesRegex(taper.Error, text):
                taper.quantize(DIGITS + ".pt2", samples)
        with self.assertRaisesRegex(TypeError, "given int"):
            taper.quantize(DIGITS + ".pt2", 3)
        with self.assertRaisesRegex(TypeError, "sample 0, input 0: expected a tensor"):
            taper.quantize(DIGITS + ".pt2", ["x"])
        with self.assertRaisesRegex(taper.Error, "'nosuch' does not exist|nosuch"):
            taper.quantize(DIGITS + ".pt2", self.images, nosuch=True)
        with self.assertRaisesRegex(TypeError, "no option 'json'"):
            taper.quantize(DIGITS + ".pt2", self.images, json="x")


class Compares(unittest.TestCase):
    def test_a_program_with_its_model(self):
        image = picture(digits("images"), 0)
        for backend in (None, "xnnpack"):
            program = taper.export(DIGITS + ".pt2", backend=backend)
            found = taper.compare(DIGITS + ".pt2", program, image)
            self.assertTrue(found)
            self.assertIsNone(found.first)
            self.assertGreater(found.worst.snr_db or math.inf, 90)
            self.assertIn("all agree", repr(found))

    def test_finds_what_quantising_changes(self):
        images = digits("images")
        small = taper.quantize(DIGITS + ".pt2", images)
        image = picture(images, 3)
        found = taper.compare(DIGITS + ".pt2", taper.export(small), image, bound=1e-4)
        self.assertFalse(found)
        self.assertFalse(found.agrees)
        last = found.tensors[-1]
        with taper.export(small).load() as model:
            got = reference.flat(model.forward(image))
        wanted = reference.flat(digits("logits"))[30:40]
        self.assertAlmostEqual(last.snr_db, decibels(got, wanted), delta=0.1)
        self.assertAlmostEqual(last.max_abs, max(abs(x - y) for x, y in zip(got, wanted)), 4)
        self.assertIn(found.first.node, found._repr_html_())
        self.assertTrue(taper.compare(DIGITS + ".pt2", taper.export(small), image, bound=0.5))

    def test_with_tensors_and_with_another_program(self):
        image = picture(digits("images"), 0)
        program = taper.export(DIGITS + ".pt2")
        right = memoryview(digits("logits").cast("B")[:40]).cast("f", (1, 10))
        self.assertTrue(taper.compare(None, program, image, expected={"linear": right}))
        wrong = memoryview(bytearray(right)).cast("f", (1, 10))
        wrong[0, 0] += 1
        found = taper.compare(None, program, image, expected={"linear": wrong})
        self.assertEqual(found.first.node, "linear")
        self.assertAlmostEqual(found.first.max_abs, 1, 3)
        self.assertTrue(taper.compare(program, program.to_bytes(), image))

    def test_prints_what_the_command_prints(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "digits.pte")
            taper.export(DIGITS + ".pt2").save(path)
            said = subprocess.run(command("taper") + ["compare", DIGITS + ".pt2", path],
                                  capture_output=True, text=True)
            self.assertEqual(repr(taper.compare(DIGITS + ".pt2", path)), said.stdout.rstrip("\n"))


class Commands(unittest.TestCase):
    """Those that have no function of their own."""

    def setUp(self):
        self.program = taper.export(DIGITS + ".pt2", backend="xnnpack")
        self.image = picture(digits("images"), 0)

    def test_prints_what_the_command_prints(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "word0.pte")
            self.program.save(path)
            said = subprocess.run(command("taper") + ["inspect", "word0.pte"], cwd=folder,
                                  capture_output=True, text=True)
        found = taper.command("inspect", self.program)
        self.assertEqual(repr(found), said.stdout.rstrip("\n"))
        self.assertIsNone(found.data)
        self.assertIn("<pre>", found._repr_html_())
        self.assertEqual(taper.command("inspect", self.program, json=True).data["methods"][0]["name"],
                         "forward")

    def test_with_tensors_and_files(self):
        with tempfile.TemporaryDirectory() as folder:
            taper.command("run", self.program, inputs=[self.image], outputs=folder)
            written, = os.listdir(folder)
            with open(os.path.join(folder, written), "rb") as file:
                given = file.read()
            wanted = self.program.load().forward(self.image)
            self.assertEqual(given[-memoryview(wanted).nbytes:], bytes(memoryview(wanted)))
            for name, words, start in (("trace", (self.program,), b"{"),
                                       ("view", (DIGITS + ".pt2",), b"<!"),
                                       ("pack", (self.program,), b"")):
                path = os.path.join(folder, name)
                options = {"for_": "this-cpu"} if name == "pack" else {}
                taper.command(name, *words, output=path, **options)
                with open(path, "rb") as file:
                    self.assertTrue(file.read().lower().startswith(start), name)
            with taper.load(os.path.join(folder, "pack")) as packed:
                self.assertEqual(reference.flat(packed.forward(self.image)), reference.flat(wanted))

    def test_refuses(self):
        with self.assertRaisesRegex(taper.Error, "nonsense"):
            taper.command("nonsense")
        with self.assertRaisesRegex(taper.Error, "Option .nothing. does not exist"):
            taper.command("inspect", self.program, nothing=True)
        with self.assertRaisesRegex(TypeError, "given object"):
            taper.command("inspect", object())
        with self.assertRaisesRegex(taper.Error, "word0.pte"):
            taper.command("inspect", b"no program")


class Profiles(unittest.TestCase):
    def test_where_the_time_goes(self):
        program = taper.export(reference.path("resnet18.pt2"), debug_info=True)
        found = taper.profile(program, reference.read_npy("resnet18.in0.npy"), runs=3)
        self.assertEqual(found.runs, 3)
        steps = [row for row in found.rows if not row.is_step]
        self.assertEqual(len(steps), program.methods["forward"]["instructions"])
        self.assertEqual(sum("convolution" in row.op or "conv2d" in row.op for row in steps), 20)
        total = sum(row.median_s for row in steps)
        self.assertTrue(all(0 < row.median_s <= row.p90_s for row in steps if row.calls))
        self.assertAlmostEqual(sum(found.by("op").values()), total, delta=1e-6)
        self.assertIn("instructions", repr(found))
        self.assertIn("<table>", found._repr_html_())

    def test_steps_within_a_delegate_count_in_its_place(self):
        program = taper.export(DIGITS + ".pt2", backend="xnnpack")
        found = taper.profile(program, runs=3)
        self.assertTrue(found.rows[0].has_steps)
        self.assertIn("convolution", found.by("op"))
        self.assertTrue(any(name.startswith("(around") for name in found.by("op")))

    def test_nested_inputs_and_weights_apart(self):
        a, b, c, d, bias = (reference.read_npy(f"nested.in{i}.npy") for i in range(5))
        args = {"a": a, "pair": (b, c)}, 0.5, True, [d, 3]
        kwargs = {"bias": bias, "extra": None}
        program = taper.export(reference.path("nested.pt2"))
        self.assertTrue(taper.profile(program, *args, kwargs=kwargs, runs=1).rows)
        self.assertTrue(taper.compare(reference.path("nested.pt2"), program, *args, kwargs=kwargs))
        with self.assertRaisesRegex(TypeError, "takes 4 positional arguments"):
            taper.profile(program, *args[:3], kwargs=kwargs)
        apart = taper.export(reference.path("resnet18.pt2"), external_weights=True)
        image = reference.read_npy("resnet18.in0.npy")
        self.assertTrue(taper.profile(apart, image, runs=1).rows)
        self.assertTrue(taper.compare(reference.path("resnet18.pt2"), apart, image, bound=1e-3))

    def test_against_another(self):
        a, b = taper.export(DIGITS + ".pt2"), taper.export(DIGITS + ".pt2", backend="xnnpack")
        self.assertIn("change", repr(taper.profile(b, against=a, runs=3)))

    def test_refuses(self):
        for program in ("/nonexistent.pte", b"nothing"):
            with self.assertRaises(taper.Error):
                taper.profile(program)
        program = taper.export(DIGITS + ".pt2")
        with self.assertRaisesRegex(taper.Error, "runs"):
            taper.profile(program, runs=0)
        with self.assertRaisesRegex(TypeError, "input '.*': expected a tensor"):
            taper.profile(program, "image")


class Prints(unittest.TestCase):
    def test_names_of_a_model_are_no_markup(self):
        found = _reports.Check({"problems": [{"node": "<b>", "message": "a & b", "source": "",
                                              "remedy": ""}], "warnings": []}, "<b>", [])
        self.assertIn("&lt;b&gt;", found._repr_html_())
        self.assertNotIn("<b>", found._repr_html_())


class Npy(unittest.TestCase):
    def test_the_header_is_that_of_the_format(self):
        view = memoryview(bytearray(range(24))).cast("h", (3, 4))
        data = _npy.npy_of(view, "x")
        size = int.from_bytes(data[8:10], "little")
        self.assertEqual((10 + size) % 64, 0)
        self.assertEqual(ast.literal_eval(data[10:10 + size].decode()),
                         {"descr": "<i2", "fortran_order": False, "shape": (3, 4)})
        self.assertEqual(data[10 + size:], bytes(range(24)))


@reference.needs("numpy")
class NumPy(unittest.TestCase):
    def test_reads_what_is_written(self):
        import numpy
        for dtype in ("?", "u1", "i1", "u2", "i4", "u8", "i8", "f2", "f4", "f8", "c8", "c16"):
            for array in (numpy.arange(6).reshape(2, 3).astype(dtype).T, numpy.zeros((), dtype),
                          numpy.zeros((0, 2), dtype)):
                given = numpy.load(io.BytesIO(_npy.npy_of(array, "x")))
                self.assertEqual(given.dtype, array.dtype)
                numpy.testing.assert_array_equal(given, array)
        arrays = numpy.load(io.BytesIO(_npy.npz_of({"a": numpy.ones(3), "b": numpy.zeros(2)}, "")))
        self.assertEqual(arrays["a"].sum(), 3)
        with self.assertRaisesRegex(TypeError, "x: "):
            _npy.npy_of(numpy.array(["text"]), "x")


@reference.needs("torch")
class Torch(unittest.TestCase):
    def test_reads_what_is_written(self):
        import numpy
        import torch
        for dtype in (torch.bool, torch.uint8, torch.int64, torch.float16, torch.complex64):
            tensor = torch.arange(6).reshape(2, 3).to(dtype).T
            given = numpy.load(io.BytesIO(_npy.npy_of(tensor, "x")))
            numpy.testing.assert_array_equal(given, tensor.numpy())
        half = torch.tensor([1.5, -2.0], dtype=torch.bfloat16)
        self.assertEqual(_npy.npy_of(half, "x")[-4:], half.view(torch.int16).numpy().tobytes())

    def test_from_a_module_to_an_int8_program(self):
        import torch
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
        x = torch.randn(64, 16)
        exported = torch.export.export(net.eval(), (x[:1],))
        self.assertTrue(taper.check(exported))
        small = taper.quantize(exported, x)
        again = small.exported_program().module()
        program = taper.export(small)
        model = program.load()
        wanted = torch.cat([again(row) for row in x.split(1)])
        given = torch.cat([model.forward(row) for row in x.split(1)])
        self.assertLess((given - wanted).abs().max(), 0.05)
        snr = decibels(given.flatten().tolist(), net(x).flatten().tolist())
        self.assertAlmostEqual(small.outputs[0].snr_db, snr, delta=1.5)
        self.assertTrue(taper.compare(exported, program, x[:1], bound=0.2))
        self.assertFalse(taper.compare(exported, program, x[:1], bound=1e-5))
        self.assertTrue(taper.profile(program, x[:1], runs=1).rows)


if __name__ == "__main__":
    unittest.main()
