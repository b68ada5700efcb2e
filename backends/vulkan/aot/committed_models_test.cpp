// Plans the payloads of committed models for devices that no machine here has, with the largest
// sizes and with smaller ones: every plan is sound, and has no shader that `taper select` would
// leave out.

#include <gtest/gtest.h>

#include <filesystem>

#include "backends/vulkan/planner/fuse.h"
#include "backends/vulkan/planner/limits_profiles.h"
#include "backends/vulkan/planner/shader_sets.h"
#include "exir/delegate/compiler_descriptor.h"
#include "exir/export.h"

namespace taper::vulkan {

extern const exir::CompilerDescriptor kCompiler;

namespace {

const std::string kModels = TAPER_SOURCE_DIR "/test/models/data/";

using Payload = std::vector<uint8_t>;

std::vector<Payload> payloads_of(const std::string& model) {
  static const exir::CompilerDescriptor* const backends[] = {&kCompiler};
  exir::ExportRequest request;
  request.methods = {{"forward", kModels + model + ".pt2"}};
  request.lowering.backends = exir::make_compilers("vulkan", backends);
  request.lowering.delegated = exir::Groups::kAll;
  std::vector<Payload> payloads;
  for (const auto& program : exir::export_program(request).programs) {
    for (const auto& delegate : program.graph->delegates) payloads.push_back(delegate->payload);
  }
  return payloads;
}

PayloadGraph read(const Payload& payload) {
  PayloadGraph graph;
  EXPECT_STREQ(graph.read({payload.data(), payload.size()}, nullptr).message(), "");
  fuse(graph);
  return graph;
}

void check_plan(const Plan& plan, const Limits& limits, const std::set<Shader>& selected) {
  EXPECT_LE(plan.arena_bound(), plan.arena_bytes());
  for (const Place& place : plan.places()) {
    EXPECT_EQ(place.offset % limits.alignment, 0u);
    EXPECT_LE(place.bytes, limits.range);
  }
  for (const Dispatch& dispatch : plan.dispatches()) {
    for (size_t i = 0; i < 3; ++i) EXPECT_LE(dispatch.groups[i], limits.groups[i]);
    EXPECT_EQ(selected.count(dispatch.shader), 1u)
        << "without " << shader_names()[static_cast<size_t>(dispatch.shader)];
  }
}

// Inputs shrink together, since some sizes must be equal; a plan may refuse sizes that the program
// never has.
void check_smaller(PayloadGraph& graph, Plan& plan, const Limits& limits,
                   const std::set<Shader>& selected) {
  for (const int64_t divisor : {2, 3, 1 << 20}) {
    for (const ValueId id : graph.inputs) {
      PayloadValue& value = graph.values[id];
      for (size_t d = 0; d < value.limits.rank; ++d) {
        value.dims[d] = std::max<int64_t>(value.limits[d] / divisor, 1);
      }
    }
    const Status status = plan.build(graph, limits);
    EXPECT_STRNE(status.message(), "it needs more memory than with the largest sizes");
    if (status.ok()) check_plan(plan, limits, selected);
  }
}

std::vector<std::string> models() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kModels)) {
    if (entry.path().extension() == ".pt2") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class CommittedModels : public testing::TestWithParam<std::string> {};

TEST_P(CommittedModels, ArePlannedForEveryDevice) {
  for (const Payload& payload : payloads_of(GetParam())) {
    std::set<Shader> selected;
    PayloadGraph whole = read(payload);
    ASSERT_STREQ(add_shaders(whole, selected).message(), "");
    for (const LimitsProfile& profile : limits_profiles()) {
      SCOPED_TRACE(profile.name);
      PayloadGraph graph = read(payload);
      Plan plan;
      ASSERT_STREQ(plan.build(graph, profile.limits).message(), "");
      check_plan(plan, profile.limits, selected);
      check_smaller(graph, plan, profile.limits, selected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CommittedModels, testing::ValuesIn(models()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace taper::vulkan
