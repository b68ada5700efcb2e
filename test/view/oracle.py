"""What a model holds, read without Taper: from the JSON of a .pt2, and from a .pte by flatc."""

import json
import pathlib
import re
import subprocess
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def exported_program(path):
    with zipfile.ZipFile(path) as archive:
        name = next(
            n
            for n in archive.namelist()
            if n.endswith(("models/model.json", "exported_program.json"))
        )
        return json.loads(archive.read(name))


def nodes_of(graph):
    """Those of a graph and of the bodies of its control flow."""
    for node in graph["nodes"]:
        yield node
        yield from nodes_within([value["arg"] for value in node["inputs"]])


def nodes_within(tree):
    if isinstance(tree, list):
        for item in tree:
            yield from nodes_within(item)
    elif isinstance(tree, dict):
        for key, item in tree.items():
            if key == "as_graph":
                yield from nodes_of(item["graph"])
            else:
                yield from nodes_within(item)


EIGHT_BIT_FLOATS = range(29, 34)  # Their numbers as dtypes.


def concerns_eight_bits(node, float8):
    """Whether it is read as something else, since a graph holds 8-bit floats as bytes: it casts to
    them, says that a tensor is one, or takes a tensor from an object that holds its bytes."""
    states = [i["arg"].get("as_scalar_type") for i in node["inputs"] if i["name"] == "dtype"]
    is_cast = node["target"].split(".")[3:4] in (["to"], ["_to_copy"])
    results = {value["as_tensor"]["name"] for value in node["outputs"] if "as_tensor" in value}
    return (
        ("_assert_tensor_metadata" in node["target"] and set(states) & set(EIGHT_BIT_FLOATS))
        or (is_cast and results & float8)
        or "access_subclass_inner_tensor" in node["target"]
    )


def exported_nodes(path):
    graph = exported_program(path)["graph_module"]["graph"]
    values = graph["tensor_values"].items()
    float8 = {name for name, meta in values if meta["dtype"] in EIGHT_BIT_FLOATS}
    return [node for node in nodes_of(graph) if not concerns_eight_bits(node, float8)]


def is_made(operator):
    """Whether it may stand in a graph without a node in the file: it reads the numbers of a weight
    that the file has as bytes."""
    return operator.startswith(("taper::", "torchao::dequantize_"))


def operator_of(node):
    """torch.ops.aten.add.Tensor -> aten::add.Tensor, torch.ops.aten.relu.default -> aten::relu"""
    target = node["target"]
    if target == "torch.ops.higher_order.with_effects":  # Its second argument says which.
        target = node["inputs"][1]["arg"]["as_operator"]
    if not target.startswith("torch.ops."):
        if target.startswith(("_operator.", "math.", "builtins.", "torch.sym_", "torch._sym_")):
            target = target.split(".", 1)[1]
        return "python::" + target
    words = target.removeprefix("torch.ops.").split(".")
    overload = "" if len(words) < 3 or words[2] == "default" else "." + words[2]
    return f"{words[0]}::{words[1]}{overload}"


def programs(path):
    """The operators and delegates that each method of a .pte calls, in order, by its name."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [
                "flatc",
                "--json",
                "--strict-json",
                "--raw-binary",
                "-o",
                folder,
                ROOT / "schema/program.fbs",
                "--",
                path,
            ],
            check=True,
        )
        text = (pathlib.Path(folder) / (pathlib.Path(path).stem + ".json")).read_text(
            errors="replace"
        )
    text = re.sub(
        r"(?<=: )(-?)(inf|nan)\b", lambda m: m[1] + ("Infinity" if m[2] == "inf" else "NaN"), text
    )
    found = {}
    for plan in json.loads(text)["execution_plan"]:
        steps = plan["chains"][0].get("instructions", [])
        found[plan["name"]] = [instruction(step, plan) for step in steps]
    return found


def instruction(step, plan):
    args = step.get("instr_args", {})
    kind = step["instr_args_type"]
    if kind == "KernelCall":
        operator = plan["operators"][args.get("op_index", 0)]
        return operator["name"] + ("." + operator["overload"] if operator.get("overload") else "")
    if kind == "DelegateCall":
        return plan["delegates"][args.get("delegate_index", 0)]["id"]
    return {"MoveCall": "(move)", "JumpFalseCall": "(jump if false)", "FreeCall": "(free)"}[kind]
