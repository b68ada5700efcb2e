// index_select.out of contiguous tensors along any dimension: all indices are checked before the
// first element is written, and single elements are copied by a loop for their size.

#include <algorithm>
#include <cstring>

#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_portable/engine/dims.h"

namespace taper::optimized {
namespace {

// Of a vector of int32 or int64.
class Indices {
 public:
  explicit Indices(const Tensor& tensor)
      : is_wide_(tensor.scalar_type() == ScalarType::kLong),
        data_(tensor.const_data()),
        count_(tensor.numel()) {}

  int64_t count() const { return count_; }
  int64_t operator[](int64_t i) const {
    return is_wide_ ? static_cast<const int64_t*>(data_)[i] : static_cast<const int32_t*>(data_)[i];
  }
  bool are_below(int64_t size) const {
    for (int64_t i = 0; i < count_; ++i) {
      if (static_cast<uint64_t>((*this)[i]) >= static_cast<uint64_t>(size)) return false;
    }
    return true;
  }

 private:
  const bool is_wide_;
  const void* const data_;
  const int64_t count_;
};

// The elements of lines, of which a line has `size`.
template <typename T>
void select_elements(const void* from, int64_t size, const Indices& indices, int64_t lines,
                     void* to) {
  const T* line = static_cast<const T*>(from);
  T* next = static_cast<T*>(to);
  for (; lines > 0; --lines, line += size) {
    for (int64_t i = 0; i < indices.count(); ++i) *next++ = line[indices[i]];
  }
}

// The same of rows of so many bytes.
void select_rows(const void* from, int64_t size, size_t bytes, const Indices& indices,
                 int64_t lines, void* to) {
  const char* line = static_cast<const char*>(from);
  char* next = static_cast<char*>(to);
  for (; lines > 0; --lines, line += static_cast<size_t>(size) * bytes) {
    for (int64_t i = 0; i < indices.count(); ++i, next += bytes) {
      std::memcpy(next, line + static_cast<size_t>(indices[i]) * bytes, bytes);
    }
  }
}

bool fast_index_select(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                       Tensor& out) {
  const bool is_index =
      index.scalar_type() == ScalarType::kLong || index.scalar_type() == ScalarType::kInt;
  if (self.dim() == 0 || index.dim() != 1 || !is_index || !index.is_contiguous() ||
      self.scalar_type() != out.scalar_type() || out.dim() != self.dim() || !self.is_contiguous() ||
      !portable::wrap_dim(dim, self.dim(), &dim).ok()) {
    return false;
  }
  const Indices indices(index);
  const portable::AroundDim around = portable::around_dim(self, dim);
  if (!indices.are_below(around.size)) return false;
  int32_t sizes[kMaxRank];
  std::copy(self.sizes().begin(), self.sizes().end(), sizes);
  sizes[dim] = static_cast<int32_t>(indices.count());
  const auto rank = static_cast<size_t>(self.dim());
  if (!out.resize({sizes, rank}).ok() || !out.is_contiguous()) return false;
  if (out.numel() == 0) return true;
  const size_t bytes = static_cast<size_t>(around.inner) * element_size(self.scalar_type());
  const int64_t work = indices.count() * std::max<int64_t>(1, static_cast<int64_t>(bytes / 4));
  for_parts(context.pool(), around.outer, work, 1, [&](int64_t begin, int64_t end) {
    const auto at = [&](int64_t lines) { return static_cast<size_t>(begin * lines) * bytes; };
    const char* from = static_cast<const char*>(self.const_data()) + at(around.size);
    char* to = static_cast<char*>(out.mutable_data()) + at(indices.count());
    switch (bytes) {
      case 1:
        return select_elements<uint8_t>(from, around.size, indices, end - begin, to);
      case 2:
        return select_elements<uint16_t>(from, around.size, indices, end - begin, to);
      case 4:
        return select_elements<uint32_t>(from, around.size, indices, end - begin, to);
      case 8:
        return select_elements<uint64_t>(from, around.size, indices, end - begin, to);
      default:
        return select_rows(from, around.size, bytes, indices, end - begin, to);
    }
  });
  return true;
}

}  // namespace

extern const Kernel kIndexSelectOut;
const Kernel kIndexSelectOut =
    overlay<fast_index_select, portable::kIndexSelectOut>("aten::index_select.out");

}  // namespace taper::optimized
