"""Exchanges traces and test cases with ExecuTorch's developer tools.

    python test/compat/devtools.py --build build/release [--only mobilenet_v2]

- inspector: its Inspector reads what `taper profile --etdump` writes. Rows and times must be those of
  `taper profile --json`, and names those of nodes of the exported graph; joined by an ETRecord, events
  have the operators and source lines of these nodes.
- runner: the Inspector reads what `executor_runner --etdump_path` writes.
- theirs: `taper profile` reads traces of ExecuTorch's runtime, with the Inspector's names and times.
- bundle: ExecuTorch runs what `taper bundle` writes, finds its values in it, and refuses wrong outputs.
- their-bundle: `taper verify` and `executor_runner` run ExecuTorch's bundled programs.

Needs the environment of scripts/venv.sh. Exits with 1 on a failure.
"""

import argparse
import json
import os
import subprocess
import sys
import warnings

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
MODELS = "dynamic_batch mobilenet_v2 resnet18 vit_tiny bert_mini llama cond_twice int8_convnet unet"
THEIRS = "dynamic_batch mobilenet_v2 bert_mini"
RUNS = 5


class Failed(Exception):
    pass


def require(holds, what):
    if not holds:
        raise Failed(what)


def call(*command, code=0):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    require(done.returncode == code, f"exit {done.returncode}: {' '.join(command)}: {done.stderr}")
    return done.stdout


def close(a, b, slack=2e-9):
    """Whether two times are equal, but for rounding to nanoseconds at both ends."""
    return abs(a - b) <= slack + 1e-6 * abs(b)


class Tools:
    def __init__(self, options):
        self.options = options
        self.taper = os.path.join(options.build, "bin/taper")
        self.runner = os.path.join(options.build, "bin/executor_runner")

    def path(self, name):
        return os.path.join(self.options.work, name)

    def model(self, stem):
        return os.path.join(self.options.models, stem + ".pt2")

    def export(self, stem, backend, *more):
        pte = self.path(f"{stem}_{backend}{len(more)}.pte")
        call(self.taper, "export", self.model(stem), "-o", pte, "--backend", backend, *more)
        return pte


def inspect(etdump, record=None):
    """The Inspector's events of executions; there must be one block of them."""
    from executorch.devtools import Inspector

    blocks = Inspector(etdump_path=etdump, etrecord=record).event_blocks
    runs = [block for block in blocks if block.name == "Execute"]
    require(len(runs) == 1, f"{len(runs)} blocks of executions: runs do not look the same")
    hidden = ("Method::execute", "OPERATOR_CALL")
    return [event for event in runs[0].events if event.name not in hidden], runs[0]


def check_joined(tools, stem, etdump):
    """Events that are named after nodes get their operators and source lines."""
    import make_etrecord
    import torch

    record, unknown = make_etrecord.make(tools.model(stem), etdump)
    nodes = {n.name: n for n in torch.export.load(tools.model(stem)).graph.nodes}
    named = joined = 0
    for event in inspect(etdump, record)[0]:
        name = event.delegate_debug_identifier or event.name
        node = nodes.get(name) or nodes.get(name.rsplit(" #", 1)[0])
        if node is None:
            require(name in unknown or event.name == "DELEGATE_CALL", f"{name} is not a node")
            require(not event.is_delegated_op, f"{name} is a step of a delegate, but not a node")
            continue
        named += 1
        operator = str(node.target).split(".", 1)[1]  # The Inspector leaves the namespace out.
        require(operator in event.op_types, f"{name}: {event.op_types}, not {operator}")
        joined += node.meta.get("stack_trace") in event.stack_traces.values()
    require(named > 0 and joined == named, f"{joined} of {named} events have their source line")
    return named, len(unknown)


def check_inspector(tools, stem, backend):
    pte = tools.export(stem, backend, "--debug-info")
    etdump = pte.replace(".pte", ".etdp")
    text = call(tools.taper, "profile", pte, "--runs", str(RUNS), "--etdump", etdump, "--json")
    rows = json.loads(text)["rows"]
    events, block = inspect(etdump)
    require(len(events) == len(rows), f"{len(events)} events, {len(rows)} rows")
    for event, row in zip(events, rows):
        require(len(event.perf_data.raw) == RUNS, f"{event.name}: not all runs are there")
        name = event.delegate_debug_identifier or event.name
        ours = row["node"] if row["is_step"] or name != "DELEGATE_CALL" else name
        if ours != row["op"] or row["is_step"]:
            require(name == ours or name.rsplit(" #", 1)[0] == ours, f"{name}, not {ours}")
        if row["calls"] == 1:
            p50 = event.perf_data.p50 / 1e3  # The Inspector prints milliseconds.
            require(close(p50, row["median_s"]), f"{name}: {p50} s, not {row['median_s']} s")
        require(event.is_delegated_op == row["is_step"], f"{name}: delegated?")
    named, unknown = check_joined(tools, stem, etdump)
    call(tools.taper, "profile", etdump)
    return f"{len(events)} events, {named} named after nodes, {unknown} not"


def check_runner(tools, stem, backend):
    pte = tools.export(stem, backend)
    etdump = pte.replace(".pte", "_runner.etdp")
    flags = ["--print_output", "none", "--num_executions", str(RUNS)]
    call(tools.runner, "--model_path", pte, "--etdump_path", etdump, *flags)
    events, _ = inspect(etdump)
    steps = [event for event in events if event.is_delegated_op]
    calls = [event for event in events if not event.is_delegated_op]
    for event in calls:
        known = event.name.startswith("native_call_") or event.name in ("DELEGATE_CALL", "MOVE_OR_JUMP")
        require(known, event.name)
    delegates = [event for event in calls if event.name == "DELEGATE_CALL"]
    require(bool(steps) == bool(delegates), "calls of delegates without steps")
    return f"{len(calls)} instructions, {len(steps)} steps"


def theirs(tools, stem, xnnpack):
    """A trace that ExecuTorch's runtime writes of its own program."""
    import make_executorch_ptes as maker
    import run_in_executorch as et
    from executorch.extension.pybindings import portable_lib

    program = maker.lower(tools.model(stem), xnnpack)  # Not copied: it must outlive the module.
    module = portable_lib._load_for_executorch_from_buffer(
        program, enable_etdump=True, debug_buffer_size=0
    )
    inputs = [x for x in et.sample_inputs(tools.model(stem))]
    for _ in range(RUNS):
        module.forward(inputs)
    path = tools.path(f"{stem}_theirs_{int(xnnpack)}.etdp")
    module.write_etdump_result_to_file(path)
    return path


def check_theirs(tools, stem, backend):
    etdump = theirs(tools, stem, backend == "xnnpack")
    rows = json.loads(call(tools.taper, "profile", etdump, "--json"))["rows"]
    events = [e for e in inspect(etdump)[0] if e.perf_data is not None and len(e.perf_data.raw) > 0]
    wanted = {}
    for event in events:
        name = (event.delegate_debug_identifier or event.name).removeprefix("native_call_")
        wanted.setdefault(name, []).append(event.perf_data.p50 / 1e3)
    given = {}
    for row in rows:
        given.setdefault(row["node"], []).append(row["median_s"])
    require(set(wanted) == set(given), f"names differ: {set(wanted) ^ set(given)}")
    for name, times in wanted.items():
        same = len(times) == len(given[name]) and all(
            map(close, sorted(times), sorted(given[name]))
        )
        require(same, f"{name}: {sorted(given[name])} s, not {sorted(times)} s")
    return f"{len(rows)} rows"


def arrays_of(tools, stem):
    import run_in_executorch as et

    [case] = [c for c in et.read_index(tools.options.models) if c.file == stem + ".pt2"][:1]
    models = tools.options.models
    return [case.arrays(models, kind, 0) for kind in ("in", "out")]


def check_bundle(tools, stem, backend):
    import run_in_executorch as et
    import torch
    from executorch.devtools.bundled_program.serialize import (
        deserialize_from_flatbuffer_to_bundled_program as deserialize,
    )
    from executorch.extension.pybindings import portable_lib

    inputs, outputs = arrays_of(tools, stem)
    pte = tools.export(stem, backend, "--compat=executorch")
    bundle = pte.replace(".pte", ".bpte")
    given = ["--inputs", ",".join(inputs * 2), "--expected", ",".join(outputs * 2)]
    call(tools.taper, "bundle", pte, *given, "-o", bundle)
    call(tools.taper, "verify", bundle, "--rtol", "1e-3", "--atol", "1e-4")
    with open(bundle, "rb") as file:
        data = file.read()
    # ExecuTorch's own reader finds the same values and the same program.
    read = deserialize(data)
    with open(pte, "rb") as file:
        require(bytes(read.program) == file.read(), "the program is another one")
    [suite] = read.method_test_suites
    require(suite.method_name == "forward" and len(suite.test_cases) == 2, "test cases differ")
    for case in suite.test_cases:
        for values, paths in ((case.inputs, inputs), (case.expected_outputs, outputs)):
            for value, path in zip(values, paths, strict=True):
                array = et.load_array(path)
                require(list(value.val.sizes) == list(array.shape), "sizes differ")
                raw = array.contiguous().view(torch.uint8) if array.dim() else None
                if raw is not None and list(value.val.dim_order) == list(range(array.dim())):
                    require(bytes(value.val.data) == raw.numpy().tobytes(), "data differs")
    module = portable_lib._load_bundled_program_from_buffer(data)
    for i in range(2):
        module.verify_result_with_bundled_expected_output("forward", i, 1e-3, 1e-4)
    return f"{len(data)} bytes"


def check_wrong_bundle(tools, stem, backend):
    """ExecuTorch, and we, refuse an output that is expected wrongly."""
    import numpy as np
    from executorch.extension.pybindings import portable_lib

    inputs, outputs = arrays_of(tools, stem)
    wrong = tools.path("wrong.npy")
    np.save(wrong, np.load(outputs[0]) + 1)
    pte = tools.export(stem, backend, "--compat=executorch")
    bundle = pte.replace(".pte", "_wrong.bpte")
    given = ["--inputs", ",".join(inputs), "--expected", ",".join([wrong, *outputs[1:]])]
    call(tools.taper, "bundle", pte, *given, "-o", bundle)
    call(tools.taper, "verify", bundle, "--rtol", "1e-3", code=1)
    call(tools.runner, "--model_path", bundle, "--bundleio_rtol", "1e-3", code=1)
    with open(bundle, "rb") as file:
        module = portable_lib._load_bundled_program_from_buffer(file.read())
    try:
        module.verify_result_with_bundled_expected_output("forward", 0, 1e-3, 1e-4)
    except RuntimeError:
        return "refused by both"
    raise Failed("ExecuTorch accepts a wrong output")


def check_their_bundle(tools, stem, backend):
    import make_devtools_files as maker
    import run_in_executorch as et
    import torch
    from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

    partitioner = None
    if backend == "xnnpack":
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

        partitioner = [XnnpackPartitioner()]
    exported = torch.export.load(tools.model(stem))
    program = to_edge_transform_and_lower(
        exported, partitioner=partitioner, compile_config=EdgeCompileConfig(_check_ir_validity=False)
    ).to_executorch()
    inputs, _ = arrays_of(tools, stem)
    samples = [et.load_array(path) for path in inputs]
    path = tools.path(f"{stem}_{backend}_theirs.bpte")
    maker.write_bundle(program, exported.module(), [samples[0]], path)
    tolerance = ["1e-3", "1e-4"]
    call(tools.taper, "verify", path, "--rtol", tolerance[0], "--atol", tolerance[1])
    flags = ["--bundleio_rtol", tolerance[0], "--bundleio_atol", tolerance[1]]
    call(tools.runner, "--model_path", path, *flags)
    return f"{os.path.getsize(path)} bytes"


def all_checks(options):
    models = MODELS.split()
    for backend in ("portable", "xnnpack"):
        for stem in models:
            yield "inspector", check_inspector, stem, backend
        for stem in models:
            yield "runner", check_runner, stem, backend
        for stem in THEIRS.split():
            yield "theirs", check_theirs, stem, backend
        for stem in ("dynamic_batch", "mobilenet_v2", "bert_mini", "encoders", "unet"):
            yield "bundle", check_bundle, stem, backend
        yield "bundle", check_wrong_bundle, "mobilenet_v2", backend
        yield "their-bundle", check_their_bundle, "mobilenet_v2", backend


def write_xml(total, failed):
    """Writes the counts as GoogleTest programs do, for a caller that adds them up."""
    where = os.environ.get("GTEST_OUTPUT", "")
    if where.startswith("xml:") and where.endswith("/"):
        os.makedirs(where[4:], exist_ok=True)
        with open(os.path.join(where[4:], "devtools.xml"), "w") as file:
            file.write(f'<testsuites tests="{total}" failures="{failed}" errors="0"></testsuites>\n')


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--models", default=os.path.join(ROOT, "test/models/data"))
    parser.add_argument("--work", default=os.path.join(ROOT, "build/devtools"))
    parser.add_argument("--only", help="comma-separated stems of models")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    warnings.filterwarnings("ignore")
    only = options.only and options.only.split(",")
    tools = Tools(options)
    total = failed = 0
    for kind, check, stem, backend in all_checks(options):
        if only and stem not in only:
            continue
        total += 1
        try:
            text = "ok      " + check(tools, stem, backend)
        except (Failed, RuntimeError, ValueError, AssertionError) as error:
            failed += 1
            text = f"FAILED  {error}"[:600]
        print(f"{kind:12} {stem:16} {backend:9} {text}", flush=True)
    write_xml(total, failed)
    print(f"{total - failed} ok, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
