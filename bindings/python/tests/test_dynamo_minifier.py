"""PyTorch's minifier finds the smallest graph that torch.compile(backend="taper") gets wrong."""

import glob
import os
import subprocess
import sys
import tempfile
import unittest

import reference

# A compiler that is wrong wherever there is a relu.
WRONG = '''
from taper import _graph

load, run = _graph.Graph._load, _graph._Program.__call__


def _load(self, exported):
    model = load(self, exported)
    model.is_wrong = any("relu" in str(node.target) for node in exported.graph.nodes)
    return model


def _run(self, args):
    add = 1 if self._run.__self__ in wrong else 0
    return tuple(each + add if each.is_floating_point() else each for each in run(self, args))


def _init(self, method, *rest):
    init(self, method, *rest)
    if method._model.is_wrong:
        wrong.append(self._run.__self__)


init, wrong = _graph._Program.__init__, []
_graph.Graph._load, _graph._Program.__call__ = _load, _run
_graph._Program.__init__ = _init
'''
COMPILE = '''
import torch
import wrong_relu
import torch._dynamo.config as config

config.repro_after, config.repro_level, config.debug_dir_root = "dynamo", 4, "debug"
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.ReLU(),
                          torch.nn.Linear(4, 4), torch.nn.Sigmoid()).eval()
with torch.no_grad():
    torch.compile(net, backend="taper")(torch.randn(3, 4))
'''


@reference.needs("torch")
class Minifier(unittest.TestCase):
    def run_python(self, folder, *words):
        paths = [folder, *(path for path in sys.path if path)]
        return subprocess.run([sys.executable, "-W", "ignore", *words], cwd=folder, text=True,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
                              capture_output=True)

    def test_finds_the_operator(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("wrong_relu.py", WRONG), ("compile.py", COMPILE)):
                with open(os.path.join(folder, name), "w") as file:
                    file.write(text)
            done = self.run_python(folder, "compile.py")
            self.assertIn("minifier_launcher.py", done.stdout + done.stderr)
            launcher, = glob.glob(os.path.join(folder, "debug", "*", "minifier", "*.py"))
            with open(launcher) as file:
                text = file.read()
            with open(launcher, "w") as file:
                file.write("import wrong_relu\n" + text)
            done = self.run_python(folder, launcher)
            with open(os.path.join(folder, "repro.py")) as file:
                found = file.read()
        self.assertIn("relu", found, done.stderr)
        for gone in ("sigmoid", "tanh"):
            self.assertNotIn(gone, found)


if __name__ == "__main__":
    unittest.main()
