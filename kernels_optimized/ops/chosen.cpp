// nonzero.out, masked_select.out and masked_scatter.out of contiguous tensors: eight bytes of zeros
// are passed over at once, and coordinates are counted up row by row.

#include <algorithm>
#include <cstring>

#include "kernels_optimized/engine/overlay.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/promote.h"
#include "kernels_portable/engine/strided.h"
#include "kernels_portable/engine/view.h"

namespace taper::optimized {
namespace {

// Whether an element is not zero: of integers and bools, any bit; of floats, any but the sign.
template <typename Bits, bool kIsFloat>
struct Elements {
  static constexpr Bits kMask =
      kIsFloat ? static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1) : static_cast<Bits>(~Bits{0});
  const Bits* data;

  bool operator[](int64_t i) const { return (data[i] & kMask) != 0; }
  // The index of the first element that is not zero, from i on; `end` if there is none.
  int64_t next(int64_t i, int64_t end) const {
    constexpr int64_t kGroup = 8 / sizeof(Bits);
    uint64_t mask = 0;
    for (int64_t j = 0; j < kGroup; ++j) mask |= uint64_t{kMask} << (8 * sizeof(Bits) * j % 64);
    while (i + kGroup <= end) {
      uint64_t group;
      std::memcpy(&group, data + i, sizeof(group));
      if ((group & mask) != 0) break;
      i += kGroup;
    }
    while (i < end && !(*this)[i]) ++i;
    return i;
  }
  int64_t count(int64_t size) const {
    int64_t sum = 0;
    for (int64_t i = 0; i < size; ++i) sum += (*this)[i] ? 1 : 0;
    return sum;
  }
};

// Calls each() with the elements of a contiguous tensor. False for dtypes that are not supported.
template <typename Each>
bool with_elements(const Tensor& tensor, Each each) {
  const ScalarType type = tensor.scalar_type();
  const void* data = tensor.const_data();
  if (is_complex(type)) return false;
  const bool is_float = is_floating(type);
  switch (element_size(type)) {
    case 1:
      return each(Elements<uint8_t, false>{static_cast<const uint8_t*>(data)});
    case 2: {
      const auto* bits = static_cast<const uint16_t*>(data);
      return is_float ? each(Elements<uint16_t, true>{bits})
                      : each(Elements<uint16_t, false>{bits});
    }
    case 4: {
      const auto* bits = static_cast<const uint32_t*>(data);
      return is_float ? each(Elements<uint32_t, true>{bits})
                      : each(Elements<uint32_t, false>{bits});
    }
    case 8: {
      const auto* bits = static_cast<const uint64_t*>(data);
      return is_float ? each(Elements<uint64_t, true>{bits})
                      : each(Elements<uint64_t, false>{bits});
    }
    default:
      return false;
  }
}

// Writes the coordinates of up to `count` elements, and returns how many there were.
template <typename Chosen>
int64_t write_coordinates(const Tensor& self, const Chosen& chosen, int64_t count, int64_t* to) {
  const int64_t rank = self.dim(), width = self.size(rank - 1);
  int64_t outer[kMaxRank] = {};
  int64_t found = 0;
  for (int64_t first = 0; first < self.numel(); first += width) {
    for (int64_t i = chosen.next(first, first + width); i < first + width && found < count;
         i = chosen.next(i + 1, first + width), ++found) {
      for (int64_t d = 0; d < rank - 1; ++d) *to++ = outer[d];
      *to++ = i - first;
    }
    for (int64_t d = rank - 2; d >= 0; --d) {
      if (++outer[d] < self.size(d)) break;
      outer[d] = 0;
    }
  }
  return found;
}

bool fast_nonzero(KernelContext&, const Tensor& self, Tensor& out) {
  if (out.scalar_type() != ScalarType::kLong || self.dim() == 0 || self.numel() == 0 ||
      !self.is_contiguous() || !out.is_contiguous() || out.dim() != 2) {
    return false;
  }
  return with_elements(self, [&](const auto& chosen) {
    const int64_t sizes[] = {chosen.count(self.numel()), self.dim()};
    if (!portable::resize_out(out, sizes, 2).ok()) return false;
    write_coordinates(self, chosen, sizes[0], out.mutable_data_ptr<int64_t>());
    return true;
  });
}

template <typename T>
void copy_chosen(const Tensor& self, const Elements<uint8_t, false>& chosen, int64_t count,
                 Tensor& out) {
  const T* from = static_cast<const T*>(self.const_data());
  T* to = static_cast<T*>(out.mutable_data());
  const int64_t size = self.numel();
  for (int64_t i = chosen.next(0, size); i < size && count > 0; i = chosen.next(i + 1, size)) {
    *to++ = from[i];
    --count;
  }
}

bool fast_masked_select(KernelContext&, const Tensor& self, const Tensor& mask, Tensor& out) {
  if (out.scalar_type() != self.scalar_type() || mask.scalar_type() != ScalarType::kBool ||
      self.dim() != mask.dim() || !self.is_contiguous() || !mask.is_contiguous()) {
    return false;
  }
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.size(d) != mask.size(d)) return false;
  }
  const Elements<uint8_t, false> chosen = {static_cast<const uint8_t*>(mask.const_data())};
  const int64_t count = chosen.count(mask.numel());
  if (out.dim() != 1 || !portable::resize_out(out, &count, 1).ok()) return false;
  switch (element_size(self.scalar_type())) {
    case 1:
      return copy_chosen<uint8_t>(self, chosen, count, out), true;
    case 2:
      return copy_chosen<uint16_t>(self, chosen, count, out), true;
    case 4:
      return copy_chosen<uint32_t>(self, chosen, count, out), true;
    case 8:
      return copy_chosen<uint64_t>(self, chosen, count, out), true;
    default:
      return false;
  }
}

// Loops over `out` and a mask that broadcasts to it, in row-major order. False if the innermost one
// is not contiguous.
bool nest_of_mask(const Tensor& out, const Tensor& mask, portable::LoopNest* nest) {
  *nest = portable::LoopNest::over(out);
  nest->add_operand(out, mask);
  nest->simplify();
  return nest->inner_stride(0) == 1 && (nest->inner_stride(1) == 0 || nest->inner_stride(1) == 1);
}

int64_t count_chosen(const portable::LoopNest& nest, const uint8_t* mask) {
  int64_t sum = 0;
  nest.for_each_run([&](const int64_t* offsets, int64_t count) {
    const Elements<uint8_t, false> chosen = {mask + offsets[1]};
    if (nest.inner_stride(1) == 0) {
      sum += chosen[0] ? count : 0;
    } else {
      sum += chosen.count(count);
    }
  });
  return sum;
}

// Replaces what the mask chooses by elements of `from`, one after another.
template <typename T>
void replace_chosen(const portable::LoopNest& nest, const uint8_t* mask, const void* from,
                    void* to) {
  const T* next = static_cast<const T*>(from);
  nest.for_each_run([&](const int64_t* offsets, int64_t count) {
    const Elements<uint8_t, false> chosen = {mask + offsets[1]};
    T* const row = static_cast<T*>(to) + offsets[0];
    if (nest.inner_stride(1) == 0) {
      if (!chosen[0]) return;
      std::copy_n(next, count, row);
      next += count;
      return;
    }
    for (int64_t i = chosen.next(0, count); i < count; i = chosen.next(i + 1, count)) {
      row[i] = *next++;
    }
  });
}

bool fast_masked_scatter(KernelContext&, const Tensor& self, const Tensor& mask,
                         const Tensor& source, Tensor& out) {
  const ScalarType type = out.scalar_type();
  portable::Sizes sizes;
  portable::LoopNest nest;
  if (self.scalar_type() != type || source.scalar_type() != type ||
      mask.scalar_type() != ScalarType::kBool || !self.is_contiguous() || !out.is_contiguous() ||
      !source.is_contiguous() ||
      !portable::broadcast_sizes(self.sizes(), mask.sizes(), &sizes).ok() ||
      static_cast<int64_t>(sizes.rank) != self.dim() || out.dim() != self.dim() ||
      !out.resize(sizes).ok() || out.numel() != self.numel() || out.numel() == 0 ||
      !nest_of_mask(out, mask, &nest)) {
    return false;
  }
  const auto* chosen = static_cast<const uint8_t*>(mask.const_data());
  if (count_chosen(nest, chosen) > source.numel()) return false;  // An error.
  void* to = out.mutable_data();
  if (to != self.const_data()) std::memcpy(to, self.const_data(), out.nbytes());
  switch (element_size(type)) {
    case 1:
      return replace_chosen<uint8_t>(nest, chosen, source.const_data(), to), true;
    case 2:
      return replace_chosen<uint16_t>(nest, chosen, source.const_data(), to), true;
    case 4:
      return replace_chosen<uint32_t>(nest, chosen, source.const_data(), to), true;
    case 8:
      return replace_chosen<uint64_t>(nest, chosen, source.const_data(), to), true;
    default:
      return false;
  }
}

}  // namespace

extern const Kernel kMaskedScatterOut, kMaskedSelectOut, kNonzeroOut;
const Kernel kMaskedScatterOut =
    overlay<fast_masked_scatter, portable::kMaskedScatterOut>("aten::masked_scatter.out");
const Kernel kMaskedSelectOut =
    overlay<fast_masked_select, portable::kMaskedSelectOut>("aten::masked_select.out");
const Kernel kNonzeroOut = overlay<fast_nonzero, portable::kNonzeroOut>("aten::nonzero.out");

}  // namespace taper::optimized
