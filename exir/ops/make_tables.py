#!/usr/bin/env python3
"""Writes aten_schemas.def and out_variants.def; run once for each supported PyTorch version.

usage: make_tables.py REFERENCE OUT      (needs PyTorch)

REFERENCE is a folder with aten_schemas.txt (schema lines, each followed by an indented line of
flags), cia_ops.csv (names of composite operators), ops_portable.csv and ops_quantized.csv (the out
variants of ExecuTorch's kernel libraries).

In-place twins, *_copy twins of views, and out variants that these files lack come from PyTorch's
operator registry. Operators in neither are in other_ops.def, which is written by hand.
"""

import collections
import csv
import os
import re
import sys

import torch

KEPT_FLAGS = ("core", "view", "inplace", "composite", "random")
FACTORY = {"dtype", "layout", "device", "pin_memory"}
TARGET = re.compile(r"[^(]+")


def normalise(text):
    """Replaces types that this compiler does not distinguish, and the names of reductions."""
    text = text.replace("SymInt", "int").replace("SymFloat", "float").replace("SymBool", "bool")
    text = re.sub(r"=Mean\b", "=1", text)
    return text if "::" in text.split("(")[0] else "aten::" + text


def target_of(text):
    return TARGET.match(text).group(0)


def read_reference(path):
    schemas, flags, last = {}, {}, None
    for line in open(path):
        if line.startswith("    #") and last:
            words = line.strip(" #\n").split("=>")[0].split("2.6:")[0].split()
            flags[last] = {w for w in words if w in KEPT_FLAGS}
        elif line.strip() and not line.startswith("#") and not line.startswith(" "):
            text = normalise(line.strip())
            last = target_of(text)
            schemas[last], flags[last] = text, set()
    return schemas, flags


def registry():
    """All aten schemas of PyTorch by target, as (schema object, text)."""
    found = {}
    for schema in torch._C._jit_get_all_schemas():
        if not schema.name.startswith("aten::") or "Dimname" in str(schema):
            continue
        target = schema.name + ("." + schema.overload_name if schema.overload_name else "")
        try:
            if torch._C._dispatch_has_kernel(target):
                found[target] = (schema, normalise(str(schema)))
        except RuntimeError:
            continue
    return found


def is_composite(target):
    return torch._C._dispatch_has_kernel_for_dispatch_key(target, "CompositeImplicitAutograd")


# Operators that exported programs name and that no reference table lists.
MORE = re.compile(r"aten::(__i?(and|or|xor|lshift|rshift)__|fill|copy|zero|uniform_?|normal_?|random_?|"
                  r"normal_functional|exponential_?|bernoulli_|transpose_|lift|signbit|sgn|"
                  r"heaviside|copysign|xlogy|clamp_min|clamp_max|std_mean|count_nonzero|"
                  r"unsafe_split_with_sizes|nextafter|fmax|fmin|logaddexp2?)(\.|$)")


def add_more(schemas, flags, known, path):
    """Adds the composite operators that the file names, and the operators that MORE matches."""
    wanted = {"aten::" + row["op"] for row in csv.DictReader(open(path))}
    for target, (schema, text) in known.items():
        if target in schemas or any(a.is_out for a in schema.arguments):
            continue
        if target not in wanted and not MORE.match(target):
            continue
        infos = [r.alias_info for r in schema.returns if r.alias_info]
        written = any(a.alias_info and a.alias_info.is_write for a in schema.arguments)
        schemas[target], flags[target] = text, set()
        if written:
            flags[target].add("inplace")
        elif infos:
            flags[target].add("view")
        if is_composite(target):
            flags[target].add("composite")
        if MORE.match(target) and re.search("uniform|normal|random|exponential|bernoulli", target):
            flags[target].add("random")


def add_twins(schemas, flags, known):
    """Adds the in-place and *_copy twins of every operator in the table."""
    for target in list(schemas):
        if not target.startswith("aten::"):
            continue
        name, _, overload = target.partition(".")
        twins = [name + "_"] + ([name + "_copy"] if "view" in flags[target] else [])
        for twin in twins:
            full = twin + ("." + overload if overload else "")
            if full in known and full not in schemas and not name.endswith("_"):
                schemas[full] = known[full][1]
                flags[full] = {"inplace"} if twin.endswith("_") else set()
                if is_composite(full):
                    flags[full].add("composite")
                if "random" in flags[target]:
                    flags[full].add("random")


def mark_copies(schemas, flags):
    """Marks each *_copy operator whose view is in the Core ATen set as being in it, too."""
    for target in schemas:
        view = re.sub(r"_copy(?=$|\.)", "", target)
        if view != target and flags.get(view, set()) >= {"core", "view"}:
            flags[target].add("core")


def signature(schema):
    return [(a.name, str(a.type)) for a in schema.arguments if not a.is_out]


def find_out_variants(schemas, flags, known):
    """Maps functional targets to the schemas of the overloads with equal arguments and outs."""
    by_base = collections.defaultdict(list)
    for target, (schema, text) in known.items():
        if any(a.is_out for a in schema.arguments):
            by_base[schema.name].append((target, schema, text))
    pairs = {}
    for target in schemas:
        if target not in known or "inplace" in flags[target]:
            continue
        schema = known[target][0]
        wanted = signature(schema)
        without = [a for a in wanted if a[0] not in FACTORY]
        options = by_base[schema.name]
        for shape in (wanted, without):
            match = [o for o in options if signature(o[1]) == shape]
            if match:
                pairs[target] = match[0][2]
                break
    return pairs


def read_library(path, pairs):
    """Prefers out variants for which ExecuTorch has a kernel to PyTorch's choice."""
    extra = {}
    for row in csv.DictReader(open(path)):
        text = normalise(row["out_variant_schema"])
        if "(a!)" not in text and "!)" not in text:
            continue
        functional = row.get("functional_op")
        if functional:
            pairs["aten::" + functional] = text
        else:
            extra[target_of(text)] = text
    return extra


def write(path, title, rows):
    with open(path, "w") as out:
        out.write("// %s\n// Written by make_tables.py; sorted. Do not edit.\n\n" % title)
        out.write("\n".join(rows) + "\n")


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def main(reference, out):
    schemas, flags = read_reference(os.path.join(reference, "aten_schemas.txt"))
    known = registry()
    add_more(schemas, flags, known, os.path.join(reference, "cia_ops.csv"))
    add_twins(schemas, flags, known)
    pairs = find_out_variants(schemas, flags, known)
    extra = read_library(os.path.join(reference, "ops_portable.csv"), pairs)
    extra.update(read_library(os.path.join(reference, "ops_quantized.csv"), {}))
    for functional in pairs:
        if functional not in schemas and functional in known:
            schemas[functional], flags[functional] = known[functional][1], set()
    mark_copies(schemas, flags)
    rows = []
    for target in sorted(schemas):
        words = [f for f in KEPT_FLAGS if f in flags[target]]
        rows.append("TAPER_SCHEMA(%s, %s)" % (quoted(schemas[target]), quoted(" ".join(words))))
    write(os.path.join(out, "aten_schemas.def"),
          "TAPER_SCHEMA(schema, flags): operators that a program may name.", rows)
    rows = ["TAPER_OUT(%s, %s)" % (quoted(f), quoted(pairs[f])) for f in sorted(pairs)]
    write(os.path.join(out, "out_variants.def"),
          "TAPER_OUT(functional operator, schema of the out variant that computes it).", rows)
    for target in sorted(set(extra) - {target_of(t) for t in pairs.values()} - set(schemas)):
        print("for other_ops.def:", extra[target])


if __name__ == "__main__":
    main(*sys.argv[1:])
