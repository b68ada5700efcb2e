// Reads BundledProgram files. open() checks everything that the other functions rely on.

#include "taper/bundled_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "schema/flatbuffers.h"
// After its limits have been set:
#include "schema/bundled_program_generated.h"
#include "taper/scalar_type.h"

namespace taper {
namespace {

namespace bp = wire::bundled;

constexpr size_t kProgramAlignment = 16;
constexpr uint8_t kRowMajor[kMaxRank] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

template <typename T>
size_t length_of(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

template <typename T>
Span<const T> span_of(const flatbuffers::Vector<T>* vector) {
  if (vector == nullptr) return {};
  return {vector->data(), vector->size()};
}

bool is_permutation(Span<const uint8_t> order) {
  uint32_t seen = 0;
  for (const uint8_t dim : order) {
    if (dim >= order.size() || (seen >> dim & 1) != 0) return false;
    seen |= uint32_t{1} << dim;
  }
  return true;
}

Status verify_tensor(const bp::Tensor& tensor) {
  const auto dtype = static_cast<ScalarType>(tensor.scalar_type());
  TAPER_REQUIRE(is_valid(dtype), Error::kInvalidProgram,
                "a tensor of a test case has a dtype that is not supported");
  TAPER_REQUIRE(length_of(tensor.sizes()) <= kMaxRank, Error::kInvalidProgram,
                "a tensor of a test case has too many dimensions");
  uint64_t bytes = element_size(dtype), extent = 1;  // Sizes of 0 count as 1 in the extent.
  for (const int32_t size : span_of(tensor.sizes())) {
    TAPER_REQUIRE(size >= 0, Error::kInvalidProgram, "a tensor of a test case has a negative size");
    bytes *= static_cast<uint64_t>(size);
    extent *= static_cast<uint64_t>(size > 0 ? size : 1);
    TAPER_REQUIRE(extent <= INT32_MAX, Error::kInvalidProgram,
                  "a tensor of a test case is too large");
  }
  TAPER_REQUIRE(bytes == length_of(tensor.data()), Error::kInvalidProgram,
                "the data of a tensor of a test case has not the size that its sizes need");
  const Span<const uint8_t> order = span_of(tensor.dim_order());
  TAPER_REQUIRE(
      order.size() == 0 || (order.size() == length_of(tensor.sizes()) && is_permutation(order)),
      Error::kInvalidProgram, "a tensor of a test case has a dim order that is no permutation");
  return {};
}

using Values = flatbuffers::Vector<flatbuffers::Offset<bp::Value>>;

// The values of one case together are no larger than the file, so that it is not work without end
// to use them.
Status verify_values(const Values* values, uint64_t file_size) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < length_of(values); ++i) {
    const bp::Value& value = *values->Get(static_cast<uint32_t>(i));
    TAPER_REQUIRE(value.val() != nullptr, Error::kInvalidProgram,
                  "a value of a test case is missing or of an unknown kind");
    if (value.val_as_Tensor() == nullptr) continue;
    TAPER_TRY(verify_tensor(*value.val_as_Tensor()));
    bytes += length_of(value.val_as_Tensor()->data());
    TAPER_REQUIRE(bytes <= file_size, Error::kInvalidProgram,
                  "values of a test case share their data");
  }
  return {};
}

Status verify(const bp::BundledProgram& root, uint64_t file_size) {
  TAPER_REQUIRE(root.program() != nullptr, Error::kInvalidProgram, "the bundle holds no program");
  TAPER_REQUIRE(reinterpret_cast<uintptr_t>(root.program()->data()) % kProgramAlignment == 0,
                Error::kInvalidProgram, "the program in the bundle is not aligned to 16");
  for (size_t i = 0; i < length_of(root.method_test_suites()); ++i) {
    const bp::BundledMethodTestSuite& suite =
        *root.method_test_suites()->Get(static_cast<uint32_t>(i));
    TAPER_REQUIRE(suite.method_name() != nullptr, Error::kInvalidProgram,
                  "test cases of the bundle do not name their method");
    for (size_t k = 0; k < length_of(suite.test_cases()); ++k) {
      const bp::BundledMethodTestCase& each = *suite.test_cases()->Get(static_cast<uint32_t>(k));
      TAPER_TRY(verify_values(each.inputs(), file_size));
      TAPER_TRY(verify_values(each.expected_outputs(), file_size));
    }
  }
  return {};
}

BundledValue read(const bp::Value& value) {
  BundledValue out;
  if (const bp::Tensor* tensor = value.val_as_Tensor()) {
    out.tag = Tag::kTensor;
    out.dtype = static_cast<ScalarType>(tensor->scalar_type());
    out.sizes = span_of(tensor->sizes());
    out.dim_order = span_of(tensor->dim_order());
    if (out.dim_order.size() == 0) out.dim_order = {kRowMajor, out.sizes.size()};
    out.data = span_of(tensor->data());
  } else if (const bp::Int* integer = value.val_as_Int()) {
    out.tag = Tag::kInt;
    out.integer = integer->int_val();
  } else if (const bp::Bool* boolean = value.val_as_Bool()) {
    out.tag = Tag::kBool;
    out.integer = boolean->bool_val() ? 1 : 0;
  } else if (const bp::Double* number = value.val_as_Double()) {
    out.tag = Tag::kDouble;
    out.number = number->double_val();
  }
  return out;
}

template <typename T>
T load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

double half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

double bfloat(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

double number_at(ScalarType type, const uint8_t* at) {
  switch (type) {
    case ScalarType::kHalf:
      return half(load<uint16_t>(at));
    case ScalarType::kBFloat16:
      return bfloat(load<uint16_t>(at));
    case ScalarType::kFloat:
      return load<float>(at);
    default:
      return load<double>(at);
  }
}

void compare_numbers(double expected, double got, const BundledTolerance& tolerance,
                     BundledDifference* result) {
  if (std::isnan(expected) && std::isnan(got)) return;
  if (expected == got) return;  // Infinities, too.
  const double error = std::fabs(expected - got);
  const double allowed = tolerance.absolute + tolerance.relative * std::fabs(expected);
  if (!(error <= allowed) || std::isinf(expected)) result->agrees = false;
  result->largest = std::isnan(error) ? INFINITY : std::max(result->largest, error);
}

// The place of the next element in memory, going through a tensor in row-major order.
class RowMajorWalk {
 public:
  RowMajorWalk(Span<const int32_t> sizes, Span<const uint8_t> dim_order) : sizes_(sizes) {
    size_t stride = 1;
    for (size_t i = sizes.size(); i-- > 0;) {
      strides_[dim_order[i]] = stride;
      stride *= static_cast<size_t>(sizes[dim_order[i]]);
    }
  }
  size_t place() const { return place_; }
  void next() {
    for (size_t d = sizes_.size(); d-- > 0;) {
      place_ += strides_[d];
      if (++index_[d] < sizes_[d]) return;
      place_ -= strides_[d] * static_cast<size_t>(index_[d]);
      index_[d] = 0;
    }
  }

 private:
  Span<const int32_t> sizes_;
  size_t strides_[kMaxRank] = {};
  int32_t index_[kMaxRank] = {};
  size_t place_ = 0;
};

void compare_tensors(const BundledValue& expected, const Tensor& got,
                     const BundledTolerance& tolerance, BundledDifference* result) {
  const size_t width = element_size(expected.dtype), part = element_size(part_type(expected.dtype));
  const bool exact = !is_floating(part_type(expected.dtype));
  const auto* const data = static_cast<const uint8_t*>(got.const_data());
  RowMajorWalk here(expected.sizes, expected.dim_order), there(got.sizes(), got.dim_order());
  for (int64_t i = 0; i < got.numel(); ++i, here.next(), there.next()) {
    const uint8_t* const a = expected.data.data() + here.place() * width;
    const uint8_t* const b = data + there.place() * width;
    if (exact) {
      if (std::memcmp(a, b, width) != 0) *result = {false, INFINITY, "integers differ"};
      continue;
    }
    for (size_t at = 0; at < width; at += part) {
      compare_numbers(number_at(part_type(expected.dtype), a + at),
                      number_at(part_type(expected.dtype), b + at), tolerance, result);
    }
  }
}

}  // namespace

size_t BundledCase::num_inputs() const {
  return length_of(static_cast<const bp::BundledMethodTestCase*>(table_)->inputs());
}

size_t BundledCase::num_outputs() const {
  return length_of(static_cast<const bp::BundledMethodTestCase*>(table_)->expected_outputs());
}

BundledValue BundledCase::input(size_t i) const {
  const auto* table = static_cast<const bp::BundledMethodTestCase*>(table_);
  return read(*table->inputs()->Get(static_cast<uint32_t>(i)));
}

BundledValue BundledCase::output(size_t i) const {
  const auto* table = static_cast<const bp::BundledMethodTestCase*>(table_);
  return read(*table->expected_outputs()->Get(static_cast<uint32_t>(i)));
}

bool BundledProgram::is_bundle(Span<const uint8_t> head) {
  return head.size() >= 8 && std::memcmp(head.data() + 4, "BP08", 4) == 0;
}

Result<BundledProgram> BundledProgram::open(Span<const uint8_t> file) {
  TAPER_REQUIRE(is_bundle(file), Error::kInvalidProgram, "this is not a bundled program (BP08)");
  TAPER_REQUIRE(reinterpret_cast<uintptr_t>(file.data()) % kProgramAlignment == 0,
                Error::kInvalidArgument, "a bundled program must be aligned to 16");
  TAPER_REQUIRE(file.size() < FLATBUFFERS_MAX_BUFFER_SIZE, Error::kInvalidProgram,
                "the bundled program is larger than 2 GiB");
  flatbuffers::Verifier::Options options;
  options.max_tables = static_cast<flatbuffers::uoffset_t>(file.size() / 4 + 16);
  flatbuffers::Verifier verifier(file.data(), file.size(), options);
  TAPER_REQUIRE(bp::VerifyBundledProgramBuffer(verifier), Error::kInvalidProgram,
                "the bundled program is damaged");
  const bp::BundledProgram& root = *bp::GetBundledProgram(file.data());
  TAPER_TRY(verify(root, file.size()));
  return BundledProgram(&root, span_of(root.program()));
}

size_t BundledProgram::num_methods() const {
  return length_of(static_cast<const bp::BundledProgram*>(root_)->method_test_suites());
}

std::string_view BundledProgram::method_name(size_t i) const {
  const auto* root = static_cast<const bp::BundledProgram*>(root_);
  const flatbuffers::String& name =
      *root->method_test_suites()->Get(static_cast<uint32_t>(i))->method_name();
  return {name.data(), name.size()};
}

const void* BundledProgram::suite(std::string_view method) const {
  for (size_t i = 0; i < num_methods(); ++i) {
    const auto* root = static_cast<const bp::BundledProgram*>(root_);
    if (method_name(i) == method) {
      return root->method_test_suites()->Get(static_cast<uint32_t>(i));
    }
  }
  return nullptr;
}

size_t BundledProgram::num_cases(std::string_view method) const {
  const auto* found = static_cast<const bp::BundledMethodTestSuite*>(suite(method));
  return found == nullptr ? 0 : length_of(found->test_cases());
}

Result<BundledCase> BundledProgram::test_case(std::string_view method, size_t i) const {
  TAPER_REQUIRE(i < num_cases(method), Error::kNotFound, "there is no such test case");
  const auto* found = static_cast<const bp::BundledMethodTestSuite*>(suite(method));
  return BundledCase(found->test_cases()->Get(static_cast<uint32_t>(i)));
}

BundledInputs::BundledInputs(const BundledCase& from) {
  for (size_t i = 0; i < from.num_inputs(); ++i) {
    const BundledValue value = from.input(i);
    switch (value.tag) {
      case Tag::kInt:
        values_.push_back(EValue(value.integer));
        break;
      case Tag::kBool:
        values_.push_back(EValue(value.integer != 0));
        break;
      case Tag::kDouble:
        values_.push_back(EValue(value.number));
        break;
      default: {
        Held& held = tensors_.emplace_back();
        held.sizes.assign(value.sizes.begin(), value.sizes.end());
        held.strides.resize(held.sizes.size());
        held.dim_order.assign(value.dim_order.begin(), value.dim_order.end());
        held.memory.resize(value.data.size() / sizeof(uint64_t) + 1);
        if (value.data.size() != 0) {
          std::memcpy(held.memory.data(), value.data.data(), value.data.size());
        }
        held.tensor = Tensor(value.dtype, held.sizes.size(), held.sizes.data(),
                             held.dim_order.data(), held.strides.data(), held.memory.data());
        values_.push_back(EValue(&held.tensor));
      }
    }
  }
}

BundledDifference difference(const BundledValue& expected, const EValue& got,
                             const BundledTolerance& tolerance) {
  if (expected.tag != got.tag()) return {false, INFINITY, "a value of another kind is expected"};
  BundledDifference result = {true, 0, nullptr};
  switch (expected.tag) {
    case Tag::kInt:
      if (got.to_int() != expected.integer) return {false, INFINITY, "integers differ"};
      return result;
    case Tag::kBool:
      if (got.to_bool() != (expected.integer != 0)) return {false, INFINITY, "bools differ"};
      return result;
    case Tag::kDouble:
      compare_numbers(expected.number, got.to_double(), tolerance, &result);
      return result;
    default:
      break;
  }
  const Tensor& tensor = got.to_tensor();
  if (tensor.scalar_type() != expected.dtype) return {false, INFINITY, "another dtype is expected"};
  if (tensor.sizes().size() != expected.sizes.size() ||
      !std::equal(expected.sizes.begin(), expected.sizes.end(), tensor.sizes().begin())) {
    return {false, INFINITY, "other sizes are expected"};
  }
  compare_tensors(expected, tensor, tolerance, &result);
  return result;
}

}  // namespace taper
