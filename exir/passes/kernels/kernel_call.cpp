// Slots are made in the order of the kernel's schema, from the arguments of the node by name.

#include "exir/passes/kernels/kernel_call.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "exir/ops/variants.h"

namespace taper::exir {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 31;
constexpr size_t kAlignment = 64;

size_t bytes_of(const TensorType& type) {
  size_t bytes = element_size(type.dtype);
  for (const Sym& size : type.sizes) {
    if (!size.is_int() || size.as_int() < 0 || size.as_int() > INT32_MAX) return kMaxBytes + 1;
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(size.as_int()), &bytes)) bytes = SIZE_MAX;
  }
  return bytes;
}

}  // namespace

CallBlock::CallBlock(size_t size) {
  bytes.reset(static_cast<unsigned char*>(std::malloc(size + kAlignment)), std::free);
  if (bytes == nullptr) throw std::bad_alloc();
  const size_t off = reinterpret_cast<uintptr_t>(bytes.get()) % kAlignment;
  data = bytes.get() + (kAlignment - off) % kAlignment;
}

bool KernelCall::prepare(const Schema& schema) {
  for (const SchemaArg& arg : schema.args) {
    if (!add(arg)) return false;
  }
  return true;
}

std::optional<Status> KernelCall::run(const Kernel& kernel) {
  if (kernel.arg_count != args_.size()) return std::nullopt;
  for (size_t i = 0; i < args_.size(); ++i) {
    if (!accepts(kernel.args[i], *args_[i])) return std::nullopt;
  }
  size_t scratch = size_t{1} << 20;
  for (const TensorSlot& slot : tensors_) scratch += 2 * slot.tensor.nbytes();
  const CallBlock temp(scratch);
  KernelContext context(Span<unsigned char>(temp.data, scratch));
  return kernel.run(context, args_.data());
}

bool KernelCall::add(const SchemaArg& arg) {
  if (is_out_argument(arg)) return add_out(arg);
  const int from = node_.schema->find(arg.name);
  const Argument value = from < 0 || static_cast<size_t>(from) >= node_.args.size()
                             ? default_argument(arg)
                             : node_.args[static_cast<size_t>(from)];
  EValue* slot = value.is_list() ? list(value, arg.type) : single(value);
  args_.push_back(slot);
  return slot != nullptr;
}

bool KernelCall::add_out(const SchemaArg& arg) {
  if (!arg.type.list) {
    args_.push_back(next_out());
    return args_.back() != nullptr;
  }
  std::vector<EValue*> items;
  while (outs_.size() < node_.outputs.size()) {
    items.push_back(next_out());
    if (items.back() == nullptr) return false;
  }
  args_.push_back(tensor_list(std::move(items), Tag::kTensorList));
  return true;
}

EValue* KernelCall::next_out() {
  if (outs_.size() >= node_.outputs.size()) return nullptr;
  const Value* output = node_.outputs[outs_.size()];
  if (output->kind != ValueKind::kTensor || output->type.rank() > kMaxRank) return nullptr;
  std::optional<TensorType> type = inputs_.type(output);
  if (!type) return nullptr;
  const size_t bytes = bytes_of(*type);
  if (bytes > kMaxBytes) return nullptr;
  outs_.push_back(&blocks_.emplace_back(bytes));
  out_bytes_.push_back(bytes);
  return tensor(*type, blocks_.back().data);
}

EValue* KernelCall::tensor(const TensorType& type, void* data) {
  TensorSlot& slot = tensors_.emplace_back();
  for (const Sym& size : type.sizes) slot.sizes.push_back(static_cast<int32_t>(size.as_int()));
  slot.strides.resize(type.rank());
  slot.order = type.dim_order;
  slot.tensor = Tensor(type.dtype, type.rank(), slot.sizes.data(), slot.order.data(),
                       slot.strides.data(), data);
  return &slots_.emplace_back(&slot.tensor);
}

EValue* KernelCall::constant(const Value* value) {
  const std::optional<TensorType> type = inputs_.type(value);
  if (!type || type->rank() > kMaxRank) return nullptr;
  const size_t bytes = bytes_of(*type);
  if (bytes > kMaxBytes) return nullptr;
  const TensorData* data = inputs_.data(value);
  if (data == nullptr || data->bytes != bytes) return nullptr;
  if (reinterpret_cast<uintptr_t>(data->data) % kAlignment == 0) {
    return tensor(*type, const_cast<uint8_t*>(data->data));
  }
  CallBlock& copy = blocks_.emplace_back(bytes);
  if (bytes != 0) std::memcpy(copy.data, data->data, bytes);
  return tensor(*type, copy.data);
}

// Null if the argument cannot be put into a slot.
EValue* KernelCall::single(const Argument& arg) {
  if (arg.is_none()) return &slots_.emplace_back();
  if (const auto* number = std::get_if<int64_t>(&arg.v)) return &slots_.emplace_back(*number);
  if (const auto* number = std::get_if<double>(&arg.v)) return &slots_.emplace_back(*number);
  if (const auto* flag = std::get_if<bool>(&arg.v)) return &slots_.emplace_back(*flag);
  if (const auto* text = std::get_if<std::string>(&arg.v)) {
    const std::string& kept = texts_.emplace_back(*text);
    return &slots_.emplace_back(kept.c_str(), static_cast<uint32_t>(kept.size()));
  }
  if (const auto* type = std::get_if<ScalarType>(&arg.v)) {
    return &slots_.emplace_back(static_cast<int64_t>(*type));
  }
  if (const auto* format = std::get_if<MemoryFormat>(&arg.v)) {
    return &slots_.emplace_back(int64_t{*format != MemoryFormat::kContiguous});
  }
  if (arg.is<Layout>()) return &slots_.emplace_back(int64_t{0});
  if (!arg.is_value()) return nullptr;
  const Value* value = arg.value();
  if (value->kind == ValueKind::kTensor) return constant(value);
  const std::optional<int64_t> number = inputs_.number(value);
  return number ? &slots_.emplace_back(*number) : nullptr;
}

EValue* KernelCall::list(const Argument& arg, const ArgType& type) {
  if (type.base == TypeBase::kFloat) return doubles(arg);
  if (type.base == TypeBase::kBool) return bools(arg);
  std::vector<EValue*> items;
  for (const Argument& item : arg.list()) {
    items.push_back(single(item));
    if (items.back() == nullptr) return nullptr;
  }
  if (type.base == TypeBase::kInt) return ints(std::move(items));
  if (type.base != TypeBase::kTensor) return nullptr;
  return tensor_list(std::move(items),
                     type.optional_item ? Tag::kOptionalTensorList : Tag::kTensorList);
}

EValue* KernelCall::ints(std::vector<EValue*> items) {
  const auto count = static_cast<uint32_t>(items.size());
  for (const EValue* item : items) {
    if (!item->is_int()) return nullptr;
  }
  numbers_.emplace_back(count);
  pointers_.push_back(std::move(items));
  int_lists_.push_back({pointers_.back().data(), numbers_.back().data()});
  return &slots_.emplace_back(&int_lists_.back(), count);
}

EValue* KernelCall::tensor_list(std::vector<EValue*> items, Tag tag) {
  const auto count = static_cast<uint32_t>(items.size());
  scratch_.emplace_back(count);
  pointers_.push_back(std::move(items));
  tensor_lists_.push_back({pointers_.back().data(), scratch_.back().data()});
  return &slots_.emplace_back(&tensor_lists_.back(), count, tag);
}

EValue* KernelCall::doubles(const Argument& arg) {
  std::vector<double>& items = doubles_.emplace_back();
  for (const Argument& item : arg.list()) {
    if (item.is_value()) return nullptr;
    items.push_back(item.to_double());
  }
  return &slots_.emplace_back(items.data(), static_cast<uint32_t>(items.size()));
}

EValue* KernelCall::bools(const Argument& arg) {
  const size_t count = arg.list().size();
  bools_.emplace_back(new bool[count + 1]);
  for (size_t i = 0; i < count; ++i) {
    if (arg.list()[i].is_value()) return nullptr;
    bools_.back()[i] = arg.list()[i].to_bool();
  }
  return &slots_.emplace_back(static_cast<const bool*>(bools_.back().get()),
                              static_cast<uint32_t>(count));
}

std::vector<TensorData> KernelCall::results() const {
  std::vector<TensorData> out;
  for (size_t i = 0; i < outs_.size(); ++i) {
    out.push_back({outs_[i]->data, out_bytes_[i], outs_[i]->bytes});
  }
  return out;
}

}  // namespace taper::exir
