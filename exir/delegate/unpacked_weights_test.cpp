// Tests which weights of few bits are found in compiled programs.

#include "exir/delegate/unpacked_weights.h"

#include <gtest/gtest.h>

#include "exir/ir/scales.h"
#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

constexpr size_t kBytes = 2048;

// Integers from -8 to 7.
std::vector<uint8_t> integers() {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < kBytes; ++i) bytes.push_back(static_cast<uint8_t>(i * i % 16 - 8));
  return bytes;
}

std::vector<std::string> names_for(std::vector<uint8_t> stored) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 64]
  constant %w: float32[32, 64] = zeros
  %y: float32[1, 32] = aten::linear(%x, %w, None)
  return %y
})");
  auto scales = std::make_shared<Scales>();
  scales->items = {1};
  scales->span = kBytes;
  scales->integers = own_bytes(integers());
  scales->bits = bits_of(scales->integers, scales->dtype);
  graph->constants[0]->scales = scales;
  const std::vector<FewBits> weights = weights_of_few_bits(*graph);
  EXPECT_EQ(weights.size(), 1u);
  auto delegate = std::make_shared<Delegate>();
  delegate->data.push_back({"w", own_bytes(std::move(stored))});
  graph->delegates.push_back(delegate);
  return stored_wide(weights, *graph);
}

TEST(UnpackedWeights, BytesInAnotherOrderAndSignAreFound) {
  std::vector<uint8_t> bytes = integers();
  std::reverse(bytes.begin(), bytes.end());
  for (uint8_t& byte : bytes) byte ^= 0x80;
  EXPECT_EQ(names_for(bytes), std::vector<std::string>{"w"});
}

TEST(UnpackedWeights, PackedAndOtherBytesAreNot) {
  EXPECT_TRUE(names_for(std::vector<uint8_t>(kBytes / 2)).empty());
  EXPECT_TRUE(names_for(std::vector<uint8_t>(kBytes)).empty());
}

// 1,500 floats of two numbers, which have codes.
std::vector<std::string> names_with_codes(bool as_floats) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 60]
  constant %w: float32[25, 60] = zeros
  %y: float32[1, 25] = aten::linear(%x, %w, None)
  return %y
})");
  auto codes = std::make_shared<Scales>();
  codes->integers = own_bytes(std::vector<uint8_t>(1500, 1));
  codes->table = std::vector<float>(256);
  graph->constants[0]->codes = codes;
  const std::vector<FewBits> weights = weights_with_codes(*graph);
  EXPECT_EQ(weights.size(), 1u);
  auto delegate = std::make_shared<Delegate>();
  delegate->data.push_back({"w", as_floats ? graph->constants[0]->data : codes->integers});
  graph->delegates.push_back(delegate);
  graph->constants.clear();
  return stored_wide(weights, *graph);
}

TEST(UnpackedWeights, FloatsThatHaveCodesAreFoundUnlessTheCodesAreStored) {
  EXPECT_EQ(names_with_codes(true), std::vector<std::string>{"w"});
  EXPECT_TRUE(names_with_codes(false).empty());
}

}  // namespace
}  // namespace taper::exir
