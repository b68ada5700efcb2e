"""What a call from Python costs: microseconds of one whose program adds two tensors of four floats.

    PYTHONPATH=SITE python test/bench/python_calls.py       # the package is in SITE, or installed

Times are of the processor, the least of several rounds. "execute" is the instruction alone. NumPy's
and PyTorch's own addition stand beside it, for they tell how fast the machine is at such work.
"""

import time

import numpy
import taper
import torch

ROUNDS, CALLS = 25, 10000


def least(call, *args):
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.process_time()
        for _ in range(CALLS):
            call(*args)
        best = min(best, time.process_time() - begin)
    return best / CALLS * 1e6


class Add(torch.nn.Module):
    def forward(self, x, y):
        return x + y


def main():
    x = torch.ones(4)
    exported = torch.export.export(Add(), (x, x))
    for title, options in (("planned", {}), ("io=application", {"io": "application"})):
        program = taper.export(exported, **options)
        model = program.load(threads=1)
        execute = taper.profile(program, x, x, runs=2000).median_s * 1e6
        print(f"{title}: execute {execute:.2f}", end="")
        kinds = {"NumPy": x.numpy(), "PyTorch": x, "buffers": memoryview(x.numpy())}
        for kind, tensor in kinds.items():
            print(f", {kind} {least(model.forward, tensor, tensor):.2f}", end="")
        print()
    print(f"their own addition: NumPy {least(numpy.add, x.numpy(), x.numpy()):.2f}, "
          f"PyTorch {least(torch.add, x, x):.2f}")


if __name__ == "__main__":
    main()
