// Type promotion and shape rules against what PyTorch 2.13 gives.

#include "exir/ops/infer.h"

#include <gtest/gtest.h>

#include "exir/ops/builtin.h"
#include "exir/ops/promote.h"

namespace taper::exir {
namespace {

class Operands {
 public:
  Value* tensor(ScalarType dtype, std::vector<Sym> sizes) {
    return graph_.new_tensor("t", TensorType(dtype, std::move(sizes)));
  }

 private:
  Graph graph_{builtin_operators()};
};

TEST(Promote, FollowsCategoriesAndGroups) {
  Operands o;
  const auto type = [&](const Argument& a, const Argument& b) { return result_type({a, b}); };
  Value* i8 = o.tensor(ScalarType::kChar, {2});
  Value* f16 = o.tensor(ScalarType::kHalf, {2});
  EXPECT_EQ(type(i8, 1), ScalarType::kChar);
  EXPECT_EQ(type(i8, 1.0), ScalarType::kFloat);
  EXPECT_EQ(type(i8, o.tensor(ScalarType::kLong, {})), ScalarType::kChar);
  EXPECT_EQ(type(i8, o.tensor(ScalarType::kDouble, {})), ScalarType::kDouble);
  EXPECT_EQ(type(f16, o.tensor(ScalarType::kFloat, {})), ScalarType::kHalf);
  EXPECT_EQ(type(o.tensor(ScalarType::kBool, {2}), 1), ScalarType::kLong);
  EXPECT_EQ(type(i8, o.tensor(ScalarType::kByte, {2})), ScalarType::kShort);
  EXPECT_EQ(type(f16, o.tensor(ScalarType::kBFloat16, {2})), ScalarType::kFloat);
  EXPECT_EQ(type(f16, o.tensor(ScalarType::kLong, {2})), ScalarType::kHalf);
  EXPECT_EQ(float_result_type({i8}), ScalarType::kFloat);
}

std::string infer(std::string_view target, std::vector<Argument> args) {
  const auto schema = builtin_operators()->need(target);
  for (size_t i = args.size(); i < schema->args.size(); ++i) {
    args.push_back(default_argument(schema->args[i]));
  }
  std::string text;
  for (const TensorType& type : infer_types(*schema, args)) {
    for (const Sym& size : type.sizes) text += size.text() + " ";
    text += "; ";
  }
  return text;
}

TEST(Infer, ShapesOfTheUsualOperators) {
  Operands o;
  const Sym s = Sym::symbol("s0");
  Value* x = o.tensor(ScalarType::kFloat, {s, 3, 8, 9});
  Value* w = o.tensor(ScalarType::kFloat, {6, 3, 3, 3});
  EXPECT_EQ(infer("aten::convolution", {x, w, Argument(), int_list({2, 1}), int_list({1, 0}),
                                        int_list({1, 2}), false, int_list({0, 0}), 1}),
            "s0 6 4 5 ; ");
  EXPECT_EQ(infer("aten::max_pool2d_with_indices", {x, int_list({3, 3}), int_list({2, 2}),
                                                    int_list({1, 1}), int_list({1, 1}), true}),
            "s0 3 5 5 ; s0 3 5 5 ; ");
  EXPECT_EQ(infer("aten::mean.dim", {x, int_list({-1, -2}), true}), "s0 3 1 1 ; ");
  EXPECT_EQ(infer("aten::slice.Tensor", {x, 2, 1, 100, 3}), "s0 3 3 9 ; ");
  EXPECT_EQ(infer("aten::view", {x, int_list({-1, 216})}), "s0 216 ; ");
  EXPECT_EQ(infer("aten::matmul", {x, o.tensor(ScalarType::kFloat, {9, 2})}), "s0 3 8 2 ; ");
  EXPECT_EQ(infer("aten::native_layer_norm", {x, int_list({8, 9}), Argument(), Argument(), 1e-5}),
            "s0 3 8 9 ; s0 3 1 1 ; s0 3 1 1 ; ");
  EXPECT_EQ(infer("aten::diagonal", {x, 1, 2, 3}), "s0 3 8 ; ");
}

TEST(Infer, ANumberHasOneElementToSelect) {
  Operands o;
  Value* number = o.tensor(ScalarType::kFloat, {});
  EXPECT_EQ(infer("aten::index_select", {number, 0, o.tensor(ScalarType::kLong, {1})}), "; ");
}

// Numbers of a hostile file.
TEST(Infer, RefusesWindowsBeyond64Bits) {
  Operands o;
  const int64_t most = int64_t{1} << 62;
  Value* x = o.tensor(ScalarType::kFloat, {1, 3, 8, 9});
  Value* w = o.tensor(ScalarType::kFloat, {6, 3, 3, 3});
  const auto convolution = [&](const Argument& stride, const Argument& padding,
                               const Argument& dilation, bool is_transposed) {
    return infer("aten::convolution",
                 {x, w, Argument(), stride, padding, dilation, is_transposed, int_list({0, 0}), 1});
  };
  const Argument one = int_list({1, 1}), none = int_list({0, 0}), far = int_list({most, most});
  for (const bool is_transposed : {false, true}) {
    EXPECT_THROW(convolution(one, far, one, is_transposed), Failure);
    EXPECT_THROW(convolution(one, int_list({-most, -most - 1}), one, is_transposed), Failure);
    EXPECT_THROW(convolution(one, none, far, is_transposed), Failure);
  }
  EXPECT_THROW(
      infer("aten::max_pool2d", {x, int_list({3, 3}), far, int_list({most - 1, 0}), one, true}),
      Failure);
}

TEST(Infer, RefusesWhatDoesNotFit) {
  Operands o;
  Value* x = o.tensor(ScalarType::kFloat, {2, 3});
  EXPECT_THROW(infer("aten::add.Tensor", {x, o.tensor(ScalarType::kFloat, {4})}), Failure);
  EXPECT_THROW(infer("aten::select.int", {x, 5, 0}), Failure);
  EXPECT_THROW(infer("aten::mm", {x, o.tensor(ScalarType::kFloat, {4})}), Failure);
}

}  // namespace
}  // namespace taper::exir
