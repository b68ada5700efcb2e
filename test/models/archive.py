"""Removes machine-dependent data from a .pt2, and repacks it into the forms of older releases.

PyTorch's own archive writer is used, so the container is as torch.export.save writes it.
"""

import io
import json
import os
import re
import sys
import tempfile
import zipfile

import torch

FRAME = re.compile(r'File "([^"]*)", line (\d+), in [^\n]*(?:\n    [^\n]*)?')
KEPT_METADATA = ("stack_trace", "nn_module_stack")
OLD_PROGRAM = "serialized_exported_program.json"  # in the zip of PyTorch 2.6 and 2.7


def read_members(path):
    """The members of an archive without its root folder and the container's own files."""
    with zipfile.ZipFile(path) as zf:
        names = zf.namelist()
        root = names[0].split("/")[0] + "/"
        members = {n[len(root) :]: zf.read(n) for n in names}
    return {n: b for n, b in members.items() if not n.startswith(".data/") and n != "byteorder"}


def write_archive(path, members):
    writer = torch._C.PyTorchFileWriter(path)
    writer.set_min_version(6)
    for name, data in members.items():
        writer.write_record(name, data, len(data))
    writer.write_end_of_file()


def read_old_zip(path):
    with zipfile.ZipFile(path) as zf:
        return {name: zf.read(name) for name in zf.namelist()}


def write_old_zip(path, members, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as zf:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)  # has a fixed date
            info.compress_type = method
            zf.writestr(info, data)


def own_frames(trace, folders, name):
    """Keeps the stack frames in files of `folders`, and replaces the folder by `name`."""
    frames = []
    for match in FRAME.finditer(trace):
        for folder in folders:
            if match.group(1).startswith(folder):
                frames.append(match.group(0).replace(folder, name))
                break
    return "\n  ".join(frames)


def neutral_nodes(value, folders, name):
    """Walks JSON; in each node's metadata keeps only own stack frames and the module path."""
    if isinstance(value, list):
        for item in value:
            neutral_nodes(item, folders, name)
        return
    if not isinstance(value, dict):
        return
    if "target" in value and "metadata" in value:
        kept = {k: v for k, v in value["metadata"].items() if k in KEPT_METADATA}
        if "stack_trace" in kept:
            kept["stack_trace"] = own_frames(kept["stack_trace"], folders, name)
        value["metadata"] = {k: v for k, v in kept.items() if v}
    for item in value.values():
        neutral_nodes(item, folders, name)


def neutral(path, folders, called="test/models/"):
    """Rewrites the archive at `path` in place; fails if a path of this machine is left in it."""
    if OLD_PROGRAM in zipfile.ZipFile(path).namelist():
        members = read_old_zip(path)
        members[OLD_PROGRAM] = neutral_program(members[OLD_PROGRAM], folders, called)
        write_old_zip(path, members)
    else:
        members = read_members(path)
        for name in [n for n in members if n.startswith("models/")]:
            members[name] = neutral_program(members[name], folders, called)
        write_archive(path, members)
    check_neutral(path)


def neutral_program(text, folders, called):
    program = json.loads(text)
    neutral_nodes(program, folders, called)
    return json.dumps(program).encode()


def check_neutral(path):
    """Fails if an archive contains a path of this machine."""
    with open(path, "rb") as file:
        data = file.read()
    words = {os.getcwd(), os.path.expanduser("~"), sys.prefix, tempfile.gettempdir()}
    words |= {'File \\"/', "site-packages", "dist-packages"}
    for word in (w.encode() for w in words if len(w) > 1):
        if word in data:
            at = data.index(word)
            raise SystemExit(f"{path}: contains a path: {data[max(0, at - 40):at + 60]!r}")


def saved(value):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


def tensors(ep):
    """(state dict, constants), divided as by the exporter."""
    return dict(ep.state_dict), dict(ep.constants)


def to_pickled(path, out):
    """Writes the form of PyTorch 2.8: a PT2 archive with pickled weights and pickled constants."""
    state, constants = tensors(torch.export.load(path))
    members = {"data/weights/model.pt": saved(state), "data/constants/model.pt": saved(constants)}
    for name, data in read_members(path).items():
        if not name.startswith(("data/weights/", "data/constants/")):
            members[name] = data
    program = json.loads(members["models/model.json"])
    program["schema_version"] = {"major": 8, "minor": 8}
    program["torch_version"] = "2.8.0+cpu"
    members["models/model.json"] = json.dumps(program).encode()
    write_archive(out, members)
    check_neutral(out)


def older_json(program):
    """Removes what schema 8.2 did not have yet."""
    program["schema_version"] = {"major": 8, "minor": 2}
    program["torch_version"] = "2.6.0+cpu"
    program.pop("guards_code", None)
    program["graph_module"].pop("treespec_namedtuple_fields", None)
    drop_newer_node_fields(program)
    text = json.dumps(program)
    for word in ("Infinity", "-Infinity", "NaN"):
        text = text.replace(f'"as_float": "{word}"', f'"as_float": {word}')
    return text.encode()


def drop_newer_node_fields(value):
    if isinstance(value, list):
        for item in value:
            drop_newer_node_fields(item)
    elif isinstance(value, dict):
        if "target" in value and "inputs" in value:
            value.pop("name", None)
            value.pop("is_hop_single_tensor_return", None)
            for argument in value["inputs"]:
                argument.pop("kind", None)
        if "sizes" in value and "storage_offset" in value:
            value["storage_offset"] = {"as_int": 0}
        for item in value.values():
            drop_newer_node_fields(item)


def to_old_zip(path, out, method=zipfile.ZIP_STORED):
    """Writes the form of PyTorch 2.6 and 2.7: a plain zip with the program and three pickles."""
    state, constants = tensors(torch.export.load(path))
    members = read_members(path)
    files = {
        OLD_PROGRAM: older_json(json.loads(members["models/model.json"])),
        "serialized_state_dict.pt": saved(state),
        "serialized_constants.pt": saved(constants),
        "serialized_example_inputs.pt": members["data/sample_inputs/model.pt"],
        "version": b"8.2",
    }
    write_old_zip(out, files, method)
    check_neutral(out)
