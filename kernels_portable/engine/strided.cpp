// Loop nests over strided tensors, and the copy that is one such nest; see strided.h.

#include "kernels_portable/engine/strided.h"

#include <cstring>

namespace taper::portable {
namespace {

template <typename T>
void copy_runs(const LoopNest& nest, void* to, const void* from) {
  T* target = static_cast<T*>(to);
  const T* source = static_cast<const T*>(from);
  const int64_t target_stride = nest.inner_stride(0);
  const int64_t source_stride = nest.inner_stride(1);
  nest.for_each_run([&](const int64_t* offsets, int64_t count) {
    T* t = target + offsets[0];
    const T* s = source + offsets[1];
    if (target_stride == 1 && source_stride == 1) {
      std::memmove(t, s, static_cast<size_t>(count) * sizeof(T));
    } else {
      for (int64_t i = 0; i < count; ++i) t[i * target_stride] = s[i * source_stride];
    }
  });
}

}  // namespace

LoopNest LoopNest::over(const Tensor& tensor) {
  LoopNest nest;
  nest.operands = 1;
  for (uint8_t d : tensor.dim_order()) {
    const int64_t stride = tensor.strides()[d];
    nest.add_loop(tensor.size(d), &stride);
  }
  return nest;
}

void LoopNest::add_operand(const Tensor& tensor, const Tensor& operand) {
  const int64_t missing = tensor.dim() - operand.dim();  // Leading dims that the operand lacks.
  for (int i = 0; i < rank; ++i) {
    const int64_t d = tensor.dim_order()[static_cast<size_t>(i)] - missing;
    const bool steps = d >= 0 && operand.size(d) != 1;
    strides[operands][i] = steps ? operand.strides()[static_cast<size_t>(d)] : 0;
  }
  ++operands;
}

void LoopNest::add_loop(int64_t size, const int64_t* operand_strides) {
  sizes[rank] = size;
  for (int k = 0; k < operands; ++k) strides[k][rank] = operand_strides[k];
  ++rank;
}

void LoopNest::simplify() {
  int kept = 0;
  for (int d = 0; d < rank; ++d) {
    if (sizes[d] == 1) continue;
    bool merges = kept > 0;
    for (int k = 0; k < operands && merges; ++k) {
      merges = strides[k][kept - 1] == strides[k][d] * sizes[d];
    }
    const int target = merges ? kept - 1 : kept++;
    sizes[target] = merges ? sizes[target] * sizes[d] : sizes[d];
    for (int k = 0; k < operands; ++k) strides[k][target] = strides[k][d];
  }
  rank = kept;
  if (rank == 0) {
    const int64_t ones[kMaxOperands] = {1, 1, 1, 1};
    add_loop(1, ones);
  }
}

void copy_strided(const LoopNest& nest, void* to, const void* from, size_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return copy_runs<uint8_t>(nest, to, from);
    case 2:
      return copy_runs<uint16_t>(nest, to, from);
    case 4:
      return copy_runs<uint32_t>(nest, to, from);
    case 8:
      return copy_runs<uint64_t>(nest, to, from);
    default:
      return copy_runs<TwoWords>(nest, to, from);
  }
}

}  // namespace taper::portable
