// The two prim operators that change the tensor object itself, et_view and et_copy_index, and results
// whose slot is of another kind.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"
#include "test/support/test_tensor.h"

namespace taper::portable {
namespace {

using test::TestTensor;

Status call(const char* name, std::initializer_list<EValue*> args) {
  const Kernel* kernel = find_kernel(portable_kernels(), name);
  if (kernel == nullptr) return Status(Error::kNotFound, name);
  KernelContext context;
  return kernel->run(context, args.begin());
}

struct IntListSlot {
  explicit IntListSlot(const std::vector<int64_t>& values) : unboxed(values.size()) {
    for (int64_t value : values) items.emplace_back(value);
    for (EValue& item : items) pointers.push_back(&item);
    list = {pointers.data(), unboxed.data()};
    slot = EValue(&list, static_cast<uint32_t>(items.size()));
  }
  std::vector<EValue> items;
  std::vector<EValue*> pointers;
  std::vector<int64_t> unboxed;
  BoxedIntList list;
  EValue slot;
};

TEST(EtView, MakesOutViewTheMemoryOfSelf) {
  TestTensor self = TestTensor::of<int32_t>(ScalarType::kInt, {2, 3}, {1, 2, 3, 4, 5, 6});
  TestTensor out(ScalarType::kInt, {6, 6}, {}, ShapeDynamism::kDynamicBound);
  EValue from(&*self), to(&*out);
  IntListSlot sizes({3, -1});
  ASSERT_TRUE(call("executorch_prim::et_view.default", {&from, &sizes.slot, &to}).ok());
  EXPECT_EQ(out->const_data(), self->const_data());
  EXPECT_EQ(out->size(0), 3);
  EXPECT_EQ(out->size(1), 2);
}

TEST(EtView, RefusesOtherElementCountsAndDtypes) {
  TestTensor self(ScalarType::kInt, {2, 3});
  TestTensor out(ScalarType::kInt, {6});
  TestTensor floats(ScalarType::kFloat, {6});
  EValue from(&*self), to(&*out), to_floats(&*floats);
  IntListSlot five({5}), six({6});
  EXPECT_FALSE(call("executorch_prim::et_view.default", {&from, &five.slot, &to}).ok());
  EXPECT_FALSE(call("executorch_prim::et_view.default", {&from, &six.slot, &to_floats}).ok());
}

TEST(EtCopyIndex, GrowsADynamicTensorByOneRow) {
  TestTensor to = TestTensor::of<float>(ScalarType::kFloat, {3, 2}, {0, 0, 0, 0, 0, 0});
  TestTensor grows(ScalarType::kFloat, {3, 2}, {}, ShapeDynamism::kDynamicBound);
  TestTensor row = TestTensor::of<float>(ScalarType::kFloat, {2}, {7, 8});
  EValue fixed(&*to), dynamic(&*grows), from(&*row), zero(int64_t{0}), one(int64_t{1});
  ASSERT_TRUE(call("executorch_prim::et_copy_index.tensor", {&fixed, &from, &one}).ok());
  EXPECT_EQ(to.values<float>(), (std::vector<float>{0, 0, 7, 8, 0, 0}));
  ASSERT_TRUE(call("executorch_prim::et_copy_index.tensor", {&dynamic, &from, &zero}).ok());
  EXPECT_EQ(grows.values<float>(), (std::vector<float>{7, 8}));
  ASSERT_TRUE(call("executorch_prim::et_copy_index.tensor", {&dynamic, &from, &one}).ok());
  EXPECT_EQ(grows.values<float>(), (std::vector<float>{7, 8, 7, 8}));
}

TEST(EtCopyIndex, RefusesAnIndexOutOfRange) {
  TestTensor to(ScalarType::kFloat, {3, 2});
  TestTensor row(ScalarType::kFloat, {2});
  EValue target(&*to), from(&*row), three(int64_t{3}), negative(int64_t{-1});
  EXPECT_FALSE(call("executorch_prim::et_copy_index.tensor", {&target, &from, &three}).ok());
  EXPECT_FALSE(call("executorch_prim::et_copy_index.tensor", {&target, &from, &negative}).ok());
}

// ExecuTorch writes the int 0 where its exporter does not know the type of a result.
TEST(PrimResult, AnIntSlotBecomesADoubleByADouble) {
  EValue seven(int64_t{7}), two(int64_t{2}), quotient(int64_t{0}), product(int64_t{0});
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(call("executorch_prim::truediv.Scalar", {&seven, &two, &quotient}).ok());
    ASSERT_TRUE(quotient.is_double());
    EXPECT_EQ(quotient.to_double(), 3.5);
    ASSERT_TRUE(call("executorch_prim::mul.Scalar", {&quotient, &two, &product}).ok());
    ASSERT_TRUE(product.is_double());  // Although it is whole.
    EXPECT_EQ(product.to_double(), 7.0);
  }
  TestTensor half = TestTensor::of<float>(ScalarType::kFloat, {}, {0.5f});
  EValue self(&*half), item(int64_t{0});
  ASSERT_TRUE(call("aten::_local_scalar_dense", {&self, &item}).ok());
  ASSERT_TRUE(item.is_double());
  EXPECT_EQ(item.to_double(), 0.5);
}

TEST(PrimResult, OtherSlotsKeepTheirKind) {
  EValue seven(int64_t{7}), two(int64_t{2}), number(int64_t{0}), real(0.0), flag(false);
  ASSERT_TRUE(call("executorch_prim::gt.Scalar", {&seven, &two, &number}).ok());
  ASSERT_TRUE(number.is_int());
  EXPECT_EQ(number.to_int(), 1);
  ASSERT_TRUE(call("executorch_prim::add.Scalar", {&seven, &two, &real}).ok());
  ASSERT_TRUE(real.is_double());
  EXPECT_EQ(real.to_double(), 9.0);
  ASSERT_TRUE(call("executorch_prim::gt.Scalar", {&seven, &two, &flag}).ok());
  ASSERT_TRUE(flag.is_bool());
  EXPECT_TRUE(flag.to_bool());
}

}  // namespace
}  // namespace taper::portable
