#include "exir/passes/convert/canonical_layout.h"

#include <gtest/gtest.h>

#include <cstring>

#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

TEST(CanonicalLayout, CopiesInputsThatAreLaidOutOtherwise) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 3, 2, 2] order (0, 2, 3, 1)
  %y: float32[1, 3, 2, 2] order (0, 2, 3, 1) = aten::clone(%x, channels_last)
  return %y
})");
  EXPECT_EQ(canonical_layout(*graph), 2);
  EXPECT_EQ(print(*graph), R"(graph "g" {
  input %x_1: float32[1, 3, 2, 2] order(0, 2, 3, 1)
  %x: float32[1, 3, 2, 2] = dim_order_ops::_clone_dim_order(%x_1, False, [0, 1, 2, 3])
  %y: float32[1, 3, 2, 2] = aten::clone(%x, None)
  return %y
}
)");
}

TEST(CanonicalLayout, LaysConstantsOutAnew) {
  const auto graph = parse_graph(R"(graph "g" {
  constant %w: int8[2, 3] order (1, 0) = {1, 4, 2, 5, 3, 6}
  return %w
})");
  canonical_layout(*graph);
  const Value* w = graph->constants[0];
  ASSERT_EQ(w->data.bytes, 6u);
  const uint8_t rows[] = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(std::memcmp(w->data.data, rows, 6), 0);
  EXPECT_TRUE(w->type.is_contiguous());
}

TEST(CanonicalLayout, LeavesContiguousGraphsAlone) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[2]
  %y: float32[2] = aten::relu(%x)
  return %y
})");
  EXPECT_EQ(canonical_layout(*graph), 0);
}

}  // namespace
}  // namespace taper::exir
