// Tests convolutions of volumes that gather their slices, against their definition in double.

#include "backends/xnnpack/runtime/stages/volume_search.h"

#include <gtest/gtest.h>

#include "backends/xnnpack/runtime/stages/own_stage.h"
#include "backends/xnnpack/runtime/stages/stages_for_test.h"
#include "backends/xnnpack/runtime/stages/winograd_stage.h"
#include "backends/xnnpack/runtime/xnnpack_backend.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

constexpr uint32_t kHeight = 12, kWidth = 13, kIns = 16, kOuts = 24;

// y = conv(x) with a window of `taps` x 3 x 3 and paddings of `front`, 1 and 1 on both sides.
struct Model {
  uint32_t volumes, depth, taps, dilation, front;
  Floats filter, bias;
  PayloadBuilder p;

  uint32_t out_depth() const { return depth + 2 * front - (taps - 1) * dilation; }

  Model(uint32_t volumes, uint32_t depth, uint32_t taps, uint32_t dilation, uint32_t front)
      : volumes(volumes),
        depth(depth),
        taps(taps),
        dilation(dilation),
        front(front),
        filter(some_numbers(size_t{kOuts} * 9 * taps * kIns, 31, 1)),
        bias(some_numbers(kOuts, 7, 1)) {
    const uint32_t slices = volumes * out_depth();
    uint32_t x = p.input({volumes, depth, kHeight, kWidth, kIns});
    if (front > 0) x = padded(x);
    uint32_t images[3] = {};
    for (uint32_t t = 0; t < taps; ++t) images[t] = sliced(x, t * dilation);
    const uint32_t joint = p.inner({slices, kHeight, kWidth, taps * kIns});
    const auto kind = taps == 2 ? NodeContent::Concatenate2 : NodeContent::Concatenate3;
    p.nodes.push_back({kind, wire::CreateConcatenate(p.fbb, 3, images[0], images[1], images[2],
                                                     UINT32_MAX, joint, 0, UINT32_MAX)
                                 .Union()});
    const uint32_t weights = p.constant({kOuts, 3, 3, taps * kIns}, filter);
    const uint32_t biases = p.constant({kOuts}, bias);
    const uint32_t y = p.output({slices, kHeight, kWidth, kOuts});
    p.convolved(joint, weights, biases, y, PayloadBuilder::Windows::padded(1));
  }

  uint32_t padded(uint32_t x) {
    const uint32_t y = p.inner({volumes, depth + 2 * front, kHeight, kWidth, kIns});
    const auto list = p.fbb.CreateVector(std::vector<uint32_t>{0, front, 0, 0, 0});
    p.nodes.push_back(
        {NodeContent::ConstantPad, wire::CreateConstantPad(p.fbb, list, list, 0, x, y).Union()});
    return y;
  }

  uint32_t sliced(uint32_t x, uint32_t offset) {
    const uint32_t slice = p.inner({volumes, out_depth(), kHeight, kWidth, kIns});
    const auto offsets = p.fbb.CreateVector(std::vector<uint32_t>{0, offset, 0, 0, 0});
    const auto sizes =
        p.fbb.CreateVector(std::vector<uint32_t>{0, out_depth(), kHeight, kWidth, kIns});
    p.nodes.push_back(
        {NodeContent::Slice, wire::CreateSlice(p.fbb, 5, offsets, sizes, x, slice).Union()});
    const uint32_t y = p.inner({volumes * out_depth(), kHeight, kWidth, kIns});
    const auto shape = p.fbb.CreateVector(std::vector<uint32_t>{0, kHeight, kWidth, kIns});
    p.nodes.push_back(
        {NodeContent::Reshape, wire::CreateReshape(p.fbb, 4, shape, slice, y).Union()});
    return y;
  }

  double expected(const Floats& x, size_t at) const {
    const auto o = at % kOuts, column = at / kOuts % kWidth, row = at / kOuts / kWidth % kHeight;
    const auto slice = at / kOuts / kWidth / kHeight;
    double sum = static_cast<double>(bias[o]);
    for (uint32_t k = 0; k < 9 * taps; ++k) {
      const auto z = static_cast<int64_t>(slice % out_depth() + k % taps * dilation) - front;
      const auto i = static_cast<int64_t>(row + k / taps / 3) - 1;
      const auto j = static_cast<int64_t>(column + k / taps % 3) - 1;
      if (z < 0 || z >= depth || i < 0 || i >= kHeight || j < 0 || j >= kWidth) continue;
      const auto place = (slice / out_depth() * depth + static_cast<size_t>(z)) * kHeight;
      const size_t pixel = (place + static_cast<size_t>(i)) * kWidth + static_cast<size_t>(j);
      for (uint32_t c = 0; c < kIns; ++c) {
        const size_t factor = (o * 9 * taps + k) * kIns + c;
        sum += static_cast<double>(x[pixel * kIns + c]) * static_cast<double>(filter[factor]);
      }
    }
    return sum;
  }
};

void expect_right(Model model) {
  const std::vector<uint8_t> payload = model.p.finish();
  EXPECT_TRUE(stage_count(payload) == 1 || !has_own_stages());
  Loaded loaded(payload);
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  const auto dim = [](uint32_t size) { return static_cast<int32_t>(size); };
  const Floats volume =
      some_numbers(size_t{model.volumes} * model.depth * kHeight * kWidth * kIns, 13, 1);
  HeldFloats x({dim(model.volumes), dim(model.depth), kHeight, kWidth, kIns}, volume);
  const uint32_t slices = model.volumes * model.out_depth();
  HeldFloats y({dim(slices), kHeight, kWidth, kOuts},
               Floats(size_t{slices} * kHeight * kWidth * kOuts));
  const Status status = loaded.run({&x.value, &y.value});
  ASSERT_TRUE(status.ok()) << status.message();
  const Floats got = y.result();
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], model.expected(volume, i), 1e-4) << i;
}

TEST(VolumeSearch, SlicesAreReadWhereTheyLie) {
  expect_right(Model(1, 4, 3, 1, 1));
  expect_right(Model(2, 3, 2, 1, 0));
  expect_right(Model(2, 4, 3, 2, 2));
}

VolumeNodes found(Model model, uint32_t joint_uses = 1) {
  const std::vector<uint8_t> payload = model.p.finish();
  const BackendInitContext context("forward", nullptr, nullptr, {});
  Subgraph graph;
  EXPECT_TRUE(graph.read({payload.data(), payload.size()}, context, UINT64_MAX).ok());
  std::vector<uint32_t> uses(graph.values().size());
  for (const XnnNode& node : graph.nodes()) {
    for (const uint32_t id : node.inputs) uses[id == kNone ? 0 : id] += id != kNone;
  }
  const size_t last = graph.nodes().size() - 1;
  uses[graph.nodes()[last].inputs[0]] = joint_uses;
#if defined(TAPER_OPTIMIZED)
  if (optimized::has_winograd()) {
    EXPECT_NE(WinogradStage::best_tile(graph.nodes()[last], graph.values()), 0u);
  }
#endif
  return find_volume(graph, {uses.data(), uses.size()}, 0);
}

TEST(VolumeSearch, OnlyWholeRunsAreReplaced) {
  const VolumeNodes nodes = found(Model(1, 4, 3, 2, 2));
  EXPECT_EQ(nodes.count, 9u);
  EXPECT_EQ(nodes.taps, 3u);
  EXPECT_EQ(nodes.dilation, 2u);
  EXPECT_EQ(nodes.padding, 2u);
  EXPECT_EQ(found(Model(1, 4, 3, 2, 2), 2).count, 0u);  // The gathered slices are read again.
}

}  // namespace
}  // namespace taper::xnnpack
