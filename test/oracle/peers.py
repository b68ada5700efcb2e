"""Runs the same cases in ExecuTorch, with its lowering, its portable kernels and its runtime.

measure() draws a sample of the cases that Taper ran. Each is exported separately in a worker
process, which may crash, and judged like Taper's results.
"""

import collections
import functools
import logging
import multiprocessing
import os
import random
import threading
import warnings

import torch

import archive
import opinfo
import samples

SECONDS = 120  # time limit per case


def measure(results, classes, count, per_dtype, jobs):
    """Prints one line of rates for `count` of the core cases that PyTorch exports."""
    known = [r for r in results if r.verdict != opinfo.UNEXPORTED
             and classes.get(r.operator) == "core"]
    chosen = random.Random(0).sample(known, min(count, len(known)))
    todo, verdicts = collections.deque(chosen), []

    def drive():
        peer = Peer()
        while todo:
            r = todo.popleft()
            verdicts.append((r, *peer.ask((r.operator, r.dtype, r.index, per_dtype))))
        peer.stop()

    threads = [threading.Thread(target=drive) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report("ExecuTorch", [verdict for _, verdict, _ in verdicts])
    report("Taper", [r.verdict for r in chosen])
    return verdicts


def report(name, verdicts):
    counts = collections.Counter(verdicts)
    print(f"{name}: {counts[opinfo.OK]} of a sample of {len(verdicts)} core cases, "
          f"{100 * counts[opinfo.OK] / max(len(verdicts), 1):.1f} %; "
          f"{counts[opinfo.REFUSED]} refused, {counts[opinfo.WRONG]} wrong")


class Peer:
    """A process that runs one case after another; it is replaced if it dies."""

    def __init__(self):
        self.process = None

    def start(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()

    def ask(self, question):
        """Returns (verdict, text)."""
        if self.process is None:
            self.start()
        try:
            self.pipe.send(question)
            if self.pipe.poll(SECONDS):
                return self.pipe.recv()
            self.stop()
            return opinfo.WRONG, "timed out"
        except (EOFError, OSError):
            self.stop()
            return opinfo.WRONG, "died"

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


# ---- In the worker process ----


def serve(pipe):
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    torch.set_num_threads(1)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    while True:
        try:
            question = pipe.recv()
        except EOFError:
            return
        pipe.send(answer(*question))


@functools.lru_cache(maxsize=4)
def drawn(operator, dtype, count):
    return samples.draw(operator, all_operators()[operator], dtype, count)


@functools.lru_cache(maxsize=1)
def all_operators():
    return samples.operators()


def answer(operator, dtype, index, count):
    info = all_operators()[operator]
    case = next(c for c in drawn(operator, dtype, count) if c.index == index)
    try:
        outputs = run(archive.export(info, [case])[1], case)
    except BaseException as error:  # Also a panic in native dependencies.
        return opinfo.REFUSED, f"{type(error).__name__}: {error}"[:300]
    problem = opinfo.compare(info, case, outputs)
    return (opinfo.WRONG, problem) if problem else (opinfo.OK, "")


def run(program, case):
    from executorch.exir import EdgeCompileConfig, to_edge
    from executorch.runtime import Runtime, Verification

    with torch.no_grad():
        edge = to_edge(program, compile_config=EdgeCompileConfig(_check_ir_validity=False))
        buffer = edge.to_executorch().buffer
    loaded = Runtime.get().load_program(buffer, verification=Verification.Minimal)
    outputs = loaded.load_method("forward").execute([t.clone() for t in case.tensors])
    return [t.clone() for t in outputs if isinstance(t, torch.Tensor)]
