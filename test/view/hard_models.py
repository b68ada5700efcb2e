"""Exported programs that no PyTorch wrote, made from a committed one: names that are hostile, and
thousands of nodes.

    hostile("bert_mini.pt2", "hostile.pt2")
    large("add.pt2", "large.pt2", 5000)
"""

import copy
import json
import zipfile

MARKUP = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"
HOSTILE = [
    MARKUP,
    "\"quoted\" 'single' \\back\\",
    "\u0000\u0001\t\n\r\u001b[31m\u007f",
    "\u2028\u2029\ufeff",
    "\u202eright to left\u202c",
    "${alert(1)} {{7*7}} %s %n",
    "--> <!-- <![CDATA[ ]]>",
    "\U0001f525" * 40,
    "long " * 20000,
    "__proto__",
    "constructor",
    "a/b/../../c",
    "",
]


def rewrite(source, target, change):
    """Copies an archive; change(graph module's program, weights) edits its JSON."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        model = next(n for n in old.namelist() if n.endswith("models/model.json"))
        weights = next(n for n in old.namelist() if n.endswith("model_weights_config.json"))
        texts = {name: json.loads(old.read(name)) for name in (model, weights)}
        change(texts[model], texts[weights])
        for entry in old.infolist():
            data = json.dumps(texts[entry.filename]) if entry.filename in texts else old.read(entry)
            new.writestr(entry.filename, data)


def renamed(tree, names):
    """The tree with the names of values and tensors replaced, but for names of arguments."""
    if isinstance(tree, list):
        return [renamed(item, names) for item in tree]
    if not isinstance(tree, dict):
        return names.get(tree, tree) if isinstance(tree, str) else tree
    is_argument = "arg" in tree and "name" in tree
    return {
        names.get(key, key): item if is_argument and key == "name" else renamed(item, names)
        for key, item in tree.items()
    }


def hostile(source, target):
    """Renames every value, tensor, module and line. Returns the new names of values by the old."""
    names = {}

    def change(program, weights):
        graph = program["graph_module"]["graph"]
        known = set(graph["tensor_values"]) | set(weights["config"])
        for i, name in enumerate(sorted(known)):
            text = HOSTILE[i % len(HOSTILE)]
            # A NUL ends the name of a tensor in a .pte.
            names[name] = (text.replace("\0", "") if name in weights["config"] else text) + str(i)
        graph_module = renamed(program["graph_module"], names)
        for i, node in enumerate(graph_module["graph"]["nodes"]):
            text = HOSTILE[i % len(HOSTILE)]
            node["metadata"][
                "stack_trace"
            ] = f'File "{text}", line {i}, in {MARKUP}\n    {text}{MARKUP}'
            stack = node["metadata"].get("nn_module_stack", "")
            node["metadata"]["nn_module_stack"] = stack + f";L__self___x,{text},{text}"
        program["graph_module"] = graph_module
        weights["config"] = {names.get(key, key): item for key, item in weights["config"].items()}

    rewrite(source, target, change)
    return names


def large(source, target, count):
    """The program with `count` additions in nested modules in place of its addition."""

    def change(program, _):
        graph = program["graph_module"]["graph"]
        at = next(
            i
            for i, node in enumerate(graph["nodes"])
            if node["target"] == "torch.ops.aten.add.Tensor"
        )
        first = graph["nodes"][at]
        result = first["outputs"][0]["as_tensor"]["name"]
        values = [value["arg"]["as_tensor"]["name"] for value in first["inputs"]]
        nodes = []
        for i in range(count):
            node = copy.deepcopy(first)
            name = result if i == count - 1 else f"sum_{i}"
            layer, block = i // 100, i // 10 % 10
            stack = [
                "L__self__,,Net",
                f"l,layers.{layer},Layer",
                f"b,layers.{layer}.blocks.{block},Block",
            ]
            node["metadata"] = {
                "nn_module_stack": ";".join(stack),
                "stack_trace": f'File "net.py", line {i % 40 + 1}, in forward\n    x = x + y',
            }
            for value, other in zip(
                node["inputs"], (values[-1], values[max(-len(values), -2 - i % 5)])
            ):
                value["arg"]["as_tensor"]["name"] = other
            node["outputs"][0]["as_tensor"]["name"] = name
            node["name"] = name
            graph["tensor_values"][name] = graph["tensor_values"][result]
            values.append(name)
            nodes.append(node)
        graph["nodes"][at : at + 1] = nodes

    rewrite(source, target, change)
