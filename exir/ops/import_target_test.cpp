#include "exir/ops/import_target.h"

#include <gtest/gtest.h>

#include "exir/ir/failure.h"

namespace taper::exir {
namespace {

TEST(ImportTarget, TranslatesNames) {
  EXPECT_EQ(import_target("torch.ops.aten.relu.default"), "aten::relu");
  EXPECT_EQ(import_target("torch.ops.aten.add.Tensor"), "aten::add.Tensor");
  EXPECT_EQ(import_target("torch.ops.quantized_decomposed.quantize_per_tensor.default"),
            "quantized_decomposed::quantize_per_tensor");
  EXPECT_EQ(import_target("torch.ops.higher_order.while_loop"), "higher_order::while_loop");
  EXPECT_EQ(import_target("_operator.floordiv"), "python::floordiv");
  EXPECT_EQ(import_target("math.trunc"), "python::trunc");
  EXPECT_EQ(import_target("torch.sym_max"), "python::sym_max");
  EXPECT_EQ(import_target("torch._sym_sqrt"), "python::_sym_sqrt");
  EXPECT_EQ(import_target("#my:thing"), "my::thing");
  for (const char* bad : {"", "torch.ops.", "torch.ops.aten", "torch.ops.aten.", "a b", "#x"}) {
    EXPECT_THROW(import_target(bad), Failure) << bad;
  }
}

}  // namespace
}  // namespace taper::exir
