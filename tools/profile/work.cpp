#include "tools/profile/work.h"

#include <chrono>
#include <cstring>
#include <set>
#include <string_view>
#include <vector>

#include "tools/tensor_bytes.h"

namespace taper::tools {
namespace {

double elements(const Tensor& tensor) { return static_cast<double>(tensor.numel()); }

// The size of dimension `d`, counted from the end; 1 where there is none.
double last_size(const Tensor& tensor, int64_t d) {
  if (tensor.dim() < d) return 1;
  return tensor.sizes()[static_cast<size_t>(tensor.dim() - d)];
}

double first_size(const Tensor& tensor) { return tensor.dim() == 0 ? 1 : tensor.sizes()[0]; }

// The tensors among the arguments, in order.
std::vector<const Tensor*> tensors_of(const InstructionInfo& instruction) {
  std::vector<const Tensor*> tensors;
  for (const EValue* arg : instruction.args) {
    if (arg->is_tensor()) tensors.push_back(&arg->to_tensor());
    if (arg->tag() != Tag::kTensorList && arg->tag() != Tag::kOptionalTensorList) continue;
    for (const EValue* item : arg->list_items()) {
      if (item != nullptr && item->is_tensor()) tensors.push_back(&item->to_tensor());
    }
  }
  return tensors;
}

// Multiply-adds of operators that are products.
double multiplications(std::string_view op, const std::vector<const Tensor*>& t,
                       const InstructionInfo& instruction) {
  if (t.size() < 3) return 0;
  const Tensor& out = *t.back();
  if (op == "aten::mm" || op == "aten::bmm") return elements(out) * last_size(*t[0], 1);
  if (op == "aten::addmm" || op == "aten::baddbmm") return elements(out) * last_size(*t[1], 1);
  if (op == "aten::linear") return elements(out) * last_size(*t[0], 1);
  if (op == "aten::scaled_dot_product_attention") {
    return elements(out) * last_size(*t[1], 2) * 2;
  }
  if (op == "aten::convolution" || op == "aten::_convolution") {
    const bool is_transposed = instruction.args.size() > 6 && instruction.args[6]->is_bool() &&
                               instruction.args[6]->to_bool();
    const double per_element = elements(*t[1]) / std::max(first_size(*t[1]), 1.0);
    return (is_transposed ? elements(*t[0]) : elements(out)) * per_element;
  }
  return 0;
}

// The seconds of the fastest of a few calls.
template <typename Call>
double fastest(const Call& call) {
  double best = 1e9;
  for (int i = 0; i < 6; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  return best;
}

double product_rate(Span<const KernelTable> kernels, const ThreadPool& pool) {
  constexpr int32_t kSize = 512;
  const Kernel* kernel = nullptr;
  for (size_t i = 0; i < kernels.size() && kernel == nullptr; ++i) {
    kernel = find_kernel(kernels[i], "aten::mm.out");
  }
  if (kernel == nullptr || kernel->arg_count != 3) return 0;
  const int32_t sizes[] = {kSize, kSize};
  const uint8_t order[] = {0, 1};
  HeldTensor a(ScalarType::kFloat, sizes, order, UINT64_MAX),
      b(ScalarType::kFloat, sizes, order, UINT64_MAX),
      out(ScalarType::kFloat, sizes, order, UINT64_MAX);
  a.set_ones();
  b.set_ones();
  EValue values[] = {EValue(&a.tensor()), EValue(&b.tensor()), EValue(&out.tensor())};
  EValue* args[] = {&values[0], &values[1], &values[2]};
  std::vector<uint64_t> temp((size_t{1} << 20) / sizeof(uint64_t) * std::max(pool.threads, 1u));
  bool is_right = true;
  const double seconds = fastest([&] {
    KernelContext context(
        {reinterpret_cast<unsigned char*>(temp.data()), temp.size() * sizeof(uint64_t)}, pool);
    is_right = is_right && kernel->run(context, args).ok();
  });
  return is_right ? 2.0 * kSize * kSize * kSize / seconds : 0;
}

double copy_rate() {
  constexpr size_t kBytes = size_t{64} << 20;
  std::vector<char> from(kBytes, 1), to(kBytes);
  return 2.0 * kBytes / fastest([&] { std::memcpy(to.data(), from.data(), kBytes); });
}

}  // namespace

Work work_of(const InstructionInfo& instruction) {
  const std::vector<const Tensor*> tensors = tensors_of(instruction);
  Work work;
  work.operations = 2 * multiplications(instruction.op.name, tensors, instruction);
  for (const Tensor* tensor : std::set<const Tensor*>(tensors.begin(), tensors.end())) {
    work.bytes += static_cast<double>(tensor->nbytes());
  }
  return work;
}

Peaks measure_peaks(Span<const KernelTable> kernels, const ThreadPool& pool) {
  return {product_rate(kernels, pool), copy_rate()};
}

}  // namespace taper::tools
