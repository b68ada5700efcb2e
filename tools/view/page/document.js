// The document: what the C++ side wrote (tools/view/document.h), as objects that refer to each
// other. Nothing in it is trusted to be free of markup: texts only ever become text nodes.
"use strict";

function readDocument() {
  const raw = JSON.parse(document.getElementById("document").textContent);
  const text = (number) => raw.texts[number];
  const values = raw.values.map((row, id) => ({
    id,
    name: text(row[0]),
    scope: text(row[1]),
    type: text(row[2]),
    role: text(row[3]),
    from: text(row[4]),
    bytes: row[5],
    slot: row[6],
    holds: row.slice(7).map(text),
  }));
  const calls = raw.calls.map((row, id) => ({
    id,
    name: text(row[0]),
    op: text(row[1]),
    module: text(row[2]),
    line: text(row[3]),
    trace: text(row[4]),
    runsOn: text(row[5]),
    place: text(row[6]),
    note: text(row[7]),
    opens: text(row[8]),
    boxes: row[9].map(text),
    args: row[10].map((arg) => ({
      name: text(arg[0]),
      pieces: arg.slice(1).map((piece) => (piece < 0 ? text(-1 - piece) : values[piece])),
    })),
    results: row[11].map((value) => values[value]),
  }));
  const steps = raw.steps.map((row, index) => readStep(row, index, values, calls));
  const memory = raw.memory.map((row) => ({
    method: row.method,
    instructions: row.instructions,
    buffers: row.buffers.map(([bytes, peak, peakAt]) => ({ bytes, peak, peakAt })),
    places: row.places.map(([value, buffer, offset, bytes, first, last]) => ({
      value: values[value],
      buffer,
      offset,
      bytes,
      first,
      last,
    })),
  }));
  return {
    file: raw.file,
    facts: raw.facts,
    problems: raw.problems,
    values,
    calls,
    steps,
    memory,
    profile: raw.profile,
    comparison: raw.comparison,
  };
}

function readStep(row, index, values, calls) {
  const own = [];
  for (let i = 0; i < row.calls.length; i += 2) {
    for (let k = 0; k < row.calls[i + 1]; ++k) own.push(calls[row.calls[i] + k]);
  }
  return {
    index,
    title: row.title,
    method: row.method,
    note: row.note,
    isProgram: row.is_program,
    calls: own,
    inputs: row.inputs.map((id) => values[id]),
    outputs: row.outputs.map((id) => values[id]),
    writes: row.writes.map(([target, source]) => ({
      target: values[target],
      source: values[source],
    })),
  };
}

// The values that a call reads, in order, each once.
function valuesRead(call) {
  const found = new Set();
  for (const arg of call.args) {
    for (const piece of arg.pieces) if (typeof piece !== "string") found.add(piece);
  }
  return [...found];
}

// The nodes of a step: its inputs, calls, outputs and writes, in the order in which they run.
function nodesOf(step) {
  if (step.nodes) return step.nodes;
  const nodes = [];
  const add = (node) =>
    nodes.push({ order: nodes.length, boxes: [], reads: [], makes: [], ...node });
  for (const value of step.inputs) {
    add({ kind: "input", key: `i${value.id}`, label: value.name, value, makes: [value] });
  }
  for (const call of step.calls) {
    add({
      kind: "call",
      key: `c${call.id}`,
      label: shortOp(call.op),
      call,
      boxes: call.boxes,
      reads: valuesRead(call),
      makes: call.results,
    });
  }
  step.outputs.forEach((value, i) => {
    add({ kind: "output", key: `o${i}`, label: `output ${i}`, value, reads: [value] });
  });
  step.writes.forEach(({ target, source }, i) => {
    add({
      kind: "output",
      key: `w${i}`,
      label: `write ${target.from || target.name}`,
      value: source,
      reads: [source],
    });
  });
  step.nodes = nodes;
  return nodes;
}

// "aten::conv2d" -> "conv2d"
function shortOp(op) {
  const at = op.lastIndexOf("::");
  return at < 0 ? op : op.slice(at + 2);
}

// "linear_3", or "addmm  linear_3" if the name does not tell the operator.
function titleOf(call) {
  const op = shortOp(call.op).replace(/\..*$/, "");
  return call.name.startsWith(op) ? call.name : `${op}  ${call.name}`;
}

// "%y = aten::add(self=%x, other=1)", as text.
function callText(call) {
  const args = call.args.map(
    (arg) =>
      (arg.name ? arg.name + "=" : "") +
      arg.pieces.map((piece) => (typeof piece === "string" ? piece : "%" + piece.name)).join(""),
  );
  const results = call.results.map((value) => "%" + value.name).join(", ");
  return `${results ? results + " = " : ""}${call.op}(${args.join(", ")})`;
}

// "1.5 KB", with units of 1000 as the command line has them.
function bytesText(bytes) {
  for (const [unit, size] of [
    ["GB", 1e9],
    ["MB", 1e6],
    ["KB", 1e3],
  ]) {
    if (bytes >= size) return `${(bytes / size).toFixed(1)} ${unit}`;
  }
  return `${bytes} B`;
}

// Three digits: "0.0012", "3.4e-7".
function numberText(number) {
  return Number.isFinite(number) ? String(Number(number.toPrecision(3))) : String(number);
}

function timeText(seconds) {
  for (const [unit, size] of [
    ["s", 1],
    ["ms", 1e-3],
    ["us", 1e-6],
  ]) {
    if (seconds >= size) return `${(seconds / size).toPrecision(3)} ${unit}`;
  }
  return `${Math.round(seconds * 1e9)} ns`;
}
