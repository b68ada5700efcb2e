// Draws a placed graph on a canvas: only what is in sight, and only what can be read at that size.
"use strict";

class Drawing {
  constructor(canvas, app) {
    this.canvas = canvas;
    this.app = app;
    this.pen = canvas.getContext("2d");
    this.view = { x: 0, y: 0, scale: 1 };
    this.placed = null;
    this.widths = new Map();
    this.readTheme();
    this.listen();
  }

  readTheme() {
    const style = getComputedStyle(document.documentElement);
    const names = ["surface", "paper", "ink", "soft", "line", "strong", "accent", "added", "box"];
    this.theme = Object.fromEntries(
      names.map((name) => [name, style.getPropertyValue("--" + name).trim()]),
    );
    this.font = "12px " + style.getPropertyValue("--font");
    this.small = "10.5px " + style.getPropertyValue("--font");
    this.bold = "600 12px " + style.getPropertyValue("--font");
  }

  // --- Sizes and texts of items.

  textWidth(text, font) {
    const key = font + text;
    if (!this.widths.has(key)) {
      this.pen.font = font;
      this.widths.set(key, this.pen.measureText(text).width);
    }
    return this.widths.get(key);
  }

  shortened(text, font, room) {
    if (this.textWidth(text, font) <= room) return text;
    let length = Math.floor((text.length * room) / this.textWidth(text, font));
    while (length > 1 && this.textWidth(text.slice(0, length) + "\u2026", font) > room) --length;
    return text.slice(0, length) + "\u2026";
  }

  texts(item) {
    if (item.isBox) {
      const count = `${item.count} node${item.count === 1 ? "" : "s"}`;
      return [item.label, item.call ? `${item.call.op}, ${count}` : count];
    }
    const value = item.value || item.call.results[0];
    return [item.label, value ? value.type.replace("float32 ", "") : ""];
  }

  sizeOf(item) {
    const [title, below] = this.texts(item);
    const width = Math.max(this.textWidth(title, this.bold), this.textWidth(below, this.small));
    return [Math.min(240, Math.max(74, Math.ceil(width) + 22)), kNodeHeight];
  }

  // --- The view.

  show(placed, anchor) {
    const before = anchor && this.spots ? this.spots.get(anchor) : null;
    this.placed = placed;
    this.spots = new Map();
    this.locate(placed, 0, 0);
    const after = anchor ? this.spots.get(anchor) : null;
    if (before && after) {
      // What was folded or unfolded stays where it is.
      this.view.x -= (after.x + after.cell.w / 2 - before.x - before.cell.w / 2) * this.view.scale;
      this.view.y -= (after.y - before.y) * this.view.scale;
    }
    this.draw();
  }

  // Remembers where each visible item is.
  locate(cell, x, y) {
    this.spots.set(cell.item.key, { cell, x, y });
    if (!cell.isOpen) return;
    for (const child of cell.children) this.locate(child, x + child.x - child.w / 2, y + child.y);
  }

  size() {
    return [this.canvas.clientWidth, this.canvas.clientHeight];
  }

  fit() {
    const [w, h] = this.size();
    const { placed } = this;
    const scale = Math.min(1.1, (w - 40) / placed.w, (h - 40) / placed.h);
    // A deep graph starts at its top, at a size that can be read.
    const readable = Math.max(scale, Math.min(0.75, (w - 40) / placed.w));
    this.view = {
      scale: readable,
      x: (w - placed.w * readable) / 2,
      y: Math.max(20, (h - placed.h * readable) / 2),
    };
    this.draw();
  }

  fitAll() {
    const [w, h] = this.size();
    const { placed } = this;
    const scale = Math.min(1.1, (w - 30) / placed.w, (h - 30) / placed.h);
    this.view = { scale, x: (w - placed.w * scale) / 2, y: (h - placed.h * scale) / 2 };
    this.draw();
  }

  centre(key) {
    const spot = this.spots.get(key);
    if (!spot) return;
    const [w, h] = this.size();
    const scale = Math.max(this.view.scale, 0.7);
    this.view = {
      scale,
      x: w / 2 - (spot.x + spot.cell.w / 2) * scale,
      y: h / 2 - (spot.y + Math.min(spot.cell.h, h / scale) / 2) * scale,
    };
    this.draw();
  }

  zoom(factor, px, py) {
    const scale = Math.min(3, Math.max(0.02, this.view.scale * factor));
    const by = scale / this.view.scale;
    this.view = { scale, x: px - (px - this.view.x) * by, y: py - (py - this.view.y) * by };
    this.draw();
  }

  // --- Drawing.

  draw() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      this.paint();
    });
  }

  paint() {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = this.size();
    if (!this.placed || w === 0) return;
    if (
      this.canvas.width !== Math.round(w * ratio) ||
      this.canvas.height !== Math.round(h * ratio)
    ) {
      this.canvas.width = Math.round(w * ratio);
      this.canvas.height = Math.round(h * ratio);
    }
    const { pen, view } = this;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = this.theme.paper;
    pen.fillRect(0, 0, w, h);
    pen.setTransform(ratio * view.scale, 0, 0, ratio * view.scale, ratio * view.x, ratio * view.y);
    this.sight = {
      left: -view.x / view.scale,
      top: -view.y / view.scale,
      right: (w - view.x) / view.scale,
      bottom: (h - view.y) / view.scale,
    };
    this.near = this.app.neighbours();
    this.paintCell(this.placed, 0, 0, 0);
  }

  inSight(x, y, w, h) {
    const { sight } = this;
    return x < sight.right && x + w > sight.left && y < sight.bottom && y + h > sight.top;
  }

  paintCell(cell, x, y, depth) {
    if (!this.inSight(x, y, cell.w, cell.h)) return;
    if (!cell.isOpen) return this.paintNode(cell, x, y);
    if (depth > 0) this.paintBox(cell, x, y, depth);
    this.paintLines(cell, x, y, false);
    for (const child of cell.children) {
      this.paintCell(child, x + child.x - child.w / 2, y + child.y, depth + 1);
    }
    this.paintLines(cell, x, y, true);
  }

  paintBox(cell, x, y, depth) {
    const { pen, theme } = this;
    const isSelected = this.app.selected === cell.item;
    pen.beginPath();
    pen.roundRect(x, y, cell.w, cell.h, 10);
    pen.fillStyle = depth % 2 === 1 ? theme.box : theme.surface;
    pen.fill();
    pen.lineWidth = isSelected ? 2.5 : 1;
    pen.strokeStyle = isSelected ? theme.accent : theme.line;
    pen.stroke();
    if (this.view.scale < 0.25) return;
    const colour = cell.item.call ? this.app.colours.of(cell.item) : null;
    if (colour) {
      pen.beginPath();
      pen.roundRect(x, y, cell.w, kHeader, [10, 10, 0, 0]);
      pen.fillStyle = colour;
      pen.fill();
    }
    pen.fillStyle = theme.soft;
    pen.font = this.bold;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.fillText("\u2212", x + 10, y + kHeader / 2 + 1);
    const title = cell.item.call ? `${cell.item.label}  ${cell.item.call.op}` : cell.item.label;
    pen.fillStyle = theme.ink;
    pen.fillText(this.shortened(title, this.bold, cell.w - 36), x + 24, y + kHeader / 2 + 1);
  }

  paintNode(cell, x, y) {
    const { pen, theme, app } = this;
    const { item } = cell;
    const isSelected = app.selected === item;
    const isNear = this.near.has(item.key);
    const isFaded = app.faded(item);
    pen.globalAlpha = isFaded ? 0.28 : 1;
    if (item.isBox && this.view.scale > 0.25) {
      // A stack of cards.
      pen.fillStyle = theme.surface;
      pen.strokeStyle = theme.line;
      pen.lineWidth = 1;
      pen.beginPath();
      pen.roundRect(x + 3, y + 3, cell.w, cell.h, 8);
      pen.fill();
      pen.stroke();
    }
    pen.beginPath();
    pen.roundRect(x, y, cell.w, cell.h, item.kind === "call" ? 6 : item.isBox ? 8 : cell.h / 2);
    pen.fillStyle = app.colours.of(item) || theme.surface;
    pen.fill();
    const isAdded = app.isAdded(item);
    pen.lineWidth = isSelected ? 2.5 : isAdded ? 2 : isNear ? 1.75 : 1;
    pen.strokeStyle = isSelected || isNear ? theme.accent : isAdded ? theme.added : theme.line;
    pen.stroke();
    if (this.view.scale > 0.32) this.paintTexts(cell, x, y);
    pen.globalAlpha = 1;
  }

  paintTexts(cell, x, y) {
    const { pen, theme } = this;
    const { item } = cell;
    const [title, below] = this.texts(item);
    const amount = this.app.colours.isHeat ? this.app.colours.amountOf(item) : undefined;
    const second = amount === undefined ? below : this.app.colours.amountText(amount);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = theme.ink;
    pen.font = this.bold;
    const middle = x + cell.w / 2;
    const text = item.isBox ? "+ " + title : title;
    pen.fillText(this.shortened(text, this.bold, cell.w - 12), middle, y + (second ? 13 : 19));
    if (!second || this.view.scale < 0.5) return;
    pen.font = this.small;
    pen.fillStyle = amount === undefined ? theme.soft : theme.ink;
    pen.fillText(this.shortened(second, this.small, cell.w - 10), middle, y + 27);
  }

  // Those of the selected item go above the others.
  paintLines(cell, x, y, above) {
    const { pen, theme, app } = this;
    pen.lineWidth = above ? 2 : 1.1;
    pen.strokeStyle = above ? theme.accent : theme.strong;
    pen.globalAlpha = above ? 1 : this.view.scale < 0.2 ? 0.35 : 0.7;
    pen.beginPath();
    const heads = [];
    for (const line of cell.lines) {
      const marked = app.isMarkedLine(line);
      if (marked !== above || (line.isFar && !marked)) continue;
      this.trace(line, x, y, heads);
    }
    pen.stroke();
    if (this.view.scale > 0.3) this.paintHeads(heads, above ? theme.accent : theme.strong);
    pen.globalAlpha = 1;
  }

  trace(line, x, y, heads) {
    const { pen } = this;
    const points = line.points.map((cell, i) => {
      const isFirst = i === 0;
      const dx = cell.isBend ? 0 : endOf(cell, line, isFirst ? "out" : "in");
      const below = isFirst && !cell.isBend;
      return [x + cell.x + dx, y + cell.y + (below ? cell.h : 0)];
    });
    const ys = points.map((point) => point[1]),
      xs = points.map((point) => point[0]);
    const left = Math.min(...xs),
      top = Math.min(...ys);
    if (!this.inSight(left - 1, top - 1, Math.max(...xs) - left + 2, Math.max(...ys) - top + 2))
      return;
    pen.moveTo(...points[0]);
    for (let i = 1; i < points.length; ++i) {
      const [ax, ay] = points[i - 1],
        [bx, by] = points[i];
      const bend = Math.max(8, (by - ay) / 2);
      if (Math.abs(ax - bx) < 1) pen.lineTo(bx, by);
      else pen.bezierCurveTo(ax, ay + bend, bx, by - bend, bx, by);
    }
    const last = line.isBack ? line.top : line.bottom;
    if (!last.isPassage) heads.push(line.isBack ? [...points[0], -1] : [...points.at(-1), 1]);
  }

  paintHeads(heads, colour) {
    const { pen } = this;
    pen.fillStyle = colour;
    pen.beginPath();
    for (const [x, y, way] of heads) {
      pen.moveTo(x, y);
      pen.lineTo(x - 3.2, y - 6 * way);
      pen.lineTo(x + 3.2, y - 6 * way);
    }
    pen.fill();
  }

  // --- The mouse.

  // The innermost item at a place of the canvas; null: none.
  itemAt(px, py) {
    const x = (px - this.view.x) / this.view.scale,
      y = (py - this.view.y) / this.view.scale;
    const find = (cell, left, top) => {
      if (x < left || x > left + cell.w || y < top || y > top + cell.h) return null;
      if (cell.isOpen) {
        for (const child of cell.children) {
          const found = find(child, left + child.x - child.w / 2, top + child.y);
          if (found) return found;
        }
        if (!cell.item.parent) return null;
      }
      return { item: cell.item, isTitle: cell.isOpen && y < top + kHeader && x < left + 24 };
    };
    return this.placed ? find(this.placed, 0, 0) : null;
  }

  listen() {
    const { canvas } = this;
    let drag = null;
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        if (event.shiftKey) this.view.x -= event.deltaY;
        else
          this.zoom(
            Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)),
            event.offsetX,
            event.offsetY,
          );
        this.draw();
      },
      { passive: false },
    );
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      drag = { x: event.clientX, y: event.clientY, moved: false };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!drag) return this.hover(event);
      const dx = event.clientX - drag.x,
        dy = event.clientY - drag.y;
      if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
      drag = { x: event.clientX, y: event.clientY, moved: true };
      this.view.x += dx;
      this.view.y += dy;
      this.draw();
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) this.click(event);
      drag = null;
    });
    canvas.addEventListener("dblclick", (event) => {
      const found = this.itemAt(event.offsetX, event.offsetY);
      if (found && found.item.isBox) this.app.toggle(found.item);
    });
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  click(event) {
    const found = this.itemAt(event.offsetX, event.offsetY);
    if (found && found.isTitle) this.app.toggle(found.item);
    else this.app.select(found ? found.item : null);
  }

  hover(event) {
    const found = this.itemAt(event.offsetX, event.offsetY);
    this.canvas.style.cursor = found ? "pointer" : "grab";
    this.canvas.title = found ? this.app.hint(found.item) : "";
  }
}
