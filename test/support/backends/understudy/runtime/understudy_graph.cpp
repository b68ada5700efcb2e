// Builds the values first, then the calls in order, then allocates memory; see understudy_graph.h.

#include "test/support/backends/understudy/runtime/understudy_graph.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>

#include "kernels_portable/kernel_table.h"

namespace taper::understudy {
namespace {

constexpr size_t kAlignment = 16;
constexpr uint32_t kMaxTables = 100000;

#define TAPER_UNDERSTUDY_REQUIRE(condition, text) \
  TAPER_REQUIRE(condition, Error::kDelegateInvalidCompatibility, text)

// Returns null if the bytes are not a payload of this backend.
const wire::Graph* verified(Span<const uint8_t> payload) {
  if (payload.size() < 8 || reinterpret_cast<uintptr_t>(payload.data()) % alignof(int64_t) != 0) {
    return nullptr;
  }
  flatbuffers::Verifier verifier(payload.data(), payload.size(), 16, kMaxTables);
  return wire::VerifyGraphBuffer(verifier) ? wire::GetGraph(payload.data()) : nullptr;
}

bool is_permutation(const std::vector<uint8_t>& order) {
  std::vector<uint8_t> straight(order.size());
  std::iota(straight.begin(), straight.end(), uint8_t{0});
  return std::is_permutation(order.begin(), order.end(), straight.begin());
}

// Whether the strides, which are products of sizes, fit into an int32_t.
bool is_small(const std::vector<int32_t>& sizes) {
  int64_t product = 1;
  for (const int32_t size : sizes) {
    if (size < 0) return false;
    product *= std::max(size, 1);
    if (product > INT32_MAX) return false;
  }
  return true;
}

size_t padded(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

Status UnderstudyGraph::build(Span<const uint8_t> payload, const BackendInitContext& context,
                              uint64_t max_bytes, size_t scratch_bytes) {
  const wire::Graph* graph = verified(payload);
  TAPER_UNDERSTUDY_REQUIRE(graph != nullptr, "the bytes are not a payload of the understudy");
  TAPER_UNDERSTUDY_REQUIRE(graph->values() != nullptr && graph->calls() != nullptr,
                           "the payload has no values or no calls");
  arguments_ = graph->arguments();
  scratch_bytes_ = scratch_bytes;
  values_.reserve(graph->values()->size());
  for (const wire::Value* value : *graph->values()) TAPER_TRY(add_value(*value, context));
  TAPER_TRY(check_arguments());
  for (const wire::Call* call : *graph->calls()) TAPER_TRY(add_call(*call));
  for (const TensorSlot& slot : tensors_) {
    TAPER_UNDERSTUDY_REQUIRE(slot.is_set, "a tensor of the payload is never written");
  }
  return allocate(max_bytes);
}

Status UnderstudyGraph::add_value(const wire::Value& value, const BackendInitContext& context) {
  switch (value.kind()) {
    case wire::Kind::None:
      values_.emplace_back();
      return {};
    case wire::Kind::Tensor:
      TAPER_UNDERSTUDY_REQUIRE(value.tensor() != nullptr, "a tensor of the payload is missing");
      return add_tensor(*value.tensor(), context);
    case wire::Kind::Int:
      values_.emplace_back(value.integer());
      return {};
    case wire::Kind::Double:
      values_.emplace_back(value.real());
      return {};
    case wire::Kind::Bool:
      values_.emplace_back(value.integer() != 0);
      return {};
    case wire::Kind::Text:
      TAPER_UNDERSTUDY_REQUIRE(value.text() != nullptr, "a text of the payload is missing");
      values_.emplace_back(value.text()->c_str(), value.text()->size());
      return {};
    case wire::Kind::Ints:
    case wire::Kind::Doubles:
    case wire::Kind::Bools:
      return add_numbers(value);
    case wire::Kind::Tensors:
    case wire::Kind::OptionalTensors:
      return add_tensors(value);
  }
  return Status(Error::kDelegateInvalidCompatibility, "a value of the payload has no kind");
}

Status UnderstudyGraph::add_tensor(const wire::Tensor& tensor, const BackendInitContext& context) {
  TensorSlot& slot = tensors_.emplace_back();
  TAPER_TRY(shape_tensor(tensor, slot));
  slot.value = values_.size();
  slot.argument = tensor.argument();
  if (tensor.key() != nullptr) TAPER_TRY(find_constant(tensor, context, slot));
  slots_[&slot.tensor] = &slot;
  values_.emplace_back(&slot.tensor);
  return {};
}

Status UnderstudyGraph::shape_tensor(const wire::Tensor& from, TensorSlot& slot) const {
  const auto type = static_cast<ScalarType>(from.dtype());
  TAPER_UNDERSTUDY_REQUIRE(is_valid(type), "the payload has an unknown dtype");
  if (from.sizes() != nullptr) slot.sizes.assign(from.sizes()->begin(), from.sizes()->end());
  if (from.dim_order() != nullptr) {
    slot.order.assign(from.dim_order()->begin(), from.dim_order()->end());
  }
  TAPER_UNDERSTUDY_REQUIRE(slot.sizes.size() <= kMaxRank && is_small(slot.sizes),
                           "a tensor of the payload is too large");
  TAPER_UNDERSTUDY_REQUIRE(slot.order.size() == slot.sizes.size() && is_permutation(slot.order),
                           "a dim order of the payload is not a permutation");
  slot.strides.resize(slot.sizes.size());
  slot.tensor =
      Tensor(type, slot.sizes.size(), slot.sizes.data(), slot.order.data(), slot.strides.data(),
             nullptr, from.dynamic() ? ShapeDynamism::kDynamicBound : ShapeDynamism::kStatic);
  return {};
}

Status UnderstudyGraph::find_constant(const wire::Tensor& from, const BackendInitContext& context,
                                      TensorSlot& slot) const {
  TAPER_UNDERSTUDY_REQUIRE(slot.argument < 0 && !from.dynamic(),
                           "a constant of the payload is also an argument, or has dynamic sizes");
  const Result<NamedData> data =
      context.find_data({from.key()->c_str(), static_cast<size_t>(from.key()->size())});
  TAPER_TRY(data.status());
  const uint8_t* bytes = data->bytes.data();
  const size_t element = element_size(part_type(slot.tensor.scalar_type()));
  TAPER_UNDERSTUDY_REQUIRE(data->bytes.size() >= slot.tensor.nbytes() &&
                               reinterpret_cast<uintptr_t>(bytes) % element == 0,
                           "the data of a constant of the payload is too short or not aligned");
  slot.tensor.set_data(const_cast<uint8_t*>(bytes));  // A constant is never written.
  slot.tensor.set_constant();
  slot.is_set = true;
  return {};
}

Status UnderstudyGraph::add_numbers(const wire::Value& value) {
  if (value.kind() == wire::Kind::Doubles) {
    TAPER_UNDERSTUDY_REQUIRE(value.reals() != nullptr, "a list of the payload is missing");
    values_.emplace_back(value.reals()->data(), value.reals()->size());
    return {};
  }
  TAPER_UNDERSTUDY_REQUIRE(value.items() != nullptr, "a list of the payload is missing");
  const uint32_t count = value.items()->size();
  if (value.kind() == wire::Kind::Bools) {
    bools_.emplace_back(new bool[count + size_t{1}]);
    for (uint32_t i = 0; i < count; ++i) bools_.back()[i] = value.items()->Get(i) != 0;
    values_.emplace_back(static_cast<const bool*>(bools_.back().get()), count);
    return {};
  }
  std::vector<EValue*>& pointers = pointers_.emplace_back();
  for (const int64_t item : *value.items()) pointers.push_back(&items_.emplace_back(item));
  int_lists_.push_back({pointers.data(), integers_.emplace_back(count).data()});
  values_.emplace_back(&int_lists_.back(), count);
  return {};
}

Status UnderstudyGraph::add_tensors(const wire::Value& value) {
  TAPER_UNDERSTUDY_REQUIRE(value.items() != nullptr, "a list of the payload is missing");
  const bool optional = value.kind() == wire::Kind::OptionalTensors;
  std::vector<EValue*>& pointers = pointers_.emplace_back();
  for (const int64_t item : *value.items()) {
    const bool none = optional && item == -1;
    const bool known = item >= 0 && static_cast<uint64_t>(item) < values_.size();
    TAPER_UNDERSTUDY_REQUIRE(none || (known && values_[static_cast<size_t>(item)].is_tensor()),
                             "an item of a list of the payload is not a tensor");
    pointers.push_back(none ? &items_.emplace_back() : &values_[static_cast<size_t>(item)]);
  }
  const auto count = static_cast<uint32_t>(pointers.size());
  tensor_lists_.push_back({pointers.data(), unboxed_.emplace_back(count).data()});
  values_.emplace_back(&tensor_lists_.back(), count,
                       optional ? Tag::kOptionalTensorList : Tag::kTensorList);
  return {};
}

Status UnderstudyGraph::check_arguments() {
  TAPER_UNDERSTUDY_REQUIRE(arguments_ <= tensors_.size(), "the payload has unused arguments");
  std::vector<bool> seen(arguments_);
  for (const TensorSlot& slot : tensors_) {
    if (slot.argument < 0) continue;
    const auto place = static_cast<size_t>(slot.argument);
    TAPER_UNDERSTUDY_REQUIRE(place < seen.size() && !seen[place],
                             "an argument of the payload is out of range or given twice");
    seen[place] = true;
  }
  return {};
}

Status UnderstudyGraph::note_access(Tensor* tensor, bool writes) {
  if (tensor == nullptr) return {};
  TensorSlot* slot = slots_.at(tensor);
  if (writes) {
    TAPER_UNDERSTUDY_REQUIRE(!slot->is_set, "a tensor of the payload is written after it is set");
    slot->is_written = true;
  } else {
    TAPER_UNDERSTUDY_REQUIRE(slot->is_set || slot->argument >= 0,
                             "a tensor of the payload is read before it is written");
  }
  slot->is_set = true;
  return {};
}

Status UnderstudyGraph::note_access(const EValue& arg, bool writes) {
  if (arg.is_tensor()) return note_access(&arg.to_tensor(), writes);
  if (arg.tag() == Tag::kTensorList || arg.tag() == Tag::kOptionalTensorList) {
    for (Tensor* tensor : arg.to_tensor_list()) TAPER_TRY(note_access(tensor, writes));
  }
  return {};
}

Status UnderstudyGraph::add_call(const wire::Call& from) {
  TAPER_UNDERSTUDY_REQUIRE(from.kernel() != nullptr && from.args() != nullptr,
                           "a call of the payload is incomplete");
  Call& call = calls_.emplace_back();
  call.kernel = find_kernel(portable::portable_kernels(),
                            {from.kernel()->c_str(), static_cast<size_t>(from.kernel()->size())});
  TAPER_UNDERSTUDY_REQUIRE(call.kernel != nullptr, "the payload calls an unknown kernel");
  TAPER_UNDERSTUDY_REQUIRE(from.args()->size() == call.kernel->arg_count,
                           "a call of the payload has the wrong number of arguments");
  for (uint32_t i = 0; i < from.args()->size(); ++i) {
    const ArgSpec spec = call.kernel->args[i];
    TAPER_UNDERSTUDY_REQUIRE(from.args()->Get(i) < values_.size(),
                             "a call of the payload has an invalid value index");
    call.args.push_back(&values_[from.args()->Get(i)]);
    TAPER_UNDERSTUDY_REQUIRE(spec.kind != ArgKind::kNumberOut &&
                                 spec.kind != ArgKind::kAliasTensor &&
                                 accepts(spec, *call.args.back()),
                             "an argument of the payload has the wrong kind for its kernel");
  }
  // A call must not write what it reads: check all reads first, then the writes.
  for (const bool writes : {false, true}) {
    for (size_t i = 0; i < call.args.size(); ++i) {
      const ArgKind kind = call.kernel->args[i].kind;
      const bool is_out = kind == ArgKind::kMutableTensor || kind == ArgKind::kMutableTensorList;
      if (is_out == writes) TAPER_TRY(note_access(*call.args[i], writes));
    }
  }
  return {};
}

Status UnderstudyGraph::allocate(uint64_t max_bytes) {
  uint64_t bytes = 0;
  for (const TensorSlot& slot : tensors_) bytes += padded(slot.tensor.nbytes());
  TAPER_REQUIRE(bytes <= max_bytes && bytes <= SIZE_MAX / 4, Error::kDelegateMemoryAllocationFailed,
                "the payload needs more memory than the limit");
  scratch_bytes_ += 2 * static_cast<size_t>(bytes);
  memory_.reset(new (std::nothrow) uint8_t[static_cast<size_t>(bytes)]());
  scratch_.reset(new (std::nothrow) uint8_t[scratch_bytes_]);
  TAPER_REQUIRE(memory_ != nullptr && scratch_ != nullptr, Error::kDelegateMemoryAllocationFailed,
                "out of memory for the payload");
  size_t at = 0;
  for (TensorSlot& slot : tensors_) {
    if (slot.argument >= 0 || slot.tensor.is_constant()) continue;
    slot.tensor.set_data(memory_.get() + at);
    at += padded(slot.tensor.nbytes());
  }
  return {};
}

Status UnderstudyGraph::bind(TensorSlot& slot, Span<EValue* const> args) {
  const auto place = static_cast<size_t>(slot.argument);
  TAPER_REQUIRE(args[place]->is_tensor(), Error::kInvalidArgument,
                "understudy: an argument is not a tensor");
  Tensor& given = args[place]->to_tensor();
  TAPER_REQUIRE(
      given.scalar_type() == slot.tensor.scalar_type() && given.dim() == slot.tensor.dim() &&
          std::equal(slot.order.begin(), slot.order.end(), given.dim_order().begin()),
      Error::kInvalidArgument, "understudy: an argument has the wrong dtype, rank or dim order");
  values_[slot.value] = EValue(&given);
  if (!slot.is_written) return {};
  TAPER_REQUIRE(!given.is_constant(), Error::kInvalidArgument,
                "understudy: a result is a constant");
  for (size_t i = 0; i < args.size(); ++i) {
    TAPER_REQUIRE(i == place || !args[i]->is_tensor() || &args[i]->to_tensor() != &given,
                  Error::kInvalidArgument, "understudy: a result is also another argument");
  }
  return {};
}

Status UnderstudyGraph::execute(Span<EValue* const> args) {
  TAPER_REQUIRE(args.size() == arguments_, Error::kInvalidArgument,
                "understudy: the call has the wrong number of arguments");
  for (TensorSlot& slot : tensors_) {
    if (slot.argument >= 0) TAPER_TRY(bind(slot, args));
  }
  for (const Call& call : calls_) {
    KernelContext context(Span<unsigned char>(scratch_.get(), scratch_bytes_));
    TAPER_TRY(call.kernel->run(context, call.args.data()));
  }
  return {};
}

}  // namespace taper::understudy
