"""--format model-explorer: read into the classes of Model Explorer's own package, which refuse
other fields; every edge leads from a node to a node."""

import dataclasses
import importlib.util
import json
import sys
import types
import typing

import hard_models


def require(holds, what):
    if not holds:
        raise AssertionError(what)


def classes(path):
    """The package's data classes, without the server that the package imports."""
    spec = importlib.util.spec_from_file_location("graph_builder", path)
    module = sys.modules["graph_builder"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(kind, tree):
    """The tree as that type. Raises TypeError for a field that the type lacks, or a wrong value."""
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        for each in typing.get_args(kind):
            try:
                return made(each, tree)
            except TypeError:
                pass
        raise TypeError(f"{tree!r} is not {kind}")
    if origin is list:
        return [made(typing.get_args(kind)[0], item) for item in tree]
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return kind(**{key: made(hints.get(key, type(None)), item) for key, item in tree.items()})
    if not isinstance(tree, kind):
        raise TypeError(f"{tree!r} is not {kind}")
    return tree


def check(tools, module, *arguments):
    path = tools.work / "graphs.json"
    tools.call("view", *arguments, "--format", "model-explorer", "-o", path)
    collection = json.loads(path.read_text())
    require(set(collection) == {"label", "graphs"}, f"the file has {set(collection)}")
    graphs = [made(module.Graph, graph) for graph in collection["graphs"]]
    require(len({graph.id for graph in graphs}) == len(graphs) > 0, "graphs share an id")
    for graph in graphs:
        ids = {node.id: len(node.outputsMetadata) for node in graph.nodes}
        require(len(ids) == len(graph.nodes), f"{graph.id}: nodes share an id")
        for node in graph.nodes:
            for edge in node.incomingEdges:
                outputs = ids.get(edge.sourceNodeId)
                require(outputs is not None, f"{graph.id}: no node {edge.sourceNodeId}")
                require(
                    int(edge.sourceNodeOutputId) < outputs,
                    f"{graph.id}: {edge.sourceNodeId} has fewer outputs",
                )
            require(node.label != "", f"{graph.id}: a node without a label")
    return graphs


def run(tools):
    if tools.options.model_explorer is None:
        return "not run without --model-explorer"
    module = classes(tools.options.model_explorer)
    count = 0
    for model, backend in tools.all_models():
        try:
            count += len(check(tools, module, model, "--backend", backend))
            count += len(check(tools, module, tools.export(model, backend, "--debug-info")))
        except (AssertionError, TypeError) as error:
            raise AssertionError(f"{model.name}, {backend}: {error}") from None
    hostile = tools.work / "hostile.pt2"
    hard_models.hostile(tools.models / "bert_mini.pt2", hostile)
    count += len(check(tools, module, hostile))
    return f"{count} graphs"
