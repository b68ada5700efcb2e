// The lists at the side: steps of the compiler, modules, lines of the source, operators.
"use strict";

// Rows of equal height, of which only those in sight are in the page. `render(i)` makes row i.
class LongList {
  constructor(panel, role, rowHeight) {
    this.panel = panel;
    this.rowHeight = rowHeight;
    this.inner = element("div", { role, tabindex: "-1" });
    this.inner.style.position = "relative";
    panel.replaceChildren(this.inner);
    this.active = 0;
    panel.onscroll = () => this.draw();
    panel.onkeydown = (event) => this.key(event);
  }

  fill(count, render, act) {
    this.count = count;
    this.render = render;
    this.act = act;
    this.active = Math.min(this.active, Math.max(0, count - 1));
    this.inner.style.height = `${count * this.rowHeight}px`;
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.panel.scrollTop / this.rowHeight) - 4);
    const last = Math.min(
      this.count,
      Math.ceil((this.panel.scrollTop + this.panel.clientHeight) / this.rowHeight) + 4,
    );
    const hadFocus = this.inner.contains(document.activeElement);
    const made = [];
    for (let i = first; i < last; ++i) {
      const row = this.render(i);
      row.style.top = `${i * this.rowHeight}px`;
      row.tabIndex = i === this.active ? 0 : -1;
      row.addEventListener("click", () => {
        this.active = i;
      });
      made.push(row);
      row.dataset.row = i;
    }
    this.inner.replaceChildren(...made);
    if (hadFocus) this.focus();
  }

  focus() {
    const row = this.inner.querySelector(`[data-row="${this.active}"]`);
    if (row) row.focus({ preventScroll: true });
  }

  key(event) {
    const moves = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: 15,
      PageUp: -15,
      Home: -Infinity,
      End: Infinity,
    };
    if (event.key in moves) {
      this.active = Math.min(this.count - 1, Math.max(0, this.active + moves[event.key]));
      this.scrollTo(this.active);
      this.draw();
      this.focus();
    } else if (!this.act || !this.act(this.active, event.key)) {
      return;
    }
    event.preventDefault();
  }

  scrollTo(i) {
    const { rowHeight } = this,
      { scrollTop, clientHeight } = this.panel;
    const top = i * rowHeight;
    if (top < scrollTop) this.panel.scrollTop = top;
    if (top + rowHeight > scrollTop + clientHeight)
      this.panel.scrollTop = top + rowHeight - clientHeight;
  }
}

class Side {
  constructor(app) {
    this.app = app;
    this.tabs = [
      ["modules", "Modules"],
      ["lines", "Source"],
      ["operators", "Operators"],
    ];
    if (app.model.steps.length > 1) this.tabs.unshift(["steps", "Steps"]);
    this.tab = "modules";
    this.fillTabs();
  }

  fillTabs() {
    byId("side-tabs").replaceChildren(
      ...this.tabs.map(([id, label]) =>
        element(
          "button",
          {
            type: "button",
            role: "tab",
            "aria-selected": String(id === this.tab),
            onclick: () => this.show(id),
          },
          label,
        ),
      ),
    );
  }

  show(tab) {
    this.tab = tab;
    this.fillTabs();
    this.list = new LongList(
      byId("side-panel"),
      tab === "modules" ? "tree" : "listbox",
      tab === "lines" ? 44 : 26,
    );
    this.update();
  }

  update() {
    if (!this.list) return this.show(this.tab);
    if (this.tab === "steps") this.fillSteps();
    else if (this.tab === "modules") this.fillModules();
    else this.fillGroups();
  }

  // A bar for what the colour shows.
  measure(amount) {
    const { colours } = this.app;
    if (!colours.isHeat || amount === undefined) return [];
    const share =
      colours.mode === "error"
        ? colours.heat(amount)
        : colours.total > 0
          ? amount / colours.total
          : 0;
    return [element("span", { class: "count" }, colours.amountText(amount)), bar(share)];
  }

  row(attributes, ...children) {
    return element("div", { class: "row", role: "option", ...attributes }, ...children);
  }

  // --- Steps: what each pass added and removed.

  fillSteps() {
    const { app } = this;
    const all = [];
    for (const step of app.model.steps) {
      all.push({ step });
      if (step !== app.step) continue;
      const gone = app.changeOf(step).removed;
      if (gone.length > 0) all.push({ heading: `removed by ${step.title}` });
      for (const call of gone) all.push({ call, before: app.model.steps[step.index - 1] });
    }
    this.list.fill(
      all.length,
      (i) => this.stepRow(all[i]),
      (i, key) => key === "Enter" && this.openStep(all[i]),
    );
  }

  openStep(row) {
    if (row.step) this.app.showStep(row.step);
    if (row.call) {
      this.app.showStep(row.before);
      this.app.selectCall(row.call);
    }
    return true;
  }

  stepRow(row) {
    if (row.heading) return this.row({ class: "row heading" }, row.heading);
    const onclick = () => this.openStep(row);
    if (row.call) {
      return this.row(
        { onclick, class: "row leaf", title: callText(row.call) },
        element("span", { class: "twist minus" }, "\u2212"),
        element("span", { class: "name" }, titleOf(row.call)),
      );
    }
    const { step } = row,
      change = this.app.changeOf(step);
    const counts = isSame(change)
      ? []
      : change.isFirst
        ? [element("span", { class: "count" }, String(step.calls.length))]
        : [
            element("span", { class: "plus" }, `+${change.added.size}`),
            element("span", { class: "minus" }, `\u2212${change.removed.length}`),
          ];
    return this.row(
      {
        onclick,
        title: step.note,
        class: isSame(change) ? "row same" : "row",
        "aria-selected": String(step === this.app.step),
      },
      element("span", { class: "name" }, this.app.titleOf(step)),
      ...counts,
    );
  }

  // --- Modules: the boxes of the graph, and what is in those that are open.

  fillModules() {
    const { app } = this;
    const all = [];
    const walk = (box, depth) => {
      for (const item of box.items) {
        all.push({ item, depth });
        if (item.isBox && app.isOpen(item)) walk(item, depth + 1);
      }
    };
    walk(app.root, 0);
    this.modules = all;
    this.list.fill(
      all.length,
      (i) => this.moduleRow(all[i]),
      (i, key) => this.moduleKey(all[i].item, key),
    );
  }

  moduleKey(item, key) {
    const { app } = this;
    if (key === "Enter") app.select(item, true);
    else if (
      item.isBox &&
      ((key === "ArrowRight" && !app.isOpen(item)) ||
        (key === "ArrowLeft" && app.isOpen(item)) ||
        key === " ")
    )
      app.toggle(item);
    else return false;
    return true;
  }

  moduleRow({ item, depth }) {
    const { app } = this;
    const isOpen = item.isBox && app.isOpen(item);
    const twist = element(
      "span",
      {
        class: "twist",
        onclick: (event) => {
          if (!item.isBox) return;
          event.stopPropagation();
          app.toggle(item);
        },
      },
      item.isBox ? (isOpen ? "\u25be" : "\u25b8") : "",
    );
    const made = this.row(
      {
        role: "treeitem",
        class: item.isBox ? "row" : "row leaf",
        "aria-level": String(depth + 1),
        "aria-selected": String(item === app.selected),
        title: app.hint(item),
        onclick: () => app.select(item, true),
        ondblclick: () => item.isBox && app.toggle(item),
      },
      twist,
      element("span", { class: "name" }, item.label),
      ...this.measure(app.colours.amountOf(item)),
      app.colours.isHeat || !item.isBox
        ? null
        : element("span", { class: "count" }, String(item.count)),
    );
    if (item.isBox) made.setAttribute("aria-expanded", String(isOpen));
    made.style.paddingLeft = `${8 + depth * 13}px`;
    return made;
  }

  // --- Lines and operators: groups of calls.

  groups() {
    const { app } = this;
    const key = this.tab === "lines" ? (call) => call.line : (call) => call.op;
    const groups = new Map();
    for (const call of app.step.calls) {
      const name = key(call) || (this.tab === "lines" ? "(not known)" : call.op);
      if (!groups.has(name)) groups.set(name, { name, calls: [], amount: undefined });
      const group = groups.get(name);
      group.calls.push(call);
      const amount = app.colours.isHeat ? app.colours.amount(call) : undefined;
      if (amount === undefined) continue;
      group.amount =
        group.amount === undefined
          ? amount
          : app.colours.mode === "error"
            ? Math.max(group.amount, amount)
            : group.amount + amount;
    }
    const all = [...groups.values()];
    if (app.colours.isHeat) return all.sort((a, b) => (b.amount ?? -1) - (a.amount ?? -1));
    if (this.tab === "lines")
      return all.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
    return all.sort((a, b) => b.calls.length - a.calls.length);
  }

  // "model.py:12 in forward: y = f(x)": the place, and below it the code.
  nameOf(text) {
    const at = text.indexOf(": ");
    if (this.tab !== "lines" || at < 0) return element("span", { class: "name" }, text);
    return element(
      "span",
      { class: "name" },
      element("span", { class: "soft" }, text.slice(0, at)),
      element("code", {}, text.slice(at + 2)),
    );
  }

  fillGroups() {
    const all = this.groups();
    const act = (group) => this.app.mark(group.name, new Set(group.calls));
    this.list.fill(
      all.length,
      (i) => {
        const group = all[i];
        return this.row(
          {
            onclick: () => act(group),
            title: group.name,
            class: this.tab === "lines" ? "row line" : "row",
            "aria-selected": String(
              Boolean(this.app.marked && this.app.marked.name === group.name),
            ),
          },
          this.nameOf(group.name),
          ...this.measure(group.amount),
          this.app.colours.isHeat
            ? null
            : element("span", { class: "count" }, String(group.calls.length)),
        );
      },
      (i, key) => key === "Enter" && (act(all[i]), true),
    );
  }
}
