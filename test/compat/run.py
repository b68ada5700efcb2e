"""Exchanges files with ExecuTorch in both directions, for all test models.

    python test/compat/run.py --taper build/release/bin/taper [--only llama,cond]

- theirs: ExecuTorch lowers the .pt2, and `taper run` runs that .pte (the first step of a case).
- ours: `taper export --compat=executorch` compiles the .pt2, and ExecuTorch's runtime runs that
  .pte (every step).
- ours-xnnpack, theirs-xnnpack: the same with the XNNPACK delegate; the second for a few models, and
  only if this build of taper has XNNPACK.
- ours-vulkan: `taper export --backend vulkan --compat=executorch` compiles the .pt2; ExecuTorch's
  schema and registry read its payloads, and `taper run` runs them.
- theirs-vulkan: the models of vulkan_models.py, lowered with ExecuTorch's Vulkan delegate, on
  lavapipe if it is there, and on the processor.

Outputs must equal PyTorch's within 1e-5 x factor x max(1, largest expected). Known failures are
listed in expected_failures.txt with their reasons; if one of them passes, that is a failure, too.
Needs the environment of scripts/venv.sh.
"""

import argparse
import fnmatch
import hashlib
import multiprocessing
import os
import shutil
import subprocess
import sys
import warnings

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
SECONDS = 120  # time limit of one run of one program
VULKAN_SCALE = 10  # x 1e-5: functions of GPUs differ in their last digits.
HALF_SCALE = 100  # x 1e-5, one unit of float16: the factors of products are rounded to it.
DELEGATED = "mobilenet_v2 resnet18 bert_mini vit_tiny dynamic_batch lstm unet".split()


class Expected:
    """Known failures: lines of the form `way pattern reason`; the pattern matches file:case."""

    def __init__(self, path):
        self.entries, self.used = [], set()
        with open(path) as file:
            for line in file:
                words = line.split("#")[0].split(None, 2)
                if words:
                    self.entries.append((words[0], words[1], words[2].strip()))

    def find(self, way, key):
        # What fails without a delegate may fail with it.
        ways = (way, way.removesuffix("-xnnpack").removesuffix("-vulkan"))
        for entry in self.entries:
            if entry[0] in ways and fnmatch.fnmatch(key, entry[1]):
                self.used.add(entry)
                return entry[0], entry[2]
        return None, None

    def unused(self):
        return [e for e in self.entries if e not in self.used]


class Table:
    """Prints one line per result and counts them."""

    def __init__(self, expected):
        self.expected, self.counts, self.failures = expected, {"ok": 0, "known": 0, "FAILED": 0}, []

    def add(self, way, key, worst, wrong):
        listed, reason = self.expected.find(way, key)
        if wrong and way.startswith("theirs") and "died of signal" in wrong:
            kind, text = "FAILED", wrong  # No list excuses a crash of ours.
        elif reason and wrong:
            kind, text = "known", f"{wrong} ({reason})"
        elif listed == way != "ours-vulkan":  # That does not run in ExecuTorch.
            kind, text = "FAILED", f"passes, but expected_failures.txt says: {reason}"
        elif wrong:
            kind, text = "FAILED", wrong
        else:
            kind, text = "ok", f"{worst:.1e}"
        self.counts[kind] += 1
        if kind == "FAILED":
            self.failures.append(f"{way} {key}: {text}")
        print(f"{way:14} {key:44} {kind:6} {text}", flush=True)

    def finish(self, whole):
        if whole:
            for way, pattern, _ in self.expected.unused():
                self.counts["FAILED"] += 1
                self.failures.append(f"expected_failures.txt: no case for `{way} {pattern}`")
        for line in self.failures:
            print("FAILED", line)
        print(", ".join(f"{n} {kind}" for kind, n in self.counts.items()))
        self.write_xml()
        return 1 if self.failures else 0

    def write_xml(self):
        """Writes the counts as GoogleTest programs do, for a caller that adds them up."""
        where = os.environ.get("GTEST_OUTPUT", "")
        if where.startswith("xml:") and where.endswith("/"):
            os.makedirs(where[4:], exist_ok=True)
            with open(os.path.join(where[4:], "compat.xml"), "w") as file:
                total, failed = sum(self.counts.values()), self.counts["FAILED"]
                file.write(
                    f'<testsuites tests="{total}" failures="{failed}" errors="0"></testsuites>\n'
                )


def call(command, **environment):
    """Runs the command; returns None, or what went wrong in one line."""
    variables = dict(os.environ, **environment)
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, env=variables
        )
    except subprocess.TimeoutExpired:
        return f"{command[1]} took more than {SECONDS} s"
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no message"]
    what = (
        f"died of signal {-done.returncode}" if done.returncode < 0 else f"exit {done.returncode}"
    )
    return f"{command[1]}: {what}: {lines[0]}"[:300]


def digest(*contents):
    return hashlib.sha256(b"\n".join(contents)).hexdigest()[:12]


def content(path):
    with open(path, "rb") as file:
        return file.read()


def kept_folder(options, name, *modules):
    """A folder for what ExecuTorch makes, which is there in the next run, too, if the modules that
    make it and the versions of the packages are the same."""
    import importlib.metadata

    versions = [importlib.metadata.version(name).encode() for name in ("executorch", "torch")]
    maker = digest(*versions, *(content(module.__file__) for module in modules))
    folder = os.path.join(options.cache, f"{name}_{maker}")
    os.makedirs(folder, exist_ok=True)
    return folder


def lower_theirs(options, files, xnnpack=False):
    """Returns {file: path of ExecuTorch's .pte} and {stem: error} for those it cannot write.

    Files of an earlier run are kept, if they were made of the same model.
    """
    import make_executorch_ptes as maker

    folder = kept_folder(options, "theirs_xnnpack" if xnnpack else "theirs", maker)
    made, errors = {}, {}
    for file in dict.fromkeys(files):
        stem = file.removesuffix(".pt2")
        model = os.path.join(options.models, file)
        made[file] = os.path.join(folder, f"{stem}.{digest(content(model))}.pte")
        if not os.path.exists(made[file]) and (error := maker.lower_to(model, made[file], xnnpack)):
            errors[stem] = error
    return made, errors


def arrays_of(stem):
    """The arrays STEM0.npy, STEM1.npy, ..."""
    paths = []
    while os.path.exists(path := f"{stem}{len(paths)}.npy"):
        paths.append(path)
    return paths


def run_ours_on(options, pte, inputs, expected, scale, arguments=(), **environment):
    """Runs a .pte in our runtime and compares with the arrays in the files `expected`."""
    import run_in_executorch as et

    out = os.path.join(options.work, "out")
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    given = ["--inputs", ",".join(inputs)] if inputs else []
    wrong = call([options.taper, "run", pte, *given, "--outputs", out, *arguments], **environment)
    if wrong:
        return 0.0, wrong
    got = [et.load_array(path) for path in arrays_of(os.path.join(out, "out"))]
    return et.difference(got, [et.load_array(p) for p in expected], scale)


def run_theirs(options, case, pte):
    """Runs ExecuTorch's .pte in our runtime and compares the first step."""
    inputs, expected = (case.arrays(options.models, kind, 0) for kind in ("in", "out"))
    return run_ours_on(options, pte, inputs, expected, case.scale)


def first_complaint(log):
    """The first line in the log of ExecuTorch's runtime that states a problem."""
    with open(log, errors="replace") as file:
        for line in file:
            if any(
                word in line
                for word in ("Check failed", "Missing operator", "not found", "in operator")
            ):
                return ": " + line.strip()
    return ""


def run_ours(options, case, pte):
    """Runs our .pte in ExecuTorch's runtime, in a separate process, since it may crash."""
    import run_in_executorch as et

    log = os.path.join(options.work, "executorch.log")

    def child(queue):
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        try:
            queue.put(et.run_case(pte, case, options.models))
        except Exception as error:
            queue.put((0.0, f"ExecuTorch: {error}{first_complaint(log)}"[:300]))

    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    process = context.Process(target=child, args=(queue,))
    sys.stdout.flush()
    process.start()
    process.join(SECONDS)
    if process.is_alive():
        process.kill()
        return 0.0, f"ExecuTorch took more than {SECONDS} s"
    if queue.empty():
        return 0.0, f"ExecuTorch's runtime died ({process.exitcode})"
    return queue.get()


def check_lowering(table, files, errors):
    """Checks that ExecuTorch's failures to lower are known."""
    for file in files:
        stem = file.removesuffix(".pt2")
        table.add("lower", stem, 0.0, errors.get(stem))


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--build", default=os.path.join(ROOT, "build/release"), help="build folder, for bin/taper"
    )
    parser.add_argument("--taper", help="the taper command; default BUILD/bin/taper")
    parser.add_argument("--models", default=os.path.join(ROOT, "test/models/data"))
    parser.add_argument(
        "--work", default=os.path.join(ROOT, "build/compat"), help="the folder for compiled files"
    )
    parser.add_argument("--cache", help="keep what ExecuTorch made in this folder, not in --work")
    parser.add_argument("--only", help="comma-separated .pt2 stems")
    parser.add_argument("--way", choices=["theirs", "ours", "vulkan"], help="one of them")
    options = parser.parse_args()
    options.cache = options.cache or options.work
    options.taper = os.path.abspath(options.taper or os.path.join(options.build, "bin/taper"))
    if not os.access(options.taper, os.X_OK):
        raise SystemExit(f"no taper command at {options.taper}: build it, or pass it with --taper")
    return options


def has_xnnpack(options):
    """Whether this build of taper can run XNNPACK delegates."""
    pte = os.path.join(FOLDER, "data/xnnpack_dynamic_batch.pte")
    return call([options.taper, "run", pte]) is None


def all_theirs(options, cases, files, table):
    made, errors = lower_theirs(options, files)
    check_lowering(table, files, errors)
    for case in cases:
        if case.file.removesuffix(".pt2") not in errors:
            table.add("theirs", case.key(), *run_theirs(options, case, made[case.file]))
    if not has_xnnpack(options):
        print("theirs-xnnpack: not run, this build of taper has no XNNPACK")
        return
    few = [case for case in cases if case.file.removesuffix(".pt2") in DELEGATED]
    made, errors = lower_theirs(options, [case.file for case in few], xnnpack=True)
    for case in few:
        error = errors.get(case.file.removesuffix(".pt2"))
        result = (0.0, error) if error else run_theirs(options, case, made[case.file])
        table.add("theirs-xnnpack", case.key(), *result)


def vulkan_devices(options):
    """The devices that this build of taper can run Vulkan delegates on."""
    pte = os.path.join(FOLDER, "data/vulkan_sizes.pte")
    devices = ["none", "llvmpipe"]  # The processor without a driver, and with one.
    return [d for d in devices if not call([options.taper, "run", pte], TAPER_VULKAN_DEVICE=d)]


def all_vulkan(options, table):
    import make_vulkan_ptes as maker
    import vulkan_caches
    import vulkan_models
    import vulkan_quantised

    devices = vulkan_devices(options)
    if not devices:
        print("theirs-vulkan: not run, this build of taper has no Vulkan delegate")
        return
    folder = kept_folder(
        options, "theirs_vulkan", maker, vulkan_models, vulkan_quantised, vulkan_caches
    )
    examples, errors = maker.write_all(folder, large=True, keep=True)
    for name, error in errors.items():
        table.add("theirs-vulkan", name, 0.0, error)
    for example in examples:
        pte = maker.pte_of(folder, example)
        for method in [] if example.name in errors else example.methods:
            stem = maker.stem_of(folder, example, method)
            inputs, expected = arrays_of(stem + ".in"), arrays_of(stem + ".out")
            for device in devices:
                result = run_ours_on(
                    options,
                    pte,
                    inputs,
                    expected,
                    HALF_SCALE if example.options.get("force_fp16") else VULKAN_SCALE,
                    ["--method", method],
                    TAPER_VULKAN_DEVICE=device,
                )
                table.add("theirs-vulkan", f"{example.name}:{method} on {device}", *result)


def ours_vulkan(options, cases, table):
    """Holds our payloads for ExecuTorch's Vulkan runtime, which its wheel lacks, against its schema
    and its registry, and runs them in our runtime."""
    import check_vulkan_ptes as checker

    devices = vulkan_devices(options)
    folder = os.path.join(options.work, "ours_vulkan")
    os.makedirs(folder, exist_ok=True)
    for case in {c.file: c for c in cases}.values():
        pt2 = os.path.join(options.models, case.file)
        pte = os.path.join(folder, case.file.removesuffix(".pt2") + ".pte")
        command = [options.taper, "export", pt2, "-o", pte, "--backend", "vulkan"]
        wrong = call([*command, "--compat=executorch", "--delegate-all"])
        if wrong:
            table.add("ours-vulkan", case.key(), 0.0, wrong)
            continue
        problems, count = checker.problems_of(pte)
        if count == 0:
            continue
        table.add("ours-vulkan", f"{case.key()} read", 0.0, problems[0] if problems else None)
        inputs, expected = (case.arrays(options.models, kind, 0) for kind in ("in", "out"))
        for device in devices[:1]:
            result = run_ours_on(
                options,
                pte,
                inputs,
                expected,
                max(case.scale, VULKAN_SCALE),
                TAPER_VULKAN_DEVICE=device,
            )
            table.add("ours-vulkan", f"{case.key()} on {device}", *result)


def all_ours(options, cases, table):
    for way, backend in (("ours", "portable"), ("ours-xnnpack", "xnnpack")):
        folder = os.path.join(options.work, way)
        os.makedirs(folder, exist_ok=True)
        exported = {}
        for case in cases:
            pte = os.path.join(folder, case.file.removesuffix(".pt2") + ".pte")
            if case.file not in exported:
                pt2 = os.path.join(options.models, case.file)
                command = [options.taper, "export", pt2, "-o", pte, "--backend", backend]
                command.append("--compat=executorch")
                exported[case.file] = call(command)
            wrong = exported[case.file]
            table.add(way, case.key(), *((0.0, wrong) if wrong else run_ours(options, case, pte)))


def main():
    options = parse()
    warnings.filterwarnings("ignore")
    import run_in_executorch as et

    # A child of fork() has none of its parent's threads, and would wait for OpenMP's forever;
    # therefore the parent must not start any.
    et.torch.set_num_threads(1)
    cases = et.read_index(options.models)
    if options.only:
        cases = [c for c in cases if c.file.removesuffix(".pt2") in options.only.split(",")]
    files = list(dict.fromkeys(c.file for c in cases))
    table = Table(Expected(os.path.join(FOLDER, "expected_failures.txt")))
    if options.way in (None, "theirs"):
        all_theirs(options, cases, files, table)
    if options.way in (None, "vulkan") and not options.only:
        all_vulkan(options, table)
    if options.way in (None, "vulkan"):
        ours_vulkan(options, cases, table)
    if options.way in (None, "ours"):
        all_ours(options, cases, table)
    return table.finish(whole=not options.only and not options.way)


if __name__ == "__main__":
    sys.exit(main())
