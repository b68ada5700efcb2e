"""Tests the pages of `taper view` in a headless Chromium.

    python3 test/view/run.py --build build/release [--only every] [--model-explorer FILE]

- every: of each committed model, the .pt2 and the .pte of a backend, of each backend in turn, or,
  with --all-backends, of every backend. The page draws all nodes
  of the exported graph and all instructions, as JSON and flatc list them, without overlaps, folded
  and unfolded; it goes through every step; its console stays empty and it asks for nothing.
- hands: mouse and keys find, fold, follow, step and look at the memory, light, dark and narrow.
- hostile: names that are markup, control characters or very long stay text.
- large: 5,000 nodes. How long each action takes is printed.
- reports: colours and lists are those of `taper profile --json` and `taper compare`.
- refused: one line, and no page.
- explorer: --format model-explorer has the fields of Model Explorer's own classes.

Needs what scripts/deps.sh browser installs. Exits with 1 on a failure.
"""

import argparse
import collections
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import explorer
import hands
import hard_models
import oracle
import reports
from browser import Browser

# Every item lies within its box, and beside its siblings; the canvas shows more than its ground.
DRAWN = """(() => {
  const faults = [];
  const look = (cell) => {
    if (!cell.isOpen) return;
    const boxes = cell.children.map((c) => [c.x - c.w / 2, c.y, c.x + c.w / 2, c.y + c.h]);
    boxes.forEach(([l, t, r, b], i) => {
      const { label } = cell.children[i].item;
      const isOutside = l < -1 || t < -1 || r > cell.w + 1 || b > cell.h + 1;
      if (isOutside) faults.push(`${label} is outside`);
      for (const [l2, t2, r2, b2] of boxes.slice(i + 1, i + 200)) {
        const isCovered = l < r2 - 0.5 && l2 < r - 0.5 && t < b2 - 0.5 && t2 < b - 0.5;
        if (isCovered) faults.push(`${label} is covered`);
      }
    });
    cell.children.forEach(look);
  };
  look(app.drawing.placed);
  const canvas = byId("graph");
  const copy = new OffscreenCanvas(canvas.width, canvas.height)
    .getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const pixels = new Uint32Array(copy.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  if (new Set(pixels).size < 4) faults.push("the canvas is empty");
  return faults.slice(0, 3);
})()"""


class Tools:
    def __init__(self, options, work, browser):
        self.options = options
        self.browser = browser
        self.taper = pathlib.Path(options.build).resolve() / "bin/taper"
        self.models = oracle.ROOT / "test/models/data"
        self.work = pathlib.Path(work)
        self.backends = ["portable"] + sorted(
            p.parent.name for p in oracle.ROOT.glob("backends/*/descriptor.h")
        )

    def all_models(self):
        """Pairs of a model and a backend, which the models take in turn."""
        models = sorted(self.models.glob("*.pt2"))[:: self.options.one_in]
        return [(m, self.backends[i % len(self.backends)]) for i, m in enumerate(models)]

    def call(self, *command, code=0):
        done = subprocess.run(
            [self.taper, *map(str, command)], capture_output=True, text=True, cwd=self.work
        )
        require(
            done.returncode == code,
            f"exit {done.returncode}: {' '.join(map(str, command))[:300]}: {done.stderr}",
        )
        return done

    def view(self, *arguments, **options):
        """The page of a model, opened."""
        path = self.work / "view.html"
        self.call("view", *arguments, "-o", path)
        page = self.browser.open(path, **options)
        page.settle()
        return page

    def export(self, model, backend, *more):
        path = self.work / f"{pathlib.Path(model).stem}.{backend}.pte"
        self.call("export", model, "-o", path, "--backend", backend, *more)
        return path

    def close(self, page):
        """Closes a page on which all was well."""
        require(not page.complaints, f"the console says {page.complaints[:2]}")
        require(len(page.requests) == 1, f"the page asks for {page.requests[1:3]}")
        page.close()


def require(holds, what):
    if not holds:
        raise AssertionError(what)


# --- every


def look_at_all(page):
    """Every step; the first and the last as they open, unfolded and folded."""
    last = page.value("app.model.steps.length") - 1
    page.value("app.model.steps.forEach((step) => app.showStep(step)); 0")
    for step in {0, last}:
        page.value(f"app.showStep(app.model.steps[{step}]); 0")
        for action in ["0", "app.setAll(true); 0", "app.setAll(false); 0"]:
            page.value(action)
            page.settle()
            faults = page.value(DRAWN)
            require(not faults, f"step {step}, {action}: {faults}")
            if action.startswith("app.setAll(true"):
                missing = page.value(
                    "nodesOf(app.step).map((n) => (n.box || n).key)"
                    ".filter((key) => !app.drawing.spots.has(key)).length"
                )
                require(missing == 0, f"step {step}: {missing} nodes are not drawn")
    for action in ["app.showMemory()", "app.showGraph()"]:
        page.value(action + "; 0")
        page.settle()


def expect_program(page, path):
    shown = page.value(
        "Object.fromEntries(app.model.steps.filter((s) => s.isProgram).map((s) => "
        "[s.method, s.calls.filter((c) => /^[0-9]+$/.test(c.place)).map((c) => c.op)]))"
    )
    require(shown == oracle.programs(path), "the instructions are not those that flatc lists")


def expect_exported(page, path):
    """The nodes of model.json, but that operators of prims may be read as others, and that what
    reads the numbers of a weight stands beside them."""
    shown = collections.Counter(
        page.value("app.model.steps[0].calls.map((c) => c.op).filter((op) => !op.startsWith('('))")
    )
    nodes = collections.Counter(map(oracle.operator_of, oracle.exported_nodes(path)))
    missing = list((nodes - shown).elements())
    others = [op for op in (shown - nodes).elements() if not oracle.is_made(op)]
    require(
        all(op.startswith("prims::") for op in missing) and len(others) == len(missing),
        f"of model.json's nodes {missing} are not shown, but {others} are",
    )


def every_model(tools):
    models, backends = tools.all_models(), tools.backends
    for model, in_turn in models:
        for backend in backends if tools.options.all_backends else [in_turn]:
            try:
                page = tools.view(model, "--backend", backend)
                expect_exported(page, model)
                look_at_all(page)
                tools.close(page)
                program = tools.export(model, backend)
                page = tools.view(program)
                expect_program(page, program)
                look_at_all(page)
                tools.close(page)
            except AssertionError as error:
                raise AssertionError(f"{model.name}, {backend}: {error}") from None
    return f"{len(models)} models, {len(backends)} backends"


# --- hostile and large


def hostile_names(tools):
    model = tools.work / "hostile <b>&amp;\" '.pt2"
    names = hard_models.hostile(tools.models / "bert_mini.pt2", model)
    nodes = oracle.exported_nodes(model)
    for backend in tools.backends:
        page = tools.view(model, "--backend", backend)
        require(page.value("document.title") == model.name, "the title is not the file's name")
        look_at_all(page)
        page.value("app.showStep(app.model.steps[0]); 0")
        shown = page.value("app.step.calls.map((c) => [c.name, c.trace])")
        require(
            shown == [[node["name"], node["metadata"]["stack_trace"]] for node in nodes],
            "texts are changed",
        )
        for index in range(0, len(nodes), 3):
            page.value(f"app.selectCall(app.step.calls[{index}]); 0")
            require(
                nodes[index]["name"] in page.value("byId('details').textContent"),
                "a name is not shown as it is",
            )
        for tab in ["steps", "modules", "lines", "operators"]:
            page.value(f"app.side.show('{tab}'); 0")
        require(
            page.value("document.querySelectorAll('img, b, main script, aside script').length")
            == 0,
            "names became markup",
        )
        tools.close(page)
    return f"{len(names)} names"


def large_model(tools):
    model = tools.work / "large.pt2"
    hard_models.large(tools.models / "add.pt2", model, 5000)
    count = len(oracle.exported_nodes(model))
    lines = [f"{count} nodes"]
    for backend in tools.backends:
        lines.append("  " + backend)
        page = hands.timed(
            lines, "write the page and open it", lambda: tools.view(model, "--backend", backend)
        )
        require(page.value("app.model.steps[0].calls.length") == count, "nodes are missing")
        size = (tools.work / "view.html").stat().st_size
        lines.append(
            f"    {size / 1e6:.1f} MB of page, {model.stat().st_size / 1e6:.1f} MB of model"
        )
        for what, script in hands.ACTIONS:
            hands.timed(lines, what, lambda: (page.value(script + "; 0"), page.settle()))
        tools.close(page)
    return "\n".join(lines)


# --- refused


def expect_refused(tools, why, *arguments, code=1, output="refused.html"):
    said = tools.call("view", *arguments, "-o", output, code=code).stderr.splitlines()
    require(why in said[0] and len(said) == (1 if code == 1 else 2), f"{arguments}: {said}")
    require(not (tools.work / output).exists(), f"{arguments}: a page was written")


def refused(tools):
    model = tools.models / "mobilenet_v2.pt2"
    program = tools.export(model, "portable")
    for path in [model, program]:
        cut = tools.work / ("cut" + path.suffix)
        cut.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        expect_refused(tools, "cut" + path.suffix, cut)
    expect_refused(tools, "none.pte", "none.pte")
    expect_refused(tools, "no/such/folder", model, output="no/such/folder/page.html")
    expect_refused(tools, "--format", model, "--format", "png", code=2)
    expect_refused(tools, "--backend", program, "--backend", "portable", code=2)
    other = tools.export(tools.models / "bert_mini.pt2", "portable", "--debug-info")
    (tools.work / "other.json").write_text(
        tools.call("profile", other, "--runs", "2", "--json").stdout
    )
    expect_refused(tools, "is of another model", model, "--profile", "other.json")
    expect_refused(tools, "mobilenet_v2.pt2 (", model, "--profile", "other.json")
    return "one line each"


TESTS = {
    "hands": hands.run,
    "hostile": hostile_names,
    "large": large_model,
    "reports": reports.run,
    "refused": refused,
    "explorer": explorer.run,
    "every": every_model,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--only", choices=TESTS)
    parser.add_argument("--one-in", type=int, default=1, help="every so many models alone")
    parser.add_argument("--all-backends", action="store_true", help="each model with each backend")
    parser.add_argument(
        "--model-explorer", help="graph_builder.py of the package ai-edge-model-explorer"
    )
    options = parser.parse_args()
    results = collections.Counter()
    with tempfile.TemporaryDirectory() as work, Browser() as browser:
        tools = Tools(options, work, browser)
        for name, test in TESTS.items():
            if options.only not in (None, name):
                continue
            try:
                print(f"ok      {name}: {test(tools)}", flush=True)
                results["ok"] += 1
            except (AssertionError, RuntimeError) as error:
                print(f"FAILED  {name}: {error}", flush=True)
                results["failed"] += 1
    print(json.dumps(results))
    return 1 if results["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
