"""Pages with times and errors: they show what `taper profile --json` and `taper compare` found."""

import json
import subprocess


def require(holds, what):
    if not holds:
        raise AssertionError(what)


def run(tools):
    model = tools.models / "mobilenet_v2.pt2"
    for backend in tools.backends:
        program = tools.export(model, backend, "--debug-info")
        profile(tools, model, program, backend)
        compare(tools, model, program, backend)
    return "times and errors of " + ", ".join(tools.backends)


def times_shown(page):
    return page.value(
        "Object.fromEntries(app.step.calls.filter((c) => /^[0-9]+$/.test(c.place))"
        ".map((c) => [c.place, app.measures.time(c)]))"
    )


def profile(tools, model, program, backend):
    report = tools.work / "times.json"
    report.write_text(tools.call("profile", program, "--runs", "3", "--json").stdout)
    wanted = {
        row["place"]: row["median_s"]
        for row in json.loads(report.read_text())["rows"]
        if not row["is_step"]
    }
    for arguments in [(program,), (model, "--backend", backend)]:
        page = tools.view(*arguments, "--profile", report)
        require(page.value("app.colours.mode") == "time", "the page does not begin with times")
        require(times_shown(page) == wanted, "times of instructions are others")
        slowest = page.value("byId('details').querySelector('.ranked .number').textContent")
        require(
            any(slowest.endswith(unit) for unit in ["ns", "us", "ms", "s"]),
            "there is no list of the slowest",
        )
        tools.close(page)
    # That of a program compiled otherwise has no times for other instructions than its own.
    other = next(each for each in tools.backends if each != backend)
    page = tools.view(model, "--backend", other, "--profile", report)
    operators = dict(
        page.value(
            "app.step.calls.filter((c) => /^[0-9]+$/.test(c.place)).map((c) => [c.place, c.op])"
        )
    )
    rows = {row["place"]: row["op"] for row in json.loads(report.read_text())["rows"]}
    for place, seconds in times_shown(page).items():
        require(
            seconds is None or operators[place] == rows[place],
            f"instruction {place} has the time of another",
        )
    tools.close(page)


def compare(tools, model, program, backend):
    # So small a bound that most programs differ; the exit code says whether this one does.
    page_path, report = tools.work / "compared.html", tools.work / "errors.json"
    done = subprocess.run(
        [tools.taper, "compare", model, program, "--bound", "1e-9", "--json", "--html", page_path],
        capture_output=True,
        text=True,
    )
    found = json.loads(done.stdout)
    require(done.returncode == (0 if found["agrees"] else 1), done.stderr)
    report.write_text(done.stdout)
    wanted = {node["node"]: node["max_rel"] for node in found["nodes"]}
    pages = [
        tools.browser.open(page_path),
        tools.view(model, "--backend", backend, "--compare", report),
        tools.view(program, "--compare", report),
    ]
    for page in pages:
        page.settle()
        require(page.value("app.colours.mode") == "error", "the page does not begin with errors")
        shown = page.value(
            "Object.fromEntries([...app.measures.errors].map(([name, row]) => [name, row.max_rel]))"
        )
        require({name: shown.get(name) for name in wanted} == wanted, "errors are others")
        if found["first"]:
            require(
                found["first"] in page.value("byId('details').textContent"),
                "the first that differs is not named",
            )
        tools.close(page)
    titles = page_titles(tools, page_path)
    require(titles == ["as exported", "program"], f"compare --html shows {titles}")


def page_titles(tools, path):
    page = tools.browser.open(path)
    titles = page.value("app.model.steps.map((s) => s.title)")
    require(page.value("app.step.isProgram"), "the page does not begin with the program")
    page.value("app.showStep(app.model.steps[0]); 0")
    marked = page.value("app.step.calls.filter((c) => app.measures.error(c)).length")
    require(marked > 0, "no node of the exported graph is marked")
    tools.close(page)
    return titles
