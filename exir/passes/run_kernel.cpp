#include "exir/passes/run_kernel.h"

#include <cstring>
#include <deque>

#include "exir/ops/registry.h"
#include "exir/passes/to_out_variants.h"
#include "kernels_portable/kernel_table.h"
#include "taper/kernel.h"

namespace taper::exir {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 31;
constexpr size_t kAlignment = 64;

// Memory for one tensor, aligned as on the device.
struct Block {
  std::shared_ptr<unsigned char[]> bytes;
  unsigned char* data = nullptr;

  explicit Block(size_t size) : bytes(new unsigned char[size + kAlignment]) {
    const size_t off = reinterpret_cast<uintptr_t>(bytes.get()) % kAlignment;
    data = bytes.get() + (kAlignment - off) % kAlignment;
  }
};

// A tensor with the arrays that it views.
struct TensorSlot {
  std::vector<int32_t> sizes, strides;
  std::vector<uint8_t> order;
  Tensor tensor;
};

size_t bytes_of(const TensorType& type) {
  size_t bytes = element_size(type.dtype);
  for (const Sym& size : type.sizes) {
    if (!size.is_int() || size.as_int() < 0 || size.as_int() > INT32_MAX) return kMaxBytes + 1;
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(size.as_int()), &bytes)) bytes = SIZE_MAX;
  }
  return bytes;
}

// The call under construction. Deques keep the addresses of what slots point to.
class Call {
 public:
  Call(const Node& node, const DataOf& data_of) : node_(node), data_of_(data_of) {}

  bool prepare(const Schema& schema) {
    for (const SchemaArg& arg : schema.args) {
      if (!add(arg)) return false;
    }
    return true;
  }

  std::optional<std::vector<TensorData>> run(const Kernel& kernel) {
    if (kernel.arg_count != args_.size()) return std::nullopt;
    for (size_t i = 0; i < args_.size(); ++i) {
      if (!accepts(kernel.args[i], *args_[i])) return std::nullopt;
    }
    size_t scratch = size_t{1} << 20;
    for (const TensorSlot& slot : tensors_) scratch += 2 * slot.tensor.nbytes();
    Block temp(scratch);
    KernelContext context(Span<unsigned char>(temp.data, scratch));
    if (!kernel.run(context, args_.data()).ok()) return std::nullopt;
    return results();
  }

 private:
  bool add(const SchemaArg& arg) {
    if (is_out_argument(arg)) return add_out(arg);
    const int from = node_.schema->find(arg.name);
    const Argument value = from < 0 || static_cast<size_t>(from) >= node_.args.size()
                               ? default_argument(arg)
                               : node_.args[static_cast<size_t>(from)];
    EValue* slot = value.is_list() ? list(value, arg.type) : single(value);
    args_.push_back(slot);
    return slot != nullptr;
  }

  bool add_out(const SchemaArg& arg) {
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

  EValue* next_out() {
    if (outs_.size() >= node_.outputs.size()) return nullptr;
    const Value* output = node_.outputs[outs_.size()];
    if (output->kind != ValueKind::kTensor || output->type.rank() > kMaxRank) return nullptr;
    const size_t bytes = bytes_of(output->type);
    if (bytes > kMaxBytes) return nullptr;
    outs_.push_back(&blocks_.emplace_back(bytes));
    std::memset(blocks_.back().data, 0, bytes);
    return tensor(output->type, blocks_.back().data);
  }

  EValue* tensor(const TensorType& type, void* data) {
    TensorSlot& slot = tensors_.emplace_back();
    for (const Sym& size : type.sizes) slot.sizes.push_back(static_cast<int32_t>(size.as_int()));
    slot.strides.resize(type.rank());
    slot.order = type.dim_order;
    slot.tensor = Tensor(type.dtype, type.rank(), slot.sizes.data(), slot.order.data(),
                         slot.strides.data(), data);
    return &slots_.emplace_back(&slot.tensor);
  }

  EValue* constant(const Value* value) {
    const TensorData* data = data_of_(value);
    if (data == nullptr || value->type.rank() > kMaxRank) return nullptr;
    const size_t bytes = bytes_of(value->type);
    if (bytes > kMaxBytes || data->bytes != bytes) return nullptr;
    if (reinterpret_cast<uintptr_t>(data->data) % kAlignment == 0) {
      return tensor(value->type, const_cast<uint8_t*>(data->data));
    }
    Block& copy = blocks_.emplace_back(bytes);
    if (bytes != 0) std::memcpy(copy.data, data->data, bytes);
    return tensor(value->type, copy.data);
  }

  // Null where the argument has no slot.
  EValue* single(const Argument& arg) {
    if (arg.is_none()) return &slots_.emplace_back();
    if (const auto* number = std::get_if<int64_t>(&arg.v)) return &slots_.emplace_back(*number);
    if (const auto* number = std::get_if<double>(&arg.v)) return &slots_.emplace_back(*number);
    if (const auto* flag = std::get_if<bool>(&arg.v)) return &slots_.emplace_back(*flag);
    if (const auto* text = std::get_if<std::string>(&arg.v)) {
      return &slots_.emplace_back(text->c_str(), static_cast<uint32_t>(text->size()));
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
    return value->sym.is_int() ? &slots_.emplace_back(value->sym.as_int()) : nullptr;
  }

  EValue* list(const Argument& arg, const ArgType& type) {
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

  EValue* ints(std::vector<EValue*> items) {
    const auto count = static_cast<uint32_t>(items.size());
    for (const EValue* item : items) {
      if (!item->is_int()) return nullptr;
    }
    numbers_.emplace_back(count);
    pointers_.push_back(std::move(items));
    int_lists_.push_back({pointers_.back().data(), numbers_.back().data()});
    return &slots_.emplace_back(&int_lists_.back(), count);
  }

  EValue* tensor_list(std::vector<EValue*> items, Tag tag) {
    const auto count = static_cast<uint32_t>(items.size());
    scratch_.emplace_back(count);
    pointers_.push_back(std::move(items));
    tensor_lists_.push_back({pointers_.back().data(), scratch_.back().data()});
    return &slots_.emplace_back(&tensor_lists_.back(), count, tag);
  }

  EValue* doubles(const Argument& arg) {
    std::vector<double>& items = doubles_.emplace_back();
    for (const Argument& item : arg.list()) {
      if (item.is_value()) return nullptr;
      items.push_back(item.to_double());
    }
    return &slots_.emplace_back(items.data(), static_cast<uint32_t>(items.size()));
  }

  EValue* bools(const Argument& arg) {
    const size_t count = arg.list().size();
    bools_.emplace_back(new bool[count + 1]);
    for (size_t i = 0; i < count; ++i) {
      if (arg.list()[i].is_value()) return nullptr;
      bools_.back()[i] = arg.list()[i].to_bool();
    }
    return &slots_.emplace_back(static_cast<const bool*>(bools_.back().get()),
                                static_cast<uint32_t>(count));
  }

  std::vector<TensorData> results() const {
    std::vector<TensorData> out;
    for (size_t i = 0; i < outs_.size(); ++i) {
      out.push_back({outs_[i]->data, bytes_of(node_.outputs[i]->type), outs_[i]->bytes});
    }
    return out;
  }

  const Node& node_;
  const DataOf& data_of_;
  std::vector<EValue*> args_;
  std::vector<const Block*> outs_;
  std::deque<EValue> slots_;
  std::deque<TensorSlot> tensors_;
  std::deque<Block> blocks_;
  std::deque<std::vector<EValue*>> pointers_;
  std::deque<std::vector<int64_t>> numbers_;
  std::deque<std::vector<Tensor*>> scratch_;
  std::deque<BoxedIntList> int_lists_;
  std::deque<BoxedTensorList> tensor_lists_;
  std::deque<std::vector<double>> doubles_;
  std::deque<std::unique_ptr<bool[]>> bools_;
};

}  // namespace

std::optional<std::vector<TensorData>> run_kernel(const Node& node, const DataOf& data_of) {
  const std::shared_ptr<const Schema> out = out_variant(node.target());
  if (out == nullptr) return std::nullopt;
  const Kernel* kernel = find_kernel(portable::portable_kernels(), out->name);
  if (kernel == nullptr) return std::nullopt;
  Call call(node, data_of);
  if (!call.prepare(*out)) return std::nullopt;
  auto results = call.run(*kernel);
  if (!results || results->size() != node.outputs.size()) return std::nullopt;
  return results;
}

}  // namespace taper::exir
