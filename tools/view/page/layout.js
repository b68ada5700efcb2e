// Places the items of open boxes: in layers from top to bottom, so that lines go down.
//
// Boxes are placed from the inside to the outside; a box that is placed is one item of its parent.
// Within a box: layers are longest paths; a line that crosses layers gets a bend in each of them,
// which lines of the same value share; bends and items are ordered by the mean place of their
// neighbours; and each layer then moves as close to its neighbours as its order allows.
"use strict";

const kGapX = 18,
  kGapY = 30,
  kPadding = 14,
  kHeader = 26,
  kNodeHeight = 38,
  kFar = 24;

// Sizes come from `sizeOf(item)`. Returns the placed root: {x, y, w, h, item, children, lines}.
function layOut(step, root, isOpen, sizeOf) {
  const pieces = piecesOf(step, root, isOpen);
  const place = (box) => {
    const cells = box.items.map((item) => {
      if (item.isBox && isOpen(item)) return place(item);
      const [w, h] = sizeOf(item);
      return { item, w, h };
    });
    return new Layers(box, cells, [...(pieces.get(box) || new Map()).values()]).placed(sizeOf);
  };
  return place(root);
}

class Layers {
  constructor(box, cells, lines) {
    this.box = box;
    this.cells = new Map(cells.map((cell) => [cell.item.key, cell]));
    cells.forEach((cell, i) => {
      cell.order = i;
      cell.next = [];
      cell.previous = [];
    });
    this.passages = [];
    this.lines = lines.map((line) => this.lineOf(line));
  }

  cellOf(end) {
    let cell = this.cells.get(end.key);
    if (!cell) {
      cell = {
        item: end,
        w: 10,
        h: 0,
        isPassage: true,
        next: [],
        previous: [],
        order: end.side === "in" ? -1 : Infinity,
      };
      this.cells.set(end.key, cell);
      this.passages.push(cell);
    }
    return cell;
  }

  // A line that runs against the order of execution, as in a loop, is placed as if it ran with it.
  lineOf({ from, to, value }) {
    const a = this.cellOf(from),
      b = this.cellOf(to);
    const isBack = a.order > b.order;
    return { from: a, to: b, value, isBack, top: isBack ? b : a, bottom: isBack ? a : b };
  }

  placed(sizeOf) {
    const used = new Set(this.lines.flatMap((line) => [line.from, line.to]));
    const all = [...this.cells.values()];
    const linked = all.filter((cell) => used.has(cell));
    this.loose = all.filter((cell) => !used.has(cell));
    this.assignLayers(linked);
    this.makeBends();
    this.fillLayers(linked);
    this.sortLayers();
    this.spread();
    return this.finish(sizeOf);
  }

  assignLayers(cells) {
    const down = new Map(cells.map((cell) => [cell, []]));
    const up = new Map(cells.map((cell) => [cell, []]));
    for (const line of this.lines) {
      down.get(line.top).push(line.bottom);
      up.get(line.bottom).push(line.top);
    }
    const sorted = [...cells].sort((a, b) => a.order - b.order);
    for (const cell of sorted) {
      cell.layer = 0;
      if (cell.isPassage && cell.item.side === "in") continue;
      for (const other of up.get(cell)) cell.layer = Math.max(cell.layer, other.layer + 1);
    }
    for (const cell of sorted.reverse()) {
      // What needs no input stands right before its first use.
      if (up.get(cell).length > 0 || cell.isPassage) continue;
      const uses = down.get(cell).map((other) => other.layer);
      if (uses.length > 0) cell.layer = Math.max(0, Math.min(...uses) - 1);
    }
    const last = Math.max(0, ...cells.map((cell) => cell.layer));
    for (const cell of cells) {
      if (cell.isPassage && cell.item.side === "out") cell.layer = Math.max(cell.layer, last);
    }
  }

  // Lines of one value from one item share bends. A line that would have too many is drawn only
  // when one of its ends is selected.
  makeBends() {
    this.bends = [];
    const trunks = new Map();
    for (const line of this.lines) {
      const span = line.bottom.layer - line.top.layer;
      line.isFar = (span > kFar && !line.top.isPassage && !line.bottom.isPassage) || span <= 0;
      line.points = [line.top];
      if (!line.isFar) {
        const key = `${line.top.item.key}>${line.value.id}`;
        if (!trunks.has(key)) trunks.set(key, []);
        const trunk = trunks.get(key);
        for (let i = 0; i < span - 1; ++i) {
          if (!trunk[i]) this.extend(trunk, line.top, line.top.layer + 1 + i);
          line.points.push(trunk[i]);
        }
      }
      line.points.push(line.bottom);
      if (!line.isFar) this.join(line.points.at(-2), line.bottom, line);
    }
  }

  extend(trunk, top, layer) {
    const bend = {
      isBend: true,
      w: 6,
      h: 0,
      layer,
      order: top.order + 0.5,
      next: [],
      previous: [],
    };
    this.join(trunk.length > 0 ? trunk.at(-1) : top, bend, null);
    trunk.push(bend);
    this.bends.push(bend);
  }

  join(from, to, line) {
    const fromDx = line && !from.isBend ? endOf(from, line, "out") : 0;
    const toDx = line && !to.isBend ? endOf(to, line, "in") : 0;
    from.next.push({ cell: to, mine: fromDx, theirs: toDx });
    to.previous.push({ cell: from, mine: toDx, theirs: fromDx });
  }

  fillLayers(cells) {
    this.layers = [];
    for (const cell of [...cells, ...this.bends]) {
      (this.layers[cell.layer] = this.layers[cell.layer] || []).push(cell);
    }
    for (let i = 0; i < this.layers.length; ++i) {
      this.layers[i] = (this.layers[i] || []).sort((a, b) => a.order - b.order);
      this.number(this.layers[i]);
    }
  }

  number(layer) {
    let x = 0;
    layer.forEach((cell) => {
      cell.x = x + cell.w / 2;
      x += cell.w + kGapX;
    });
  }

  sortLayers() {
    const sort = (layer, side) => {
      for (const cell of layer) {
        const ends = cell[side];
        cell.wish =
          ends.length === 0
            ? cell.x
            : ends.reduce((sum, end) => sum + end.cell.x + end.theirs - end.mine, 0) / ends.length;
      }
      layer.sort((a, b) => a.wish - b.wish);
      this.number(layer);
    };
    for (let sweep = 0; sweep < 4; ++sweep) {
      for (let i = 1; i < this.layers.length; ++i) sort(this.layers[i], "previous");
      for (let i = this.layers.length - 2; i >= 0; --i) sort(this.layers[i], "next");
    }
    for (let i = 1; i < this.layers.length; ++i) sort(this.layers[i], "previous");
  }

  // Moves each layer as close to the middle of its neighbours as its order allows.
  spread() {
    const move = (layer, sides) => {
      for (const cell of layer) {
        let sum = 0,
          weight = 0;
        for (const end of sides.flatMap((side) => cell[side])) {
          const own = cell.isBend && end.cell.isBend ? 8 : cell.isBend || end.cell.isBend ? 2 : 1;
          sum += own * (end.cell.x + end.theirs - end.mine);
          weight += own;
        }
        cell.wish = weight === 0 ? cell.x : sum / weight;
        cell.weight = Math.max(weight, 0.01);
      }
      settle(layer);
    };
    for (let sweep = 0; sweep < 4; ++sweep) {
      for (let i = 1; i < this.layers.length; ++i) move(this.layers[i], ["previous"]);
      for (let i = this.layers.length - 2; i >= 0; --i) move(this.layers[i], ["next"]);
    }
    for (let sweep = 0; sweep < 2; ++sweep) {
      for (const layer of this.layers) move(layer, ["previous", "next"]);
    }
  }

  finish(sizeOf) {
    const title = sizeOf(this.box);
    const isRoot = !this.box.parent;
    let y = isRoot ? kPadding : kHeader + kPadding;
    this.layers.forEach((layer, i) => {
      const height = Math.max(0, ...layer.map((cell) => cell.h));
      const isEdge = layer.every((cell) => cell.isPassage || cell.isBend);
      for (const cell of layer) cell.y = y + (height - cell.h) / 2;
      if (i + 1 < this.layers.length) y += height + (isEdge ? kGapY / 2 : this.gapBelow(layer));
      else y += height;
    });
    const solid = this.layers.flat();
    const left = Math.min(Infinity, ...solid.map((cell) => cell.x - cell.w / 2));
    for (const cell of solid) cell.x += kPadding - left;
    let right = Math.max(0, ...solid.map((cell) => cell.x + cell.w / 2));
    [right, y] = this.addLoose(right, y);
    const w = Math.max(right + kPadding, title[0]);
    const h = y + kPadding;
    for (const cell of this.passages) cell.y = cell.item.side === "in" ? (isRoot ? 0 : kHeader) : h;
    this.shift((w - right - kPadding) / 2);
    const ends = new Map(); // Where values pass the border, from the middle of the box.
    for (const cell of this.passages) ends.set(cell.item.key, cell.x - w / 2);
    return {
      item: this.box,
      isOpen: true,
      w,
      h,
      ends,
      lines: this.lines,
      children: [...this.cells.values()].filter((cell) => !cell.isPassage),
    };
  }

  gapBelow(layer) {
    const lines = layer.reduce((sum, cell) => sum + cell.next.length, 0);
    return kGapY + Math.min(lines, 40) * 0.6;
  }

  shift(dx) {
    const seen = new Set();
    for (const cell of [...this.cells.values(), ...this.bends]) {
      if (!seen.has(cell)) cell.x += dx;
      seen.add(cell);
    }
  }

  // Items without lines fill rows below the others.
  addLoose(right, y) {
    if (this.loose.length === 0) return [right, y];
    const area = this.loose.reduce((sum, cell) => sum + (cell.w + kGapX) * (cell.h + kGapX), 0);
    const width = Math.max(right, Math.sqrt(area * 2), ...this.loose.map((cell) => cell.w));
    let x = kPadding,
      height = 0,
      widest = right;
    let top = y + (this.layers.length > 0 ? kGapY : 0);
    for (const cell of this.loose) {
      if (x > kPadding && x + cell.w > width + kPadding) {
        top += height + kGapX;
        x = kPadding;
        height = 0;
      }
      cell.x = x + cell.w / 2;
      cell.y = top;
      x += cell.w + kGapX;
      height = Math.max(height, cell.h);
      widest = Math.max(widest, x - kGapX);
    }
    return [widest, top + height];
  }
}

// Where a line of a value meets an item, from the item's middle.
function endOf(cell, line, side) {
  const isTop = cell === line.top;
  const at =
    cell.ends &&
    cell.ends.get(
      (isTop ? (line.isBack ? "in" : "out") : line.isBack ? "out" : "in") + line.value.id,
    );
  return at === undefined ? 0 : at;
}

// The places in order that are closest to the wishes, with room for every width: runs of cells that
// would overlap move as one.
function settle(layer) {
  const runs = [];
  for (const cell of layer) {
    let run = { cells: [cell], weight: cell.weight, sum: cell.weight * cell.wish, width: cell.w };
    while (runs.length > 0) {
      const before = runs.at(-1);
      const gap = kGapX + (before.width + run.width) / 2;
      if (before.sum / before.weight + gap <= run.sum / run.weight) break;
      runs.pop();
      run = joined(before, run);
    }
    runs.push(run);
  }
  for (const run of runs) {
    let x = run.sum / run.weight - run.width / 2;
    for (const cell of run.cells) {
      cell.x = x + cell.w / 2;
      x += cell.w + kGapX;
    }
  }
}

// The sums are of wishes for the middle of the run.
function joined(a, b) {
  const width = a.width + kGapX + b.width;
  const aShift = (width - a.width) / 2,
    bShift = (width - b.width) / 2;
  return {
    cells: a.cells.concat(b.cells),
    weight: a.weight + b.weight,
    width,
    sum: a.sum + a.weight * aShift + b.sum - b.weight * bShift,
  };
}
