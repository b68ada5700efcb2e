"""How inputs and outputs were nested in Python, in the text that programs keep of it.

``T2#1#2($,L2#1#1($,$))`` is a tuple of a leaf and a list of two leaves: a letter for the kind (T, L
or D), the number of items, the leaves in each, and the items; a dict has ``key:`` before each.
"""

LEAF = "$"


def parse(text):
    """The structure as nested (kind, keys, items) or LEAF; None if it is not known."""
    try:
        structure, end = _parse(text, 0)
    except (IndexError, ValueError):
        return None
    return structure if end == len(text) else None


def _parse(text, at):
    if text[at] == LEAF:
        return LEAF, at + 1
    kind = text[at]
    if kind not in "TLD":
        raise ValueError(text)
    start = text.index("(", at)
    count = int(text[at + 1:start].split("#")[0])
    at = start + 1
    keys, items = [], []
    for i in range(count):
        if i > 0:
            at = _skip(text, at, ",")
        if kind == "D":
            key, at = _key(text, at)
            keys.append(key)
        item, at = _parse(text, at)
        items.append(item)
    return (kind, tuple(keys), tuple(items)), _skip(text, at, ")")


def _skip(text, at, what):
    if text[at] != what:
        raise ValueError(text)
    return at + 1


def _key(text, at):
    if text[at] == '"':
        end = text.index('":', at + 1)
        return text[at + 1:end], end + 2
    end = text.index(":", at)
    return int(text[at:end]), end + 1


def count(structure):
    """The number of leaves."""
    return 1 if structure == LEAF else sum(count(item) for item in structure[2])


def build(structure, leaves):
    """Nests values taken from the iterator `leaves`."""
    if structure == LEAF:
        return next(leaves)
    kind, keys, items = structure
    values = [build(item, leaves) for item in items]
    if kind == "D":
        return dict(zip(keys, values))
    return tuple(values) if kind == "T" else values


def flatten(structure, value, to, place):
    """Appends the leaves of `value` to the list `to`. Raises TypeError if it is nested otherwise."""
    if structure == LEAF:
        to.append(value)
        return
    kind, keys, items = structure
    if kind == "D":
        if not isinstance(value, dict) or set(value) != set(keys):
            raise TypeError(f"{place}: expected a dict with the keys {list(keys)}, given "
                            + (f"the keys {list(value)}" if isinstance(value, dict)
                               else type(value).__name__))
        values = [value[key] for key in keys]
        names = [f"{place}[{key!r}]" for key in keys]
    else:
        if not isinstance(value, (tuple, list)) or len(value) != len(items):
            raise TypeError(f"{place}: expected {len(items)} values, given "
                            + (str(len(value)) if isinstance(value, (tuple, list))
                               else type(value).__name__))
        values = value
        names = [f"{place}[{i}]" for i in range(len(items))]
    for item, each, name in zip(items, values, names):
        flatten(item, each, to, name)
