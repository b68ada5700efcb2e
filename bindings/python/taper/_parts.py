"""Runs a graph by parts: what Taper compiles, and between it what stays with PyTorch.

The graph is functional: no operator writes, so parts need only what they read. Every node gets a
number that is not below those of its inputs: even for nodes of eager mode, odd for Taper's. Nodes
of one number are a part, and parts run in the order of their numbers. Random operators and those
that have effects stay with PyTorch and in their order.

A part of fewer than four operators, views not counted, stays in eager mode: handing it over takes
as long as running it. Arithmetic on sizes is repeated in each part that needs it.
"""

import operator

import torch
from torch import fx

from taper._kinds import DTYPE_NUMBERS
from taper._refusals import Refused, say

_FEWEST_OPERATORS = 4
_ASKS_FOR_SIZES = {torch.ops.aten.sym_size.int, torch.ops.aten.sym_stride.int,
                   torch.ops.aten.sym_numel.default, torch.ops.aten.sym_storage_offset.default}
_SCALARS = (torch.SymInt, torch.SymFloat, torch.SymBool, int, float, bool)
_DTYPES = {getattr(torch, name) for name in DTYPE_NUMBERS if not name.startswith("complex")}


def is_random(node):
    if torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
        return False
    given = dict(zip((each.name for each in node.target._schema.arguments), node.args))
    for each in node.target._schema.arguments:
        value = node.kwargs.get(each.name, given.get(each.name, each.default_value))
        if each.name in ("train", "training", "dropout_p") and value is not None and not value:
            return False  # Such as dropout in evaluation.
    return True


def random_nodes(graph_module):
    return {node for node in graph_module.graph.nodes if is_random(node)}


def nodes_named(graph_module, names):
    """The nodes of these names; for one inside a branch or a loop, the node that runs it."""
    found = {node for node in graph_module.graph.nodes if node.name in names}
    for node in graph_module.graph.nodes:
        if node.op != "get_attr":
            continue
        inner = getattr(graph_module, str(node.target), None)
        if isinstance(inner, fx.GraphModule) and nodes_named(inner, names):
            found.update(node.users)
    for node in [each for each in found if each.op == "placeholder"]:
        found.update(user for user in node.users if user.op != "output")
    return {node for node in found if node.op.startswith("call")}


def _is_free(node):
    """Whether every part may repeat the node: an attribute, or arithmetic on sizes."""
    if node.op == "get_attr":
        return True
    if node.op != "call_function" or not isinstance(node.meta.get("val"), _SCALARS):
        return False
    return node.target in _ASKS_FOR_SIZES or not isinstance(node.target, torch._ops.OpOverload)


def _has_effects(node):
    return node.is_impure() or node.target is torch.ops.higher_order.with_effects


def has_outputs(graph):
    return bool(next(node for node in graph.nodes if node.op == "output").args[0])


def _is_item(node):
    return node.target is operator.getitem


def _is_counted(node):
    return not (_is_item(node) or getattr(node.target, "is_view", False))


def _crosses(value):
    """Whether a value can be handed from a part to another."""
    return isinstance(value, _SCALARS) or (
        isinstance(value, torch.Tensor) and value.dtype in _DTYPES
        and value.layout == torch.strided and value.device.type == "cpu")


def names_of(nodes):
    """The nodes as a text, with the operator for what only picks one of its results."""
    whole = {node.args[0] if _is_item(node) else node for node in nodes}
    return ", ".join(sorted(node.name for node in whole))


class Parts:
    """A functional graph, cut at the nodes that Taper does not take.

    make: called with the graph and the example inputs of each part for Taper; returns what runs it.
    late: nodes that are not in the first part.
    """

    def __init__(self, graph_module, unsupported, make, late=frozenset()):
        graph_module.graph.eliminate_dead_code()
        self._late = late
        self._owner, graph = graph_module, graph_module.graph
        self._nodes = [node for node in graph.nodes
                       if node.op not in ("placeholder", "output") and not _is_free(node)]
        _check_strides(self._nodes)
        output = next(node for node in graph.nodes if node.op == "output")
        self.inputs = [node for node in graph.nodes if node.op == "placeholder"]
        self.outputs = list(output.args[0])
        levels = self._levels_of({node for node in self._nodes if _has_effects(node)} | unsupported)
        groups = {}
        for node in self._nodes:
            groups.setdefault(levels[node], []).append(node)
        self._steps = [self._step(nodes, level % 2 and make)
                       for level, nodes in sorted(groups.items())]
        tail = [node for node in output.all_input_nodes if _is_free(node)]
        if tail:
            self._steps.append(self._step(tail, None))
        self._find_the_dead()

    def _levels_of(self, eager):
        """The number of each node's part, when small parts have become eager."""
        while True:
            self._hold_together(eager)
            levels = self._levels(eager)
            sizes = {}
            for node in self._nodes:
                sizes[levels[node]] = sizes.get(levels[node], 0) + _is_counted(node)
            small = {level for level, size in sizes.items()
                     if level % 2 and size < _FEWEST_OPERATORS}
            if not small or len(sizes) == 1:
                return levels
            eager |= {node for node in self._nodes if levels[node] in small}

    def _levels(self, eager):
        levels, last = {}, 0
        for node in self._owner.graph.nodes:
            level = max((levels[each] for each in node.all_input_nodes), default=0)
            if node.op in ("placeholder", "output") or _is_free(node):
                levels[node] = level
                continue
            if node in self._late:
                level = max(level, 2)
            if level % 2 != (node not in eager):
                level += 1
            if _has_effects(node) or is_random(node):
                level = last = max(level, last)
            levels[node] = level
        return levels

    def _hold_together(self, eager):
        """Makes nodes eager until no value crosses a border that cannot."""
        held = [node for node in self._owner.graph.nodes
                if node.op != "output" and not _is_free(node)
                and not _crosses(node.meta.get("val"))]
        before = -1
        while before != len(eager):
            before = len(eager)
            for node in held:
                around = [node, *node.users]
                calls = {each for each in around if each.op.startswith("call")} - eager
                is_inside = all(each.op.startswith("call") for each in around)
                if calls and not is_inside and isinstance(node.meta.get("val"), torch.Tensor):
                    say(f"{names_of(calls)} of a graph runs",
                        f"a tensor of {node.meta['val'].dtype} cannot be handed over")
                if not is_inside or not eager.isdisjoint(around):
                    eager |= calls

    def _step(self, nodes, make):
        inside = set(nodes)
        wanted = [node for node in nodes if any(
            user not in inside and not (_is_free(user) and self._only_inside(user, inside))
            for user in node.users)]
        module, takes = _part(self._owner, nodes, wanted)
        if not make:
            return [module.forward, takes, wanted, ()]
        run = make(module, [node.meta.get("val") for node in takes])
        orders = [_order(node.meta.get("val")) for node in wanted]
        return [_Ordered(run, orders) if any(orders) else run, takes, wanted, ()]

    def _only_inside(self, node, inside):
        return all(user in inside or (_is_free(user) and self._only_inside(user, inside))
                   for user in node.users)

    def _find_the_dead(self):
        """Notes behind each step which values nobody reads afterwards."""
        needed = {each for each in self.outputs if isinstance(each, fx.Node)}
        for step in reversed(self._steps):
            step[3] = [node for node in dict.fromkeys(step[1] + step[2]) if node not in needed]
            needed.update(step[1])

    def __call__(self, *args):
        return self.run(list(args))

    def run(self, args):
        """The outputs; the list of inputs is emptied, so that they live no longer than needed."""
        at = dict(zip(self.inputs, args))
        args.clear()
        for run, takes, gives, dead in self._steps:
            at.update(zip(gives, run(*[at[node] for node in takes])))
            for node in dead:
                del at[node]
        return [at[each] if isinstance(each, fx.Node) else each for each in self.outputs]


def halves(graph_module, make):
    """The graph in two parts of about the same size; None if it is too small for that."""
    nodes = [node for node in graph_module.graph.nodes
             if node.op.startswith("call") and not _is_free(node)]
    counted = sum(map(_is_counted, nodes))
    if counted < 2 * _FEWEST_OPERATORS:
        return None
    position = {node: at for at, node in enumerate(nodes)}
    bound = [0] * (len(nodes) + 1)  # At each border, how many values would cross that cannot.
    for node in nodes:
        if not _crosses(node.meta.get("val")):
            last = max((position[user] for user in node.users if user in position),
                       default=position[node])
            for border in range(position[node] + 1, last + 1):
                bound[border] += 1
    free = [border for border in range(1, len(nodes)) if not bound[border]]
    if not free:
        return None
    middle = min(free, key=lambda border: abs(border - len(nodes) // 2))
    return Parts(graph_module, set(), make, late=set(nodes[middle:]))


def _part(owner, nodes, wanted):
    """A graph module of these nodes that gives the wanted ones, and the nodes that it takes."""
    takes, inside, free = {}, set(nodes), {}

    def look_at(node):
        for each in node.all_input_nodes:
            if each in inside or each in free or each in takes:
                continue
            if _is_free(each):
                look_at(each)
                free[each] = None
            else:
                takes[each] = None

    graph, copies = fx.Graph(), {}
    for node in nodes:
        look_at(node)
    for node in takes:
        copies[node] = graph.placeholder(node.name)
        copies[node].meta = dict(node.meta)
    for node in [each for each in owner.graph.nodes if each in free or each in inside]:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    graph.output(tuple(copies[node] for node in wanted))
    return fx.GraphModule(owner, graph), list(takes)


def _order(value):
    """The dims by falling strides, as the graph was traced; None if they lie in order."""
    if not isinstance(value, torch.Tensor):
        return None
    strides = [getattr(each.node, "hint", None) if isinstance(each, torch.SymInt) else each
               for each in value.stride()]
    if None in strides:
        return None
    order = sorted(range(len(strides)), key=lambda d: -strides[d])
    return order if order != sorted(order) else None


class _Ordered:
    """Lays Taper's results, which are contiguous, in the order of dims of the traced ones: views
    of them rely on that."""

    def __init__(self, run, orders):
        self._run, self._orders = run, orders

    def __call__(self, *args):
        return [value if order is None else _laid(value, order)
                for value, order in zip(self._run(*args), self._orders)]


def _laid(value, order):
    inverse = sorted(range(len(order)), key=order.__getitem__)
    return value.permute(order).contiguous().permute(inverse)


def _check_strides(nodes):
    """Refuses operators that see how an intermediate result lies, which parts do not keep."""
    for node in nodes:
        if "as_strided" not in str(node.target):
            continue
        source = node.args[0]
        if source.op != "placeholder" and not source.meta["val"].is_contiguous():
            raise Refused(f"{node.name} depends on the strides of an intermediate result")
