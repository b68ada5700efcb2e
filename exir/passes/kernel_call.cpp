#include "exir/passes/kernel_call.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "exir/passes/to_out_variants.h"

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

void fill_with_ones(ScalarType dtype, size_t bytes, unsigned char* to) {
  const float one_float = 1;
  const double one_double = 1;
  uint64_t one = dtype == ScalarType::kHalf ? 0x3c00 : dtype == ScalarType::kBFloat16 ? 0x3f80 : 1;
  if (dtype == ScalarType::kFloat) std::memcpy(&one, &one_float, sizeof one_float);
  if (dtype == ScalarType::kDouble) std::memcpy(&one, &one_double, sizeof one_double);
  const size_t item = element_size(dtype);
  for (size_t at = 0; at + item <= bytes; at += item) std::memcpy(to + at, &one, item);
}

}  // namespace

CallBlock::CallBlock(size_t size, CallMode mode) {
  if (mode == CallMode::kProbe) {
    void* pages = mmap(nullptr, size + kAlignment, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    bytes.reset(static_cast<unsigned char*>(pages),
                [size](unsigned char* mapped) { munmap(mapped, size + kAlignment); });
  } else {
    void* block = mode == CallMode::kSample ? std::calloc(size + kAlignment, 1)
                                            : std::malloc(size + kAlignment);
    bytes.reset(static_cast<unsigned char*>(block), std::free);
    if (bytes == nullptr) throw std::bad_alloc();
  }
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
  const CallBlock temp(scratch, mode_ == CallMode::kProbe ? mode_ : CallMode::kScratch);
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
  if (mode_ == CallMode::kProbe && type->rank() > 0) type->sizes.back() = type->sizes.back() + 1;
  const size_t bytes = bytes_of(*type);
  if (bytes > kMaxBytes) return nullptr;
  if (mode_ == CallMode::kSample) return sample_out(*type);
  outs_.push_back(&blocks_.emplace_back(bytes, mode_));
  out_bytes_.push_back(bytes);
  return tensor(*type, blocks_.back().data);
}

EValue* KernelCall::sample_out(const TensorType& type) {
  constexpr int64_t kRoom = 64;
  const size_t bytes = kRoom * element_size(type.dtype);
  outs_.push_back(&blocks_.emplace_back(bytes, mode_));
  out_bytes_.push_back(bytes);
  EValue* slot = tensor(type, blocks_.back().data);
  TensorSlot& made = tensors_.back();
  made.tensor = Tensor(type.dtype, type.rank(), made.sizes.data(), made.order.data(),
                       made.strides.data(), blocks_.back().data, ShapeDynamism::kDynamicBound);
  made.tensor.set_data(blocks_.back().data, kRoom);
  return slot;
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
  if (mode_ != CallMode::kRun) {
    unsigned char* made = blocks_.emplace_back(bytes, mode_).data;
    if (mode_ == CallMode::kSample) fill_with_ones(type->dtype, bytes, made);
    return tensor(*type, made);
  }
  const TensorData* data = inputs_.data(value);
  if (data == nullptr || data->bytes != bytes) return nullptr;
  if (reinterpret_cast<uintptr_t>(data->data) % kAlignment == 0) {
    return tensor(*type, const_cast<uint8_t*>(data->data));
  }
  CallBlock& copy = blocks_.emplace_back(bytes, mode_);
  if (bytes != 0) std::memcpy(copy.data, data->data, bytes);
  return tensor(*type, copy.data);
}

// Null where the argument has no slot.
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
