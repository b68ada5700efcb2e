"""Exported programs of many cases, and extraction of one case from the saved archive.

torch.export takes far longer than everything else here, so one module makes many calls. If Taper
refuses the module, the calls are separated by editing the archive's JSON, without another export.
"""

import io
import json
import zipfile

import torch
from torch.utils import _pytree as pytree


class Calls(torch.nn.Module):
    def __init__(self, info, cases):
        super().__init__()
        self.info, self.cases = info, cases

    def forward(self, *tensors):
        results, at = [], 0
        for case in self.cases:
            end = at + len(case.tensors)
            results.extend(self.case_results(case, tensors[at:end]))
            at = end
        return results

    def case_results(self, case, tensors):
        results = case.call(self.info, tensors)
        if len(results) != len(case.expected):
            raise RuntimeError("the export returns a different number of tensors")
        return results


def export(info, cases):
    """Returns the archive as {entry: bytes}, and the program. Raises what torch.export raises."""
    tensors = tuple(t.clone() for case in cases for t in case.tensors)
    with torch.no_grad():
        program = torch.export.export(Calls(info, cases), tensors, strict=False)
    stream = io.BytesIO()
    torch.export.save(program, stream)
    with zipfile.ZipFile(stream) as archive:
        entries = {n: archive.read(n) for n in archive.namelist() if "sample_inputs" not in n}
    return entries, program


def write(path, entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)


def names_in(value, out):
    """Adds the names of the values that an argument in the JSON refers to; returns `out`."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("name", "as_name") and isinstance(item, str):
                out.add(item)
            elif key != "graph":
                names_in(item, out)
    elif isinstance(value, list):
        for item in value:
            names_in(item, out)
    return out


def reads(node):
    return names_in([i["arg"] for i in node["inputs"]], set())


def live_nodes(nodes, live):
    """The nodes that the values in `live` depend on, including writes to and checks of them."""
    kept = set()
    while True:
        before = len(kept)
        for i in reversed(range(len(nodes))):
            node = nodes[i]
            writes = node["target"].rsplit(".", 1)[0].endswith("_") or not node["outputs"]
            made = names_in(node["outputs"], set())
            if i in kept or not (made & live or (writes and reads(node) & live)):
                continue
            kept.add(i)
            live |= reads(node) | made
        if len(kept) == before:
            return [nodes[i] for i in sorted(kept)]


def cut(entries, first_input, inputs, first_output, outputs):
    """The archive of a part: `inputs` inputs starting at `first_input`, and outputs likewise."""
    name = next(n for n in entries if n.endswith("model.json"))
    model = json.loads(entries[name])
    module = model["graph_module"]
    graph, signature = module["graph"], module["signature"]
    # The inputs before the user inputs are constants.
    constants = len(graph["inputs"]) - sum("user_input" in s for s in signature["input_specs"])
    wanted = slice(constants + first_input, constants + first_input + inputs)
    graph["outputs"] = graph["outputs"][first_output:first_output + outputs]
    signature["output_specs"] = signature["output_specs"][first_output:first_output + outputs]
    graph["inputs"] = graph["inputs"][:constants] + graph["inputs"][wanted]
    signature["input_specs"] = signature["input_specs"][:constants] + signature["input_specs"][wanted]
    live = names_in(graph["outputs"], set()) | names_in(graph["inputs"][constants:], set())
    graph["nodes"] = live_nodes(graph["nodes"], live)
    for call in module["module_call_graph"]:
        if call["fqn"] == "" and call.get("signature"):
            leaves = tuple(range(inputs))
            call["signature"]["in_spec"] = pytree.treespec_dumps(pytree.tree_structure((leaves, {})))
            call["signature"]["out_spec"] = pytree.treespec_dumps(
                pytree.tree_structure(list(range(outputs))))
    return {**entries, name: json.dumps(model).encode()}
