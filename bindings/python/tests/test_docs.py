"""Every block of Python in docs/python.md and in the README runs as it stands there."""

import contextlib
import io
import os
import re
import tempfile
import unittest
import warnings

import reference
import taper


def blocks_of(*path):
    with open(os.path.join(reference.ROOT, *path), encoding="utf-8") as file:
        return re.findall(r"^```python\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)


def has_torchvision():
    try:
        import torchvision  # noqa: F401
    except (ImportError, RuntimeError):  # Wheels from the registry want CUDA's libraries.
        return False
    return True


@reference.needs("torch")
class Blocks(unittest.TestCase):
    def setUp(self):
        import torch
        torch._dynamo.reset()
        torch.manual_seed(0)
        self.torch = torch
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        stack.callback(os.chdir, os.getcwd())
        os.chdir(folder)
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        nn = torch.nn
        self.net = nn.Sequential(nn.Conv2d(3, 4, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                                 nn.Flatten(), nn.Linear(4, 5))

    def run_blocks(self, blocks, names, expected):
        """Runs them one after the other; `expected` are texts of blocks and of their errors."""
        for number, block in enumerate(blocks):
            error = next((error for text, error in expected.items() if text in block), None)
            with self.subTest(block=number):
                if "torchvision" in block and not has_torchvision():
                    self.skipTest("torchvision's operators cannot be loaded")
                code = compile(block, f"block {number}", "exec")
                if error is None:
                    exec(code, names)
                else:
                    with self.assertRaisesRegex(taper.Error, error):
                        exec(code, names)

    def test_the_readme(self):
        blocks = blocks_of("README.md")
        self.assertGreaterEqual(len(blocks), 2)
        x = self.torch.randn(1, 3, 224, 224)
        self.run_blocks(blocks, {"torch": self.torch, "model": self.net, "x": x}, {})

    def test_the_page(self):
        torch, net = self.torch, self.net
        x = torch.randn(1, 3, 16, 16)
        exported = torch.export.export(net.eval(), (x,))

        class Encoder(torch.nn.Module):
            def forward(self, ids, mask):
                return ids * mask

        ids = torch.arange(6).reshape(2, 3)
        encoder = torch.export.export(Encoder(), (ids, ids > 2))
        taper.export({"forward": exported, "encode": encoder}).save("model.pte")
        names = {"taper": taper, "torch": torch, "net": net, "x": x, "ids": ids, "mask": ids > 2,
                 "exported": exported, "samples": torch.randn(8, 3, 16, 16),
                 "target": torch.tensor([3]),
                 "optimizer": torch.optim.SGD(net.parameters(), lr=0.1)}
        blocks = blocks_of("docs", "python.md")
        self.assertGreaterEqual(len(blocks), 8)
        self.run_blocks(blocks, names, {"libtaper_aten.so": "libtaper_aten.so"})
        self.assertIsInstance(names["outputs"], list)


if __name__ == "__main__":
    unittest.main()
