// Modules, delegates and bodies of control flow as boxes in boxes. A box that is folded is drawn as
// one node.
"use strict";

class Box {
  constructor(label, parent, path) {
    this.isBox = true;
    this.label = label;
    this.parent = parent;
    this.path = path; // Of labels, the same in every step.
    this.key = "b" + path.join("\n");
    this.items = []; // Nodes and boxes, in the order in which they run first.
    this.call = null; // The call of a delegate, whose nodes are in here.
    this.order = Infinity;
    this.count = 0; // Nodes within, at any depth.
  }

  // Nodes within, at any depth.
  *nodes() {
    for (const item of this.items) {
      if (item.isBox) yield* item.nodes();
      else yield item;
    }
  }

  *boxes() {
    for (const item of this.items) {
      if (!item.isBox) continue;
      yield item;
      yield* item.boxes();
    }
  }
}

// The root of a step's boxes. Every node then knows its box as `parent`.
function boxesOf(step) {
  if (step.root) return step.root;
  const root = new Box(step.method, null, []);
  const known = new Map([[root.key, root]]);
  const boxAt = (path) => {
    let box = root;
    for (let depth = 1; depth <= path.length; ++depth) {
      const key = "b" + path.slice(0, depth).join("\n");
      let inner = known.get(key);
      if (!inner) {
        inner = new Box(path[depth - 1], box, path.slice(0, depth));
        known.set(key, inner);
        box.items.push(inner);
      }
      box = inner;
    }
    return box;
  };
  const openers = [];
  for (const node of nodesOf(step)) {
    if (node.kind === "call" && node.call.opens) {
      openers.push(node);
      continue;
    }
    node.parent = boxAt(node.boxes);
    node.parent.items.push(node);
  }
  for (const node of openers) {
    const box = boxAt([...node.boxes, node.call.opens]);
    box.call = node.call;
    box.opener = node;
    node.box = box;
  }
  joinChains(root);
  measure(root);
  step.root = root;
  return root;
}

// A box that holds nothing but one box or node becomes one with it: "layers.0", "fc: linear".
function joinChains(box) {
  box.items = box.items.map((item) => {
    if (item.isBox) joinChains(item);
    if (
      !item.isBox ||
      item.call ||
      item.items.length !== 1 ||
      (item.items[0].call && item.items[0].isBox)
    ) {
      return item;
    }
    const inner = item.items[0];
    inner.label =
      item.label + (inner.isBox || inner.label.includes(": ") ? "." : ": ") + inner.label;
    inner.parent = box;
    return inner;
  });
}

function measure(box) {
  for (const item of box.items) {
    if (item.isBox) measure(item);
    box.order = Math.min(box.order, item.order);
    box.count += item.isBox ? item.count : 1;
  }
  if (box.opener) box.order = Math.min(box.order, box.opener.order);
  box.items.sort((a, b) => a.order - b.order);
}

// Which boxes are open at first: as many, from outside to inside, as leave a graph that fits a
// screen.
function openAtFirst(root) {
  const mostNodes = 60;
  const open = new Set();
  let shown = root.items.length;
  const waiting = root.items.filter((item) => item.isBox);
  while (waiting.length > 0) {
    const box = waiting.shift();
    if (shown + box.items.length > mostNodes) continue;
    open.add(box.key);
    shown += box.items.length - 1;
    waiting.push(...box.items.filter((item) => item.isBox));
  }
  return open;
}

// The lines of a graph: what is written by one node and read by another, as far as they are not in
// the same folded box. The result is a list of pieces for each open box: its own items, joined to
// each other or to the value's passage through the border of the box.
function piecesOf(step, root, isOpen) {
  const writers = new Map();
  const place = (node) =>
    node.box ? { item: node.box, parent: node.box.parent } : { item: node, parent: node.parent };
  const nodes = nodesOf(step);
  for (const node of nodes) {
    for (const value of node.makes) {
      if (!writers.has(value)) writers.set(value, []);
      writers.get(value).push(node);
    }
  }
  const pieces = new Map();
  const add = (box, from, to, value) => {
    if (!pieces.has(box)) pieces.set(box, new Map());
    pieces.get(box).set(`${from.key}>${to.key}>${value.id}`, { from, to, value });
  };
  const chains = new Map();
  const chain = (node) => {
    // What stands for it in each box around it, from inside to outside.
    if (chains.has(node)) return chains.get(node);
    let { item, parent } = place(node);
    let all = [];
    for (; parent; item = parent, parent = parent.parent) {
      all.push({ box: parent, item });
      if (!isOpen(parent)) all = [];
    }
    chains.set(node, all);
    return all;
  };
  for (const reader of nodes) {
    for (const value of reader.reads) {
      for (const writer of writers.get(value) || []) {
        if (writer !== reader) connect(chain(writer), chain(reader), value, add);
      }
    }
  }
  return pieces;
}

function connect(from, to, value, add) {
  let i = from.length - 1,
    k = to.length - 1;
  while (i > 0 && k > 0 && from[i].item === to[k].item) {
    --i;
    --k;
  }
  if (from[i].item === to[k].item) return;
  add(from[i].box, from[i].item, to[k].item, value);
  const passage = (side) => ({ key: `${side}${value.id}`, isPassage: true, side, value });
  for (let n = i - 1; n >= 0; --n) add(from[n].box, from[n].item, passage("out"), value);
  for (let n = k - 1; n >= 0; --n) add(to[n].box, passage("in"), to[n].item, value);
}
