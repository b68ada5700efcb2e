// constant_pad_nd.out of contiguous tensors: rows are copied, and what lies between them is filled.

#include <algorithm>
#include <cstring>

#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_portable/engine/fill.h"

namespace taper::optimized {
namespace {

// The padding of a tensor [planes..., rows, row]: a row is the innermost dimension that is padded,
// with all that follow it.
struct Padding {
  struct Dim {
    int64_t size = 1, before = 0, all = 1;

    // The index in the input, which need not be there.
    int64_t source_of(int64_t to) const { return to - before; }
    bool has(int64_t source) const { return source >= 0 && source < size; }
  };
  Dim planes[kMaxRank], rows, row;  // Of a row, elements.
  int64_t rank = 0;                 // Of the planes.

  int64_t count() const {
    int64_t all = rows.all;
    for (int64_t d = 0; d < rank; ++d) all *= planes[d].all;
    return all;
  }
  // The first row of the input's plane that is a plane of the result; -1 if that is filled.
  int64_t first_row_of(int64_t plane) const {
    int64_t first = 0, step = rows.size;
    for (int64_t d = rank; d-- > 0; plane /= planes[d].all) {
      const int64_t source = planes[d].source_of(plane % planes[d].all);
      if (!planes[d].has(source)) return -1;
      first += source * step;
      step *= planes[d].size;
    }
    return first;
  }
};

// False if a padding crops, or if there is none. Resizes the result.
bool describe(const Tensor& self, IntList pad, Tensor& out, Padding& padding) {
  const auto rank = static_cast<size_t>(self.dim());
  if (pad.size() % 2 != 0 || pad.size() / 2 > rank) return false;
  Padding::Dim dims[kMaxRank];
  int32_t sizes[kMaxRank];
  size_t axis = rank;
  for (size_t d = 0; d < rank; ++d) {
    const size_t i = 2 * (rank - 1 - d);
    const bool is_padded = i < pad.size();
    const int64_t before = is_padded ? pad[i] : 0, after = is_padded ? pad[i + 1] : 0;
    const int64_t size = self.size(static_cast<int64_t>(d));
    const bool fits = before >= 0 && after >= 0 && before <= INT32_MAX && after <= INT32_MAX &&
                      before + after + size <= INT32_MAX;
    if (!fits) return false;
    if (before + after != 0) axis = d;
    dims[d] = {size, before, before + after + size};
    sizes[d] = static_cast<int32_t>(dims[d].all);
  }
  if (axis == rank || !out.resize({sizes, rank}).ok() || !out.is_contiguous()) return false;
  padding.row = dims[axis];
  for (size_t d = axis + 1; d < rank; ++d) {
    padding.row = {padding.row.size * dims[d].size, padding.row.before * dims[d].size,
                   padding.row.all * dims[d].size};
  }
  if (axis == 0) return true;
  padding.rows = dims[axis - 1];
  padding.rank = static_cast<int64_t>(axis) - 1;
  std::copy_n(dims, axis - 1, padding.planes);
  return true;
}

template <typename T>
void pad_rows(const KernelContext& context, const Padding& padding, const void* from,
              const unsigned char* element, void* to) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  const Padding::Dim &rows = padding.rows, &row = padding.row;
  for_parts(context.pool(), padding.count(), row.all, 1, [&](int64_t at, int64_t end) {
    T* next = static_cast<T*>(to) + at * row.all;
    while (at < end) {
      const int64_t first = padding.first_row_of(at / rows.all);
      const int64_t begin = at % rows.all, stop = std::min(rows.all, begin + end - at);
      for (int64_t i = begin; i < stop; ++i) {
        const int64_t source = rows.source_of(i);
        if (first < 0 || !rows.has(source)) {
          next = std::fill_n(next, row.all, value);
          continue;
        }
        next = std::fill_n(next, row.before, value);
        std::memcpy(next, static_cast<const T*>(from) + (first + source) * row.size,
                    static_cast<size_t>(row.size) * sizeof(T));
        next = std::fill_n(next + row.size, row.all - row.before - row.size, value);
      }
      at += stop - begin;
    }
  });
}

bool fast_constant_pad(KernelContext& context, const Tensor& self, IntList pad, Scalar value,
                       Tensor& out) {
  const ScalarType type = self.scalar_type();
  Padding padding;
  if (type != out.scalar_type() || !self.is_contiguous() || self.numel() == 0 ||
      !describe(self, pad, out, padding)) {
    return false;
  }
  unsigned char element[8];
  portable::encode_scalar(value, type, element);
  const auto pad_them = [&](auto tag) {
    pad_rows<decltype(tag)>(context, padding, self.const_data(), element, out.mutable_data());
    return true;
  };
  switch (element_size(type)) {
    case 1:
      return pad_them(uint8_t{});
    case 2:
      return pad_them(uint16_t{});
    case 4:
      return pad_them(uint32_t{});
    case 8:
      return pad_them(uint64_t{});
    default:
      return false;
  }
}

}  // namespace

extern const Kernel kConstantPadNdOut;
const Kernel kConstantPadNdOut =
    overlay<fast_constant_pad, portable::kConstantPadNdOut>("aten::constant_pad_nd.out");

}  // namespace taper::optimized
