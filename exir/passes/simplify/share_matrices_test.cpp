#include "exir/passes/simplify/share_matrices.h"

#include <gtest/gtest.h>

#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

std::string shared(const std::string& matrix) {
  const auto graph = parse_graph("graph \"g\" {\n  input %x: float32[7, 2, 4]\n" + matrix + R"(
  %y: float32[7, 2, 5] = aten::bmm(%x, %v)
  return %y
})");
  share_matrices(*graph);
  return print(*graph);
}

bool has(const std::string& text, const char* part) { return text.find(part) != text.npos; }

TEST(ShareMatrices, BatchesTimesOneMatrixAreOneProduct) {
  const std::string text = shared(R"(  input %w: float32[4, 5]
  %e: float32[7, 4, 5] = aten::expand_copy(%w, [7, 4, 5], False)
  %v: float32[7, 4, 5] = aten::view_copy(%e, [7, 4, 5]))");
  EXPECT_TRUE(has(text, "float32[14, 4] = aten::view_copy(%x, [14, 4])")) << text;
  EXPECT_TRUE(has(text, "float32[14, 5] = aten::mm(")) << text;
  EXPECT_TRUE(has(text, ", [7, 2, 5])")) << text;
  EXPECT_FALSE(has(text, "expand_copy")) << text;
}

TEST(ShareMatrices, SeveralMatricesStay) {
  EXPECT_TRUE(has(shared("  input %v: float32[7, 4, 5]"), "aten::bmm"));
  // Each row is repeated, too.
  EXPECT_TRUE(has(shared(R"(  input %w: float32[1, 5]
  %v: float32[7, 4, 5] = aten::expand_copy(%w, [7, 4, 5], False))"),
                  "aten::bmm"));
  // What is repeated lies in another order.
  EXPECT_TRUE(has(shared(R"(  input %w: float32[5, 4]
  %e: float32[7, 5, 4] = aten::expand_copy(%w, [7, 5, 4], False)
  %v: float32[7, 4, 5] = aten::view_copy(%e, [7, 4, 5]))"),
                  "aten::bmm"));
}

}  // namespace
}  // namespace taper::exir
