"""Compiles public architectures with torch.compile(backend="taper") and compares with eager mode.

    python test/torch_compile/architectures.py [--count 100] [--only 'timm/*'] [--gradients]
"""

import argparse
import collections
import copy
import os
import sys
import tempfile
import time
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "zoo"))
LIMIT = 1e-4  # Of the largest number, or this multiple of PyTorch's own error in float32.
ROUNDINGS = 3
CALLS = 3


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=100, help="how many, spread evenly")
    parser.add_argument("--only", default="*", help="patterns over names, comma-separated")
    parser.add_argument("--seconds", type=int, default=300, help="time limit of each")
    parser.add_argument("--gradients", action="store_true", help="also compare gradients")
    parser.set_defaults(quick=False)
    return parser.parse_args()


def spread(entries, count):
    """At most so many of them, evenly."""
    count = min(count, len(entries))
    return [entries[k * len(entries) // count] for k in range(count)]


def outcome(module, call, args, kwargs, gradients):
    """The output tensors, and the gradients of the weights if they are wanted."""
    import make
    import torch
    torch.manual_seed(1)
    if not gradients:
        with torch.no_grad():
            return make.tensors(call(*copy.deepcopy(args), **copy.deepcopy(kwargs)))
    module.zero_grad()
    outputs = make.tensors(call(*copy.deepcopy(args), **copy.deepcopy(kwargs)))
    floats = [each for each in outputs if each.requires_grad]
    sum((each * each).mean() for each in floats).backward()
    return [each.detach() for each in outputs] + [
        each.grad for each in module.parameters() if each.grad is not None]


def compare(entry, gradients):
    """Runs one architecture; raises what is wrong with it."""
    import make
    import torch
    from watch import Watch
    module, args, kwargs = make.prepared(entry)
    module.requires_grad_(gradients)
    other = copy.deepcopy(module)
    torch._dynamo.reset()
    with Watch() as watch:
        fast = torch.compile(other, backend=watch.backend)
        for _ in range(CALLS):
            wanted = outcome(module, module, args, kwargs, gradients)
            begin = time.monotonic()
            given = outcome(other, fast, args, kwargs, gradients)
            seconds = time.monotonic() - begin
            try:
                check(module, args, kwargs, given, wanted, gradients)
            except RuntimeError:  # Some models compute something else when TorchDynamo traces them.
                traced = torch.compile(copy.deepcopy(module), backend="eager")
                wanted = outcome(traced, traced, args, kwargs, gradients)
                check(module, args, kwargs, given, wanted, gradients)
    return {"result": watch.result(), "graphs": watch.graphs, "programs": watch.programs,
            "reasons": watch.reasons, "seconds": seconds}


def check(module, args, kwargs, given, wanted, gradients):
    import make
    for one, other in zip(given, wanted, strict=True):
        if one.dtype != other.dtype or one.shape != other.shape:
            raise RuntimeError(f"{one.dtype} {tuple(one.shape)} for {other.dtype} "
                               f"{tuple(other.shape)}")
    worst = make.difference(given, wanted)
    if worst <= LIMIT:
        return
    wide = copy.deepcopy(module).double()
    widened = [make.pytree.tree_map(
        lambda t: t.double() if hasattr(t, "is_floating_point") and t.is_floating_point() else t,
        each) for each in (args, kwargs)]
    rounding = make.difference(wanted, outcome(wide, wide, *widened, gradients))
    if not worst <= ROUNDINGS * rounding:
        raise RuntimeError(f"differs by {worst:.2e}, float32 itself by {rounding:.2e}")


def main():
    options = parse()
    warnings.filterwarnings("ignore")
    import torch
    import zoo
    torch.set_num_threads(1)
    torch._dynamo.config.allow_rnn = True  # Else it leaves nn.LSTM and nn.GRU to PyTorch.
    zoo.warm_up(torch, False)
    torch.compile(torch.nn.Linear(2, 2), backend="taper")(torch.ones(1, 2)).sum().backward()
    counts, began = collections.Counter(), time.monotonic()
    entries = spread(list(zoo.chosen(options)), options.count)
    with tempfile.TemporaryDirectory() as folder:
        for entry in entries:
            begin = time.monotonic()
            row = zoo.in_child(os.path.join(folder, "row.json"), compare,
                               (entry, options.gradients), options.seconds)
            result = "failed" if "error" in row else row["result"]
            counts[result] += 1
            detail = row.get("error") or f"{row['graphs']} graphs, {row['programs']} programs"
            print(f"{entry.name:44} {result}: {detail} ({time.monotonic() - begin:.0f} s)",
                  *row.get("reasons", ()), sep="\n    ", flush=True)
    print(f"{len(entries)} architectures in {time.monotonic() - began:.0f} s:",
          ", ".join(f"{count} {name}" for name, count in counts.most_common()))
    return 1 if counts["failed"] or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
