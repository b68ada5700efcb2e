"""Shrinks a program to the smallest one that fails in the same way."""

import re

import torch

from random_program import Input, Program


def target_of(line):
    found = re.match(r"(v\d+) = ", line)
    return found.group(1) if found else None


def uses(text, name):
    return re.search(rf"\b{name}\b", text) is not None


def without_unused_inputs(program):
    text = program.source().split("\n", 1)[1]
    kept = [x for x in program.inputs if uses(text, x.name)]
    return Program(kept or program.inputs[:1], program.lines, program.outputs)


def without_line(program, k):
    """The program without line k; the variable that it defined becomes an input if it is used."""
    target = target_of(program.lines[k])
    lines = program.lines[:k] + program.lines[k + 1 :]
    inputs = list(program.inputs)
    if target is not None:
        rest = "\n".join(program.lines[k + 1 :]) + " " + " ".join(program.outputs)
        if uses(rest, target):
            values = []
            for environment in range(program.environments):
                value = program.values_before(k + 1, environment)[target]
                values.append(value.detach().clone().contiguous())
            dims = names_of(program, values)
            if dims is None:
                return None
            inputs.append(Input(target, values, dims))
    return without_unused_inputs(Program(inputs, lines, program.outputs))


def names_of(program, values):
    """Names of a new input's dynamic dimensions; None if they are not those of another input."""
    known = {}
    for x in program.inputs:
        for d, name in enumerate(x.dims):
            if name:
                known[tuple(v.shape[d] for v in x.values)] = name
    dims = []
    for sizes in zip(*(v.shape for v in values)):
        if len(set(sizes)) == 1:
            dims.append(None)
        elif sizes in known:
            dims.append(known[sizes])
        else:
            return None
    return dims


def static(program):
    inputs = [Input(x.name, x.values[:1], [None] * len(x.dims)) for x in program.inputs]
    return Program(inputs, program.lines, program.outputs)


def candidates(program):
    if len(program.outputs) > 1:
        for name in program.outputs:
            yield Program(program.inputs, program.lines, [name])
    if program.environments > 1:
        yield static(program)
    for k in reversed(range(len(program.lines))):
        target = target_of(program.lines[k])
        if target in program.outputs and len(program.outputs) == 1:
            continue
        yield without_line(program, k)


def shrink(program, verdict, check, most):
    """Tries at most `most` smaller programs; `check` returns the verdict of a program."""
    improved = True
    while improved and most > 0:
        improved = False
        for smaller in candidates(program):
            if smaller is None or most <= 0:
                continue
            most -= 1
            try:
                with torch.no_grad():
                    same = check(smaller).kind == verdict.kind
            except Exception:  # A candidate may be invalid.
                same = False
            if same:
                program, improved = smaller, True
                break
    return program
