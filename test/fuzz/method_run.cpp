// Loads and runs a method within limits, with inputs as declared and with others.

#include "test/fuzz/method_run.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace taper::fuzz {
namespace {

template <typename T>
void read_all(const T* items, size_t count) {
  volatile T sink = 0;
  for (size_t i = 0; i < count; ++i) sink = static_cast<T>(sink ^ items[i]);
}

// The sizes of a tensor that somebody mistakes for one of `sizes`.
std::vector<int32_t> other_sizes(std::vector<int32_t> sizes, Random& random) {
  if (sizes.empty() || random.one_in(6)) {
    sizes.push_back(static_cast<int32_t>(random.below(3)));
  } else if (random.one_in(6)) {
    sizes.pop_back();
  } else {
    int32_t& size = sizes[random.below(sizes.size())];
    const int32_t choices[] = {0, 1, size / 2, size - 1, size + 1, size < 4096 ? size * 2 : 7};
    size = std::max(0, choices[random.below(std::size(choices))]);
  }
  return sizes;
}

ScalarType other_dtype(Random& random) {
  constexpr ScalarType kDtypes[] = {ScalarType::kFloat, ScalarType::kLong, ScalarType::kByte,
                                    ScalarType::kBool,  ScalarType::kHalf, ScalarType::kDouble};
  return kDtypes[random.below(std::size(kDtypes))];
}

}  // namespace

Block::Block(size_t bytes) : data_(std::malloc(bytes == 0 ? 1 : bytes)), size_(bytes) {
  if (data_ == nullptr) std::abort();
  std::memset(data_, 0, size_);
}

Block::~Block() { std::free(data_); }

bool MethodRun::reserve() {
  uint64_t total = meta_.method_bytes();
  for (size_t i = 0; i < meta_.num_memory_planned_buffers(); ++i) {
    const uint64_t bytes = meta_.memory_planned_buffer_size(i).value();
    if (bytes > kMaxBytes) return false;
    total += bytes;
  }
  if (total > kMaxBytes) return false;
  blocks_.emplace_back(meta_.method_bytes());
  blocks_.emplace_back(size_t{1} << 16);
  for (size_t i = 0; i < meta_.num_memory_planned_buffers(); ++i) {
    blocks_.emplace_back(static_cast<size_t>(meta_.memory_planned_buffer_size(i).value()));
    planned_.push_back(blocks_.back().span());
  }
  return true;
}

Tensor* MethodRun::add_tensor(ScalarType dtype, std::vector<int32_t> sizes,
                              std::vector<uint8_t> order) {
  uint64_t bytes = element_size(dtype);
  for (const int32_t size : sizes) {
    bytes *= static_cast<uint64_t>(size);
    if (bytes > kMaxBytes) return nullptr;
  }
  Input& input = inputs_.emplace_back();
  input.sizes = std::move(sizes);
  input.order = std::move(order);
  input.strides.resize(input.sizes.size());
  input.tensor = Tensor(dtype, input.sizes.size(), input.sizes.data(), input.order.data(),
                        input.strides.data(), blocks_.emplace_back(bytes).span().data());
  return &input.tensor;
}

bool MethodRun::make_inputs() {
  for (size_t i = 0; i < meta_.num_inputs(); ++i) {
    const Result<TensorInfo> info = meta_.input_tensor_meta(i);
    if (!info.ok()) {
      values_.push_back(meta_.input_value(i).value());
      continue;
    }
    Tensor* tensor = add_tensor(info->scalar_type(), {info->sizes().begin(), info->sizes().end()},
                                {info->dim_order().begin(), info->dim_order().end()});
    if (tensor == nullptr) return false;
    values_.push_back(EValue(tensor));
  }
  return true;
}

bool MethodRun::bind_outputs() {
  for (size_t i = 0; i < meta_.num_outputs(); ++i) {
    const Result<TensorInfo> info = meta_.output_tensor_meta(i);
    if (!info.ok() || info->is_memory_planned()) continue;
    if (info->nbytes() > kMaxBytes) return false;
    const Span<uint8_t> memory = blocks_.emplace_back(info->nbytes()).span();
    const Status status = method_->set_output_data(i, memory.data(), memory.size());
    if (!status.ok() && status.error() != Error::kInvalidState) return false;
  }
  return true;
}

bool MethodRun::load(const MethodOptions& options) {
  if (!reserve()) return false;
  const MemoryManager memory = {blocks_[0].span(), HierarchicalAllocator(planned_),
                                blocks_[1].span()};
  Result<Method> method = Method::load(program_, meta_.name(), memory, options);
  if (!method.ok()) return false;
  method_.emplace(std::move(*method));
  return make_inputs() && method_->set_inputs(values_).ok() && bind_outputs();
}

void MethodRun::read_outputs() const {
  for (size_t i = 0; i < method_->num_outputs(); ++i) {
    const Result<EValue> output = method_->get_output(i);
    if (!output.ok() || !output->is_tensor()) continue;
    const Tensor& tensor = output->to_tensor();
    if (tensor.const_data() == nullptr) continue;
    read_all(tensor.const_data_ptr<uint8_t>(), tensor.nbytes());
  }
}

bool MethodRun::run() {
  for (int i = 0; i < 2; ++i) {
    if (!method_->set_inputs(values_).ok()) return false;
    if (method_->execute().ok()) continue;
    const std::string_view message = method_->last_failure().message;
    read_all(message.data(), message.size());
    return false;
  }
  read_outputs();
  return method_->reset_state().ok();
}

std::optional<EValue> MethodRun::wrong_value(size_t i, Random& random) {
  if (random.one_in(8)) return EValue(static_cast<int64_t>(random.below(5)) - 1);
  if (!values_[i].is_tensor()) return std::nullopt;
  const Tensor& right = values_[i].to_tensor();
  const bool retyped = random.one_in(4);
  std::vector<int32_t> sizes(right.sizes().begin(), right.sizes().end());
  std::vector<uint8_t> order(right.dim_order().begin(), right.dim_order().end());
  if (!retyped) sizes = other_sizes(std::move(sizes), random);
  if (sizes.size() != order.size() || random.one_in(8)) {
    order.resize(sizes.size());
    std::iota(order.rbegin(), order.rend(), uint8_t{0});
    if (random.one_in(2)) std::reverse(order.begin(), order.end());
  }
  Tensor* tensor = add_tensor(retyped ? other_dtype(random) : right.scalar_type(), std::move(sizes),
                              std::move(order));
  if (tensor == nullptr) return std::nullopt;
  return EValue(tensor);
}

void MethodRun::misuse(Random& random) {
  std::vector<EValue> values = values_;
  if (values.empty() || random.one_in(16)) values.push_back(EValue());
  for (size_t i = 0; i < values_.size(); ++i) {
    if (!random.one_in(2)) continue;
    if (const std::optional<EValue> wrong = wrong_value(i, random)) values[i] = *wrong;
  }
  for (size_t i = 0; i < values.size(); ++i) (void)method_->set_input(i, values[i]);
  if (method_->execute().ok()) read_outputs();
}

}  // namespace taper::fuzz
