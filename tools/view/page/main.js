// The state of the page: the step that is shown, what is open, selected, found. Everything else
// draws what it says.
"use strict";

class App {
  constructor() {
    this.model = readDocument();
    this.measures = new Measures(this.model);
    this.colours = new Colours(this.model, this.measures);
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.colours.isDark = this.dark.matches;
    this.open = new Set();
    this.known = new Set(); // Boxes that were shown before, in any step.
    this.selected = null;
    this.marked = null; // { name, calls }: the others are faded.
    this.found = [];
    this.drawing = new Drawing(byId("graph"), this);
    this.memory = new MemoryView(this);
    this.details = new Details(this);
    this.fillHead();
    this.setStep(this.model.steps.at(-1));
    this.side = new Side(this);
    this.update();
    this.drawing.fit();
    this.listen();
  }

  // --- The graph that is shown.

  // Who makes and who reads each value of a step.
  graphOf(step) {
    if (step.graph) return step.graph;
    const graph = { writers: new Map(), readers: new Map() };
    const add = (map, value, node) =>
      map.has(value) ? map.get(value).push(node) : map.set(value, [node]);
    boxesOf(step);
    for (const node of nodesOf(step)) {
      for (const value of node.makes) add(graph.writers, value, node);
      for (const value of node.reads) add(graph.readers, value, node);
    }
    step.graph = graph;
    return graph;
  }

  program() {
    const { steps } = this.model;
    return (
      steps.find((step) => step.isProgram && step.method === this.step.method) ||
      steps.find((step) => step.isProgram)
    );
  }

  setStep(step) {
    this.step = step;
    this.root = boxesOf(step);
    this.graph = this.graphOf(step);
    const first = openAtFirst(this.root);
    for (const box of this.root.boxes()) {
      if (!this.known.has(box.key) && first.has(box.key)) this.open.add(box.key);
      this.known.add(box.key);
    }
    this.change = this.changeOf(step);
    this.colours.use(step);
    this.neighbourKeys = null;
    this.place(null);
  }

  place(anchor) {
    const placed = layOut(
      this.step,
      this.root,
      (box) => this.isOpen(box),
      (item) => this.drawing.sizeOf(item),
    );
    this.drawing.show(placed, anchor);
  }

  // Goes to a step, and to the node there that the selected one became or was.
  showStep(step, quietly = false) {
    if (step === this.step) return;
    const call = this.selected && this.selected.call;
    this.selected = null;
    this.marked = null;
    this.setStep(step);
    const same =
      call &&
      (step.calls.find((each) => each === call) ||
        step.calls.find((each) => each.name === call.name && !each.opens));
    if (same) this.selectCall(same);
    this.search();
    this.update();
    if (!same && !quietly) this.drawing.fit();
  }

  // What a step added to the one before it, and removed.
  changeOf(step) {
    if (step.change) return step.change;
    const before = step.index > 0 ? this.model.steps[step.index - 1] : null;
    if (!before || before.isProgram || step.isProgram) {
      return (step.change = { isFirst: true, added: new Set(), removed: [] });
    }
    const old = new Set(before.calls),
      now = new Set(step.calls);
    step.change = {
      isFirst: false,
      added: new Set(step.calls.filter((call) => !old.has(call))),
      removed: before.calls.filter((call) => !now.has(call)),
    };
    return step.change;
  }

  // The next step in a direction that changes something; undefined if there is none.
  changeBeside(by) {
    const { steps } = this.model;
    for (let i = this.step.index + by; i >= 0 && i < steps.length; i += by) {
      if (!isSame(this.changeOf(steps[i]))) return steps[i];
    }
    return undefined;
  }

  stepBy(by) {
    const step = this.changeBeside(by);
    if (step) this.showStep(step);
  }

  isAdded(item) {
    if (!item.isBox) return Boolean(item.call) && this.change.added.has(item.call);
    for (const node of item.nodes()) if (node.call && this.change.added.has(node.call)) return true;
    return false;
  }

  // --- Folding.

  isOpen(box) {
    return !box.parent || this.open.has(box.key);
  }

  toggle(box) {
    this.open.has(box.key) ? this.open.delete(box.key) : this.open.add(box.key);
    this.neighbourKeys = null;
    this.place(box.key);
    this.update();
  }

  setAll(isOpen) {
    for (const box of this.root.boxes())
      isOpen ? this.open.add(box.key) : this.open.delete(box.key);
    this.neighbourKeys = null;
    this.place(null);
    this.update();
    this.drawing.fit();
  }

  reveal(item) {
    let changed = false;
    for (let box = item.parent; box && box.parent; box = box.parent) {
      changed = changed || !this.open.has(box.key);
      this.open.add(box.key);
    }
    if (changed) this.place(null);
  }

  // --- Selecting.

  select(item, goThere = false) {
    this.selected = item && item.parent ? item : null;
    this.neighbourKeys = null;
    if (item && goThere) {
      this.reveal(item);
      this.drawing.centre(item.key);
    }
    this.update();
  }

  selectCall(call) {
    const node = nodesOf(this.step).find((each) => each.call === call);
    if (node) this.select(node.box || node, true);
  }

  // What stands for a node: itself, or the folded box around it.
  standIn(node) {
    let item = node.box || node,
      stand = item;
    for (let box = item.parent; box && box.parent; box = box.parent)
      if (!this.isOpen(box)) stand = box;
    return stand;
  }

  // Keys of the items at the other ends of the selected node's lines.
  neighbours() {
    if (this.neighbourKeys) return this.neighbourKeys;
    const keys = new Set();
    const item = this.selected;
    const node = item && (item.isBox ? item.opener : item);
    for (const value of node ? node.reads : []) {
      for (const other of this.graph.writers.get(value) || []) keys.add(this.standIn(other).key);
    }
    for (const value of node ? node.makes : []) {
      for (const other of this.graph.readers.get(value) || []) keys.add(this.standIn(other).key);
    }
    this.neighbourKeys = keys;
    return keys;
  }

  // Whether a line leads to or from the selected item.
  isMarkedLine(line) {
    const item = this.selected;
    if (!item) return false;
    const from = line.from.item,
      to = line.to.item;
    if (from === item || to === item) return true;
    const node = item.isBox ? item.opener : item;
    if (!node) return false;
    if (node.makes.includes(line.value)) return true;
    return (
      node.reads.includes(line.value) && (to.isPassage || (to.isBox && this.isWithin(item, to)))
    );
  }

  isWithin(item, box) {
    for (let at = item.parent; at; at = at.parent) if (at === box) return true;
    return false;
  }

  // --- Finding and marking.

  mark(name, calls) {
    this.marked = this.marked && this.marked.name === name ? null : { name, calls };
    if (this.marked) {
      const node = nodesOf(this.step).find((each) => each.call && calls.has(each.call));
      if (node) {
        this.selected = node.box || node;
        this.neighbourKeys = null;
        this.drawing.centre(this.standIn(node).key);
      }
    }
    this.update();
  }

  faded(item) {
    const wanted = this.marked
      ? (node) => node.call && this.marked.calls.has(node.call)
      : this.foundSet
        ? (node) => this.foundSet.has(node)
        : null;
    if (!wanted) return false;
    if (!item.isBox) return !wanted(item);
    if (item.opener && wanted(item.opener)) return false;
    for (const node of item.nodes()) if (wanted(node)) return false;
    return true;
  }

  search() {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    this.foundSet = null;
    this.found = [];
    this.at = -1;
    if (words.length > 0) {
      this.found = nodesOf(this.step).filter((node) =>
        words.every((word) => textOf(node).includes(word)),
      );
      this.foundSet = new Set(this.found);
    }
    byId("found").textContent =
      words.length === 0 ? "" : this.found.length === 0 ? "nothing" : `${this.found.length} found`;
    this.drawing.draw();
  }

  nextFound(by) {
    if (this.found.length === 0) return;
    this.at = (this.at + by + this.found.length) % this.found.length;
    const node = this.found[this.at];
    byId("found").textContent = `${this.at + 1} of ${this.found.length}`;
    this.select(node.box || node, true);
  }

  hint(item) {
    if (item.isBox) return `${item.path.join(".")}: ${item.count} nodes`;
    if (!item.call) return `${item.label}: ${item.value.type}`;
    return [callText(item.call), item.call.line, this.measures.note(item.call)]
      .filter(Boolean)
      .join("\n");
  }

  // --- The frame.

  fillHead() {
    const { model } = this;
    byId("file").textContent = model.file;
    byId("facts").textContent = model.facts
      .map(([name, text]) => `${name} ${text}`)
      .join("  \u00b7  ");
    byId("problems").hidden = model.problems.length === 0;
    byId("problems").append(
      element("strong", {}, "This model cannot be compiled:"),
      element("ul", {}, ...model.problems.map((text) => element("li", {}, text))),
    );
    byId("colour").append(
      ...this.colours.modes.map(({ id, label }) =>
        element("option", { value: id, selected: id === this.colours.mode }, label),
      ),
    );
    byId("strip").hidden = model.steps.length < 2;
    byId("step").append(
      ...model.steps.map((step) => element("option", { value: step.index }, this.titleOf(step))),
    );
    const tool = (text, title, onclick) =>
      element("button", { type: "button", title, onclick }, text);
    byId("tools").append(
      tool("Fit", "Show the whole graph (f)", () => this.drawing.fitAll()),
      tool("Unfold", "Unfold every box (e)", () => this.setAll(true)),
      tool("Fold", "Fold every box (c)", () => this.setAll(false)),
    );
  }

  // Methods of a program tell themselves apart by their names.
  titleOf(step) {
    const several = this.model.steps.filter((each) => each.isProgram).length > 1;
    return several && step.isProgram ? `method ${step.method}` : step.title;
  }

  fillLegend() {
    const { colours } = this;
    if (colours.isHeat) {
      const scale = element("span", { class: "scale" });
      const stops = [0, 0.25, 0.5, 0.75, 1].map((heat) => colours.ofHeat(heat));
      scale.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
      const [low, high] = colours.ends;
      byId("legend").replaceChildren(element("span", {}, low), scale, element("span", {}, high));
      return;
    }
    byId("legend").replaceChildren(
      ...colours
        .classesOf(this.step)
        .slice(0, 8)
        .map(([name, count]) => {
          const swatch = element("span", { class: "swatch" });
          swatch.style.background = colours.ofClass(name);
          const calls = () =>
            new Set(this.step.calls.filter((call) => colours.classOf(call) === name));
          return element(
            "button",
            {
              type: "button",
              "aria-pressed": String(Boolean(this.marked && this.marked.name === name)),
              onclick: () => this.mark(name, calls()),
            },
            swatch,
            `${name} ${count}`,
          );
        }),
    );
  }

  fillTabs() {
    const isMemory = !byId("memory").hidden;
    byId("tools").hidden = isMemory;
    const tab = (text, isOn, onclick) =>
      element(
        "button",
        { type: "button", role: "tab", "aria-selected": String(isOn), onclick },
        text,
      );
    byId("main-tabs").replaceChildren(
      tab("Graph", !isMemory, () => this.showGraph()),
      tab("Memory", isMemory, () => this.showMemory()),
    );
  }

  showGraph() {
    byId("memory").hidden = true;
    this.update();
  }

  showMemory(place = null) {
    byId("memory").hidden = false;
    this.memory.show(place);
    this.update();
  }

  update() {
    const { step, change } = this;
    byId("step").value = step.index;
    byId("step-note").textContent = change.isFirst
      ? step.note
      : [step.note, changeText(change)].filter(Boolean).join(", ");
    byId("back").disabled = !this.changeBeside(-1);
    byId("forth").disabled = !this.changeBeside(1);
    this.fillTabs();
    this.fillLegend();
    if (this.side) this.side.update();
    this.details.show(this.selected);
    this.drawing.draw();
  }

  // --- Keys and controls.

  listen() {
    byId("search").addEventListener("input", () => this.search());
    byId("search").addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.nextFound(event.shiftKey ? -1 : 1);
      if (event.key !== "Escape") return;
      event.target.value = "";
      this.search();
      byId("graph").focus();
    });
    byId("colour").addEventListener("change", (event) => {
      this.colours.mode = event.target.value;
      this.colours.use(this.step);
      if (!byId("memory").hidden) this.memory.draw();
      this.update();
    });
    byId("step").addEventListener("change", (event) =>
      this.showStep(this.model.steps[event.target.value]),
    );
    byId("back").addEventListener("click", () => this.stepBy(-1));
    byId("forth").addEventListener("click", () => this.stepBy(1));
    this.dark.addEventListener("change", () => {
      this.colours.isDark = this.dark.matches;
      this.drawing.readTheme();
      if (!byId("memory").hidden) this.memory.draw();
      this.update();
    });
    addEventListener("resize", () => !byId("memory").hidden && this.memory.draw());
    document.addEventListener("keydown", (event) => this.key(event));
    byId("graph").addEventListener("keydown", (event) => this.graphKey(event));
  }

  key(event) {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input, select")) return;
    const actions = {
      "/": () => byId("search").focus(),
      "[": () => this.stepBy(-1),
      "]": () => this.stepBy(1),
      f: () => this.drawing.fitAll(),
      e: () => this.setAll(true),
      c: () => this.setAll(false),
      "+": () => this.zoomMiddle(1.25),
      "=": () => this.zoomMiddle(1.25),
      "-": () => this.zoomMiddle(0.8),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }

  zoomMiddle(factor) {
    const [w, h] = this.drawing.size();
    this.drawing.zoom(factor, w / 2, h / 2);
  }

  graphKey(event) {
    const item = this.selected;
    const ways = {
      ArrowUp: () => this.along(item, "up"),
      ArrowDown: () => this.along(item, "down"),
      ArrowLeft: () => this.beside(item, -1),
      ArrowRight: () => this.beside(item, 1),
    };
    if (event.key in ways) {
      const next = item ? ways[event.key]() : this.root.items[0];
      if (next) this.select(next, true);
    } else if ((event.key === "Enter" || event.key === " ") && item && item.isBox) {
      this.toggle(item);
    } else if (event.key === "Escape") {
      this.select(item && item.parent && item.parent.parent ? item.parent : null, true);
    } else {
      return;
    }
    event.preventDefault();
  }

  // The item at the other end of the first line up or down; into an open box, its first item.
  along(item, way) {
    if (item.isBox && this.isOpen(item) && way === "down") return item.items[0];
    const spot = this.drawing.spots.get(item.parent.key);
    for (const line of spot ? spot.cell.lines : []) {
      if (way === "up" && line.to.item === item && !line.from.isPassage) return line.from.item;
      if (way === "down" && line.from.item === item && !line.to.isPassage) return line.to.item;
    }
    return item.parent.parent ? item.parent : null;
  }

  beside(item, by) {
    const { items } = item.parent;
    return items[items.indexOf(item) + by];
  }
}

function isSame(change) {
  return !change.isFirst && change.added.size === 0 && change.removed.length === 0;
}

function changeText(change) {
  if (isSame(change)) return "changes nothing here";
  return `${change.added.size} added, ${change.removed.length} removed`;
}

// What a search looks at.
function textOf(node) {
  if (node.text === undefined) {
    const { call } = node;
    node.text = (
      call
        ? [
            call.name,
            call.op,
            call.module,
            call.line,
            ...call.results.flatMap((value) => [value.name, ...value.holds]),
          ]
        : [node.label, node.value.name, node.value.from]
    )
      .join(" ")
      .toLowerCase();
  }
  return node.text;
}

const app = new App();
