// What the colour of a node says.
"use strict";

const kHues = [265, 25, 330, 95, 200, 0, 55, 290, 160, 230];

class Colours {
  constructor(model, measures) {
    this.measures = measures;
    this.modes = [
      { id: "runs", label: "who runs it" },
      { id: "op", label: "operator" },
      { id: "dtype", label: "dtype" },
      { id: "bytes", label: "bytes of results" },
    ];
    if (model.profile) this.modes.push({ id: "time", label: "time" });
    if (model.comparison) this.modes.push({ id: "error", label: "error" });
    this.mode = model.comparison ? "error" : model.profile ? "time" : "runs";
    this.hues = new Map();
    for (const [name, hue] of [
      ["portable", 215],
      ["optimized", 170],
    ])
      this.hues.set("runs " + name, hue);
    this.isDark = false;
  }

  get isHeat() {
    return ["bytes", "time", "error"].includes(this.mode);
  }

  // The class of a call; empty if it has none.
  classOf(call) {
    if (this.mode === "runs") return this.measures.runsOn(call);
    if (this.mode === "op") return shortOp(call.op).replace(/\..*$/, "");
    const first = call.results.find((value) => value.type.includes("("));
    return first ? first.type.split(" ")[0] : "";
  }

  // A number that is the larger the hotter; undefined if it is not known.
  amount(call) {
    if (this.mode === "bytes") return this.measures.bytes(call);
    if (this.mode === "time") return this.measures.time(call);
    const row = this.measures.error(call);
    return row && timesTheBound(row);
  }

  // Of a box: the sum, or the worst error.
  amountOf(item) {
    if (!item.isBox) return item.call ? this.amount(item.call) : undefined;
    const own = item.call ? this.amount(item.call) : undefined;
    if (own !== undefined) return own;
    let total;
    for (const node of item.nodes()) {
      const amount = node.call ? this.amount(node.call) : undefined;
      if (amount === undefined) continue;
      total =
        total === undefined
          ? amount
          : this.mode === "error"
            ? Math.max(total, amount)
            : total + amount;
    }
    return total;
  }

  amountText(amount) {
    if (amount === undefined) return "";
    if (this.mode === "bytes") return bytesText(amount);
    if (this.mode === "time") return timeText(amount);
    return amount === Infinity ? "wrong" : `${Number(amount.toPrecision(2))}\u00d7`;
  }

  // Sets the scale to a step.
  use(step) {
    this.most = 0;
    this.total = 0;
    this.opened = new Set();
    if (!this.isHeat) return;
    const known = step.calls.filter((call) => Number.isFinite(this.amount(call)));
    for (const { place } of known) if (place.includes(".")) this.opened.add(place.split(".")[0]);
    for (const call of known) {
      if (this.isSum(call)) continue;
      this.most = Math.max(this.most, this.amount(call));
      this.total += this.amount(call);
    }
  }

  // Whether it is a delegate whose nodes have amounts of their own.
  isSum(call) {
    return Boolean(call.opens) && this.opened.has(call.place);
  }

  hueOf(name) {
    const key = `${this.mode} ${name}`;
    if (!this.hues.has(key)) this.hues.set(key, kHues[this.hues.size % kHues.length]);
    return this.hues.get(key);
  }

  // From 0 to 1; that of errors is 0.5 at the bound, and goes by their magnitude.
  heat(amount) {
    if (amount === undefined) return 0;
    if (this.mode === "error") return Math.min(1, Math.max(0, 0.5 + Math.log10(amount) / 8));
    return this.most > 0 ? Math.min(1, Math.sqrt(amount / this.most)) : 0;
  }

  // What stands at both ends of the scale.
  get ends() {
    if (this.mode === "error") return ["error / bound: 0.0001\u00d7", "10000\u00d7"];
    return [this.amountText(0), this.amountText(this.most)];
  }

  ofClass(name) {
    if (!name) return null;
    const hue = this.hueOf(name);
    return this.isDark ? `hsl(${hue} 30% 27%)` : `hsl(${hue} 65% 89%)`;
  }

  ofHeat(heat) {
    return this.isDark
      ? `hsl(${48 - 36 * heat} ${20 + 60 * heat}% ${19 + 21 * heat}%)`
      : `hsl(${48 - 36 * heat} ${50 + 45 * heat}% ${96 - 38 * heat}%)`;
  }

  // Of an item that is drawn as a node; null: none in particular.
  of(item) {
    if (this.isHeat) {
      const amount = this.amountOf(item);
      return amount === undefined ? null : this.ofHeat(this.heat(amount));
    }
    if (!item.isBox) return item.call ? this.ofClass(this.classOf(item.call)) : null;
    if (this.mode === "runs" && item.call) return this.ofClass(item.call.runsOn);
    const classes = new Set();
    for (const node of item.nodes()) {
      if (node.call) classes.add(this.classOf(node.call));
      if (classes.size > 1) return null;
    }
    return this.ofClass([...classes][0]);
  }

  // [name, count], the most frequent first.
  classesOf(step) {
    const counts = new Map();
    for (const call of step.calls) {
      const name = this.classOf(call);
      if (name) counts.set(name, (counts.get(name) || 0) + 1);
    }
    return [...counts].sort((a, b) => b[1] - a[1]);
  }
}

// How large the error of a row of a comparison is beside what is allowed; Infinity if its elements
// cannot be compared.
function timesTheBound(row) {
  const error = Number(row.max_rel),
    bound = Number(row.bound);
  if (row.problem || Number.isNaN(error)) return Infinity;
  if (error === 0) return 0;
  return bound > 0 ? error / bound : Infinity;
}
