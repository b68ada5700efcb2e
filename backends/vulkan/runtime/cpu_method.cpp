// Tensors first, then the calls in order, then memory; see cpu_method.h.

#include "backends/vulkan/runtime/cpu_method.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "backends/vulkan/planner/arena.h"
#include "backends/vulkan/planner/call.h"
#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/runtime/arguments.h"
#include "backends/vulkan/runtime/cpu_kernels.h"
#include "backends/vulkan/runtime/element_words.h"

namespace taper::vulkan {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr size_t kTensorOptions = 4;  // dtype, layout, device, pin_memory.

#define TAPER_VULKAN_REQUIRE(condition, text) \
  TAPER_REQUIRE(condition, Error::kDelegateInvalidCompatibility, text)

// Plans bound only the memory.
Limits limits_of(uint64_t max_bytes) {
  Limits limits;
  for (uint32_t& groups : limits.groups) groups = UINT32_MAX;
  limits.range = limits.bytes = max_bytes;
  return limits;
}

bool is_out(ArgKind kind) {
  return kind == ArgKind::kMutableTensor || kind == ArgKind::kMutableTensorList;
}

bool is_index(ScalarType dtype) { return dtype == ScalarType::kInt || dtype == ScalarType::kLong; }

// Copies elements; int32 becomes int64, float32 float16, and the other way.
Status copy_elements(const Tensor& from, Tensor& to) {
  const auto count = static_cast<size_t>(from.numel());
  if (count == 0) return {};
  if (from.scalar_type() == to.scalar_type()) {
    std::memmove(to.mutable_data(), from.const_data(), from.nbytes());
    return {};
  }
  if (to.scalar_type() == ScalarType::kInt || to.scalar_type() == ScalarType::kFloat) {
    return to_words(from.scalar_type(), from.const_data(), count,
                    static_cast<uint32_t*>(to.mutable_data()));
  }
  from_words(to.scalar_type(), static_cast<const uint32_t*>(from.const_data()), count,
             to.mutable_data());
  return {};
}

uint64_t padded(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

Status CpuMethod::load(Span<const uint8_t> payload, const ConstantSource& source,
                       const CpuOptions& options) {
  const BackendInitContext& context = *options.context;
  reports_ = options.reports;
  pool_ = context.pool();
  TAPER_TRY(graph_.read(payload, &source));
  graph_.in_half = options.rounds;
  widen_constants(graph_);
  TAPER_TRY(plan_.build(graph_, limits_of(options.max_bytes)));
  TAPER_TRY(make_slots());
  Status missing;
  for (const PayloadCall& call : graph_.calls) {
    const Status added = add_call(call, context);
    if (added.error() != Error::kOperatorMissing) TAPER_TRY(added);
    if (added.ok() && graph_.in_half) add_storing(call);
    if (!added.ok()) missing = added;
    ++call_;
  }
  TAPER_TRY(missing);
  for (const ValueId id : graph_.outputs) {
    if (graph_.values[id].kind == Kind::kTensor) TAPER_TRY(note_tensor(id, false));
  }
  return allocate(options.max_bytes);
}

void CpuMethod::make_slot(ValueId id, const PayloadValue& value) {
  TensorSlot& slot = slots_[id];
  for (size_t d = 0; d < value.limits.rank; ++d) {
    slot.sizes[d] = static_cast<int32_t>(value.limits[d]);
    slot.order[d] = static_cast<uint8_t>(d);
  }
  slot.tensor = Tensor(value.dtype, value.limits.rank, slot.sizes, slot.order, slot.strides,
                       nullptr, ShapeDynamism::kDynamicBound);
  values_[id] = EValue(&slot.tensor);
}

Status CpuMethod::make_slots() {
  size_t states = 0, scaled = 0;
  for (const PayloadCall& call : graph_.calls) {
    scaled += call.op->scaled >= 0;
    const PayloadValue& result = graph_.values[static_cast<size_t>(call.result())];
    states += result.is_state;
    for (const int32_t id : result.values)
      states += graph_.values[static_cast<size_t>(id)].is_state;
  }
  next_extra_ = graph_.values.size() + states;
  values_.resize(next_extra_ + Operator::kMostFactors * plan_.rounding().size() + scaled);
  slots_.resize(values_.size());
  for (ValueId id = 0; id < graph_.values.size(); ++id) {
    const PayloadValue& value = graph_.values[id];
    if (value.kind == Kind::kSymInt || (value.kind == Kind::kInt && value.is_input)) {
      values_[id] = EValue(value.integer);
    }
    if (value.kind != Kind::kTensor) continue;
    TensorSlot& slot = slots_[id];
    for (size_t d = 0; d < value.limits.rank; ++d) {
      TAPER_VULKAN_REQUIRE(value.limits[d] <= INT32_MAX, "a tensor of the payload is too large");
    }
    TAPER_VULKAN_REQUIRE(value.limits.numel() <= INT32_MAX, "a tensor of the payload is too large");
    make_slot(id, value);
    slot.is_set = value.is_constant || value.is_input;
    if (value.is_constant) TAPER_TRY(set_constant(slot, value));
  }
  return {};
}

Status CpuMethod::set_constant(TensorSlot& slot, const PayloadValue& value) {
  const uint8_t* data = value.data.data();
  if (value.is_state || reinterpret_cast<uintptr_t>(data) % element_size(value.dtype) != 0) {
    std::vector<uint64_t>& copy = copies_.emplace_back(value.data.size() / sizeof(uint64_t) + 1);
    if (!value.data.empty()) std::memcpy(copy.data(), data, value.data.size());
    data = reinterpret_cast<const uint8_t*>(copy.data());
  }
  slot.tensor.set_data(const_cast<uint8_t*>(data));  // Not written if it is not a copy.
  if (!value.is_state) slot.tensor.set_constant();
  return {};
}

Status CpuMethod::find_kernel(const PayloadCall& from, const BackendInitContext& context,
                              const Kernel*& kernel) const {
  if (from.op->kernel != nullptr) kernel = context.find_kernel(from.op->kernel);
  if (from.op->kernel != nullptr && kernel == nullptr) kernel = find_cpu_kernel(from.op->kernel);
  if (kernel != nullptr) return {};
  const Status missing(
      Error::kOperatorMissing,
      from.op->kernel == nullptr
          ? "the Vulkan delegate has it for a GPU alone, and there is none"
          : "there is no GPU, and no kernel table has a kernel for this operator of the payload");
  if (reports_)
    context.report(missing, from.op->kernel == nullptr ? from.op->name : from.op->kernel);
  return missing;
}

// That of the result, or else of argument 0.
ScalarType CpuMethod::dtype_of_integers(const PayloadCall& call) const {
  const PayloadValue& result = graph_.values[static_cast<size_t>(call.result())];
  const bool is_made = result.kind == Kind::kTensor && result.dtype != ScalarType::kFloat;
  return is_made ? result.dtype : graph_.values[static_cast<size_t>(call.args[0])].dtype;
}

Status CpuMethod::add_call(const PayloadCall& from, const BackendInitContext& context) {
  EValue* rounded[Operator::kMostFactors] = {};
  if (is_rounding()) TAPER_TRY(add_rounding(from, rounded));
  EValue* scaled = nullptr;
  if (from.op->scaled >= 0) TAPER_TRY(add_scaling(from, scaled));
  KernelCall& call = calls_.emplace_back();
  call.from = &from;
  const auto result = static_cast<ValueId>(from.args[from.op->arguments]);
  const bool is_size = graph_.values[result].kind == Kind::kSymInt;
  if (is_size && from.op->kernel == nullptr) {
    for (const int32_t id : from.args) {
      const EValue& arg = values_[static_cast<size_t>(id)];
      if (arg.is_tensor()) TAPER_TRY(note_access(arg, false));
    }
    return {};
  }
  TAPER_TRY(find_kernel(from, context, call.kernel));
  for (size_t i = 0; i < from.op->arguments; ++i) {
    const bool is_option = from.op->options >= 0 && i >= static_cast<size_t>(from.op->options) &&
                           i < static_cast<size_t>(from.op->options) + kTensorOptions;
    if (is_option) continue;
    if (i >= from.op->arguments - from.op->bounds) continue;
    const auto id = static_cast<ValueId>(from.args[i]);
    if (scaled != nullptr && static_cast<int>(i) == from.op->scaled) {
      call.args.push_back(scaled);
      continue;
    }
    if (scaled != nullptr && static_cast<int>(i) == from.op->scaled + 1) continue;
    const bool is_dtype = static_cast<int>(i) == from.op->dtype;
    if (is_dtype && graph_.values[id].kind == Kind::kNone) {
      call.args.push_back(&items_.emplace_back(static_cast<int64_t>(dtype_of_integers(from))));
      continue;
    }
    TAPER_TRY(add_argument(call, id));
    const size_t factor = i - from.op->factors;
    if (factor < from.op->num_factors && rounded[factor] != nullptr)
      call.args.back() = rounded[factor];
  }
  TAPER_TRY(add_results(call));
  TAPER_VULKAN_REQUIRE(call.args.size() == call.kernel->arg_count,
                       "a call of the payload has the wrong number of arguments");
  for (const bool writes : {false, true}) {
    for (size_t i = 0; i < call.args.size(); ++i) {
      const ArgSpec spec = call.kernel->args[i];
      TAPER_VULKAN_REQUIRE(spec.kind != ArgKind::kNumberOut && spec.kind != ArgKind::kAliasTensor &&
                               accepts(spec, *call.args[i]),
                           "an argument of the payload is not what its kernel takes");
      if (is_out(spec.kind) == writes) TAPER_TRY(note_access(*call.args[i], writes));
    }
  }
  if (from.op->bounds != 0) TAPER_TRY(add_clamp(from, *call.args.back()));
  for (NewState& each : new_states_) {
    each.call = std::min(each.call, static_cast<uint32_t>(calls_.size() - 1));
  }
  return {};
}

// The last arguments are bounds of what the call before has computed.
Status CpuMethod::add_clamp(const PayloadCall& from, EValue& result) {
  KernelCall& call = calls_.emplace_back();
  call.from = &from;
  call.kernel = find_cpu_kernel("vulkan::clamp");
  for (size_t i = from.op->arguments - from.op->bounds; i < from.op->arguments; ++i) {
    TAPER_TRY(add_argument(call, static_cast<ValueId>(from.args[i])));
    TAPER_VULKAN_REQUIRE(accepts(call.kernel->args[call.args.size() - 1], *call.args.back()),
                         "an argument of the payload is not what its kernel takes");
  }
  call.args.push_back(&result);
  return {};
}

bool CpuMethod::is_rounding() const {
  return std::binary_search(plan_.rounding().begin(), plan_.rounding().end(), call_);
}

// A tensor of float32, with the sizes of another, that a call of a kernel computes; what the kernel
// takes before its result is in call.args by then.
Status CpuMethod::add_made(ValueId like, KernelCall& call, EValue*& made) {
  TensorSlot& slot = slots_[next_extra_];
  std::copy(slots_[like].sizes, slots_[like].sizes + Dims::kMaxRank, slot.sizes);
  std::copy(slots_[like].order, slots_[like].order + Dims::kMaxRank, slot.order);
  slot.tensor = Tensor(ScalarType::kFloat, graph_.values[like].limits.rank, slot.sizes, slot.order,
                       slot.strides, nullptr, ShapeDynamism::kDynamicBound);
  made = &values_[next_extra_++];
  *made = EValue(&slot.tensor);
  for (const EValue* arg : call.args) TAPER_TRY(note_access(*arg, false));
  call.args.push_back(made);
  return note_access(*made, true);
}

// Weights of bytes with a scale for each row become floats, which a call before this one computes.
Status CpuMethod::add_scaling(const PayloadCall& from, EValue*& scaled) {
  const auto at = static_cast<size_t>(from.op->scaled);
  const auto weights = static_cast<ValueId>(from.args[at]);
  const auto scales = static_cast<ValueId>(from.args[at + 1]);
  TAPER_VULKAN_REQUIRE(values_[weights].is_tensor() && values_[scales].is_tensor(),
                       "weights or their scales are not tensors");
  KernelCall& call = calls_.emplace_back();
  call.from = &from;
  call.kernel = find_cpu_kernel("vulkan::scale_rows");
  call.args = {&values_[weights], &values_[scales]};
  return add_made(weights, call, scaled);
}

// Factors become tensors of their own, which calls before this one compute.
Status CpuMethod::add_rounding(const PayloadCall& from,
                               EValue* (&rounded)[Operator::kMostFactors]) {
  for (size_t factor = 0; factor < from.op->num_factors; ++factor) {
    const auto id = static_cast<ValueId>(from.args[from.op->factors + factor]);
    TAPER_VULKAN_REQUIRE(values_[id].is_tensor(), "a factor of a product is not a tensor");
    const PayloadValue& value = graph_.values[id];
    if (value.dtype != ScalarType::kFloat) continue;  // Bytes stay as they are.
    KernelCall& call = calls_.emplace_back();
    call.from = &from;
    call.kernel = find_cpu_kernel("vulkan::round_to_half");
    call.args = {&values_[id]};
    TAPER_TRY(add_made(id, call, rounded[factor]));
  }
  return {};
}

// Results that a GPU stores as float16 are rounded in place.
void CpuMethod::add_storing(const PayloadCall& from) {
  const auto store = [&](int32_t id) {
    const auto value = static_cast<ValueId>(id);
    if (!values_[value].is_tensor() || !plan_.is_half(value)) return;
    KernelCall& call = calls_.emplace_back();
    call.from = &from;
    call.kernel = find_cpu_kernel("vulkan::round_to_half");
    call.args = {&values_[value], &values_[value]};
  };
  store(from.result());
  for (const int32_t id : graph_.values[static_cast<size_t>(from.result())].values) store(id);
}

Status CpuMethod::add_argument(KernelCall& call, ValueId id) {
  const size_t i = call.args.size();
  const bool is_written = i - call.from->op->written < call.from->op->num_written;
  TAPER_VULKAN_REQUIRE(
      i < call.kernel->arg_count && is_out(call.kernel->args[i].kind) == is_written,
      "a call of the payload has the wrong number of arguments");
  call.args.push_back(argument(call.kernel->args[i], id));
  TAPER_VULKAN_REQUIRE(call.args.back() != nullptr,
                       "an argument of the payload is not what its kernel takes");
  return {};
}

// A list of results is one argument, or one for each.
Status CpuMethod::add_results(KernelCall& call) {
  const auto id = static_cast<ValueId>(call.from->args[call.from->op->arguments]);
  const PayloadValue& result = graph_.values[id];
  if (result.kind != Kind::kValues) {
    call.args.push_back(result_slot(id));
    return {};
  }
  const size_t i = call.args.size();
  if (i < call.kernel->arg_count && call.kernel->args[i].kind == ArgKind::kMutableTensorList) {
    call.args.push_back(tensors(ArgKind::kMutableTensorList, result));
  } else {
    for (const int32_t each : result.values) {
      call.args.push_back(result_slot(static_cast<ValueId>(each)));
    }
  }
  TAPER_VULKAN_REQUIRE(call.args.back() != nullptr, "a result is not a tensor");
  return {};
}

// Where a kernel writes a result.
EValue* CpuMethod::result_slot(ValueId id) {
  if (!graph_.values[id].is_state) return &values_[id];
  const auto contents = static_cast<ValueId>(graph_.values.size() + new_states_.size());
  make_slot(contents, graph_.values[id]);
  new_states_.push_back({UINT32_MAX, id, contents});
  return &values_[contents];
}

// Null if it is nothing that can be made of the value; what its kind is, accepts() says.
EValue* CpuMethod::argument(ArgSpec spec, ValueId id) {
  const PayloadValue& value = graph_.values[id];
  if (value.kind == Kind::kNone) return &items_.emplace_back();
  switch (spec.kind) {
    case ArgKind::kScalar:
    case ArgKind::kInt:
    case ArgKind::kDouble:
    case ArgKind::kBool:
      return number(spec.kind, id);
    case ArgKind::kString:
      return &items_.emplace_back(value.text.data(), static_cast<uint32_t>(value.text.size()));
    case ArgKind::kIntList:
      return integers(value);
    case ArgKind::kDoubleList:
      return doubles(value);
    case ArgKind::kBoolList:
      return bools(value);
    case ArgKind::kTensorList:
    case ArgKind::kOptionalTensorList:
      return tensors(spec.kind, value);
    default:
      return value.kind == Kind::kTensor ? &values_[id] : nullptr;
  }
}

EValue* CpuMethod::number(ArgKind kind, ValueId id) {
  const PayloadValue& value = graph_.values[id];
  switch (value.kind) {
    case Kind::kInt:
      return value.is_input ? &values_[id] : &items_.emplace_back(value.integer);
    case Kind::kSymInt:
      return &values_[id];
    case Kind::kBool:
      return &items_.emplace_back(value.integer != 0);
    case Kind::kDouble:
      if (kind == ArgKind::kScalar || kind == ArgKind::kDouble) {
        return &items_.emplace_back(value.real);
      }
      // Writers give equal scalars one value, so an integer may be a double.
      return &items_.emplace_back(Scalar(value.real).to_int());
    default:
      return nullptr;
  }
}

// A list of numbers, or one of them.
EValue* CpuMethod::integers(const PayloadValue& value) {
  std::vector<EValue*>& pointers = pointers_.emplace_back();
  for (const int64_t item : value.ints) pointers.push_back(&items_.emplace_back(item));
  for (const uint8_t item : value.bools) {
    pointers.push_back(&items_.emplace_back(int64_t{item}));
  }
  for (const int32_t id : value.values) {
    pointers.push_back(number(ArgKind::kInt, static_cast<ValueId>(id)));
  }
  if (value.kind == Kind::kInt || value.kind == Kind::kDouble || value.kind == Kind::kSymInt) {
    pointers.push_back(number(ArgKind::kInt, static_cast<ValueId>(&value - graph_.values.data())));
  }
  for (EValue*& each : pointers) {
    if (each == nullptr) return nullptr;
    if (each->is_bool()) each = &items_.emplace_back(int64_t{each->to_bool()});
  }
  const auto count = static_cast<uint32_t>(pointers.size());
  int_lists_.push_back({pointers.data(), integers_.emplace_back(count).data()});
  return &items_.emplace_back(&int_lists_.back(), count);
}

EValue* CpuMethod::doubles(const PayloadValue& value) {
  std::vector<double>& list = doubles_.emplace_back();
  for (const double item : value.doubles) list.push_back(item);
  for (const int64_t item : value.ints) list.push_back(static_cast<double>(item));
  return &items_.emplace_back(static_cast<const double*>(list.data()),
                              static_cast<uint32_t>(list.size()));
}

EValue* CpuMethod::bools(const PayloadValue& value) {
  const size_t count = value.bools.size() + value.ints.size();
  bool* list = bools_.emplace_back(new bool[count + 1]).get();
  for (size_t i = 0; i < value.bools.size(); ++i) list[i] = value.bools[i] != 0;
  for (size_t i = 0; i < value.ints.size(); ++i) list[i] = value.ints[i] != 0;
  return &items_.emplace_back(static_cast<const bool*>(list), static_cast<uint32_t>(count));
}

EValue* CpuMethod::tensors(ArgKind kind, const PayloadValue& value) {
  std::vector<EValue*>& pointers = pointers_.emplace_back();
  for (const int32_t id : value.values) {
    const bool is_result = kind == ArgKind::kMutableTensorList;
    EValue* item =
        is_result ? result_slot(static_cast<ValueId>(id)) : &values_[static_cast<size_t>(id)];
    if (!item->is_tensor() && !item->is_none()) return nullptr;
    pointers.push_back(item);
  }
  const auto count = static_cast<uint32_t>(pointers.size());
  tensor_lists_.push_back({pointers.data(), unboxed_.emplace_back(count).data()});
  return &items_.emplace_back(
      &tensor_lists_.back(), count,
      kind == ArgKind::kOptionalTensorList ? Tag::kOptionalTensorList : Tag::kTensorList);
}

Status CpuMethod::note_tensor(ValueId id, bool writes) {
  TensorSlot& slot = slots_[id];
  if (id < graph_.values.size() && graph_.values[id].is_state) return {};
  TAPER_VULKAN_REQUIRE(slot.is_set != writes,
                       writes ? "a tensor of the payload is written after it is set"
                              : "a tensor of the payload is read before it is written");
  if (writes) slot.first = call_;
  slot.last = call_;
  slot.is_set = true;
  return {};
}

// Tensors are items of values_, others need not be.
Status CpuMethod::note_access(const EValue& arg, bool writes) {
  if (arg.is_tensor()) return note_tensor(static_cast<ValueId>(&arg - values_.data()), writes);
  if (arg.tag() == Tag::kTensorList || arg.tag() == Tag::kOptionalTensorList) {
    for (const EValue* item : arg.list_items()) TAPER_TRY(note_access(*item, writes));
  }
  return {};
}

Status CpuMethod::allocate(uint64_t max_bytes) {
  std::vector<ArenaBlock> blocks;
  std::vector<ValueId> owners;
  const PayloadValue for_state;
  for (ValueId id = 0; id < slots_.size(); ++id) {
    const TensorSlot& slot = slots_[id];
    const PayloadValue& value = id < graph_.values.size() ? graph_.values[id] : for_state;
    const bool is_given = value.is_input && !is_index(value.dtype) && !value.is_half;
    if (!values_[id].is_tensor() || value.is_constant || is_given || !slot.is_set) continue;
    ArenaBlock block;
    block.bytes = padded(slot.tensor.nbytes() + 1);
    block.first = slot.first;
    block.last = slot.last;
    blocks.push_back(block);
    owners.push_back(id);
  }
  const uint64_t bytes = pack(blocks);
  TAPER_REQUIRE(bytes <= max_bytes && bytes <= SIZE_MAX / 2, Error::kDelegateMemoryAllocationFailed,
                "the payload asks for more memory than it may have");
  arena_.reset(std::calloc(1, static_cast<size_t>(bytes + kAlignment)));
  TAPER_REQUIRE(arena_ != nullptr, Error::kDelegateMemoryAllocationFailed, "there is no memory");
  arena_bytes_ = bytes;
  const auto base = padded(reinterpret_cast<uintptr_t>(arena_.get()));
  for (size_t i = 0; i < blocks.size(); ++i) {
    slots_[owners[i]].tensor.set_data(reinterpret_cast<uint8_t*>(base + blocks[i].offset));
    const ArenaBlock& block = blocks[i];
    placed_.push_back({block.offset, block.bytes, block.first, block.last,
                       graph_.node_of(owners[i], block.first)});
  }
  return {};
}

void CpuMethod::tell_memory(MemoryListener& listener) const {
  listener.add(MemoryBlock{"intermediate results", arena_bytes_, MemoryBlock::Kind::kOwn});
  for (const PlacedResult& result : placed_) listener.add(result);
}

// Arithmetic with sizes, as plans do it.
Status CpuMethod::compute_size(const KernelCall& call) {
  const Span<const int32_t> ids = call.from->args;
  for (const int32_t id : ids) {
    PayloadValue& value = graph_.values[static_cast<size_t>(id)];
    if (value.kind != Kind::kTensor) continue;
    const Tensor& tensor = values_[static_cast<size_t>(id)].to_tensor();
    for (size_t d = 0; d < value.dims.rank; ++d) {
      value.dims[d] = tensor.size(static_cast<int64_t>(d));
    }
  }
  Call planned(graph_, plan_, *call.from);
  call.from->op->plan(planned, call.from->op->variant);
  TAPER_TRY(planned.status());
  const auto result = static_cast<size_t>(ids[ids.size() - 1]);
  values_[result] = EValue(graph_.values[result].integer);
  return {};
}

// Kernels read an argument where it is, unless it has another dtype than the payload says.
Status CpuMethod::bind_input(ValueId id, EValue& arg) {
  if (graph_.values[id].kind != Kind::kTensor) {
    values_[id] = EValue(graph_.values[id].integer);
    return {};
  }
  Tensor& given = arg.to_tensor();
  Tensor& own = slots_[id].tensor;
  values_[id] = EValue(given.scalar_type() == own.scalar_type() ? &given : &own);
  if (given.scalar_type() == own.scalar_type()) return {};
  TAPER_TRY(own.resize(given.sizes()));
  return copy_elements(given, own);
}

Status CpuMethod::execute(BackendExecutionContext& context, Span<EValue* const> args) {
  TAPER_REQUIRE(args.size() == graph_.inputs.size() + graph_.outputs.size(),
                Error::kInvalidArgument, "the payload has another number of arguments");
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const ValueId id = graph_.inputs[i];
    bool changed = false;
    TAPER_TRY(take_sizes(*args[i], graph_.values[id], changed));
    TAPER_TRY(bind_input(id, *args[i]));
  }
  size_t stored = 0;
  for (size_t i = 0; i < calls_.size(); ++i) {
    const KernelCall& call = calls_[i];
    if (call.kernel == nullptr) {
      TAPER_TRY(compute_size(call));
      continue;
    }
    KernelContext kernel_context(Span<unsigned char>(context.temp().data(), context.temp().size()),
                                 pool_);
    TAPER_TRY(call.kernel->run(kernel_context, call.args.data()));
    for (; stored < new_states_.size() && new_states_[stored].call == i; ++stored) {
      const Tensor& contents = slots_[new_states_[stored].contents].tensor;
      Tensor& state = slots_[new_states_[stored].state].tensor;
      TAPER_REQUIRE(contents.nbytes() == state.nbytes(), Error::kInvalidArgument,
                    "a buffer that the program writes has other sizes than what is written");
      TAPER_TRY(copy_elements(contents, state));
    }
  }
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    EValue& arg = *args[graph_.inputs.size() + i];
    const PayloadValue& value = graph_.values[graph_.outputs[i]];
    if (value.kind != Kind::kTensor) {
      TAPER_TRY(set_number(arg, value.integer));
      continue;
    }
    const Tensor& from = values_[graph_.outputs[i]].to_tensor();
    Dims dims;
    for (const int32_t size : from.sizes()) dims.push_back(size);
    TAPER_TRY(resize_output(arg, value, dims));
    TAPER_TRY(copy_elements(from, arg.to_tensor()));
  }
  return {};
}

Status CpuMethod::reset() {
  for (ValueId id = 0; id < graph_.values.size(); ++id) {
    const PayloadValue& value = graph_.values[id];
    if (!value.is_state || value.data.empty()) continue;
    std::memcpy(slots_[id].tensor.mutable_data(), value.data.data(), value.data.size());
  }
  return {};
}

bool CpuMethod::has_states() const {
  return std::any_of(graph_.values.begin(), graph_.values.end(),
                     [](const PayloadValue& value) { return value.is_state; });
}

}  // namespace taper::vulkan
