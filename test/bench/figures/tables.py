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
XNNPACK = ["backends/xnnpack", "kernels_optimized", "runtime", "exir"]
TAPER = os.path.join(ROOT, "build/release/bin/taper")
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
    lines = output("build/release/bin/bench_export", full_size_models()).splitlines()[1:]
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


def ratios(rows, peer):
    """The ratios in parentheses of a peer's column."""
    column = rows[0].index(peer)
    cells = [re.search(r"\(([\d.]+)\)", row[column]) for row in rows[2:]]
    return [float(found.group(1)) for found in cells if found]


def peers():
    """docs/benchmarks.md in short: each peer's figures over Taper's."""
    names = ["ExecuTorch", "ONNX Runtime", "OpenVINO", "LiteRT"]
    text = read("docs/benchmarks.md")

    def row(title, heading, show):
        rows = rows_of(text, heading)
        return [title, *(show(rows, name) for name in names)]

    def mean(rows, name):
        means = next(row for row in rows if row[0].strip("*") == "geometric mean")
        return means[rows[0].index(name)].strip("*-") if name in rows[0] else ""

    def extremes(rows, name):
        values = ratios(rows, name)
        return f"{min(values):.2f} to {max(values):.2f}"

    one = "## Latency, f32, 1 thread"
    rows = [
        row("latency, f32, one thread: geometric mean", one, mean),
        row("least and most", one, extremes),
        row("two threads: geometric mean", "## Latency, f32, 2 threads", mean),
        row("int8, one thread: geometric mean", "## Latency, int8, 1 thread", mean),
        row("cold start: geometric mean", "## Cold start, f32", mean),
        row("peak memory: geometric mean", "## Peak resident memory", mean),
    ]
    return table(["their figure over Taper's (`docs/benchmarks.md`)", *names], rows)


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
    for kind, name in kinds.items():
        row = re.search(rf"^{kind} +(\d+) +\d+ +([\d.]+)% +(\d+) +(\d+)", said, re.M)
        cases, rate, refused, wrong = row.groups()
        yield [f"{title}, {name}", thousands(cases), f"{rate} %", refused, wrong]


def pytorch():
    """How much of PyTorch gives PyTorch's numbers."""
    core = {"core": "operators that decompose into Core ATen"}
    database = "PyTorch's operator database"
    delegated = database + " with `--backend xnnpack --delegate-all`"
    rows = [
        *operators(database, {**core, "other": "all others"}),
        *operators(delegated, core, "--backend", "xnnpack"),
    ]
    count, same = re.search(r"(\d+) models, (\d+) match", read("docs/models.md")).groups()
    rate = f"{100 * int(same) / int(count):.2f} %"
    rows.append(["public architectures (`docs/models.md`)", count, rate, "", ""])
    return table(["compared with PyTorch", "cases", "match", "refused", "wrong"], rows)


README = "README.md"
TABLES = [
    Table("cold_build", README, cold_build, ["CMakeLists.txt", "cmake"], 6, ""),
    Table("export", README, export, COMPILER, 1, ""),
    Table("run", README, run, KERNELS, 1, ""),
    Table("sizes", README, sizes, ["runtime", "kernels_portable", "schema"], 5, ""),
    Table("pytorch", README, pytorch, ["exir", "kernels_portable", "kernels_optimized"], 60, ""),
    Table("peers", README, peers, [], 0, "docs/benchmarks.md"),
    Table("gpu", README, gpu, [], 0, "docs/benchmarks_gpu.md"),
    Table("quantised", README, quantised, [], 0, "docs/quantisation.md"),
]
DOCUMENTS = [
    Document("docs/benchmarks.md", "scripts/bench_peers.sh --again", XNNPACK, ""),
    Document("docs/benchmarks_breadth.md", "scripts/bench_peers.sh --breadth", XNNPACK, ""),
    Document("docs/models.md", "scripts/zoo.sh", COMPILER, ""),
    Document(
        "docs/quantisation.md",
        '"$(scripts/venv.sh)" test/quantize/figures.py build/release/bin/taper',
        ["exir/quantize", *XNNPACK],
        "",
    ),
    Document("docs/benchmarks_arm64.md", "scripts/bench_arm64.sh", XNNPACK, ""),
    Document(
        "docs/benchmarks_web.md",
        "scripts/bench_web.sh --markdown docs/benchmarks_web.md",
        ["bindings/web", *KERNELS],
        "",
    ),
    Document(
        "docs/benchmarks_gpu.md", "test/bench/peers/gpu.py", ["backends/vulkan"], "a GPU"
    ),
    Document(
        "docs/benchmarks_gpu_llm.md", "test/bench/peers/gpu_llm.py", ["backends/vulkan"], "a GPU"
    ),
]
