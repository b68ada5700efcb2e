// What is known of a node besides its graph: who runs it, how long it takes, how large its results
// are and how wrong. Steps of the compiler know it by name: a node keeps the exporter's name, or
// that of the node from which it was made.
"use strict";

class Measures {
  constructor(model) {
    this.model = model;
    this.byName = new Map(); // Calls of the program.
    for (const step of model.steps) {
      if (!step.isProgram) continue;
      for (const call of step.calls) this.remember(call);
    }
    this.timeByPlace = new Map();
    this.timeByName = new Map();
    this.readProfile(model.profile);
    this.errors = new Map();
    this.readComparison(model.comparison);
  }

  remember(call) {
    const known = this.byName.get(call.name);
    if (!known) this.byName.set(call.name, [call]);
    else known.push(call);
  }

  // Times of instructions by place, name and operator, so that those of a program that was compiled
  // otherwise are not taken for this one's; times within a delegate by its place and their name.
  readProfile(profile) {
    if (!profile) return;
    const add = (map, key, seconds) => map.set(key, (map.get(key) || 0) + seconds);
    const delegates = new Map();
    for (const row of profile.rows) if (!row.is_step) delegates.set(row.place, row.op);
    const opened = new Set(); // Instructions of which steps are known.
    for (const row of profile.rows) if (row.is_step) opened.add(row.place.split(".")[0]);
    for (const row of profile.rows) {
      const seconds = Number(row.median_s);
      const [instruction] = row.place.split(".");
      const op = row.is_step ? delegates.get(instruction) + " within" : row.op;
      add(this.timeByPlace, `${instruction} ${row.node} ${op}`, seconds);
      if (row.is_step || !opened.has(row.place)) add(this.timeByName, row.node, seconds);
    }
  }

  // A row that is of several nodes is that of each, unless they have one of their own.
  readComparison(comparison) {
    if (!comparison) return;
    const all = [...comparison.nodes, ...comparison.inside];
    for (const row of all) {
      for (const name of row.with) this.errors.set(name, { ...row, with: [], together: row.node });
    }
    for (const row of all) this.errors.set(row.node, row);
  }

  runsOn(call) {
    if (call.runsOn) return call.runsOn;
    const found = this.byName.get(call.name);
    const known = found && found.find((each) => each.runsOn);
    return known ? known.runsOn : "";
  }

  // Why no backend took it, if that is known.
  note(call) {
    if (call.note) return call.note;
    const found = (this.byName.get(call.name) || []).find((each) => each.note && !each.opens);
    return found ? found.note : "";
  }

  // Seconds; undefined if they are not known.
  time(call) {
    if (!this.model.profile) return undefined;
    if (!call.place) return this.timeByName.get(call.name);
    const [instruction, part] = call.place.split(".");
    const op = part === undefined ? call.op : call.runsOn + " within";
    return this.timeByPlace.get(`${instruction} ${call.name} ${op}`);
  }

  bytes(call) {
    return call.results.reduce((sum, value) => sum + value.bytes, 0);
  }

  // The row of `taper compare`; undefined if there is none.
  error(call) {
    const names = call.results.flatMap((value) => [...value.holds, value.name]).concat(call.name);
    const found = names.map((name) => this.errors.get(name)).filter(Boolean);
    return found.find((row) => !row.together) || found[0];
  }
}
