// What the phases of one quantisation share: the request, and what they found out so far.

#pragma once

#include "exir/quantize/plan.h"
#include "exir/quantize/quantize.h"
#include "exir/quantize/statistics.h"

namespace taper::exir {

class Session {
 public:
  explicit Session(const QuantizeRequest& given) : request(given) {}

  const QuantizeRequest& request;
  QuantPlan plan;
  Calibration calibration;
  QuantizeReport report;
  std::map<std::string, std::string> in_float;  // Layers that stay so, by name, and why.

  // The program anew, ready to be quantised, with the plan's new constants.
  std::unique_ptr<Graph> fresh() const;
  // The layers to quantise; those that `enabled` refuses stay in float.
  Sites sites_of(const Graph& graph, const Enabled& enabled = {}) const;
  // What counts as a layer: in float16, every weight does.
  Reach reach() const;
  // The program with the plan applied to those layers.
  std::unique_ptr<Graph> quantised(const Enabled& enabled = {}) const;
  // Runs it on the first samples.
  Outputs outputs_of(Graph& graph, size_t samples, const char* what) const;
  Difference compare(const Outputs& changed) const;
  void show(const char* what, size_t done, size_t total) const;
};

// The phases, in order of their first use.
void calibrate(Session& session);
void plan_weights(Session& session);  // Also biases.
void plan_tensors(Session& session);
// Equalises, smooths and corrects biases where that brings the outputs closer.
void try_methods(Session& session);
void measure_layers(Session& session);
// How long layers take in float, and when all that the plan has are quantised.
void time_layers(Session& session);
// How long the program takes on the whole, before and after.
void time_whole(Session& session);
// Leaves the most sensitive layers in float until the drop is small enough.
void limit_drop(Session& session);

}  // namespace taper::exir
