"""Measures several models at a time, each in a process with cores of its own."""

import concurrent.futures
import multiprocessing
import os


def take_cores(shares):
    os.sched_setaffinity(0, shares.get())


def side_by_side(jobs, measure, tasks):
    """Yields measure(*task) for each task, in their order; every process has as many cores."""
    context = multiprocessing.get_context("fork")
    cores, shares = sorted(os.sched_getaffinity(0)), context.Queue()
    each = len(cores) // jobs
    for i in range(jobs):
        shares.put(cores[i * each : (i + 1) * each])
    with concurrent.futures.ProcessPoolExecutor(
        jobs, mp_context=context, initializer=take_cores, initargs=(shares,)
    ) as pool:
        for done in [pool.submit(measure, *task) for task in tasks]:
            yield done.result()
