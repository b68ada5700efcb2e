"""Runs one peer with one model in a process of its own.

    worker.py PEER FILE INPUTS.npz EXPECTED.npy THREADS [CACHE]

Loads, runs once and prints a line of JSON with the figures. Each line on stdin is then a number of
runs, for which it prints another line of JSON. CACHE is a folder in which the peer may keep what
makes it load faster. The environment variable PEERS_START is the time.monotonic() at which the
parent started this process.
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
    """Imports the peer's modules, so that their cost is not attributed to the model."""
    peer.version()
    if peer.name in ("executorch", "pytorch"):
        import torch  # noqa: F401
    if peer.name == "executorch":
        from executorch.extension.pybindings import portable_lib  # noqa: F401
    if peer.name == "litert":
        from ai_edge_litert import interpreter  # noqa: F401


def main():
    name, path, inputs, expected, threads, *cache = sys.argv[1:]
    import peers

    peer = peers.PEERS[name]
    import_runtime(peer)
    with np.load(inputs) as stored:
        arrays = [np.ascontiguousarray(stored[key]) for key in stored.files]
    before = memory_kb("VmRSS")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # Resets the peak.
    start = time.perf_counter()
    run = peer.load(path, int(threads), *cache)
    outputs = run(arrays)
    first = time.perf_counter() - start
    process = time.monotonic() - float(os.environ["PEERS_START"])
    report = {"first_s": first, "process_s": process, "rss_kb": memory_kb("VmHWM") - before,
              "version": peer.version(),
              "difference": peers.difference(outputs, np.load(expected))}  # fmt: skip
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
