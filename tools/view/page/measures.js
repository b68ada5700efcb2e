// What is known of a node besides its graph: who runs it, how long it takes, how large its results
// are and how wrong. Steps of the compiler know it by name: a node keeps the exporter's name, or
// that of the node from which it was made.
"use strict";

class Measures {
  constructor(model) {
    this.model = model;
    this.byName = new Map();  // Calls of the program.
    for (const step of model.steps) {
      if (!step.isProgram) continue;
      for (const call of step.calls) this.remember(call);
    }
    this.timeByPlace = new Map();
    this.timeByName = new Map();
    this.readProfile(model.profile);
    this.errors = new Map();
    const comparison = model.comparison;
    if (comparison) {
      for (const row of [...comparison.nodes, ...comparison.inside]) this.errors.set(row.node, row);
    }
  }

  remember(call) {
    const known = this.byName.get(call.name);
    if (!known) this.byName.set(call.name, [call]);
    else known.push(call);
  }

  readProfile(profile) {
    if (!profile) return;
    const add = (map, key, seconds) => map.set(key, (map.get(key) || 0) + seconds);
    const opened = new Set();  // Instructions of which steps are known.
    for (const row of profile.rows) if (row.is_step) opened.add(row.place.split(".")[0]);
    for (const row of profile.rows) {
      const seconds = Number(row.median_s);
      if (row.is_step) add(this.timeByPlace, row.place.split(".")[0] + " " + row.node, seconds);
      else add(this.timeByPlace, row.place, seconds);
      if (row.is_step || !opened.has(row.place)) add(this.timeByName, row.node, seconds);
    }
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
    return this.timeByPlace.get(part === undefined ? instruction : instruction + " " + call.name);
  }

  bytes(call) {
    return call.results.reduce((sum, value) => sum + value.bytes, 0);
  }

  // The row of `taper compare`; undefined if there is none.
  error(call) {
    for (const value of call.results) {
      const found = this.errors.get(value.name);
      if (found) return found;
    }
    return this.errors.get(call.name);
  }
}
