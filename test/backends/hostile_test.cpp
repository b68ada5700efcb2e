// Tests that malformed payloads are refused or harmless; sanitizers detect memory errors.

#include <random>

#include "test/backends/backend_test.h"
#include "test/support/test_tensor.h"

namespace taper::test {
namespace {

// Graphs of nodes with different kinds of payload: windows, matrices, lists, constants.
constexpr const char* kGraphs[] = {
    R"(graph "forward" {
  range s0 = [1, 8]
  input %x: float32[s0, 4]
  constant %w: float32[4] = {1, -2, 3, 0.5}
  %m: float32[s0, 4] = aten::mul.Tensor(%x, %w)
  %y: float32[s0, 4] = aten::add.Tensor(%m, %x)
  return %y
})",
    R"(graph "forward" {
  input %x: float32[1, 2, 5, 5]
  constant %w: float32[2, 2, 2, 2] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
  constant %b: float32[2] = {1, 2}
  %c: float32[1, 2, 3, 3] = aten::convolution(%x, %w, %b, [2, 2], [1, 1], [1, 1], False, [0, 0], 1)
  %p: float32[1, 2, 2, 2] = aten::avg_pool2d(%c, [2, 2], [1, 1])
  %y: float32[1, 2, 2, 2] = aten::add.Tensor(%p, %p)
  return %y
})",
    R"(graph "forward" {
  input %x: float32[3, 4]
  constant %w: float32[4, 5] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}
  %p: float32[3, 5] = aten::mm(%x, %w)
  %s: float32[3, 5] = aten::_softmax(%p, -1, False)
  %c: float32[3, 10] = aten::cat([%s, %p], 1)
  %t: float32[10, 3] = aten::permute_copy(%c, [1, 0])
  %l: float32[4, 3] = aten::slice_copy.Tensor(%t, 0, 2, 6)
  %y: float32[4, 3] = aten::mul.Tensor(%l, %l)
  return %y
})",
};

constexpr int kMutants = 1500;  // Per graph.
constexpr uint64_t kMaxBytes = 16u << 20;

class Hostile : public BackendTest {
 protected:
  void SetUp() override {
    DeviceOptions options;
    options.threads = 1;
    options.max_bytes = kMaxBytes;
    device_ = subject().device->make(options);
    ASSERT_NE(device_, nullptr);
  }

  // The first delegate of the graph.
  static std::shared_ptr<const exir::Delegate>& delegate(Lowered& lowered) {
    return lowered.graphs[0]->delegates.at(0);
  }

  // Loads and runs the program and reads its outputs. Returns the error if it was refused.
  std::string exercise(Lowered& lowered) {
    DelegatedProgram program(lowered.emit(), {backend_of(subject(), *device_)});
    std::string refused = program.load_error();
    if (!refused.empty()) return refused;
    std::vector<TestTensor> inputs;
    std::vector<EValue> values;
    for (const exir::Argument& input : lowered.graphs[0]->inputs) {
      std::vector<int32_t> sizes;
      for (const exir::Sym& size : input.value()->type.sizes) {
        sizes.push_back(size.is_int() ? static_cast<int32_t>(size.as_int()) : 3);
      }
      inputs.emplace_back(ScalarType::kFloat, sizes);
    }
    for (TestTensor& input : inputs) values.emplace_back(&*input);
    const std::vector<EValue> outputs = program.run(values);
    for (const EValue& output : outputs) {
      for (const float each : floats_of(output)) sum_ = sum_ + each;
    }
    return outputs.empty() ? program.error() : "";
  }

  std::string exercise_with(Lowered& lowered, const std::vector<uint8_t>& payload) {
    auto changed = std::make_shared<exir::Delegate>(*delegate(lowered));
    changed->payload = payload;
    const auto whole = std::exchange(delegate(lowered), std::move(changed));
    std::string refused = exercise(lowered);
    delegate(lowered) = whole;
    return refused;
  }

  std::unique_ptr<Device> device_;
  volatile float sum_ = 0;
};

TEST_P(Hostile, FlippedBitsDoNoHarm) {
  std::mt19937 random(13);
  for (const char* text : kGraphs) {
    Lowered lowered = lower(text);
    const std::vector<uint8_t> whole = delegate(lowered)->payload;
    int refused = 0;
    for (int i = 0; i < kMutants; ++i) {
      std::vector<uint8_t> payload = whole;
      for (size_t flips = 1 + random() % 3; flips > 0; --flips) {
        payload[random() % payload.size()] ^= static_cast<uint8_t>(1u << random() % 8);
      }
      refused += !exercise_with(lowered, payload).empty();
    }
    EXPECT_GT(refused, kMutants / 20) << "too few mutants are refused of\n" << text;
    EXPECT_EQ(exercise(lowered), "");
  }
}

TEST_P(Hostile, CutPayloadsAreRefused) {
  for (const char* text : kGraphs) {
    Lowered lowered = lower(text);
    const std::vector<uint8_t> whole = delegate(lowered)->payload;
    const size_t step = std::max<size_t>(1, whole.size() / 200);
    for (size_t size = 0; size + 16 < whole.size(); size += step) {
      const std::vector<uint8_t> payload(whole.begin(),
                                         whole.begin() + static_cast<ptrdiff_t>(size));
      exercise_with(lowered, payload);
      if (size <= whole.size() / 2) {
        EXPECT_NE(exercise_with(lowered, payload), "") << size << " of " << whole.size();
      }
    }
  }
}

TEST_P(Hostile, WhatIsNoPayloadIsRefused) {
  Lowered lowered = lower(kGraphs[0]);
  for (const size_t size : {0, 1, 7, 8, 64, 4096}) {
    for (const int byte : {0x00, 0x01, 0x7f, 0xff}) {
      EXPECT_NE(exercise_with(lowered, std::vector<uint8_t>(size, static_cast<uint8_t>(byte))), "");
    }
  }
}

TEST_P(Hostile, DataThatIsMissingOrShortIsRefused) {
  for (const char* text : kGraphs) {
    Lowered lowered = lower(text);
    const auto whole = delegate(lowered);
    for (size_t i = 0; i < whole->data.size(); ++i) {
      auto changed = std::make_shared<exir::Delegate>(*whole);
      changed->data[i].bytes.bytes /= 2;
      delegate(lowered) = changed;
      EXPECT_NE(exercise(lowered), "") << "half of the data";
      changed->data.erase(changed->data.begin() + static_cast<ptrdiff_t>(i));
      EXPECT_NE(exercise(lowered), "") << "no data";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Suite, Hostile, testing::ValuesIn(all_subjects()), subject_name);

}  // namespace
}  // namespace taper::test
