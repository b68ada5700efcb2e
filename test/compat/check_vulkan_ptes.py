"""Reads the Vulkan payloads of a .pte with ExecuTorch's own classes, and holds them against its
registry of operators: names, the number and kinds of arguments, dtypes, how tensors are stored.

    python test/compat/check_vulkan_ptes.py a.pte...

Its wheel has no Vulkan runtime, so what reads the payloads is its schema and its registry.
"""

import importlib.resources
import json
import os
import re
import sys
import tempfile

import torch
from executorch.backends.vulkan import serialization
from executorch.backends.vulkan import utils
from executorch.backends.vulkan.op_registry import vulkan_supported_ops
from executorch.backends.vulkan.serialization import vulkan_graph_schema as schema
from executorch.backends.vulkan.serialization.vulkan_graph_serialize import VulkanDelegateHeader
from executorch.exir._serialize._dataclass import _json_to_dataclass
from executorch.exir._serialize._flatbuffer import _flatc_decompile
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.exir.schema import DataLocation

DTYPES = {
    schema.VkDataType.FLOAT32: torch.float32,
    schema.VkDataType.INT32: torch.int32,
    schema.VkDataType.BOOL: torch.bool,
}
# The classes that an argument of a schema's type may have, beside Null.
KINDS = {
    "Tensor": (schema.VkTensor,),
    "int": (schema.Int, schema.SymInt, schema.Double),
    "float": (schema.Double, schema.Int),
    "bool": (schema.Bool, schema.Int),
    "str": (schema.String,),
    "number": (schema.Int, schema.Double, schema.Bool),
    "List[int]": (schema.IntList, schema.ValueList, schema.Int),
    "List[Tensor]": (schema.ValueList,),
    "List[float]": (schema.DoubleList, schema.IntList),
}


def operators():
    """The registry by the names that payloads have."""
    found = {}
    for op, features in vulkan_supported_ops.items():
        if not isinstance(op, str):
            found[op.__name__] = (op, features)
    return found


def payloads(path):
    with open(path, "rb") as file:
        pte = deserialize_pte_binary(file.read())
    program = getattr(pte, "program", pte)
    for plan in program.execution_plan:
        for delegate in plan.delegates:
            if delegate.id != "VulkanBackend":
                continue
            assert delegate.processed.location == DataLocation.INLINE
            yield program.backend_delegate_data[delegate.processed.index].data


def graph_of(flatbuffer):
    """What flatbuffer_to_vk_graph() returns, which does not read infinities."""
    with tempfile.TemporaryDirectory() as folder:
        fbs, binary = os.path.join(folder, "schema.fbs"), os.path.join(folder, "schema.bin")
        with open(fbs, "wb") as file:
            file.write(importlib.resources.files(serialization).joinpath("schema.fbs").read_bytes())
        with open(binary, "wb") as file:
            file.write(flatbuffer)
        _flatc_decompile(folder, fbs, binary, ["--raw-binary"])
        with open(os.path.join(folder, "schema.json")) as file:
            text = re.sub(r": (-?)inf\b", r": \1Infinity", file.read())
        return _json_to_dataclass(json.loads(text), schema.VkGraph)


def kind_of(argument):
    """The type without Optional: "List[int]"."""
    text = str(argument.type)
    while text.startswith("Optional["):
        text = text[len("Optional[") : -1]
    return text


class Checker:
    def __init__(self, graph):
        self.graph, self.operators, self.problems = graph, operators(), []

    def value(self, number):
        return self.graph.values[number].value

    def check(self):
        for call in self.graph.chain:
            wrong = self.check_call(call)
            if wrong:
                self.problems.append(f"{call.name}: {wrong}")
        for value in self.graph.values:
            if isinstance(value.value, schema.VkTensor):
                self.check_tensor(value.value)
        return self.problems

    def check_tensor(self, tensor):
        if tensor.datatype not in DTYPES or tensor.staging_datatype != tensor.datatype:
            self.problems.append(f"a tensor is of {tensor.datatype}, {tensor.staging_datatype}")
        is_default = tensor.storage_type == schema.VkStorageType.DEFAULT_STORAGE
        if is_default != (tensor.constant_id >= 0):
            self.problems.append("a tensor does not say how it is stored, or a constant does")

    def check_call(self, call):
        if call.name in ("add", "sub", "mul", "floordiv"):
            return None if len(call.args) == 3 else "it has not two arguments"
        if call.name == "et_vk.prepack.default":
            return None if self.value(call.args[0]).constant_id >= 0 else "it stores no constant"
        if call.name not in self.operators:
            return "it is not in the registry"
        op, features = self.operators[call.name]
        arguments = op._schema.arguments
        if len(call.args) != len(arguments) + 1:
            return f"{len(call.args) - 1} arguments for {len(arguments)}"
        for i, argument in enumerate(arguments):
            wrong = self.check_argument(argument, i, call.args[i], features)
            if wrong:
                return f"argument {i}, {argument.name}: {wrong}"
        return None

    def check_argument(self, argument, i, number, features):
        value = self.value(number)
        if isinstance(value, schema.Null):
            return None
        known = KINDS.get(kind_of(argument))
        if known and not isinstance(value, known):
            return f"{type(value).__name__} for {argument.type}"
        if isinstance(value, schema.VkTensor):
            return self.check_storage(value, i, features)
        return None

    def check_storage(self, tensor, i, features):
        allowed = features.inputs_dtypes[i]
        if allowed and DTYPES[tensor.datatype] not in allowed:
            return f"it is of {tensor.datatype}"
        if tensor.constant_id >= 0:
            return None if features.supports_prepacking else "a constant is not stored before"
        storages = features.inputs_storage[i]
        if features.pick_io_storage_fn is not None or storages.is_empty():
            return None  # That depends on the node, which is not there.
        is_buffer = tensor.storage_type == schema.VkStorageType.BUFFER
        layouts = storages.valid_buffer_layouts if is_buffer else storages.valid_texture_layouts
        if tensor.memory_layout not in layouts:
            return f"it is stored as {tensor.storage_type}, {tensor.memory_layout}"
        extents = utils.required_image_extents(tensor.dims, tensor.memory_layout)
        fits = len(tensor.dims) <= 4 and utils.extents_are_valid(
            extents, utils.DEFAULT_TEXTURE_LIMITS
        )
        return None if is_buffer or fits else "it does not fit into a texture"


def problems_of(path):
    """Returns what is wrong with the payloads of a program, and how many payloads it has."""
    problems, count = [], 0
    for payload in payloads(path):
        count += 1
        size = VulkanDelegateHeader.EXPECTED_LENGTH
        header = VulkanDelegateHeader.from_bytes(payload[:size])
        if not header.is_valid():
            problems.append("the header is not valid")
            continue
        end = header.flatbuffer_offset + header.flatbuffer_size
        problems += Checker(graph_of(payload[header.flatbuffer_offset : end])).check()
    return problems, count


def main():
    bad = 0
    for path in sys.argv[1:]:
        problems, count = problems_of(path)
        print(f"{path}: {count} payloads, {len(problems)} problems")
        for problem in sorted(set(problems)):
            print("  " + problem)
        bad += len(problems)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
