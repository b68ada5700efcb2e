"""Runs the notebooks of docs/notebooks as Jupyter would: a namespace and a folder for each, and the
last expression of a cell is shown."""

import ast
import contextlib
import io
import json
import os
import tempfile
import unittest

import reference

FOLDER = os.path.join(reference.ROOT, "docs", "notebooks")


def show(value):
    if value is not None:
        assert isinstance(getattr(value, "_repr_html_", value.__repr__)(), str)


def run(cell, name, names):
    tree = ast.parse(cell, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)
    if last is not None:
        show(eval(compile(ast.Expression(last.value), name, "eval"), names))


@reference.needs("torch")
@reference.needs("sklearn")
class Notebooks(unittest.TestCase):
    def check(self, file):
        with open(os.path.join(FOLDER, file), encoding="utf-8") as text:
            notebook = json.load(text)
        names = {"__name__": "__main__"}
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            os.chdir(folder)
            try:
                for number, cell in enumerate(notebook["cells"]):
                    if cell["cell_type"] != "code":
                        continue
                    self.assertEqual(cell["outputs"], [], "outputs are not kept in the tree")
                    run("".join(cell["source"]), f"{file}, cell {number}", names)
            finally:
                os.chdir(before)

    def test_all_run(self):
        files = sorted(each for each in os.listdir(FOLDER) if each.endswith(".ipynb"))
        self.assertGreaterEqual(len(files), 3)
        for file in files:
            with self.subTest(file=file):
                self.check(file)


if __name__ == "__main__":
    unittest.main()
