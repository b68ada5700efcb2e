"""One peer with one model in a process of its own.

    worker.py PEER FILE INPUTS.npz THREADS

Loads, runs once and prints a line of JSON about that; then runs as often as each line of its input
says and prints a line of JSON about those runs. PEERS_START holds the time.monotonic() at which
whoever asked started this process.
"""

import json
import os
import sys
import time

import numpy as np


def memory_kb(what):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(what))


def import_runtime(peer):
    """What the peer imports before it sees a model is not the model's."""
    peer.version()
    if peer.name in ("executorch", "pytorch"):
        import torch  # noqa: F401
    if peer.name == "executorch":
        from executorch.extension.pybindings import portable_lib  # noqa: F401
    if peer.name == "litert":
        from ai_edge_litert import interpreter  # noqa: F401


def main():
    name, path, inputs, threads = sys.argv[1:]
    import peers

    peer = peers.PEERS[name]
    import_runtime(peer)
    with np.load(inputs) as stored:
        arrays = [np.ascontiguousarray(stored[key]) for key in stored.files]
    before = memory_kb("VmRSS")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # The peak counts from here.
    start = time.perf_counter()
    run = peer.load(path, int(threads))
    run(arrays)
    first = time.perf_counter() - start
    process = time.monotonic() - float(os.environ["PEERS_START"])
    report = {"first_s": first, "process_s": process, "rss_kb": memory_kb("VmHWM") - before,
              "version": peer.version()}  # fmt: skip
    print("PEER", json.dumps(report), flush=True)
    for line in sys.stdin:
        walls, cpu = [], time.process_time()
        for _ in range(int(line)):
            start = time.perf_counter()
            run(arrays)
            walls.append(time.perf_counter() - start)
        cpu = (time.process_time() - cpu) / max(1, len(walls))
        print("PEER", json.dumps({"wall_s": walls, "cpu_s": cpu}), flush=True)


if __name__ == "__main__":
    main()
