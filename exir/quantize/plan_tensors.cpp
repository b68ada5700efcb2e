// Gives each group of activations its scale.

#include <algorithm>
#include <cmath>
#include <limits>

#include "exir/frontend/refuse.h"
#include "exir/quantize/session.h"

namespace taper::exir {
namespace {

// What the program returns is wrong as a whole where it is cut off, and other inputs reach further
// than the samples did.
constexpr double kHeadroom = 1.25;

bool is_output(const Graph& graph, const std::vector<Value*>& group) {
  bool found = false;
  for (const Argument& output : graph.outputs) {
    for_each_value(output, [&](const Value* value) {
      found = found || std::find(group.begin(), group.end(), value) != group.end();
    });
  }
  return found;
}

ChosenRange with_headroom(const Histogram& histogram) {
  ChosenRange chosen = choose_range(histogram, RangeMethod::kMinMax);
  chosen.range = {chosen.range.low * kHeadroom, chosen.range.high * kHeadroom};
  chosen.scale = scale_of(chosen.range);
  chosen.error = squared_error(histogram, chosen.scale);
  return chosen;
}

double mean_square(const Histogram& histogram) {
  double sum = 0;
  for (size_t i = 0; i < Histogram::kBins; ++i) {
    sum += histogram.bin(i) * histogram.middle(i) * histogram.middle(i);
  }
  return histogram.empty() ? 0 : sum / histogram.count();
}

}  // namespace

void plan_tensors(Session& session) {
  session.plan.tensors.clear();
  session.report.tensors.clear();
  if (session.request.activations != Activations::kStatic) return;
  const std::unique_ptr<Graph> graph = session.fresh();
  const Sites sites = session.sites_of(*graph);
  for (const auto& group : sites.groups) {
    Histogram histogram;
    for (const Value* value : group) histogram.add(session.calibration.values[value->name]);
    const bool returned = !session.request.ranges && is_output(*graph, group);
    const ChosenRange chosen =
        returned ? with_headroom(histogram) : choose_range(histogram, session.request.ranges);
    for (const Value* value : group) session.plan.tensors[value->name] = chosen.scale;
    TensorReport said;
    said.name = group[0]->name;
    said.scale = chosen.scale;
    said.method = chosen.method;
    said.low = histogram.min();
    said.high = histogram.max();
    said.decibels = chosen.error == 0 ? std::numeric_limits<double>::infinity()
                                      : 10 * std::log10(mean_square(histogram) / chosen.error);
    if (histogram.min() == histogram.max()) {
      session.report.notes.push_back("tensor " + in_quotes(said.name) +
                                     " has the same value in all samples: its scale is a guess");
    }
    session.report.tensors.push_back(said);
  }
}

}  // namespace taper::exir
