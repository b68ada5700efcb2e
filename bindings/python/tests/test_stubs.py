"""What type checkers are told is what the package has: names, parameters, and which are named."""

import ast
import importlib
import inspect
import os
import unittest

import taper


def stub_of(module):
    """The statements of the .pyi beside a module's .py."""
    path = os.path.splitext(module.__file__)[0] + ".pyi"
    with open(path, encoding="utf-8") as file:
        return ast.parse(file.read()).body


def named(body):
    return {each.name: each for each in body if isinstance(each, (ast.ClassDef, ast.FunctionDef))}


def parameters(function):
    """Those of a stub: positional, by name alone, and whether there are *args and **kwargs."""
    args = function.args
    return ([each.arg for each in args.posonlyargs + args.args],
            [each.arg for each in args.kwonlyargs], bool(args.vararg), bool(args.kwarg))


def real_parameters(function):
    found = inspect.signature(function).parameters.values()
    return ([each.name for each in found if each.kind in (each.POSITIONAL_ONLY,
                                                          each.POSITIONAL_OR_KEYWORD)],
            [each.name for each in found if each.kind is each.KEYWORD_ONLY],
            any(each.kind is each.VAR_POSITIONAL for each in found),
            any(each.kind is each.VAR_KEYWORD for each in found))


class Stubs(unittest.TestCase):
    def check_function(self, name, stub, real):
        if inspect.isfunction(real):  # Those of the compiled half do not tell.
            self.assertEqual(parameters(stub), real_parameters(real), name)
        self.assertTrue(stub.returns is not None, name)

    def check_class(self, name, stub, real):
        told = named(stub.body)
        for member, each in told.items():
            if member == "__buffer__":  # Only Python 3.12 shows it.
                continue
            self.assertTrue(hasattr(real, member), f"{name}.{member}")
            self.check_function(f"{name}.{member}", each, inspect.getattr_static(real, member))
        known = set(told) | {target.id for each in stub.body
                             if isinstance(each, (ast.Assign, ast.AnnAssign))
                             for target in getattr(each, "targets", None) or [each.target]}
        has = {member for member in vars(real) if not member.startswith("_")}
        self.assertLessEqual(has, known, name)

    def test_names_and_parameters(self):
        for module in (taper, importlib.import_module("taper.executorch")):
            told = named(stub_of(module))
            functions = {name for name in module.__all__ if not name.startswith("__")}
            self.assertEqual({name for name in told if not name.startswith("_")}, functions)
            for name in functions:
                with self.subTest(module=module.__name__, name=name):
                    check = self.check_class if inspect.isclass(getattr(module, name)) \
                        else self.check_function
                    check(name, told[name], getattr(module, name))


if __name__ == "__main__":
    unittest.main()
