// Exercises a program as an application would, with limits.

#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "backends/devices.h"
#include "exir/ir/failure.h"
#include "kernels_portable/kernel_table.h"
#include "taper/data_loader.h"
#include "taper/method.h"
#include "taper/program.h"
#include "test/fuzz/exercise.h"
#include "tools/error.h"
#include "tools/view/model_explorer.h"
#include "tools/view/program_step.h"

namespace taper::fuzz {
namespace {

// Limits of an application that refuses larger programs.
constexpr uint64_t kMaxBytes = 16u << 20;
constexpr uint64_t kMaxInstructions = 2000;

// A separate allocation of exactly `bytes`, so that a sanitizer detects any access past the end.
class Block {
 public:
  explicit Block(size_t bytes) : data_(std::malloc(bytes == 0 ? 1 : bytes)), size_(bytes) {
    if (data_ == nullptr) std::abort();
    std::memset(data_, 0, size_);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { std::free(data_); }
  Span<uint8_t> span() const { return {static_cast<uint8_t*>(data_), size_}; }

 private:
  void* data_;
  size_t size_;
};

class MethodRun {
 public:
  MethodRun(const Program& program, std::string_view name, const MethodMeta& meta)
      : program_(program), name_(name), meta_(meta) {}

  // Returns false if the method cannot be loaded or its run fails.
  bool run() {
    if (!reserve()) return false;
    const KernelTable tables[] = {portable::portable_kernels()};
    MethodOptions options;
    options.kernels = tables;
    DeviceOptions limited;
    limited.threads = 1;
    limited.max_bytes = kMaxBytes;
    std::vector<std::unique_ptr<Device>> devices;
    std::vector<Backend> backends;
    for (const DeviceDescriptor* each : backend_devices()) {
      devices.push_back(each->make(limited));
      if (devices.back() == nullptr) std::abort();
      backends.push_back({each->identity.delegate_id, &devices.back()->interface()});
    }
    options.backends = backends;
    options.max_instructions = kMaxInstructions;
    const MemoryManager memory = {blocks_[0].span(), HierarchicalAllocator(planned_),
                                  blocks_[1].span()};
    Result<Method> method = Method::load(program_, name_, memory, options);
    if (!method.ok() || !set_inputs(*method) || !bind_outputs(*method)) return false;
    for (int i = 0; i < 2; ++i) {
      if (!method->set_inputs(values_).ok()) return false;
      if (method->execute().ok()) continue;
      read(method->last_failure().message);
      return false;
    }
    for (size_t i = 0; i < method->num_outputs(); ++i) read(method->get_output(i).value());
    return method->reset_state().ok();
  }

 private:
  bool reserve() {
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

  struct Input {
    std::vector<int32_t> sizes, strides;
    std::vector<uint8_t> order;
    Tensor tensor;
  };

  bool set_inputs(Method& method) {
    for (size_t i = 0; i < meta_.num_inputs(); ++i) {
      const Result<TensorInfo> info = meta_.input_tensor_meta(i);
      if (!info.ok()) {
        values_.push_back(meta_.input_value(i).value());
        continue;
      }
      if (info->nbytes() > kMaxBytes) return false;
      Input& input = inputs_.emplace_back();
      input.sizes.assign(info->sizes().begin(), info->sizes().end());
      input.order.assign(info->dim_order().begin(), info->dim_order().end());
      input.strides.resize(input.sizes.size());
      Block& block = blocks_.emplace_back(info->nbytes());
      std::memset(block.span().data(), 0, block.span().size());  // 0 is a valid index.
      input.tensor = Tensor(info->scalar_type(), input.sizes.size(), input.sizes.data(),
                            input.order.data(), input.strides.data(), block.span().data());
      values_.push_back(EValue(&input.tensor));
    }
    return method.set_inputs(values_).ok();
  }

  bool bind_outputs(Method& method) {
    for (size_t i = 0; i < meta_.num_outputs(); ++i) {
      const Result<TensorInfo> info = meta_.output_tensor_meta(i);
      if (!info.ok() || info->is_memory_planned()) continue;
      if (info->nbytes() > kMaxBytes) return false;
      const Span<uint8_t> memory = blocks_.emplace_back(info->nbytes()).span();
      const Status status = method.set_output_data(i, memory.data(), memory.size());
      if (!status.ok() && status.error() != Error::kInvalidState) return false;
    }
    return true;
  }

  // Reads every byte of an output.
  static void read(const EValue& value) {
    if (!value.is_tensor() || value.to_tensor().const_data() == nullptr) return;
    const Tensor& tensor = value.to_tensor();
    volatile uint8_t sink = 0;
    for (size_t i = 0; i < tensor.nbytes(); ++i) {
      sink = static_cast<uint8_t>(sink ^ tensor.const_data_ptr<uint8_t>()[i]);
    }
  }
  static void read(std::string_view text) {
    volatile char sink = 0;
    for (const char c : text) sink = static_cast<char>(sink ^ c);
  }

  const Program& program_;
  std::string_view name_;
  MethodMeta meta_;
  std::deque<Block> blocks_;
  std::vector<Span<uint8_t>> planned_;
  std::deque<Input> inputs_;
  std::vector<EValue> values_;
};

}  // namespace

bool exercise_pte(std::string_view file) {
  const Block bytes(file.size());
  if (!file.empty()) std::memcpy(bytes.span().data(), file.data(), file.size());
  BufferDataLoader loader(bytes.span().data(), file.size());
  const Result<Program> program = Program::open(loader);
  if (!program.ok()) return false;
  bool all = true;
  for (size_t i = 0; i < program->num_methods(); ++i) {
    const std::string_view name = program->method_name(i);
    all &= MethodRun(*program, name, program->method_meta(name).value()).run();
  }
  try {
    tools::ViewDocument document;
    tools::add_program(*program, {}, {}, document);
    all &= !document.json().empty() && !tools::model_explorer_json(document).empty();
  } catch (const exir::Failure&) {  // What it says of its origin is damaged.
    return false;
  } catch (const tools::InputError&) {  // It is too large for a page.
    return false;
  }
  return all;
}

}  // namespace taper::fuzz
