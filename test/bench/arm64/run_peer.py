"""Runs inferences of a peer with one thread, in Python for 64-bit ARM under qemu.

    run_peer.py PEER FILE RUNS OUTPUT INPUTS.npz

The peers are those of test/bench/peers, which has to be on PYTHONPATH. The numbers of the first
output are written to OUTPUT.
"""

import sys

import numpy as np
import peers


def main():
    name, path, runs, output, inputs = sys.argv[1:]
    with np.load(inputs) as stored:
        arrays = [np.ascontiguousarray(stored[key]) for key in stored.files]
    run = peers.PEERS[name].load(path, 1)
    for _ in range(int(runs)):
        outputs = run(arrays)
    peers.first_of(outputs).tofile(output)


if __name__ == "__main__":
    main()
