// Builds slots from the text of a case, calls the kernel, compares what it wrote; see op_cases.h.

#include "test/support/op_cases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "kernels_portable/promote.h"
#include "test/support/op_case_file.h"
#include "test/support/test_tensor.h"

namespace taper::test {
namespace {

// --- Elements as doubles or int64s, one at a time.

float half_to_float(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  float value = 0;
  if (exponent == 0) {
    value = std::ldexp(static_cast<float>(fraction), -24);
  } else if (exponent == 31) {
    value = fraction ? NAN : INFINITY;
  } else {
    value = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  }
  return bits & 0x8000 ? -value : value;
}

// `value` must be one that a half holds exactly, as the cases' values are.
uint16_t half_from_float(float value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7E00;
  if (std::isinf(value)) return sign | 0x7C00;
  if (value == 0) return sign;
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(value), &exponent);  // In [0.5, 1).
  if (exponent < -13) return sign | static_cast<uint16_t>(std::ldexp(std::fabs(value), 24));
  const int mantissa = static_cast<int>(std::ldexp(fraction, 11)) - 1024;
  return static_cast<uint16_t>(sign | (exponent + 14) << 10 | mantissa);
}

template <typename T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void store(void* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

double load_double(ScalarType type, const void* from) {
  switch (type) {
    case ScalarType::kFloat:
      return load<float>(from);
    case ScalarType::kDouble:
      return load<double>(from);
    case ScalarType::kHalf:
      return half_to_float(load<uint16_t>(from));
    default: {
      const uint32_t bits = static_cast<uint32_t>(load<uint16_t>(from)) << 16;
      return load<float>(&bits);
    }
  }
}

int64_t load_int(ScalarType type, const void* from) {
  switch (type) {
    case ScalarType::kByte:
    case ScalarType::kBool:
      return load<uint8_t>(from);
    case ScalarType::kChar:
      return load<int8_t>(from);
    case ScalarType::kShort:
      return load<int16_t>(from);
    case ScalarType::kInt:
      return load<int32_t>(from);
    case ScalarType::kUInt16:
      return load<uint16_t>(from);
    case ScalarType::kUInt32:
      return load<uint32_t>(from);
    default:
      return load<int64_t>(from);
  }
}

int64_t parse_int(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  return text[0] == '-' ? std::strtoll(text.c_str(), nullptr, 10)
                        : static_cast<int64_t>(std::strtoull(text.c_str(), nullptr, 10));
}

double parse_double(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

void store_text(ScalarType type, const std::string& text, void* to) {
  switch (type) {
    case ScalarType::kFloat:
      return store(to, std::strtof(text.c_str(), nullptr));
    case ScalarType::kDouble:
      return store(to, parse_double(text));
    case ScalarType::kHalf:
      return store(to, half_from_float(std::strtof(text.c_str(), nullptr)));
    case ScalarType::kBFloat16: {
      const float value = std::strtof(text.c_str(), nullptr);
      return store(to, static_cast<uint16_t>(load<uint32_t>(&value) >> 16));
    }
    default:
      break;
  }
  const int64_t value = parse_int(text);
  std::memcpy(to, &value, element_size(type));  // Little endian, as the wire is.
}

int64_t parts_of(ScalarType type) { return is_complex(type) ? 2 : 1; }

// Calls visit(i, element) for every element in row-major order, for each part if it is complex.
template <typename Visit>
void for_each_element(const Tensor& tensor, Visit visit) {
  std::vector<int64_t> index(static_cast<size_t>(tensor.dim()), 0);
  char* data = static_cast<char*>(tensor.mutable_data());
  const size_t size = element_size(tensor.scalar_type());
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d) offset += index[d] * tensor.strides()[d];
    char* at = data + offset * static_cast<int64_t>(size);
    const int64_t parts = parts_of(tensor.scalar_type());
    for (int64_t part = 0; part < parts; ++part) {
      const size_t step = element_size(part_type(tensor.scalar_type()));
      visit(static_cast<size_t>(i * parts + part), at + static_cast<size_t>(part) * step);
    }
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < tensor.size(static_cast<int64_t>(d))) break;
      index[d] = 0;
    }
  }
}

struct Tolerance {
  double relative;
  double absolute;
};

Tolerance tolerance_of(ScalarType type) {
  switch (type) {
    case ScalarType::kDouble:
      return {1e-10, 1e-12};
    case ScalarType::kHalf:
      return {2e-3, 1e-3};
    case ScalarType::kBFloat16:
      return {2e-2, 1e-2};
    default:
      return {1e-5, 1e-6};
  }
}

// --- One call of one kernel.

constexpr size_t kTempBytes = 16 << 20;

enum class Outputs { kStatic, kDynamic, kAliased };

class Call {
 public:
  Call(const OpCase& c, const Kernel& kernel, Outputs outputs)
      : case_(c), kernel_(kernel), outputs_(outputs) {}

  void run() {
    for (const CaseValue& arg : case_.args) slots_.push_back(make(arg, false));
    if (outputs_ == Outputs::kAliased) {
      slots_.push_back(slots_[static_cast<size_t>(case_.alias)]);
    } else {
      for (const CaseValue& result : case_.results) slots_.push_back(make(result, true));
    }
    if (slots_.size() != kernel_.arg_count) {
      ADD_FAILURE() << "the kernel has " << int{kernel_.arg_count} << " arguments, the case "
                    << slots_.size();
      return;
    }
    for (size_t i = 0; i < slots_.size(); ++i) {
      ASSERT_TRUE(accepts(kernel_.args[i], *slots_[i])) << "argument " << i << " is not accepted";
    }
#ifdef TAPER_SEEN_DTYPES
    seen_dtypes = 0;
#endif
    const std::unique_ptr<unsigned char[]> temp(new unsigned char[kTempBytes]);
    KernelContext context(Span<unsigned char>(temp.get(), kTempBytes));
    const Status status = kernel_.run(context, slots_.data());
    if (case_.refused) {
      EXPECT_FALSE(status.ok()) << "the call should have been refused";
      return;
    }
    ASSERT_TRUE(status.ok()) << to_string(status.error()) << ": " << status.message();
    for (size_t i = 0; i < case_.results.size(); ++i) {
      compare(case_.results[i], *slots_[case_.args.size() + i]);
    }
    for (const auto& [index, value] : case_.after) compare(value, *slots_[index]);
    expect_foreseen_dtypes();
  }

 private:
  // What selective build leaves out must be what the kernel does not need: builds for tests note by
  // which dtypes code was chosen.
  void expect_foreseen_dtypes() const {
#ifdef TAPER_SEEN_DTYPES
    DtypeSet given = 0;
    for (const Tensor* tensor : made_) given |= dtype_bit(tensor->scalar_type());
    EXPECT_EQ(seen_dtypes & ~portable::closed_under_promotion(given), 0u)
        << "dtypes that no tensor of the call has";
#endif
  }

  Tensor* make_tensor(const CaseTensor& text, bool output) {
    std::vector<int32_t> sizes = text.sizes;
    const bool dynamic = output && outputs_ == Outputs::kDynamic;
    if (dynamic) {
      for (int32_t& size : sizes) ++size;
    }
    TestTensor& owner =
        tensors_.emplace_back(text.type, sizes, text.dim_order,
                              dynamic ? ShapeDynamism::kDynamicBound : ShapeDynamism::kStatic);
    if (!output) {
      EXPECT_EQ(text.values.size(), static_cast<size_t>(owner->numel() * parts_of(text.type)))
          << "values of an argument";
      for_each_element(*owner, [&](size_t i, void* element) {
        if (i < text.values.size()) store_text(part_type(text.type), text.values[i], element);
      });
    }
    made_.push_back(&*owner);
    return made_.back();
  }

  EValue* make_list(const CaseValue& text, bool output) {
    BoxedTensorList list = {};
    const size_t count = text.tensors.size();
    list.items = pointers_.emplace_back(count).data();
    list.unboxed = tensor_scratch_.emplace_back(count).data();
    for (size_t i = 0; i < count; ++i) {
      list.items[i] = text.present[i] ? &values_.emplace_back(make_tensor(text.tensors[i], output))
                                      : &values_.emplace_back();
    }
    tensor_lists_.push_back(list);
    return &values_.emplace_back(&tensor_lists_.back(), static_cast<uint32_t>(count), text.tag);
  }

  EValue* make_ints(const CaseValue& text) {
    const size_t count = text.words.size();
    BoxedIntList list = {pointers_.emplace_back(count).data(), ints_.emplace_back(count).data()};
    for (size_t i = 0; i < count; ++i) {
      list.items[i] = &values_.emplace_back(parse_int(text.words[i]));
    }
    int_lists_.push_back(list);
    return &values_.emplace_back(&int_lists_.back(), static_cast<uint32_t>(count));
  }

  EValue* make(const CaseValue& text, bool output) {
    const uint32_t count = static_cast<uint32_t>(text.words.size());
    const std::string word = count ? text.words[0] : "";
    switch (text.tag) {
      case Tag::kTensor:
        return &values_.emplace_back(make_tensor(text.tensors[0], output));
      case Tag::kTensorList:
      case Tag::kOptionalTensorList:
        return make_list(text, output);
      case Tag::kIntList:
        return make_ints(text);
      case Tag::kInt:
        return &values_.emplace_back(output ? int64_t{77} : parse_int(word));
      case Tag::kDouble:
        return &values_.emplace_back(output ? 77.0 : parse_double(word));
      case Tag::kBool:
        return &values_.emplace_back((word == "true") != output);
      case Tag::kString: {
        const std::string& kept = strings_.emplace_back(word);
        return &values_.emplace_back(kept.data(), static_cast<uint32_t>(kept.size()));
      }
      case Tag::kDoubleList: {
        std::vector<double>& items = doubles_.emplace_back();
        for (const std::string& item : text.words) items.push_back(parse_double(item));
        return &values_.emplace_back(items.data(), count);
      }
      case Tag::kBoolList: {
        auto& items = bools_.emplace_back(new bool[count + 1]);
        for (size_t i = 0; i < count; ++i) items[i] = text.words[i] == "true";
        return &values_.emplace_back(items.get(), count);
      }
      case Tag::kNone:
        break;
    }
    return &values_.emplace_back();
  }

  void compare(const CaseValue& want, const EValue& got) {
    switch (want.tag) {
      case Tag::kTensor:
        return compare_tensor(want.tensors[0], got.to_tensor());
      case Tag::kInt:
        EXPECT_EQ(got.to_int(), parse_int(want.words[0]));
        return;
      case Tag::kBool:
        EXPECT_EQ(got.to_bool(), want.words[0] == "true");
        return;
      case Tag::kDouble:
        return compare_double(parse_double(want.words[0]), got.to_double(), {0, 0});
      default:
        break;
    }
    for (size_t i = 0; i < want.tensors.size(); ++i) {
      compare_tensor(want.tensors[i], got.list_items()[i]->to_tensor());
    }
  }

  void compare_double(double want, double got, Tolerance allowed) {
    if (std::isnan(want) || std::isnan(got)) {
      EXPECT_EQ(std::isnan(want), std::isnan(got)) << "want " << want << ", got " << got;
    } else if (want != got) {
      EXPECT_LE(std::fabs(want - got), allowed.absolute + allowed.relative * std::fabs(want))
          << "want " << want << ", got " << got;
    }
  }

  void compare_tensor(const CaseTensor& want, const Tensor& got) {
    const std::vector<int32_t> sizes(got.sizes().begin(), got.sizes().end());
    ASSERT_EQ(sizes, want.sizes) << "sizes of the output";
    if (want.values.empty() && got.numel() > 0) return;
    const ScalarType type = part_type(want.type);
    Tolerance allowed = tolerance_of(type);
    if (case_.relative >= 0) allowed = {case_.relative, case_.absolute};
    for_each_element(got, [&](size_t i, void* element) {
      if (testing::Test::HasFailure()) return;
      SCOPED_TRACE("element " + std::to_string(i));
      if (is_floating(type)) {
        compare_double(parse_double(want.values[i]), load_double(type, element), allowed);
      } else {
        EXPECT_EQ(load_int(type, element), parse_int(want.values[i]));
      }
    });
  }

  const OpCase& case_;
  const Kernel& kernel_;
  const Outputs outputs_;
  std::vector<EValue*> slots_;
  std::deque<EValue> values_;
  std::deque<TestTensor> tensors_;
  std::vector<Tensor*> made_;  // Those.
  std::deque<std::vector<EValue*>> pointers_;
  std::deque<std::vector<Tensor*>> tensor_scratch_;
  std::deque<std::vector<int64_t>> ints_;
  std::deque<std::vector<double>> doubles_;
  std::deque<std::unique_ptr<bool[]>> bools_;
  std::deque<std::string> strings_;
  std::deque<BoxedIntList> int_lists_;
  std::deque<BoxedTensorList> tensor_lists_;
};

void run_case(const OpCase& c, const Kernel& kernel) {
  Call(c, kernel, Outputs::kStatic).run();
  if (c.refused || testing::Test::HasFailure()) return;
  {
    SCOPED_TRACE("with larger, dynamic outputs");
    Call(c, kernel, Outputs::kDynamic).run();
  }
  if (c.alias < 0) return;
  SCOPED_TRACE("with the output in an argument's memory");
  Call(c, kernel, Outputs::kAliased).run();
}

}  // namespace

void run_op_case_file(Span<const KernelTable> tables, const std::string& path) {
  std::string problem;
  const std::vector<OpCase> cases = read_op_cases(path, &problem);
  ASSERT_EQ(problem, "");
  ASSERT_FALSE(cases.empty()) << path << " holds no case";
  for (const OpCase& c : cases) {
    SCOPED_TRACE(c.kernel + ", " + path + ":" + std::to_string(c.line));
    const Kernel* kernel = nullptr;
    for (const KernelTable& table : tables) {
      if (kernel == nullptr) kernel = find_kernel(table, c.kernel);
    }
    ASSERT_NE(kernel, nullptr) << "no such kernel";
    run_case(c, *kernel);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace taper::test
