"""taper.export and the command lines, with Python alone."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import reference
import taper


def command(name):
    """A command beside this Python, or in the package where it was installed elsewhere."""
    beside = os.path.join(os.path.dirname(sys.executable), name)
    return [beside] if os.path.exists(beside) else [
        sys.executable, "-c", f"import sys, taper._commands as c; sys.exit(c.{name}())"]


class Compiles(unittest.TestCase):
    def test_the_bytes_of_the_command_line(self):
        for name in ("add", "bert_mini", "cond_twice", "complex"):
            with tempfile.TemporaryDirectory() as folder:
                made = os.path.join(folder, "made.pte")
                subprocess.run(command("taper") + ["export", reference.path(name + ".pt2"), "-o",
                                                   made], check=True, capture_output=True)
                with open(made, "rb") as file:
                    wanted = file.read()
            with open(reference.path(name + ".pt2"), "rb") as file:
                self.assertEqual(taper.export(file.read()).to_bytes(), wanted)
            self.assertEqual(taper.export(reference.path(name + ".pt2")).to_bytes(), wanted)

    def test_tells_what_it_made(self):
        program = taper.export(reference.path("resnet18.pt2"), backend="xnnpack")
        self.assertIn("xnnpack", program.report)
        memory = program.memory["forward"]
        self.assertGreaterEqual(memory["planned_bytes"], memory["lower_bound_bytes"])
        nodes = program.methods["forward"]["nodes"]
        self.assertTrue(any(node["backend"] == "xnnpack" for node in nodes))
        self.assertIn("bytes planned", repr(program))
        self.assertIn("<pre>", program._repr_html_())

    def test_saves_completely_or_not_at_all(self):
        program = taper.export(reference.path("add.pt2"))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.pte")
            program.save(path)
            self.assertEqual(os.listdir(folder), ["a.pte"])
            with open(path, "rb") as file:
                self.assertEqual(file.read(), program.to_bytes())
            with self.assertRaises(OSError):
                program.save(os.path.join(folder, "none", "a.pte"))
            apart = taper.export(reference.path("resnet18.pt2"), external_weights=True)
            with self.assertRaisesRegex(ValueError, "weights_path"):
                apart.save(path)
            weights = os.path.join(folder, "a.ptd")
            apart.save(path, weights)
            with taper.load(path, data_path=weights) as model:
                given = model.forward(reference.read_npy("resnet18.in0.npy"))
            wanted = reference.read_npy("resnet18.out0.npy")
            self.assertLess(reference.largest_difference(given, wanted), 1e-4)

    def test_takes_options_of_the_command_line(self):
        path = reference.path("dynamic_batch.pt2")
        with taper.export(path).load() as model:
            symbol = next(size for size in model.inputs[0].shape if isinstance(size, str))
        with taper.export(path, bounds={symbol: 4}, debug_info=True).load() as model:
            self.assertIn(4, model.inputs[0].max_shape)


    def test_takes_one_of_several_models(self):
        path = reference.ROOT + "/test/cli/data/two_models.pt2"
        with self.assertRaisesRegex(taper.CompileError, "name one with --model"):
            taper.export(path)
        zeros = memoryview(bytes(24)).cast("f", (2, 3))
        with open(path, "rb") as file:
            in_memory = file.read()
        for source in (path, in_memory):
            self.assertEqual(list(taper.export(source, model="twice").methods), ["forward"])
            self.assertEqual(list(taper.export(source, model="all").methods), ["half", "twice"])
        with taper.export(path, model="all").load() as model:
            self.assertEqual(model["half"](zeros).shape, (2, 3))


class Refuses(unittest.TestCase):
    def test_with_problems(self):
        for model, text in ((b"nothing", "not a zip archive"), (b"", "has no bytes"),
                            ("/nonexistent/x.pt2", "nonexistent.x.pt2")):
            with self.assertRaisesRegex(taper.CompileError, text):
                taper.export(model)
        try:
            taper.export(reference.path("resnet18.pt2"), backend="xnnpack", delegate_all=False,
                         memory_budget="1K")
            self.fail("a budget of 1K")
        except taper.CompileError as error:
            self.assertIn("the budget is 1024", str(error))

    def test_bounds_of_what_is_no_symbol(self):
        path = reference.path("dynamic_batch.pt2")
        with self.assertRaisesRegex(taper.CompileError, "1500 is of 'nonsense'.*; it has s77"):
            taper.export(path, bounds={"nonsense": 1500})

    def test_options_that_do_not_exist(self):
        for options in ({"nosuch": 1}, {"output": "x.pte"}, {"io": "else"}, {"backend": "nosuch"}):
            with self.assertRaises(taper.CompileError):
                taper.export(reference.path("add.pt2"), **options)

    def test_what_is_no_model(self):
        with self.assertRaisesRegex(TypeError, "given int"):
            taper.export(3)


class Commands(unittest.TestCase):
    def test_run_as_in_a_build(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "add.pte")
            taper.export(reference.path("add.pt2")).save(path)
            run = subprocess.run(command("taper") + ["inspect", path], capture_output=True,
                                 text=True)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("forward", run.stdout)
            run = subprocess.run(command("executor_runner") + ["--model_path", path],
                                 capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stderr)
        run = subprocess.run(command("taper") + ["nosuch"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 2)
        self.assertIn("'nosuch' is not a command", run.stderr)
        for option, text in (("--help", "Usage:"), ("--version", f"taper {taper.__version__}\n")):
            run = subprocess.run([sys.executable, "-m", "taper", option], capture_output=True,
                                 text=True)
            self.assertEqual(run.returncode, 0)
            self.assertIn(text, run.stdout)


    @unittest.skipUnless(hasattr(signal, "SIGPIPE"), "Windows has no such signals")
    @unittest.skipIf("TAPER_TESTS_UNDER_QEMU" in os.environ, "a script starts qemu there")
    def test_end_by_signals(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "add.pte")
            taper.export(reference.path("add.pt2")).save(path)
            runner = command("executor_runner") + ["--model_path", path, "--num_executions",
                                                   "1000000000000"]
            with subprocess.Popen(runner, stdout=subprocess.PIPE) as run:
                time.sleep(1)  # It may have come to its work, but need not.
                run.send_signal(signal.SIGINT)
                try:
                    self.assertNotEqual(run.wait(60), 0)
                finally:
                    run.kill()
        with subprocess.Popen(command("taper") + ["ops"], stdout=subprocess.PIPE) as run:
            run.stdout.close()
            self.assertEqual(run.wait(), -signal.SIGPIPE)


if __name__ == "__main__":
    unittest.main()
