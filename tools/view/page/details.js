// What is known of the selected node or box.
"use strict";

const kMostLinks = 40;

class Details {
  constructor(app) {
    this.app = app;
    this.panel = byId("details");
  }

  show(item) {
    const content = !item
      ? this.ofModel()
      : item.isBox
        ? this.ofBox(item)
        : item.kind === "call"
          ? this.ofCall(item.call, item)
          : this.ofValueNode(item);
    this.panel.replaceChildren(...content);
    this.panel.scrollTop = 0;
  }

  heading(text) {
    return element("h3", {}, text);
  }

  // --- The model.

  ofModel() {
    const { model, step } = this.app;
    const help = [
      ["/", "find"],
      ["arrows", "follow lines, move among siblings"],
      ["Enter", "fold or unfold"],
      ["Esc", "to the box around"],
      ["[  ]", "to the change before, to the next"],
      ["f", "fit the graph"],
      ["e  c", "unfold or fold everything"],
      ["+  -", "zoom"],
    ];
    return [
      element("h2", {}, model.file),
      rows([...model.facts, ["nodes", `${step.calls.length} in this step`]]),
      ...this.reports(),
      ...this.worst(),
      this.heading("Keys"),
      rows(help.map(([key, what]) => [element("kbd", {}, key), what])),
    ];
  }

  // What is known of the reports that the colours come from.
  reports() {
    const { profile, comparison } = this.app.model;
    const found = [];
    if (profile) {
      found.push(
        this.heading("Profile"),
        rows([
          ["a run", timeText(Number(profile.median_s))],
          ["runs", String(profile.runs)],
        ]),
      );
    }
    if (comparison) {
      found.push(
        this.heading("Compared"),
        rows([
          ["program", comparison.program],
          ["reference", comparison.reference],
          ["method", comparison.method],
          ["first", comparison.first ? this.linkToName(comparison.first) : "all nodes agree"],
          ["worst", comparison.worst ? this.linkToName(comparison.worst) : ""],
        ]),
      );
    }
    return found;
  }

  // Of a node that the step at hand may not have.
  linkToName(name) {
    const makes = (call) =>
      !call.opens &&
      (call.name === name ||
        call.results.some((value) => value.name === name || value.holds.includes(name)));
    const call = this.app.step.calls.find(makes);
    return call ? link(name, () => this.app.selectCall(call)) : name;
  }

  // The nodes that the heat says to look at first.
  worst() {
    const { colours, step } = this.app;
    if (!colours.isHeat) return [];
    const all = step.calls
      .map((call) => [call, colours.amount(call)])
      .filter(([call, amount]) => amount > 0 && !colours.isSum(call) && !this.isShared(call))
      .sort((a, b) => b[1] - a[1])
      .slice(0, 12);
    const label = { time: "Slowest", bytes: "Largest results", error: "Least accurate" }[
      colours.mode
    ];
    const list = element(
      "ul",
      { class: "plain ranked" },
      ...all.map(([call, amount]) =>
        element(
          "li",
          {},
          element("span", { class: "number" }, colours.amountText(amount)),
          this.linkTo(call),
          call.line ? element("div", { class: "soft" }, call.line) : null,
        ),
      ),
    );
    return all.length > 0 ? [this.heading(label), list] : [];
  }

  // Whether its error is only known as that of a later node.
  isShared(call) {
    const row = this.app.colours.mode === "error" ? this.app.measures.error(call) : undefined;
    return Boolean(row && row.together);
  }

  // --- A call.

  ofCall(call, node) {
    const { measures } = this.app;
    const time = measures.time(call);
    return [
      element("h2", {}, shortOp(call.op)),
      element("p", { class: "soft mono" }, call.op),
      rows([
        ["name", call.name],
        ["module", call.module],
        ["runs on", measures.runsOn(call)],
        ["because", measures.note(call)],
        ["instruction", call.place],
        ["time", time === undefined ? "" : timeText(time)],
      ]),
      ...this.error(call),
      ...this.source(call),
      ...this.arguments(call),
      ...this.results(call),
      ...this.neighbours(node),
      ...this.history(call),
    ];
  }

  source(call) {
    const found = [];
    if (call.line) found.push(this.heading("Source"), element("p", { class: "mono" }, call.line));
    if (call.trace) {
      found.push(
        element(
          "details",
          {},
          element("summary", { class: "soft" }, "stack"),
          element("pre", {}, call.trace.trim()),
        ),
      );
    }
    return found;
  }

  error(call) {
    const row = this.app.measures.error(call);
    if (!row) return [];
    const number = (value) => (value === null || value === "" ? "" : numberText(Number(value)));
    const verdict = row.agrees
      ? "agrees"
      : row.from_inputs
        ? "off: its inputs carry the error"
        : "off: the error is made here";
    return [
      this.heading("Compared"),
      element("p", { class: row.agrees ? "" : "bad" }, row.problem || verdict),
      rows([
        ["computed together with", row.together],
        ["signal to noise", row.snr_db === null ? "" : `${number(row.snr_db)} dB`],
        ["largest error", number(row.max_abs)],
        ["relative", number(row.max_rel)],
        ["bound", number(row.bound)],
        ["made here", number(row.made_rel)],
      ]),
    ];
  }

  // Text in which values are links to the nodes that make them.
  pieces(pieces) {
    return element(
      "span",
      {},
      ...pieces.map((piece) => (typeof piece === "string" ? piece : this.linkToValue(piece))),
    );
  }

  arguments(call) {
    if (call.args.length === 0) return [];
    return [
      this.heading("Arguments"),
      rows(call.args.map((arg) => [arg.name || "\u00b7", this.pieces(arg.pieces)])),
    ];
  }

  results(call) {
    if (call.results.length === 0) return [];
    return [this.heading("Results"), ...call.results.map((value) => this.value(value))];
  }

  value(value) {
    return rows([
      ["%" + value.name, value.type],
      ["bytes", value.bytes > 0 ? bytesText(value.bytes) : ""],
      ["holds", value.holds.join(", ")],
      ["slot", value.slot >= 0 ? String(value.slot) : ""],
      ["lies", this.place(value)],
    ]);
  }

  // Where it lies in memory.
  place(value) {
    for (const memory of this.app.model.memory) {
      for (const place of memory.places) {
        if (place.value !== value) continue;
        return element(
          "span",
          {},
          `buffer ${place.buffer} at ${place.offset}, `,
          `instructions ${place.first} to ${place.last} `,
          link("show", () => this.app.showMemory(place)),
        );
      }
    }
    return "";
  }

  neighbours(node) {
    const { readers } = this.app.graph;
    const found = [];
    for (const value of node ? node.makes : []) {
      for (const reader of readers.get(value) || [])
        if (!found.includes(reader)) found.push(reader);
    }
    if (found.length === 0) return [];
    return [this.heading("Read by"), this.list(found.map((each) => this.linkToNode(each)))];
  }

  list(items) {
    const shown = items.slice(0, kMostLinks).map((item) => element("li", {}, item));
    if (items.length > kMostLinks)
      shown.push(element("li", { class: "soft" }, `and ${items.length - kMostLinks} more`));
    return element("ul", { class: "plain" }, ...shown);
  }

  // What became of the node, and of the line of the source from which it came.
  history(call) {
    const { model, step } = this.app;
    if (model.steps.length < 2) return [];
    const found = [];
    let before = null;
    for (const each of model.steps) {
      const own = this.relatives(call, each);
      const text = own.map((other) => other.id).join();
      if (text === before) continue;
      before = text;
      const here = each === step;
      found.push(
        element(
          "div",
          { class: here ? "change is-new" : "change" },
          link(each.title, () => {
            this.app.showStep(each);
            if (own[0]) this.app.selectCall(own[0]);
          }),
          own.length === 0 ? element("p", { class: "soft" }, "nothing of it is left") : null,
          ...own.slice(0, kMostLinks).map((other) => element("pre", {}, callText(other))),
          own.length > kMostLinks
            ? element("p", { class: "soft" }, `and ${own.length - kMostLinks} more`)
            : null,
        ),
      );
    }
    return [
      this.heading(call.line ? "What became of this line" : "What became of this node"),
      ...found,
    ];
  }

  // The calls of a step that stem from the same line in the same module, or bear the same name.
  relatives(call, step) {
    const isIn = (other) => other.line === call.line && other.module === call.module;
    return step.calls.filter(
      (other) => !other.opens && (other.name === call.name || (call.line && isIn(other))),
    );
  }

  // --- A box, an input, an output.

  ofBox(box) {
    const { app } = this;
    const nodes = [...box.nodes()].filter((node) => node.call);
    const counts = new Map();
    for (const { call } of nodes)
      counts.set(shortOp(call.op), (counts.get(shortOp(call.op)) || 0) + 1);
    const sorted = [...counts].sort((a, b) => b[1] - a[1]);
    const amount = app.colours.isHeat ? app.colours.amountOf(box) : undefined;
    return [
      element("h2", {}, box.label),
      element("p", { class: "soft mono" }, box.path.join(".")),
      element(
        "p",
        {},
        link(app.isOpen(box) ? "fold" : "unfold", () => app.toggle(box)),
      ),
      rows([
        ["nodes", String(nodes.length)],
        [app.colours.mode, amount === undefined ? "" : app.colours.amountText(amount)],
      ]),
      ...(box.call ? this.ofCall(box.call, box.opener).slice(1) : []),
      this.heading("Operators"),
      rows(sorted.map(([name, count]) => [String(count), name])),
    ];
  }

  ofValueNode(node) {
    const { value } = node;
    const writers = (this.app.graph.writers.get(value) || []).filter((writer) => writer !== node);
    return [
      element("h2", {}, node.label),
      this.value(value),
      rows([["tensor", value.from]]),
      ...(node.kind === "output" && writers.length > 0
        ? [this.heading("Made by"), this.list(writers.map((each) => this.linkToNode(each)))]
        : []),
      ...this.neighbours(node),
    ];
  }

  // --- Links.

  linkTo(call) {
    return link(titleOf(call), () => this.app.selectCall(call));
  }

  linkToNode(node) {
    const text = node.call ? titleOf(node.call) : node.label;
    return link(text, () => this.app.select(node.box || node, true));
  }

  linkToValue(value) {
    const writers = this.app.graph.writers.get(value);
    const tensor = value.from ? ` "${value.from}"` : "";
    const text = `%${value.name}`;
    const after = element(
      "span",
      { class: "soft" },
      ` ${value.role === "result" ? "" : value.role + tensor + " "}${value.type}`,
    );
    if (!writers) return element("span", {}, text, after);
    return element(
      "span",
      {},
      link(text, () => this.app.select(writers[0].box || writers[0], true)),
      after,
    );
  }
}
