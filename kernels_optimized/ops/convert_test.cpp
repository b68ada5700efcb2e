// Dtype conversions at every level: all 16-bit floats, and floats that round to them.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "kernels_optimized/kernel_table.h"
#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/half.h"
#include "test/support/call_fast.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::TestTensor;

class Convert : public test::AtEachLevel {
 protected:
  static void copy(TestTensor& from, TestTensor& to) {
    EValue in(&*from), out(&*to), none;
    EValue blocking(false);
    EValue* args[] = {&in, &blocking, &none, &out};
    KernelContext context;
    ASSERT_TRUE(find_kernel(optimized_kernels(), "aten::_to_copy.out")->run(context, args).ok());
  }
};

void expect_same(float got, float want) {
  uint32_t bits, wanted_bits;
  std::memcpy(&bits, &got, sizeof(bits));
  std::memcpy(&wanted_bits, &want, sizeof(wanted_bits));
  EXPECT_TRUE(bits == wanted_bits || (std::isnan(got) && std::isnan(want)))
      << got << " is not " << want;
}

TEST_P(Convert, EveryNumberOf16BitsToFloat) {
  constexpr int32_t kCount = 65536 + 7;
  for (const ScalarType type : {ScalarType::kHalf, ScalarType::kBFloat16}) {
    TestTensor from(type, {kCount}), to(ScalarType::kFloat, {kCount});
    auto* bits = static_cast<uint16_t*>(from->mutable_data());
    for (int32_t i = 0; i < kCount; ++i) bits[i] = static_cast<uint16_t>(i);
    copy(from, to);
    const float* got = to->const_data_ptr<float>();
    for (int32_t i = 0; i < kCount && !HasFailure(); ++i) {
      expect_same(got[i], type == ScalarType::kHalf
                              ? portable::half_to_float(portable::Half{bits[i]})
                              : portable::bfloat16_to_float(portable::BFloat16{bits[i]}));
    }
  }
}

// Every 16-bit number, the midpoint between it and the next, and the floats next to that midpoint.
TEST_P(Convert, FloatsAreRoundedToTheNearest) {
  constexpr int32_t kCount = 4 * 65536 + 5;
  for (const ScalarType type : {ScalarType::kHalf, ScalarType::kBFloat16}) {
    const bool is_half = type == ScalarType::kHalf;
    TestTensor from(ScalarType::kFloat, {kCount}), to(type, {kCount});
    float* numbers = from->mutable_data_ptr<float>();
    for (int32_t i = 0; i < kCount; ++i) {
      const auto bits = static_cast<uint16_t>(i / 4);
      const float number = is_half ? portable::half_to_float(portable::Half{bits})
                                   : portable::bfloat16_to_float(portable::BFloat16{bits});
      const uint32_t half_way = is_half ? 0x1000 : 0x8000;
      const uint32_t more[] = {0, half_way - 1, half_way, half_way + 1};
      numbers[i] = portable::float_from_bits(portable::float_bits(number) + more[i % 4]);
    }
    copy(from, to);
    const auto* got = static_cast<const uint16_t*>(to->const_data());
    for (int32_t i = 0; i < kCount && !HasFailure(); ++i) {
      const uint16_t want = is_half ? portable::float_to_half(numbers[i]).bits
                                    : portable::float_to_bfloat16(numbers[i]).bits;
      const uint16_t infinity = is_half ? 0x7c00 : 0x7f80;
      if (std::isnan(numbers[i])) {
        EXPECT_GT(got[i] & 0x7fff, infinity);
      } else {
        EXPECT_EQ(got[i], want) << numbers[i];
      }
    }
  }
}

TEST_P(Convert, BytesBoolsAndIntegersToFloat) {
  TestTensor bytes(ScalarType::kByte, {259}), bools(ScalarType::kBool, {259}),
      ints(ScalarType::kInt, {259}), chars(ScalarType::kChar, {259}), to(ScalarType::kFloat, {259});
  for (int32_t i = 0; i < 259; ++i) {
    bytes->mutable_data_ptr<uint8_t>()[i] = static_cast<uint8_t>(i);
    chars->mutable_data_ptr<int8_t>()[i] = static_cast<int8_t>(i);
    bools->mutable_data_ptr<bool>()[i] = i % 3 == 0;
    ints->mutable_data_ptr<int32_t>()[i] = (i - 130) * 16500007;
  }
  const float* got = to->const_data_ptr<float>();
  copy(bytes, to);
  for (int32_t i = 0; i < 259; ++i) EXPECT_EQ(got[i], static_cast<float>(i % 256));
  copy(chars, to);
  for (int32_t i = 0; i < 259; ++i) {
    EXPECT_EQ(got[i], static_cast<float>(i % 256 < 128 ? i % 256 : i % 256 - 256));
  }
  copy(bools, to);
  for (int32_t i = 0; i < 259; ++i) EXPECT_EQ(got[i], i % 3 == 0 ? 1.0f : 0.0f);
  copy(ints, to);
  for (int32_t i = 0; i < 259; ++i) EXPECT_EQ(got[i], static_cast<float>((i - 130) * 16500007));
}

// Pairs of dtypes of every size, with numbers beyond the narrower one, NaN and infinities.
TEST_P(Convert, WholeNumbersAndDoubles) {
  constexpr int32_t kCount = 2000;
  const double numbers[] = {0,    -0.0, 0.99, -1.5,  127.7, -129,     256.25,   40000,
                            -7e4, 3e9,  -3e9, 5e18,  1e30,  -1e30,    INFINITY, -INFINITY,
                            NAN,  1,    2,    -1e-9, 255,   16777217, 0.1,      -2147483648.0};
  constexpr ScalarType kTypes[] = {ScalarType::kByte, ScalarType::kChar,  ScalarType::kInt,
                                   ScalarType::kLong, ScalarType::kFloat, ScalarType::kDouble,
                                   ScalarType::kBool};
  for (const ScalarType type : kTypes) {
    TestTensor from(type, {kCount});
    for (int32_t i = 0; i < kCount; ++i) {
      const bool is_special = i % 97 < 24 && i / 97 % 3 != 0;  // Some blocks have none.
      auto* at = const_cast<void*>(portable::element(from->const_data(), i, type));
      portable::store_one<double>(is_special ? numbers[i % 97] : i % 101 - 50.5, at, type);
    }
    for (const ScalarType result : kTypes) {
      TestTensor to(result, {kCount});
      copy(from, to);
      for (int32_t i = 0; i < kCount && !HasFailure(); ++i) {
        const void* in = portable::element(from->const_data(), i, type);
        uint64_t want = 0, got = 0;
        if (is_floating(type)) {
          portable::store_one<double>(portable::load_one<double>(in, type), &want, result);
        } else {
          portable::store_one<int64_t>(portable::load_one<int64_t>(in, type), &want, result);
        }
        std::memcpy(&got, portable::element(to->const_data(), i, result), element_size(result));
        const bool are_nan = is_floating(result) &&
                             std::isnan(portable::load_one<double>(&got, result)) &&
                             std::isnan(portable::load_one<double>(&want, result));
        EXPECT_TRUE(got == want || are_nan)
            << "element " << i << " of dtype " << static_cast<int>(type) << " as "
            << static_cast<int>(result);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Convert, testing::ValuesIn(kLevels));

}  // namespace
}  // namespace taper::optimized
