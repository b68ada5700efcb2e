// Plans damaged payloads of ExecuTorch's exporter for the limits of every kind of device, with the
// largest sizes and with smaller ones: a plan is sound, or it is refused. TAPER_ROUNDS sets how many
// and TAPER_SEED which, for sanitizers.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>

#include "backends/vulkan/planner/fuse.h"
#include "backends/vulkan/planner/limits_profiles.h"
#include "backends/vulkan/planner/payload_for_test.h"
#include "backends/vulkan/planner/plan.h"

namespace taper::vulkan {
namespace {

using Bytes = std::vector<uint8_t>;

void damage(Bytes& bytes, std::mt19937& random) {
  constexpr uint32_t kAwkward[] = {0,          1,        0xffffffff, 0x7fffffff, 1u << 31, 65536,
                                   0xfffffffe, 1u << 20, 128 << 20,  0x3fffffff, 255,      4096};
  for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
    const size_t width = size_t{1} << random() % 3;
    const size_t at = random() % (bytes.size() / width) * width;
    uint32_t value = random() % 40;
    if (random() % 3 == 0) value = number_at(bytes, at / 4 * 4) + (random() % 2 != 0 ? 1 : -1);
    if (random() % 4 == 0) value = kAwkward[random() % 12];
    if (random() % 4 == 0) value = number_at(bytes, random() % (bytes.size() / 4) * 4);
    std::memcpy(&bytes[at], &value, width);
  }
}

uint64_t bytes_of(const Plan& plan, Place::Memory memory) {
  switch (memory) {
    case Place::Memory::kConstants:
      return plan.constant_bytes();
    case Place::Memory::kStates:
      return plan.state_bytes();
    case Place::Memory::kLoading:
      return plan.loading_bytes();
    default:
      return plan.arena_bytes();
  }
}

void expect_sound(const Plan& plan, const Limits& limits) {
  ASSERT_LE(plan.arena_bytes() + plan.constant_bytes() + plan.state_bytes(), limits.bytes);
  for (const Place& place : plan.places()) {
    ASSERT_LT(place.root, plan.places().size());
    const Place& root = plan.places()[place.root];
    if (root.memory == Place::Memory::kNone || root.first > root.last) continue;
    ASSERT_LE(root.offset + root.bytes, bytes_of(plan, root.memory));
    ASSERT_LE(root.bytes, limits.range);
    ASSERT_EQ(root.offset % limits.alignment, 0u);
  }
  for (const Dispatch& dispatch : plan.dispatches()) {
    for (size_t i = 0; i < 3; ++i) ASSERT_LE(dispatch.groups[i], limits.groups[i]);
    ASSERT_LE(dispatch.num_bindings, Dispatch::kMaxBindings);
    ASSERT_LE(dispatch.num_constants, Dispatch::kMaxConstants);
    for (size_t i = 0; i < dispatch.num_bindings; ++i) {
      const ValueId value = dispatch.bindings[i].value;
      ASSERT_TRUE(value == kFaultValue || value < plan.places().size());
    }
  }
}

// Other sizes of the inputs, and other numbers.
void change_inputs(PayloadGraph& graph, std::mt19937& random) {
  for (const ValueId id : graph.inputs) {
    PayloadValue& value = graph.values[id];
    if (value.kind != Kind::kTensor) value.integer = static_cast<int64_t>(random() % 12) - 2;
    for (size_t d = 0; d < value.limits.rank; ++d) {
      if (random() % 3 == 0) value.dims[d] = random() % (value.limits[d] + 1);
    }
  }
}

TEST(DamagedPayloads, HaveSoundPlansOrNone) {
  const char* rounds_text = std::getenv("TAPER_ROUNDS");
  const int rounds = rounds_text == nullptr ? 20000 : std::atoi(rounds_text);
  const std::vector<Bytes> payloads = exported_payloads();
  ASSERT_GT(payloads.size(), 20u);
  const char* seed_text = std::getenv("TAPER_SEED");
  std::mt19937 random(seed_text == nullptr ? 11U : static_cast<uint32_t>(std::atoi(seed_text)));
  int read = 0, planned = 0, again = 0;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    Bytes bytes = payloads[random() % payloads.size()];
    damage(bytes, random);
    const Limits& limits = limits_profiles()[random() % limits_profiles().size()].limits;
    PayloadGraph graph;
    if (!graph.read({bytes.data(), bytes.size()}, nullptr).ok()) continue;
    graph.in_half = random() % 2 == 0;
    ++read;
    if (random() % 2 != 0) fuse(graph);
    Plan plan;
    if (!plan.build(graph, limits).ok()) continue;
    ++planned;
    expect_sound(plan, limits);
    change_inputs(graph, random);
    if (!plan.build(graph, limits).ok()) continue;
    ++again;
    expect_sound(plan, limits);
  }
  EXPECT_GT(planned, 0);
  std::printf("%d damaged payloads: %d were read, %d planned, %d of them again\n", rounds, read,
              planned, again);
}

}  // namespace
}  // namespace taper::vulkan
