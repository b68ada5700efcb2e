// Looking up kernels, wrapping functions, matching arguments with slots, and temp memory.

#include "taper/kernel.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace taper {
namespace {

Status scale(KernelContext&, const Tensor&, Scalar factor, std::optional<int64_t> dim, Tensor&) {
  TAPER_REQUIRE(factor.to_double() == 2.0 && dim == 5, Error::kInvalidArgument, "other arguments");
  return {};
}

constexpr Kernel kScale = make_kernel<scale>("test::scale.out");
constexpr Kernel kAdd = make_kernel<scale>("test::add.out");
constexpr Kernel kZero = make_kernel<scale>("test::zero");
constexpr const Kernel* kTable[] = {&kAdd, &kScale, &kZero};

TEST(FindKernel, FindsEveryNameAndNothingElse) {
  for (const Kernel* kernel : kTable) EXPECT_EQ(find_kernel(kTable, kernel->name), kernel);
  for (const char* name : {"", "a", "test::add", "test::add.outs", "zzz"}) {
    EXPECT_EQ(find_kernel(kTable, name), nullptr) << name;
  }
  EXPECT_EQ(find_kernel({}, "test::add.out"), nullptr);
}

TEST(MakeKernel, DerivesArgumentKindsFromTheFunction) {
  ASSERT_EQ(kScale.arg_count, 4);
  EXPECT_EQ(kScale.args[0].kind, ArgKind::kTensor);
  EXPECT_EQ(kScale.args[1].kind, ArgKind::kScalar);
  EXPECT_EQ(kScale.args[2].kind, ArgKind::kInt);
  EXPECT_TRUE(kScale.args[2].optional);
  EXPECT_EQ(kScale.args[3].kind, ArgKind::kMutableTensor);
}

TEST(MakeKernel, CallsTheFunctionWithTheSlots) {
  Tensor tensor;
  EValue slots[] = {EValue(&tensor), EValue(2.0), EValue(int64_t{5})};
  EValue* args[] = {&slots[0], &slots[1], &slots[2], &slots[0]};
  KernelContext context;
  EXPECT_TRUE(kScale.run(context, args).ok());
  slots[2] = EValue();
  EXPECT_EQ(kScale.run(context, args).error(), Error::kInvalidArgument);
}

TEST(Accepts, TagsThatReadTheSame) {
  const EValue integer(int64_t{1}), real(1.0), boolean(true), none;
  EXPECT_TRUE(accepts({ArgKind::kDouble, false}, integer));
  EXPECT_TRUE(accepts({ArgKind::kBool, false}, integer));
  EXPECT_FALSE(accepts({ArgKind::kInt, false}, real));
  EXPECT_TRUE(accepts({ArgKind::kScalar, false}, boolean));
  Tensor pair(ScalarType::kComplexFloat, 0, nullptr, nullptr, nullptr, nullptr);
  const EValue complex(&pair);
  EXPECT_FALSE(accepts({ArgKind::kTensor, false}, complex));
  EXPECT_TRUE(accepts({ArgKind::kTensor, false, true}, complex));
  EXPECT_FALSE(accepts({ArgKind::kTensor, false}, none));
  EXPECT_TRUE(accepts({ArgKind::kTensor, true}, none));
  EXPECT_FALSE(accepts({ArgKind::kTensor, false}, integer));
}

TEST(Accepts, NoneInsideAListOnlyWhereOptional) {
  Tensor tensor;
  EValue slots[] = {EValue(&tensor), EValue()};
  EValue* items[] = {&slots[0], &slots[1]};
  Tensor* unboxed[2];
  BoxedTensorList boxed{items, unboxed};
  const EValue list(&boxed, 2u, Tag::kOptionalTensorList);
  EXPECT_TRUE(accepts({ArgKind::kOptionalTensorList, false}, list));
  EXPECT_FALSE(accepts({ArgKind::kTensorList, false}, list));
}

TEST(KernelContext, ScratchIsAlignedBoundedAndReusable) {
  alignas(64) unsigned char memory[256];
  KernelContext context({memory + 1, 255});
  void* first = context.allocate_temp(100);
  EXPECT_EQ(first, memory + 64);
  EXPECT_EQ(context.allocate_temp(SIZE_MAX), nullptr);
  EXPECT_EQ(context.allocate_temp(65), nullptr);
  EXPECT_EQ(context.allocate_temp(64), memory + 192);
  context.reset_temp();
  EXPECT_EQ(context.allocate_temp(100), first);
  EXPECT_EQ(KernelContext().allocate_temp(1), nullptr);
}

}  // namespace
}  // namespace taper
