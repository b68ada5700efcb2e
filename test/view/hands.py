"""What people do with a page, by mouse and keys; and how long it takes."""

import time

import oracle

# For a large model, in this order.
ACTIONS = [
    ("go to the exported graph", "app.showStep(app.model.steps[0])"),
    ("unfold everything", "app.setAll(true)"),
    ("see everything", "app.drawing.fitAll()"),
    ("zoom in", "app.drawing.zoom(8, 400, 300)"),
    ("find", "byId('search').value = 'layers.7'; app.search()"),
    ("go to the next that is found", "app.nextFound(1)"),
    ("fold everything", "byId('search').value = ''; app.search(); app.setAll(false)"),
    ("list steps", "app.side.show('steps')"),
    ("list lines of the source", "app.side.show('lines')"),
    ("go to the program", "app.showStep(app.model.steps.at(-1))"),
    (
        "colour by bytes",
        "byId('colour').value = 'bytes'; byId('colour').dispatchEvent(new Event('change'))",
    ),
    ("look at the memory", "app.showMemory()"),
]


def timed(lines, what, action):
    """Does it, and adds a line with its time."""
    start = time.perf_counter()
    result = action()
    lines.append(f"    {time.perf_counter() - start:6.2f} s  {what}")
    return result


def require(holds, what):
    if not holds:
        raise AssertionError(what)


def place_of(page, item, dx=0.5, dy=0.5):
    """Where an item, as an expression of JavaScript, is on the page."""
    return page.value(f"""(() => {{
      const spot = app.drawing.spots.get(({item}).key), view = app.drawing.view;
      const r = byId("graph").getBoundingClientRect();
      return [r.x + view.x + (spot.x + spot.cell.w * {dx}) * view.scale,
              r.y + view.y + (spot.y + spot.cell.h * {dy}) * view.scale];
    }})()""")


def middle_of(page, selector, text=""):
    """Of the first element that holds the text."""
    found = page.value(f"""(() => {{
      const all = [...document.querySelectorAll({selector!r})];
      const one = all.find((e) => e.textContent.includes({text!r}));
      if (!one) return null;
      const r = one.getBoundingClientRect();
      return [r.x + r.width / 2, r.y + r.height / 2];
    }})()""")
    require(found, f"there is no {selector} with {text!r}")
    return found


def run(tools):
    model = tools.models / "mobilenet_v2.pt2"
    nodes = oracle.exported_nodes(model)
    fold_and_select(tools, model)
    find(tools, model, nodes)
    step(tools, model)
    remember(tools, model)
    sizes(tools, model)
    return "fold, select, find, step, memory, sizes"


def fold_and_select(tools, model):
    page = tools.view(model)
    page.value("app.setAll(false); 0")
    page.settle()
    box = "app.root.items.find((i) => i.isBox)"
    shown = page.value("app.drawing.spots.size")
    page.click(*place_of(page, box), count=2)
    require(page.value(f"app.isOpen({box})"), "a double click does not unfold")
    require(page.value("app.drawing.spots.size") > shown, "nothing is unfolded")
    # Keys: select the box, fold it, unfold it, and go inside.
    page.value(f"byId('graph').focus(); app.select({box}, true); 0")
    page.key("Enter")
    require(not page.value(f"app.isOpen({box})"), "Enter does not fold")
    page.key("Enter")
    page.key("ArrowDown")
    require(page.value(f"app.selected.parent === {box}"), "an arrow does not lead into an open box")
    page.key("Escape")
    require(page.value(f"app.selected === {box}"), "Escape does not lead to the box around")
    # A click on a node shows what it is; a click beside it shows the model.
    page.key("e")
    node = "[...app.root.nodes()].find((n) => n.call && n.call.line)"
    page.value(f"app.select({node}, true); app.select(null); 0")
    page.settle()
    page.click(*place_of(page, node))
    name, line = page.value(f"[({node}).call.name, ({node}).call.line]")
    text = page.value("byId('details').textContent")
    require(name in text and line in text, "a click does not show a node's name and line")
    page.key("c")
    require(
        page.value("app.drawing.spots.size") == page.value("app.root.items.length + 1"),
        "c does not fold everything",
    )
    tools.close(page)


def find(tools, model, nodes):
    page = tools.view(model)
    page.value("app.showStep(app.model.steps[0]); 0")
    page.key("/")
    require(page.value("document.activeElement.id") == "search", "/ does not lead to the search")
    page.write("hardtanh")
    wanted = sum("hardtanh" in node["target"] for node in nodes)
    require(
        page.value("byId('found').textContent") == f"{wanted} found",
        "the count of what is found is wrong",
    )
    for number in range(1, wanted + 2):  # Around the end.
        page.key("Enter")
        require(
            page.value("byId('found').textContent").startswith(f"{(number - 1) % wanted + 1} of"),
            "Enter does not go on",
        )
        require("hardtanh" in page.value("app.selected.call.op"), "what is found is something else")
    key = page.value("app.selected.key")
    require(page.value(f"app.drawing.spots.has('{key}')"), "what is found is not unfolded")
    page.key("Escape")
    require(page.value("byId('search').value") == "", "Escape does not end the search")
    line = nodes[0]["metadata"]["stack_trace"].strip().splitlines()[-1].strip()
    page.value(f"byId('search').value = {line!r}; app.search(); 0")
    require(page.value("app.found.length") > 0, "a line of the source is not found")
    page.value("byId('search').value = 'no such thing'; app.search(); 0")
    require(
        page.value("byId('found').textContent") == "nothing", "something is found that is not there"
    )
    tools.close(page)


def step(tools, model):
    page = tools.view(model, "--backend", tools.backends[-1])
    titles = [page.value("app.step.title")]
    require(titles == ["program"], "the page does not begin with the program")
    page.value("byId('graph').focus(); 0")
    for _ in range(page.value("app.model.steps.length")):
        page.key("[")
        titles.append(page.value("app.step.title"))
    require(titles[-1] == "as exported", "[ does not lead to the exported graph")
    require(page.value("byId('back').disabled"), "there is a step before the first")
    # A batch norm is folded into its convolution: the page says what became of the line.
    page.value("app.selectCall(app.step.calls.find((c) => c.op.includes('batch_norm'))); 0")
    text = page.value("byId('details').textContent")
    require("What became of this line" in text and "program" in text, "a node has no history")
    changes = page.value(
        "app.model.steps.map((s) => app.changeOf(s)).map((c) => c.added.size + c.removed.length)"
    )
    page.click(*middle_of(page, "#forth"))
    index = page.value("app.step.index")
    require(
        changes[index] > 0 and not any(changes[1:index]), "a step is left out, or changes nothing"
    )
    page.click(*middle_of(page, "#side-tabs button", "Steps"))
    page.click(*middle_of(page, ".row .name", "as exported"))
    require(
        page.value("app.step.title") == "as exported", "a click in the list does not lead to a step"
    )
    tools.close(page)


def remember(tools, model):
    page = tools.view(model)
    page.click(*middle_of(page, "#main-tabs button", "Memory"))
    rows = page.value("document.querySelectorAll('#memory table tr').length - 1")
    alive = page.value(
        "(() => { const m = app.memory.memory(), at = m.buffers[0].peakAt;"
        " return m.places.filter((p) => p.buffer === 1 && p.first <= at && at <= p.last).length;"
        " })()"
    )
    require(rows == alive > 0, "the table is not of the peak")
    page.click(*middle_of(page, "#memory td .link"))
    require(page.value("app.selected !== null"), "a tensor does not lead to what makes it")
    page.click(*middle_of(page, "#main-tabs button", "Graph"))
    require(page.value("byId('memory').hidden"), "there is no way back to the graph")
    tools.close(page)


def sizes(tools, model):
    for width, height, dark in [
        (1440, 900, True),
        (820, 1180, False),
        (390, 844, True),
        (2560, 1440, False),
    ]:
        page = tools.view(
            model, "--backend", tools.backends[-1], width=width, height=height, dark=dark
        )
        require(
            page.value("document.documentElement.scrollWidth <= innerWidth"),
            f"the page is wider than {width}",
        )
        bright = page.value("app.drawing.theme.paper")
        require((bright < "#80") == dark, f"the ground is {bright}")
        for mode in page.value("app.colours.modes.map((m) => m.id)"):
            page.value(f"byId('colour').value = '{mode}'; 0")
            page.value("byId('colour').dispatchEvent(new Event('change')); 0")
            page.settle()
        tools.close(page)
