// Each method is applied and measured on some samples; it stays if the outputs come closer.

#include <algorithm>
#include <cstdio>

#include "exir/quantize/balance.h"
#include "exir/quantize/session.h"

namespace taper::exir {
namespace {

constexpr size_t kTried = 16;  // Samples.

double decibels_now(const Session& session) {
  const std::unique_ptr<Graph> graph = session.quantised();
  const size_t samples = std::min(kTried, session.request.samples.size());
  return session.compare(session.outputs_of(*graph, samples, "trying methods")).decibels();
}

std::string change_text(const std::string& what, double before, double after) {
  char numbers[64];
  std::snprintf(numbers, sizeof(numbers), ": %.1f -> %.1f dB", before, after);
  return what + numbers + (after > before ? "" : ", left out");
}

// What a method changes.
struct State {
  QuantPlan plan;
  Calibration calibration;
  QuantizeReport report;
  std::map<std::string, std::string> in_float;
};

State state_of(const Session& session) {
  return {session.plan, session.calibration, session.report, session.in_float};
}

void plan_all(Session& session) {
  session.report.notes.clear();
  plan_weights(session);
  plan_tensors(session);
}

// Moves scales between layers; the float program stays the same, its tensors do not.
void try_balance(Session& session, const char* what, double& best,
                 std::vector<BalanceSite> (*find)(const Graph&, const Sites&)) {
  const std::unique_ptr<Graph> graph = session.fresh();
  const Sites sites = session.sites_of(*graph);
  const std::vector<BalanceSite> found = find(*graph, sites);
  if (found.empty()) return;
  State before = state_of(session);
  for (auto& [name, elements] : balanced(found, session.calibration)) {
    session.plan.constants[name] = std::move(elements);
  }
  const Outputs outputs = session.calibration.outputs;
  calibrate(session);
  session.calibration.outputs = outputs;
  plan_all(session);
  const double now = decibels_now(session);
  const std::string said =
      change_text(std::string(what) + " (" + std::to_string(found.size()) + ")", best, now);
  if (now > best) {
    best = now;
  } else {
    session.plan = std::move(before.plan);
    session.calibration = std::move(before.calibration);
    session.report = std::move(before.report);
    session.in_float = std::move(before.in_float);
  }
  session.report.methods.push_back(said);
}

void try_without_correction(Session& session, double& best) {
  const bool any = std::any_of(session.plan.layers.begin(), session.plan.layers.end(),
                               [](const auto& each) { return !each.second.bias.empty(); });
  if (!any) return;
  QuantPlan corrected = session.plan;
  for (auto& [name, layer] : session.plan.layers) layer.bias.clear();
  const double without = decibels_now(session);
  session.report.methods.push_back(change_text("bias correction", without, best));
  if (best > without) {
    session.plan = std::move(corrected);
  } else {
    best = without;
  }
}

}  // namespace

void try_methods(Session& session) {
  const QuantizeRequest& request = session.request;
  if (request.samples.empty()) return;
  double best = decibels_now(session);
  if (request.equalise && request.activations == Activations::kStatic) {
    try_balance(session, "equalisation of pairs of layers", best, equalisation_sites);
  }
  if (request.smooth && request.activations != Activations::kFloat) {
    try_balance(session, "smoothing before linear layers", best, smoothing_sites);
  }
  if (request.correct_bias) try_without_correction(session, best);
}

}  // namespace taper::exir
