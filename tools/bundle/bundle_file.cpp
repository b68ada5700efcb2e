#include "tools/bundle/bundle_file.h"

#include <cstring>

#include "schema/bundled_program_generated.h"
#include "tools/atomic_file.h"
#include "tools/error.h"
#include "tools/tensor_bytes.h"

namespace taper::tools {
namespace {

namespace bp = wire::bundled;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr uint32_t kVersion = 2;
constexpr size_t kMostBytes = size_t{0x7fffffff};  // FlatBuffers' limit.

Offset<bp::Value> write_tensor(FlatBufferBuilder& to, const NpyArray& array,
                               Span<const uint8_t> order) {
  const std::vector<int32_t> sizes(array.shape.begin(), array.shape.end());
  // Elements are stored in the order in which the method has them in memory.
  HeldTensor held(array.dtype, {sizes.data(), sizes.size()}, order, kMostBytes);
  held.set_row_major(array.data);
  to.ForceVectorAlignment(array.data.size(), 1, 16);
  const auto data = to.CreateVector(static_cast<const uint8_t*>(held.tensor().const_data()),
                                    held.tensor().nbytes());
  const auto tensor =
      bp::CreateTensor(to, static_cast<wire::ScalarType>(array.dtype), to.CreateVector(sizes), data,
                       to.CreateVector(order.data(), order.size()));
  return bp::CreateValue(to, bp::ValueUnion::Tensor, tensor.Union());
}

Offset<bp::Value> write_fixed(FlatBufferBuilder& to, const EValue& value, const std::string& what) {
  switch (value.tag()) {
    case Tag::kInt:
      return bp::CreateValue(to, bp::ValueUnion::Int, bp::CreateInt(to, value.to_int()).Union());
    case Tag::kBool:
      return bp::CreateValue(to, bp::ValueUnion::Bool, bp::CreateBool(to, value.to_bool()).Union());
    case Tag::kDouble:
      return bp::CreateValue(to, bp::ValueUnion::Double,
                             bp::CreateDouble(to, value.to_double()).Union());
    default:
      throw InputError(what + " is neither a tensor nor a number: a .bpte cannot hold it");
  }
}

// Writes the values of one call, either its inputs or its outputs.
class CaseWriter {
 public:
  CaseWriter(FlatBufferBuilder& to, const CaseValues& values, std::string where)
      : to_(to), values_(values), where_(std::move(where)) {}

  // The next value, which the method declares with this tag and, if it is a tensor, this type.
  void add(Tag tag, const Result<TensorInfo>& info) {
    const std::string what = where_ + " " + std::to_string(written_.size());
    if (tag != Tag::kTensor) {
      written_.push_back(write_fixed(to_, values_.values[written_.size()], what));
      return;
    }
    if (tensors_ >= values_.tensors.size()) throw InputError(what + " is missing");
    const NpyArray& array = values_.tensors[tensors_++];
    check_array(array, *info, what);
    if (is_complex(array.dtype)) throw InputError(what + " is complex, which a .bpte cannot hold");
    written_.push_back(write_tensor(to_, array, info->dim_order()));
  }

  Offset<flatbuffers::Vector<Offset<bp::Value>>> finish() {
    if (tensors_ != values_.tensors.size()) {
      throw InputError(where_ + ": the method has " + std::to_string(tensors_) + ", given " +
                       std::to_string(values_.tensors.size()));
    }
    return to_.CreateVector(written_);
  }

 private:
  FlatBufferBuilder& to_;
  const CaseValues& values_;
  const std::string where_;
  std::vector<Offset<bp::Value>> written_;
  size_t tensors_ = 0;
};

Offset<bp::BundledMethodTestCase> write_case(FlatBufferBuilder& to, const MethodMeta& meta,
                                             const CasesOfMethod::Case& values, size_t number) {
  const std::string where =
      "method '" + std::string(meta.name()) + "', test case " + std::to_string(number);
  CaseWriter inputs(to, values.inputs, where + ", input");
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    inputs.add(meta.input_tag(i).value(), meta.input_tensor_meta(i));
  }
  const auto in = inputs.finish();
  CaseWriter outputs(to, values.expected, where + ", output");
  for (size_t i = 0; i < meta.num_outputs(); ++i) {
    outputs.add(meta.output_tag(i).value(), meta.output_tensor_meta(i));
  }
  return bp::CreateBundledMethodTestCase(to, in, outputs.finish());
}

// Values of a file as those that are written, tensors in row-major order.
void add_value(const BundledValue& value, CaseValues* to) {
  to->values.emplace_back();
  switch (value.tag) {
    case Tag::kInt:
      to->values.back() = EValue(value.integer);
      return;
    case Tag::kBool:
      to->values.back() = EValue(value.integer != 0);
      return;
    case Tag::kDouble:
      to->values.back() = EValue(value.number);
      return;
    default:
      break;
  }
  HeldTensor held(value.dtype, value.sizes, value.dim_order, kMostBytes);
  if (value.data.size() != 0) {
    std::memcpy(held.tensor().mutable_data(), value.data.data(), value.data.size());
  }
  to->tensors.push_back({value.dtype, shape_of(value.sizes), row_major_bytes(held.tensor())});
}

uint64_t bytes_of(const CaseValues& values) {
  uint64_t bytes = values.values.size() * 64;
  for (const NpyArray& array : values.tensors) bytes += array.data.size() + 128;
  return bytes;
}

}  // namespace

std::unique_ptr<BundleFile> BundleFile::open(const std::string& path) {
  const std::string head = read_head(path);
  if (!BundledProgram::is_bundle({reinterpret_cast<const uint8_t*>(head.data()), head.size()})) {
    return nullptr;
  }
  Result<MmapDataLoader> file = MmapDataLoader::open(path.c_str());
  if (!file.ok()) throw InputError("'" + path + "': " + file.status().message());
  const auto bytes = file->load(0, file->size());
  if (!bytes.ok()) throw InputError("'" + path + "': " + bytes.status().message());
  const Result<BundledProgram> bundle = BundledProgram::open(*bytes);
  if (!bundle.ok()) throw InputError("'" + path + "': " + bundle.status().message());
  return std::unique_ptr<BundleFile>(new BundleFile(std::move(*file), *bundle));
}

CasesOfMethod cases_of(const BundledProgram& bundle, const MethodMeta& meta) {
  CasesOfMethod result = {meta, {}};
  for (size_t i = 0; i < bundle.num_cases(meta.name()); ++i) {
    const BundledCase test = bundle.test_case(meta.name(), i).value();
    if (test.num_inputs() != meta.num_inputs() || test.num_outputs() != meta.num_outputs()) {
      throw InputError("the bundle's test case " + std::to_string(i) + " is not for method '" +
                       std::string(meta.name()) + "': numbers of inputs or outputs differ");
    }
    CasesOfMethod::Case& to = result.cases.emplace_back();
    for (size_t k = 0; k < test.num_inputs(); ++k) add_value(test.input(k), &to.inputs);
    for (size_t k = 0; k < test.num_outputs(); ++k) add_value(test.output(k), &to.expected);
  }
  return result;
}

std::string bundle_bytes(std::string_view program, const std::vector<CasesOfMethod>& methods) {
  uint64_t bytes = program.size() + 65536;
  for (const CasesOfMethod& method : methods) {
    for (const CasesOfMethod::Case& each : method.cases) {
      bytes += bytes_of(each.inputs) + bytes_of(each.expected);
    }
  }
  if (bytes > kMostBytes) {
    throw InputError(
        "the program and its test cases exceed the 2 GiB that a .bpte can have; 'taper export "
        "--external-weights' keeps weights in a file of their own");
  }
  FlatBufferBuilder to;
  std::vector<Offset<bp::BundledMethodTestSuite>> suites;
  for (const CasesOfMethod& method : methods) {
    std::vector<Offset<bp::BundledMethodTestCase>> cases;
    for (const CasesOfMethod::Case& each : method.cases) {
      cases.push_back(write_case(to, method.meta, each, cases.size()));
    }
    const auto name = to.CreateString(std::string(method.meta.name()));
    suites.push_back(bp::CreateBundledMethodTestSuite(to, name, to.CreateVector(cases)));
  }
  to.ForceVectorAlignment(program.size(), 1, 32);
  const auto data =
      to.CreateVector(reinterpret_cast<const uint8_t*>(program.data()), program.size());
  bp::FinishBundledProgramBuffer(
      to, bp::CreateBundledProgram(to, kVersion, to.CreateVector(suites), data));
  return {reinterpret_cast<const char*>(to.GetBufferPointer()), to.GetSize()};
}

}  // namespace taper::tools
