#include "backends/vulkan/aot/executorch_rules.h"

#include <algorithm>

namespace taper::vulkan {
namespace {

constexpr size_t kTextureRank = 4;

DtypeKinds kind_of(wire::DataType dtype) {
  switch (dtype) {
    case wire::DataType::Float16:
    case wire::DataType::Float32:
      return kFloats;
    case wire::DataType::Int32:
    case wire::DataType::Int64:
      return kIntegers;
    case wire::DataType::Bool:
      return kBooleans;
    default:
      return 0;
  }
}

bool is_of(const wire::Tensor& tensor, DtypeKinds kinds) {
  return kinds == kAnyKind || (kind_of(tensor.datatype()) & kinds) != 0;
}

// The dimensions that a reduction reduces, counted from 0; all for an empty list.
std::vector<int64_t> reduced_dims(const PayloadFacts& facts, const ExecutorchCall& call) {
  const auto rank = static_cast<int64_t>(facts.sizes(call.args[0]).size());
  std::vector<int64_t> dims = facts.integers(call.args[1]);
  for (int64_t& d : dims) d += d < 0 ? rank : 0;
  for (int64_t d = 0; dims.empty() && d < rank; ++d) dims.push_back(d);
  return dims;
}

// Rows of the last dimension have a shader for buffers; all else keeps its rank, and does not
// reduce the dimension that is packed.
Storages reduction_storages(const PayloadFacts& facts, const ExecutorchCall& call) {
  const std::vector<int64_t> dims = reduced_dims(facts, call);
  const auto rank = static_cast<int64_t>(facts.sizes(call.args[0]).size());
  Storages storages = kNoStorage;
  const bool is_by_row = dims.size() == 1 && dims[0] == rank - 1;
  if (dims.size() <= 2 && facts.flag(call.args[2])) storages = kAnyTexture;
  if (is_by_row) return storages | kBufferWidth;
  constexpr Storages kPacked[] = {kTextureWidth, kTextureHeight, kTextureChannels};
  if (dims.size() != 2 || storages == kNoStorage) return storages;
  for (int64_t packed = 0; packed < 3; ++packed) {
    const bool reduces = std::find(dims.begin(), dims.end(), rank - 1 - packed) != dims.end();
    if (!reduces) return kPacked[packed];
  }
  return kNoStorage;
}

Storages convolution_storages(const PayloadFacts& facts, const ExecutorchCall& call) {
  const std::vector<int64_t> x = facts.sizes(call.args[0]), w = facts.sizes(call.args[1]);
  if (x.size() != 3 || w.size() != 3) return kTextureChannels;
  const std::vector<int64_t> groups = facts.integers(call.args[8]);
  const bool is_depthwise = groups.size() == 1 && groups[0] == x[1] && w[0] == x[1] && w[1] == 1;
  return w[2] == 1 || is_depthwise ? kTextureHeight : kTextureChannels;
}

std::string convolution_problem(const PayloadFacts& facts, const ExecutorchCall& call) {
  const std::vector<int64_t> x = facts.sizes(call.args[0]);
  if (!facts.is_constant(call.args[1])) return "its weight is not a constant";
  if (x.size() == 4 && x[0] != 1) return "it has several images";
  if (x.size() == 3 && facts.flag(call.args[6])) return "it is transposed and of one dimension";
  return x.size() == 3 || x.size() == 4 ? "" : "it has another number of dimensions than 1 and 2";
}

std::string gelu_problem(const PayloadFacts& facts, const ExecutorchCall& call) {
  const wire::String* text = facts.value(call.args[1]).value_as_String();
  const bool is_tanh = text != nullptr && text->string_val() != nullptr &&
                       text->string_val()->string_view() == "tanh";
  return is_tanh ? "" : "it would compute another approximation of gelu";
}

std::string index_problem(const PayloadFacts& facts, const ExecutorchCall& call) {
  const std::vector<int32_t> indices = facts.tensors(call.args[1]);
  const bool is_vector = indices.size() == 1 && facts.sizes(indices[0]).size() == 1;
  return is_vector ? "" : "it does not index by one vector";
}

std::string sampler_problem(const PayloadFacts& facts, const ExecutorchCall& call) {
  const bool is_known = facts.integers(call.args[2]) == std::vector<int64_t>{0} &&
                        facts.integers(call.args[3]) == std::vector<int64_t>{1} &&
                        facts.flag(call.args[4]);
  return is_known ? "" : "it samples in another way than bilinear with borders and aligned corners";
}

std::string fill_problem(const PayloadFacts& facts, const ExecutorchCall& call) {
  const bool is_size = facts.value(call.args[1]).value_type() == wire::Kind::SymInt;
  return is_size ? "the number that it fills with depends on sizes" : "";
}

std::string special_problem(const PayloadFacts& facts, const ExecutorchCall& call) {
  const std::string_view name = call.row->name;
  if ((call.row->traits & kIsConvolution) != 0) return convolution_problem(facts, call);
  if (name == "aten.gelu.default") return gelu_problem(facts, call);
  if (name == "aten.index.Tensor") return index_problem(facts, call);
  if (name == "aten.full.default" || name == "aten.full_like.default") {
    return fill_problem(facts, call);
  }
  if (name == "aten.grid_sampler_2d.default") return sampler_problem(facts, call);
  return "";
}

std::string dtype_problem(const PayloadFacts& facts, const ExecutorchCall& call) {
  const int primary = primary_argument(facts, call);
  for (size_t i = 0; i < call.args.size(); ++i) {
    const bool is_result = i + 1 == call.args.size();
    const DtypeKinds kinds = is_result                        ? call.row->results
                             : static_cast<int>(i) == primary ? call.row->first
                                                              : call.row->others;
    // Indices are integers whatever the operator computes with.
    const bool is_index = call.row->name == "aten.gather.default" ||
                          call.row->name == "aten.index.Tensor" ||
                          call.row->name == "aten.index_select.default";
    for (const int32_t id : facts.tensors(call.args[i])) {
      const wire::Tensor& tensor = *facts.tensor(id);
      if (is_index && !is_result && static_cast<int>(i) != primary) continue;
      if (!is_of(tensor, kinds)) {
        return std::string("a tensor is of ") + wire::EnumNameDataType(tensor.datatype());
      }
    }
  }
  return "";
}

}  // namespace

std::vector<int32_t> PayloadFacts::tensors(int32_t id) const {
  if (tensor(id) != nullptr) return {id};
  std::vector<int32_t> found;
  const wire::ValueList* list = value(id).value_as_ValueList();
  if (list == nullptr || list->items() == nullptr) return found;
  for (const int32_t item : *list->items()) {
    if (tensor(item) != nullptr) found.push_back(item);
  }
  return found;
}

std::vector<int64_t> PayloadFacts::sizes(int32_t id) const {
  std::vector<int64_t> sizes;
  const wire::Tensor* from = tensor(id);
  if (from == nullptr || from->dims() == nullptr) return sizes;
  for (const uint32_t size : *from->dims()) sizes.push_back(size);
  return sizes;
}

std::vector<int64_t> PayloadFacts::integers(int32_t id) const {
  const wire::Value& from = value(id);
  if (from.value_type() == wire::Kind::Int) return {from.value_as_Int()->int_val()};
  if (from.value_type() == wire::Kind::Double) {  // Equal numbers share a value.
    return {static_cast<int64_t>(from.value_as_Double()->double_val())};
  }
  std::vector<int64_t> found;
  const wire::IntList* list = from.value_as_IntList();
  if (list != nullptr && list->items() != nullptr) {
    found.assign(list->items()->begin(), list->items()->end());
  }
  return found;
}

bool PayloadFacts::flag(int32_t id) const {
  const wire::Value& from = value(id);
  if (from.value_type() == wire::Kind::Bool) return from.value_as_Bool()->bool_val();
  return from.value_type() == wire::Kind::Int && from.value_as_Int()->int_val() != 0;
}

int primary_argument(const PayloadFacts& facts, const ExecutorchCall& call) {
  const size_t first = (call.row->traits & kIsTable) != 0 ? 1 : 0;
  for (size_t i = first; i + 1 < call.args.size(); ++i) {
    if (!facts.tensors(call.args[i]).empty()) return static_cast<int>(i);
  }
  return -1;
}

Storages fitting(const std::vector<int64_t>& sizes, Storages storages) {
  if (sizes.size() > kTextureRank) return storages & kAnyBuffer;
  int64_t texels[4] = {1, 1, 1, 1};  // Width, height, channels, batch.
  for (size_t i = 0; i < sizes.size(); ++i) texels[i] = sizes[sizes.size() - 1 - i];
  for (size_t packed = 0; packed < 3; ++packed) {
    int64_t extents[4];
    std::copy(texels, texels + 4, extents);
    extents[packed] = (extents[packed] + 3) / 4;
    const bool fits = extents[0] <= kMostTexels[0] && extents[1] <= kMostTexels[1] &&
                      extents[2] * extents[3] <= kMostTexels[2];
    if (!fits) storages &= static_cast<Storages>(~(kTextureWidth << packed));
  }
  return storages;
}

Storages primary_storages(const PayloadFacts& facts, const ExecutorchCall& call) {
  Storages storages = call.row->storage;
  if ((call.row->traits & kIsReduction) != 0) storages = reduction_storages(facts, call);
  if ((call.row->traits & kIsConvolution) != 0) storages = convolution_storages(facts, call);
  const std::string_view name = call.row->name;
  const int primary = primary_argument(facts, call);
  const std::vector<int32_t> first =
      primary < 0 ? std::vector<int32_t>() : facts.tensors(call.args[static_cast<size_t>(primary)]);
  if (name == "aten.index.Tensor" && facts.sizes(call.args[0]).size() > 1) storages = kBufferWidth;
  const std::vector<int32_t> results = facts.tensors(call.args.back());
  if (name == "aten._to_copy.default" && !first.empty() && !results.empty()) {
    const bool are_floats =
        is_of(*facts.tensor(first[0]), kFloats) && is_of(*facts.tensor(results[0]), kFloats);
    if (are_floats) storages = kAnyStorage;
  }
  for (const int32_t id : first) storages = fitting(facts.sizes(id), storages);
  const bool is_alike = call.row->results_storage == kNoStorage;
  if (is_alike && !results.empty()) storages = fitting(facts.sizes(results[0]), storages);
  return storages;
}

std::string call_problem(const PayloadFacts& facts, const ExecutorchCall& call) {
  if ((call.row->traits & kIsSymbolic) != 0) return "";
  for (const int32_t arg : call.args) {
    for (const int32_t id : facts.tensors(arg)) {
      int64_t count = 1;
      for (const int64_t size : facts.sizes(id)) count *= std::max<int64_t>(size, 1);
      if (count > kMostElements) return "a tensor has too many elements";
      if (facts.sizes(id).size() > kTextureRank && (call.row->traits & kManyDims) == 0) {
        return "a tensor has more than four dimensions";
      }
    }
  }
  std::string problem = dtype_problem(facts, call);
  if (problem.empty()) problem = special_problem(facts, call);
  if (problem.empty() && primary_storages(facts, call) == kNoStorage) {
    problem = "its tensors cannot be stored as it asks";
  }
  return problem;
}

}  // namespace taper::vulkan
