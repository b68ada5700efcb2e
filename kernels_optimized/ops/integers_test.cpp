// Operators on whole numbers, and comparisons, give what the portable kernels give: all dtypes,
// extreme numbers, counts with and without whole steps and blocks, broadcasting, numbers.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "test/support/call_fast.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::call_fast;
using test::LevelLimit;
using test::TestTensor;
using Sizes = std::vector<int32_t>;

constexpr ScalarType kIntegers[] = {ScalarType::kByte, ScalarType::kChar, ScalarType::kShort,
                                    ScalarType::kInt, ScalarType::kLong};

template <typename T>
void fill_as(TestTensor& tensor, bool nonzero, std::mt19937& random) {
  constexpr T kLow = std::numeric_limits<T>::lowest(), kHigh = std::numeric_limits<T>::max();
  const T special[] = {kLow, kHigh, T{0}, static_cast<T>(-1), T{1}, T{7}, T{8}, T{63}};
  T* to = tensor->mutable_data_ptr<T>();
  for (int64_t i = 0; i < tensor->numel(); ++i) {
    const uint64_t bits = (uint64_t{random()} << 32) ^ random();
    T value = random() % 2 != 0 ? special[random() % 8] : static_cast<T>(bits);
    if constexpr (std::is_floating_point_v<T>) {
      if (random() % 5 == 0) value = std::numeric_limits<T>::quiet_NaN();
    }
    to[i] = nonzero && value == 0 ? T{3} : value;
  }
}

void fill(TestTensor& tensor, bool nonzero, std::mt19937& random) {
  switch (tensor->scalar_type()) {
    case ScalarType::kByte:
      return fill_as<uint8_t>(tensor, nonzero, random);
    case ScalarType::kChar:
      return fill_as<int8_t>(tensor, nonzero, random);
    case ScalarType::kShort:
      return fill_as<int16_t>(tensor, nonzero, random);
    case ScalarType::kInt:
      return fill_as<int32_t>(tensor, nonzero, random);
    case ScalarType::kLong:
      return fill_as<int64_t>(tensor, nonzero, random);
    case ScalarType::kDouble:
      return fill_as<double>(tensor, nonzero, random);
    default:
      return fill_as<float>(tensor, nonzero, random);
  }
}

// Calls the kernel with `args` and a result, at every level; the first is that of the portable
// kernel.
void expect_portable(const std::string& name, std::vector<EValue> args, ScalarType type,
                     const Sizes& sizes) {
  std::vector<unsigned char> want;
  args.emplace_back();
  for (const Level level : kLevels) {
    const LevelLimit limit(level);
    TestTensor out(type, sizes);
    args.back() = EValue(&*out);
    std::vector<EValue*> pointers;
    for (EValue& arg : args) pointers.push_back(&arg);
    KernelContext context{Span<unsigned char>()};
    const Kernel* kernel = find_kernel(optimized_kernels(), name.c_str());
    ASSERT_NE(kernel, nullptr) << name;
    ASSERT_TRUE(kernel->run(context, pointers.data()).ok()) << name;
    const auto* bytes = static_cast<const unsigned char*>(out->const_data());
    const std::vector<unsigned char> got(
        bytes, bytes + static_cast<size_t>(out->numel()) * element_size(type));
    if (level == Level::kBaseline) want = got;
    EXPECT_EQ(got, want) << name << " of dtype " << static_cast<int>(type);
  }
}

struct Shapes {
  Sizes a, b, out;
};
const Shapes kShapes[] = {{{0}, {0}, {0}},
                          {{1}, {1}, {1}},
                          {{}, {}, {}},
                          {{31}, {31}, {31}},
                          {{32}, {32}, {32}},
                          {{3, 711}, {3, 711}, {3, 711}},
                          {{5, 33}, {33}, {5, 33}},
                          {{5, 1}, {35}, {5, 35}},
                          {{1}, {4100}, {4100}},
                          {{2, 1100}, {2, 1}, {2, 1100}},
                          {{7, 3}, {7, 1}, {7, 3}},
                          {{4, 0}, {1}, {4, 0}},
                          {{3, 1, 40}, {2, 1}, {3, 2, 40}}};

void check_tensors(const std::string& name, ScalarType type, ScalarType result, bool has_alpha,
                   bool nonzero = false) {
  std::mt19937 random(5);
  for (const Shapes& shapes : kShapes) {
    TestTensor a(type, shapes.a), b(type, shapes.b);
    fill(a, false, random), fill(b, nonzero, random);
    std::vector<EValue> args = {EValue(&*a), EValue(&*b)};
    if (has_alpha) args.emplace_back(int64_t{1});
    expect_portable(name, args, result, shapes.out);
  }
}

void check_number(const std::string& name, ScalarType type, ScalarType result, bool has_alpha,
                  std::initializer_list<int64_t> numbers) {
  std::mt19937 random(6);
  for (const int32_t count : {0, 1, 31, 64, 1023, 3333}) {
    TestTensor a(type, {count});
    fill(a, false, random);
    for (const int64_t number : numbers) {
      std::vector<EValue> args = {EValue(&*a), EValue(number)};
      if (has_alpha) args.emplace_back(int64_t{1});
      expect_portable(name, args, result, {count});
    }
  }
}

TEST(Integers, OfTwoTensors) {
  for (const ScalarType type : kIntegers) {
    for (const char* name : {"aten::add.out", "aten::sub.out"}) {
      check_tensors(name, type, type, true);
    }
    for (const char* name :
         {"aten::mul.out", "aten::maximum.out", "aten::minimum.out", "aten::bitwise_and.Tensor_out",
          "aten::bitwise_or.Tensor_out", "aten::bitwise_xor.Tensor_out",
          "aten::bitwise_left_shift.Tensor_out", "aten::bitwise_right_shift.Tensor_out"}) {
      check_tensors(name, type, type, false);
    }
    check_tensors("aten::floor_divide.out", type, type, false, true);
  }
}

TEST(Integers, OfATensorAndANumber) {
  for (const ScalarType type : kIntegers) {
    for (const char* name : {"aten::add.Scalar_out", "aten::sub.Scalar_out"}) {
      check_number(name, type, type, true, {0, -1, 100, 300, 1LL << 40});
    }
    for (const char* name : {"aten::mul.Scalar_out", "aten::bitwise_and.Scalar_out",
                             "aten::bitwise_or.Scalar_out", "aten::bitwise_xor.Scalar_out"}) {
      check_number(name, type, type, false, {0, -3, 77, 300, 1LL << 40});
    }
    for (const char* name : {"aten::bitwise_left_shift.Tensor_Scalar_out",
                             "aten::bitwise_right_shift.Tensor_Scalar_out"}) {
      check_number(name, type, type, false, {0, -1, 1, 7, 8, 31, 63, 64});
    }
    check_number("aten::floor_divide.Scalar_out", type, type, false, {1, -1, 7, -100, 256});
  }
}

TEST(Integers, ComparisonsOfFloatsToo) {
  for (const ScalarType type :
       {ScalarType::kByte, ScalarType::kChar, ScalarType::kShort, ScalarType::kInt,
        ScalarType::kLong, ScalarType::kFloat, ScalarType::kDouble}) {
    for (const char* name : {"eq", "ne", "lt", "le", "gt", "ge"}) {
      const std::string full = std::string("aten::") + name;
      check_tensors(full + ".Tensor_out", type, ScalarType::kBool, false);
      check_number(full + ".Scalar_out", type, ScalarType::kBool, false, {0, -1, 7, 300});
    }
  }
}

TEST(Integers, OfOneTensor) {
  std::mt19937 random(7);
  for (const ScalarType type : kIntegers) {
    for (const int32_t count : {0, 1, 31, 64, 1023, 3333}) {
      TestTensor a(type, {count});
      fill(a, false, random);
      expect_portable("aten::abs.out", {EValue(&*a)}, type, {count});
      expect_portable("aten::neg.out", {EValue(&*a)}, type, {count});
      const EValue none, low(int64_t{-3}), high(int64_t{50}), beyond(int64_t{1000});
      expect_portable("aten::clamp.out", {EValue(&*a), low, high}, type, {count});
      expect_portable("aten::clamp.out", {EValue(&*a), none, high}, type, {count});
      expect_portable("aten::clamp.out", {EValue(&*a), low, none}, type, {count});
      expect_portable("aten::clamp.out", {EValue(&*a), high, low}, type, {count});
      expect_portable("aten::clamp.out", {EValue(&*a), low, beyond}, type, {count});
    }
  }
}

// Any byte but 0 is true.
TEST(Integers, ComparisonsOfBoolsWithNumbers) {
  for (const int32_t count : {1, 31, 64, 1023, 3333}) {
    TestTensor a(ScalarType::kBool, {count});
    for (int32_t i = 0; i < count; ++i) {
      a->mutable_data_ptr<uint8_t>()[i] = static_cast<uint8_t>(i % 5 < 2 ? 0 : i % 5 - 1);
    }
    for (const char* name : {"aten::eq.Scalar_out", "aten::ne.Scalar_out", "aten::lt.Scalar_out"}) {
      for (const int64_t number : {0, 1, 2, -1}) {
        expect_portable(name, {EValue(&*a), EValue(number)}, ScalarType::kBool, {count});
      }
      expect_portable(name, {EValue(&*a), EValue(0.5)}, ScalarType::kBool, {count});
    }
  }
}

TEST(Integers, NanIsFound) {
  std::mt19937 random(11);
  for (const ScalarType type : {ScalarType::kFloat, ScalarType::kDouble, ScalarType::kInt}) {
    TestTensor a(type, {7, 301});
    fill(a, false, random);
    expect_portable("aten::isnan.out", {EValue(&*a)}, ScalarType::kBool, {7, 301});
  }
}

TEST(Integers, WorkInPlace) {
  for (const Level level : kLevels) {
    const LevelLimit limit(level);
    TestTensor a(ScalarType::kInt, {1000});
    for (int i = 0; i < 1000; ++i) a->mutable_data_ptr<int32_t>()[i] = i;
    call_fast("aten::mul.out", {EValue(&*a), EValue(&*a), EValue(&*a)});
    call_fast("aten::sub.Scalar_out",
              {EValue(&*a), EValue(int64_t{5}), EValue(int64_t{1}), EValue(&*a)});
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(a->const_data_ptr<int32_t>()[i], i * i - 5);
  }
}

// Without an error a fast kernel would hide that of the portable one.
TEST(Integers, ZeroIsNoDivisor) {
  for (const Level level : kLevels) {
    const LevelLimit limit(level);
    TestTensor a(ScalarType::kInt, {50}), b(ScalarType::kInt, {50}), out(ScalarType::kInt, {50});
    for (int i = 0; i < 50; ++i) {
      a->mutable_data_ptr<int32_t>()[i] = i, b->mutable_data_ptr<int32_t>()[i] = i - 49;
    }
    EValue left(&*a), right(&*b), zero(int64_t{0}), to(&*out);
    EValue *tensors[] = {&left, &right, &to}, *number[] = {&left, &zero, &to};
    KernelContext context{Span<unsigned char>()};
    const KernelTable& table = optimized_kernels();
    EXPECT_FALSE(find_kernel(table, "aten::floor_divide.out")->run(context, tensors).ok());
    EXPECT_FALSE(find_kernel(table, "aten::floor_divide.Scalar_out")->run(context, number).ok());
  }
}

}  // namespace
}  // namespace taper::optimized
