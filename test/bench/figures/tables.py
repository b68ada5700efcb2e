"""The tables that `figures.py` measures: where each stands, how it is measured, and what it measures."""

import collections
import json
import os
import re
import subprocess
import tempfile

from provenance import ROOT

# measure() returns the table's lines. sources: the paths whose changes make it old. derived: the
# document that its figures are taken from, if it repeats figures and measures nothing.
Table = collections.namedtuple("Table", "name document measure sources minutes derived")
# A document that a command of its own writes whole; needs: what not every machine has.
Document = collections.namedtuple("Document", "name command sources needs")

COMPILER = ["exir", "tools/export", "kernels_portable"]
KERNELS = ["kernels_portable", "kernels_optimized", "runtime", "exir"]
XNNPACK = ["backends/xnnpack", "scripts/xnnpack.sh", *KERNELS]
VULKAN = ["backends/vulkan", "exir", "runtime"]
PEERS = [f"test/bench/peers/{name}.py" for name in ("bench", "models", "peers", "worker")]
BIN = "build/release/bin"
TAPER = os.path.join(ROOT, BIN, "taper")
MODELS = os.path.join(ROOT, "build/models")


def output(*command):
    """What a command prints, run in the root of the tree; its failure ends all."""
    return subprocess.run(
        command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout  # fmt: skip


def table(titles, rows):
    return [f"| {' | '.join(cells)} |" for cells in [titles, ["---"] * len(titles), *rows]]


def thousands(count):
    return f"{int(count):,}"


def cold_build():
    return [line for line in output("scripts/cold_build.sh").splitlines() if line.startswith("|")]


def full_size_models():
    if not os.path.isdir(MODELS):
        output("scripts/models.sh")
    return MODELS


def export():
    """Wall time and peak memory of the whole command, for each full-size model."""
    lines = output(f"{BIN}/bench_export", full_size_models()).splitlines()[1:]
    rows = [re.split(r" {2,}", line.strip())[:4] for line in lines]
    return table(["`taper export` in a fresh process", ".pt2", "time", "peak memory"], rows)


def run():
    """One thread, without a backend."""
    rows = []
    for name in ("mobilenet_v2", "resnet18", "vit_tiny", "bert_mini"):
        with tempfile.TemporaryDirectory() as folder:
            pte = os.path.join(folder, "model.pte")
            said = output(TAPER, "export", f"{full_size_models()}/{name}.pt2", "-o", pte)
            gap = re.search(r"gap ([\d.]+) %", said).group(1)
            bench = [TAPER, "bench", pte, "--json", "--threads", "1"]
            fast = json.loads(output(*bench))
            portable = json.loads(output(*bench, "--portable-only"))
        planned = f"{fast['planned_bytes'] / 1e6:.2f} MB, {gap} %"
        times = [fast["load_s"], fast["median_s"], portable["median_s"]]
        rows.append([name, *(f"{1e3 * seconds:.3g} ms" for seconds in times), planned])
    titles = ["one thread, no backend", "load", "run", "portable kernels only",
              "planned memory, gap to the lower bound"]  # fmt: skip
    return table(titles, rows)


def read(document):
    with open(os.path.join(ROOT, document)) as file:
        return file.read()


def rows_of(text, heading):
    """The cells of the first table below a heading."""
    body = text[text.index(heading) + len(heading) :]
    found = re.search(r"(^\|[^\n]*\n)+", body, re.M)
    return [[c.strip() for c in line.strip("|").split("|")] for line in found.group().splitlines()]


def counted_ratios(rows, peer, but=""):
    """The ratios in parentheses of a peer's column, without those marked as of wrong outputs, and
    without the model `but`."""
    column = rows[0].index(peer)
    cells = [row[column] for row in rows[2:] if row[0] != but and not row[1].endswith("#")]
    found = [re.search(r"\(([\d.]+)\)$", cell) for cell in cells]
    return [float(each.group(1)) for each in found if each]


def peers():
    """docs/benchmarks.md in short: each peer's figures over Taper's."""
    names = ["ExecuTorch", "ONNX Runtime", "OpenVINO", "LiteRT"]
    headings = {
        "latency, f32, one thread": "## Latency, f32, 1 thread",
        "latency, f32, two threads": "## Latency, f32, 2 threads",
        "latency, int8, one thread": "## Latency, int8, 1 thread",
        "latency, int8, two threads": "## Latency, int8, 2 threads",
        "cold start, f32": "## Cold start, f32",
        "cold start with a cache, f32": "## Cold start with a cache",
        "peak memory, f32": "## Peak resident memory",
    }
    text, shown = read("docs/benchmarks.md"), []

    def add(title, rows, mean, but=""):
        cells = [title]
        for name in names:
            if name in rows[0] and mean[rows[0].index(name)] != "-":
                ratios = counted_ratios(rows, name, but)
                middle = mean[rows[0].index(name)].strip("*")
                cells.append(f"{middle} ({min(ratios):.2f} to {max(ratios):.2f})")
            else:
                cells.append("")
        shown.append(cells)

    for title, heading in headings.items():
        rows = rows_of(text, heading)
        for row in rows:
            if row[0] == "**geometric mean**":
                add(title, rows, row)
            elif row[0].startswith("mean without "):
                add(f"the same without `{row[0].split()[-1]}`", rows, row, row[0].split()[-1])
    title = "their figure over Taper's: geometric mean (least to most)"
    return table([title, *names], shown)


def gpu():
    """docs/benchmarks_gpu.md in short."""
    rows = rows_of(read("docs/benchmarks_gpu.md"), "# Benchmarks on a GPU")
    shown = [0, 1, 3, 4]  # The model, Taper, and the two peers that run through Vulkan.
    cells = [[row[column].split(",")[0] for column in shown] for row in rows[2:]]
    titles = ["ms (ratio to Taper's), f32", *(rows[0][column] for column in shown[1:])]
    return table(titles, cells)


def quantised():
    """docs/quantisation.md in short: static int8."""
    rows = rows_of(read("docs/quantisation.md"), "## Figures")
    cells = {(row[0], row[1]): row for row in rows[2:]}
    nets = list(dict.fromkeys(row[0] for row in rows[2:]))
    shown = [
        [
            net,
            cells[net, "float"][2],
            ", ".join(cells[net, "PT2E static int8"][c] for c in (2, 4)),
            ", ".join(cells[net, "static int8"][c] for c in (2, 4)),
        ]
        for net in nets
    ]
    titles = ["static int8: accuracy, signal to noise", "float", "PyTorch's PT2E", "`taper quantize`"]
    return table(titles, shown)


def sizes():
    """What the runtime adds to a program, by compiler."""
    compilers = {"size": "gcc, x86-64", "size-clang": "clang, x86-64", "size-arm64": "gcc, arm64"}
    names = {
        "core": "the runtime with its verifier, no kernels, no error texts (limit 49,152)",
        "all": "the same with every kernel (limit 512,000)",
        "of_mobilenet_v2": "trimmed to MobileNetV2: the kernels that it uses, float32 (limit 122,880)",
        "of_digits": "trimmed to the digit model of the demo (limit 92,160)",
    }
    said = output("scripts/size.sh", "build/release")
    found = dict(
        ((preset, name), thousands(count))
        for preset, name, count in re.findall(r"^(size\S*) +(\w+) +(\d+) bytes", said, re.M)
    )
    rows = [[text, *(found.get((c, name), "") for c in compilers)] for name, text in names.items()]
    board = output("scripts/firmware.sh", "build/release", "cortex_m4")
    image = re.search(r"core runtime with its verifier, cortex_m4: (\d+) bytes", board).group(1)
    title = "the core on a Cortex-M4, whole image (`scripts/firmware.sh`; limit 24,576)"
    rows.insert(1, [title, thousands(image), "", ""])
    return table(["`make size`: bytes of text and data", *compilers.values()], rows)


def operators(title, kinds, *options):
    """Rows for classes of PyTorch's operator database."""
    said = output("scripts/oracle.sh", "build/release", *options)
    counts = r" +(\d+)"
    for kind, name in kinds.items():
        row = re.search(rf"^{kind}{counts} +\d+ +([\d.]+)%{4 * counts}", said, re.M)
        cases, rate, vacuous, refused, wrong, died = row.groups()
        yield [f"{title}, {name}", thousands(cases), f"{rate} %", thousands(vacuous), refused,
               str(int(wrong) + int(died))]  # fmt: skip


def pytorch():
    """How much of PyTorch gives PyTorch's numbers."""
    core = {"core": "operators that decompose into Core ATen"}
    database = "PyTorch's operator database"
    delegated = database + " with `--backend xnnpack --delegate-all`"
    rows = [
        *operators(database, {**core, "other": "all others"}),
        *operators(delegated, core, "--backend", "xnnpack"),
    ]
    models = read("docs/models.md")
    count, same = re.search(r"(\d+) models, (\d+) match", models).groups()
    vacuous = re.search(r"(\d+) have outputs of NaN or infinity", models)
    rate = f"{100 * int(same) / int(count):.2f} %"
    rows.append(["public architectures (`docs/models.md`)", count, rate,
                 vacuous.group(1) if vacuous else "0", "", ""])  # fmt: skip
    titles = ["compared with PyTorch", "cases", "match", "of them with no number to compare",
              "refused", "wrong"]  # fmt: skip
    return table(titles, rows)


def dispatch():
    """What the runtime takes for an instruction, without what its kernel takes."""
    names = {"open": "open, verify", "load": "load", "execute/dispatch_only": "run",
             "trace_ring": "run, recorded in a ring",
             "trace_ring_steady_clock": "the same with the system's clock"}  # fmt: skip
    wanted = "^(" + "|".join(names) + ")$"
    said = json.loads(output(f"{BIN}/bench_runtime", f"--benchmark_filter={wanted}",
                             "--benchmark_format=json", "--benchmark_repetitions=9"))  # fmt: skip
    medians = {each["run_name"]: each["s/op"] for each in said["benchmarks"]
               if each.get("aggregate_name") == "median"}  # fmt: skip
    cells = [f"{1e9 * medians[name]:.3g}" for name in names]
    return table(["ns for an instruction", *names.values()], [["of 1,000 that do nothing", *cells]])


def tracing():
    """What recording costs. The times of the models themselves are those of docs/benchmarks.md."""
    lines = output(f"{BIN}/bench_tracing").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    shown = [[*row[:3], *row[4:]] for row in rows if len(row) == 6]
    return table(shown[0], shown[2:])


def fuzz():
    """What test/fuzz/campaigns.txt notes, by kind of file."""
    mutants, hours, findings = (collections.Counter() for _ in range(3))
    for line in read("test/fuzz/campaigns.txt").splitlines():
        if line.startswith("#"):
            continue
        kind, rest = re.fullmatch(r"\S+ \S+ (\S+) (.*)", line).groups()
        kind = kind.removeprefix("libfuzzer_")
        run = re.match(r"(\d+)\.\.(\d+) ", rest)
        if run:
            mutants[kind] += int(run.group(2)) - int(run.group(1)) + 1
        else:
            hours[kind] += float(re.match(r"([\d.]+) CPU hours, ", rest).group(1))
        findings[kind] += not rest.endswith("nothing reported")
    kinds = [*dict.fromkeys([*mutants, *hours])]
    rows = [[kind, thousands(mutants[kind]), f"{hours[kind]:.2f}", str(findings[kind])]
            for kind in kinds]  # fmt: skip
    rows.append(["together", thousands(sum(mutants.values())), f"{sum(hours.values()):.2f}",
                 str(sum(findings.values()))])  # fmt: skip
    titles = ["fuzzed", "numbered mutants", "CPU hours of libFuzzer", "runs that a finding ended"]
    return table(titles, rows)


def coverage():
    """How many lines of what reads files the unit tests, the fuzzers' seeds and some mutants run."""
    said = output("scripts/coverage.sh", "2000")
    rows = re.findall(r"^(\S+) +(\d+) of +(\d+) lines, +([\d.]+) %$", said, re.M)
    return table(["of", "lines that run", "lines", ""],
                 [[f"`{part}`", thousands(ran), thousands(count), f"{share} %"]
                  for part, ran, count, share in rows])  # fmt: skip


README = "README.md"
BUILD = ["CMakeLists.txt", "cmake", "scripts/cold_build.sh"]
TABLES = [
    Table("cold_build", README, cold_build, BUILD, 6, ""),
    Table("export", README, export, [*COMPILER, "test/bench/bench_export.cpp"], 1, ""),
    Table("run", README, run, [*KERNELS, "tools/commands/bench.cpp"], 1, ""),
    Table("dispatch", README, dispatch, ["runtime", "test/bench/bench_runtime.cpp"], 1, ""),
    Table(
        "tracing",
        "docs/devtools.md",
        tracing,
        ["runtime", "tools/profile", "backends/xnnpack/runtime", "test/bench/bench_tracing.cpp"],
        10,
        "",
    ),
    Table(
        "sizes",
        README,
        sizes,
        ["runtime", "kernels_portable", "schema", "test/size", "test/firmware", "scripts/size.sh",
         "scripts/firmware.sh"],
        5,
        "",
    ),
    Table("pytorch", README, pytorch, [*XNNPACK, "test/oracle", "scripts/oracle.sh"], 60, ""),
    Table(
        "coverage",
        "SECURITY.md",
        coverage,
        ["runtime", "backends/xnnpack/runtime", "backends/vulkan/runtime", "backends/vulkan/planner",
         "test/fuzz", "scripts/coverage.sh"],
        15,
        "",
    ),
    Table("fuzz", README, fuzz, [], 0, "test/fuzz/campaigns.txt"),
    Table("peers", README, peers, [], 0, "docs/benchmarks.md"),
    Table("gpu", README, gpu, [], 0, "docs/benchmarks_gpu.md"),
    Table("quantised", README, quantised, [], 0, "docs/quantisation.md"),
]
VENV = '"$(scripts/venv.sh)"'
GPU = f"{VENV} test/bench/peers/{{}}.py --taper {BIN}/taper --markdown docs/benchmarks_{{}}.md"
DOCUMENTS = [
    Document("docs/benchmarks.md", "scripts/bench_peers.sh --again", [*XNNPACK, *PEERS], ""),
    Document(
        "docs/benchmarks_breadth.md",
        "scripts/bench_peers.sh --breadth --again",
        [*XNNPACK, *PEERS, "test/bench/peers/breadth.py"],
        "",
    ),
    Document(
        "docs/benchmarks_compile.md",
        "make wheel && scripts/bench_peers.sh --compile --again",
        [*XNNPACK, "bindings/python", "test/bench/peers/compiled.py"],
        "",
    ),
    Document(
        "docs/benchmarks_layers.md",
        "scripts/bench_layers.sh --again",
        [*XNNPACK, "test/bench/layers"],
        "",
    ),
    Document("docs/models.md", "scripts/zoo.sh", [*KERNELS, "tools/export", "test/zoo"], ""),
    Document(
        "docs/quantisation.md",
        f"{VENV} test/quantize/figures.py {BIN}/taper",
        ["exir/quantize", "tools/quantize", *XNNPACK, "test/quantize/figures.py"],
        "",
    ),
    Document(
        "docs/benchmarks_arm64.md",
        "scripts/bench_arm64.sh",
        [*XNNPACK, "test/bench/arm64", "scripts/bench_arm64.sh"],
        "",
    ),
    Document(
        "docs/benchmarks_web.md",
        "scripts/bench_web.sh --markdown docs/benchmarks_web.md",
        ["bindings/web", *KERNELS, "test/bench/web", "scripts/bench_web.sh"],
        "",
    ),
    Document(
        "docs/benchmarks_gpu.md",
        GPU.format("gpu", "gpu") + " --store build/peers/gpu.json",
        [*VULKAN, "test/bench/peers/gpu.py"],
        "a GPU",
    ),
    Document(
        "docs/benchmarks_gpu_llm.md",
        GPU.format("gpu_llm", "gpu_llm"),
        [*VULKAN, "test/bench/peers/gpu_llm.py"],
        "a GPU",
    ),
]
