// The planned buffers over time: instructions to the right, addresses upward. The table names what
// is alive at one instruction: at first that of the peak.
"use strict";

class MemoryView {
  constructor(app) {
    this.app = app;
    this.panel = byId("memory");
    this.chosen = null;
  }

  // The memory of the step's method; undefined if the model has no program.
  memory() {
    const { memory } = this.app.model;
    return memory.find((each) => each.method === this.app.step.method) || memory[0];
  }

  show(chosen = null) {
    this.chosen = chosen;
    const memory = this.memory();
    if (!memory || memory.buffers.length === 0) {
      this.panel.replaceChildren(
        element("p", { class: "soft" }, "This model has no planned memory."),
      );
      return;
    }
    this.parts = memory.buffers.map((buffer, i) => this.part(memory, buffer, i + 1));
    const program = this.app.program();
    const hasDelegates = program && program.calls.some((call) => call.opens);
    this.panel.replaceChildren(
      ...this.parts.flatMap((part) => part.elements),
      hasDelegates
        ? element(
            "p",
            { class: "soft" },
            "Without what delegates need for themselves: 'taper inspect --memory' says that.",
          )
        : "",
    );
    this.draw();
    if (!chosen) return;
    const part = this.parts.find((each) => each.number === chosen.buffer);
    if (part) part.canvas.scrollIntoView({ block: "nearest" });
  }

  part(memory, buffer, number) {
    const places = memory.places.filter((place) => place.buffer === number);
    const at = this.chosen && this.chosen.buffer === number ? this.chosen.first : buffer.peakAt;
    const part = {
      memory,
      buffer,
      number,
      places,
      at,
      canvas: element("canvas", {
        tabindex: "0",
        height: "260",
        "aria-label": `Buffer ${number} over time. Arrow keys move to other instructions.`,
      }),
      table: element("table"),
    };
    part.elements = [
      element("h2", {}, `buffer ${number}: ${bytesText(buffer.bytes)} planned`),
      element(
        "p",
        { class: "soft" },
        `peak ${bytesText(buffer.peak)} at instruction ${buffer.peakAt} of ${memory.instructions} `,
        link("show the peak", () => this.move(part, buffer.peakAt)),
      ),
      part.canvas,
      part.table,
    ];
    part.canvas.style.height = "260px";
    part.canvas.addEventListener("pointermove", (event) => this.hover(part, event));
    part.canvas.addEventListener("click", (event) => this.click(part, event));
    part.canvas.addEventListener("keydown", (event) => this.key(part, event));
    return part;
  }

  draw() {
    for (const part of this.parts || []) {
      this.paint(part);
      this.fill(part);
    }
  }

  move(part, at) {
    part.at = Math.min(part.memory.instructions - 1, Math.max(0, at));
    this.paint(part);
    this.fill(part);
  }

  // --- The picture.

  scales(part) {
    const w = part.canvas.clientWidth,
      h = part.canvas.clientHeight;
    return {
      w,
      h,
      x: w / Math.max(1, part.memory.instructions),
      y: (h - 6) / Math.max(1, part.buffer.bytes),
    };
  }

  colourOf(place) {
    const { app } = this;
    const writer = this.writer(place.value);
    const own = writer && writer.call ? app.colours.of({ call: writer.call }) : null;
    return own || (app.colours.isDark ? "#3a4250" : "#dfe4ec");
  }

  writer(value) {
    const program = this.app.program();
    const found = program ? this.app.graphOf(program).writers.get(value) : null;
    return found ? found[0] : null;
  }

  paint(part) {
    const { w, h, x, y } = this.scales(part);
    const ratio = window.devicePixelRatio || 1;
    if (w === 0) return;
    part.canvas.width = Math.round(w * ratio);
    part.canvas.height = Math.round(h * ratio);
    const pen = part.canvas.getContext("2d");
    const theme = this.app.drawing.theme;
    pen.scale(ratio, ratio);
    pen.font = this.app.drawing.small;
    pen.textBaseline = "middle";
    for (const place of part.places) {
      const width = Math.max(1, (place.last - place.first + 1) * x),
        height = Math.max(1, place.bytes * y);
      const left = place.first * x,
        top = h - (place.offset + place.bytes) * y;
      const isChosen = this.chosen && this.chosen.value === place.value;
      pen.fillStyle = this.colourOf(place);
      pen.fillRect(left, top, width, height);
      pen.strokeStyle = isChosen ? theme.accent : theme.strong;
      pen.lineWidth = isChosen ? 2.5 : 0.6;
      pen.strokeRect(left, top, width, height);
      if (height > 13 && width > 46) {
        pen.fillStyle = theme.ink;
        pen.fillText(
          this.app.drawing.shortened(place.value.name, this.app.drawing.small, width - 8),
          left + 4,
          top + height / 2,
        );
      }
    }
    pen.strokeStyle = theme.accent;
    pen.lineWidth = 1.5;
    pen.strokeRect((part.at + 0.5) * x, -2, 0, h + 4);
  }

  instructionAt(part, event) {
    return Math.floor(event.offsetX / this.scales(part).x);
  }

  placeAt(part, event) {
    const { h, y } = this.scales(part);
    const time = this.instructionAt(part, event),
      address = (h - event.offsetY) / y;
    const hits = part.places.filter(
      (place) =>
        place.first <= time &&
        time <= place.last &&
        place.offset <= address &&
        address <= place.offset + place.bytes,
    );
    return hits.at(-1) || null;
  }

  hover(part, event) {
    const place = this.placeAt(part, event);
    part.canvas.title = place
      ? `${place.value.name}: ${place.value.type}, ${bytesText(place.bytes)} at ${place.offset}, ` +
        `instructions ${place.first} to ${place.last}`
      : "";
  }

  click(part, event) {
    this.choose(part, this.placeAt(part, event), this.instructionAt(part, event));
  }

  choose(part, place, at) {
    this.chosen = place;
    part.at = at;
    const writer = place ? this.writer(place.value) : null;
    if (writer) {
      this.app.showStep(this.app.program(), true);
      this.app.select(writer.box || writer, true);
    }
    this.draw();
  }

  key(part, event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    this.move(part, part.at + steps[event.key]);
  }

  // --- What is alive at one instruction.

  fill(part) {
    const alive = part.places
      .filter((place) => place.first <= part.at && part.at <= place.last)
      .sort((a, b) => b.bytes - a.bytes);
    const program = this.app.program();
    const call = program ? program.calls.find((each) => each.place === String(part.at)) : null;
    const title = element(
      "caption",
      {},
      `Alive at instruction ${part.at}${call ? `, ${call.name}` : ""}`,
    );
    const head = element(
      "tr",
      {},
      ...["bytes", "tensor", "type", "instructions", "line of what makes it"].map((text) =>
        element("th", {}, text),
      ),
    );
    part.table.replaceChildren(title, head, ...alive.map((place) => this.row(part, place)));
  }

  row(part, place) {
    const writer = this.writer(place.value);
    const line = writer && writer.call ? writer.call.line : "";
    return element(
      "tr",
      {},
      element("td", { class: "number" }, bytesText(place.bytes)),
      element(
        "td",
        {},
        link(place.value.from || place.value.name, () => this.choose(part, place, part.at)),
      ),
      element("td", { class: "type" }, place.value.type),
      element("td", { class: "number" }, `${place.first} to ${place.last}`),
      element("td", { class: "mono" }, line),
    );
  }
}
