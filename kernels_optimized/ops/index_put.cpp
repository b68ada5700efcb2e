// index_put_ and index_put.out that add float32 or int64. Values that go to neighbouring elements
// are added as a row: a slice that is contiguous, or elements that indices select one after
// another, as those of a fold do.

#include <algorithm>
#include <cstdint>

#include "kernels_optimized/engine/overlay.h"
#include "kernels_portable/cores/indexing.h"
#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/elementwise.h"

namespace taper::optimized {
namespace {

using portable::Cursor;
using portable::Indexing;
using portable::LoopNest;
using portable::View;

template <typename T>
void add_row(T* to, int64_t to_step, const T* from, int64_t from_step, int64_t count) {
  if (to_step == 1 && from_step == 1) {
    TAPER_INDEPENDENT_LOOP
    for (int64_t i = 0; i < count; ++i) to[i] = portable::wrap_add(to[i], from[i]);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    to[i * to_step] = portable::wrap_add(to[i * to_step], from[i * from_step]);
  }
}

// How many of the offsets from the first on lie next to each other.
int64_t neighbours(const int64_t* offsets, int64_t count) {
  constexpr int64_t kBlock = 8;  // Compared without a branch.
  int64_t i = 1;
  for (; i + kBlock <= count; i += kBlock) {
    int64_t differences = 0;
    for (int64_t j = i; j < i + kBlock; ++j) differences |= offsets[j] ^ (offsets[0] + j);
    if (differences != 0) break;
  }
  while (i < count && offsets[i] == offsets[0] + i) ++i;
  return i;
}

// Adds `count` slices, which begin at `offsets` of `to` and are `step` apart in `from`. Negative
// offsets count from `limit`. False if one is out of range.
template <typename T>
bool add_slices(const LoopNest& slice, T* to, const int64_t* offsets, int64_t limit, const T* from,
                int64_t step, int64_t count) {
  const int64_t to_step = slice.inner_stride(0), from_step = slice.inner_stride(1);
  const bool by_slice = to_step == 1 && from_step == 1 && slice.inner_size() > 1;
  for (int64_t i = 0, n = 1; i < count; i += n, from += n * step) {
    n = by_slice ? 1 : neighbours(offsets + i, count - i);
    int64_t first = offsets[i];
    if (first < 0) {
      n = std::min(n, -std::max(first, -INT64_MAX));
      first += limit;
    }
    if (first < 0 || first > limit - n) return false;
    slice.for_each_run([&](const int64_t* at, int64_t size) {
      T* row = to + first + at[0];
      const T* values = from + at[1];
      if (n == 1) return add_row(row, to_step, values, from_step, size);
      for (int64_t j = 0; j < size; ++j) {
        add_row(row + j * to_step, 1, values + j * from_step, step, n);
      }
    });
  }
  return true;
}

// The values, broadcast to the sizes of `result`; false if they do not fit.
bool broadcast_values(const Tensor& values, const View& result, View* view) {
  const View from = portable::view_of(values);
  if (from.rank > result.rank) return false;
  for (size_t d = 0; d < from.rank; ++d) {
    const int64_t size = result.sizes[result.rank - from.rank + d];
    if (from.sizes[d] != 1 && from.sizes[d] != size) return false;
  }
  *view = portable::broadcast_view(from, result);
  return true;
}

// The only index, if its elements are offsets themselves: in a row, along the last dimension.
// Otherwise null.
const int64_t* offsets_of(const Tensor& self, OptionalTensorList indices) {
  const size_t last = indices.size() - 1;
  if (indices.size() == 0 || last + 1 != self.sizes().size() || !self.is_contiguous()) {
    return nullptr;
  }
  for (size_t d = 0; d < last; ++d) {
    if (indices[d] != nullptr) return nullptr;
  }
  const Tensor* index = indices[last];
  if (index == nullptr || index->scalar_type() != ScalarType::kLong || index->dim() != 1) {
    return nullptr;
  }
  return index->const_data_ptr<int64_t>();
}

// False if an index is out of range; the portable kernel reports it.
template <typename T>
bool add_as(Tensor& self, Indexing& indexing, const View& from, const int64_t* all_offsets) {
  constexpr int64_t kOffsets = 4 * Indexing::kLine;
  int64_t offsets[kOffsets];
  const portable::SliceCopy slices(indexing.slice(), indexing.slice_of(from), sizeof(T));
  Cursor batch(indexing.batch_of(from));
  auto* to = static_cast<T*>(self.mutable_data());
  if (all_offsets != nullptr) {
    return add_slices(slices.nest(), to, all_offsets, self.size(self.dim() - 1),
                      reinterpret_cast<const T*>(from.data), batch.stride(),
                      indexing.batch_count());
  }
  for (int64_t left = indexing.batch_count(), count = 0; left > 0; left -= count) {
    count = std::min(batch.left(), kOffsets);
    for (int64_t i = 0; i < count; i += Indexing::kLine) {
      if (!indexing.next(std::min(count - i, Indexing::kLine), offsets + i).ok()) return false;
    }
    add_slices(slices.nest(), to, offsets, INT64_MAX,
               reinterpret_cast<const T*>(from.data) + batch.offset(), batch.stride(), count);
    batch.advance(count);
  }
  return true;
}

// A call whose operands fit: where to add, and what.
struct Addition {
  Indexing indexing;
  View from;
  const int64_t* offsets;
};

bool describe(const Tensor& self, OptionalTensorList indices, const Tensor& values, bool accumulate,
              Addition* addition) {
  const ScalarType type = self.scalar_type();
  addition->offsets = offsets_of(self, indices);
  return accumulate && values.scalar_type() == type &&
         (type == ScalarType::kFloat || type == ScalarType::kLong) &&
         addition->indexing.init(self, indices).ok() &&
         broadcast_values(values, addition->indexing.result(), &addition->from);
}

bool add(Tensor& self, Addition& addition) {
  if (addition.from.is_empty()) return true;
  const auto add = self.scalar_type() == ScalarType::kFloat ? add_as<float> : add_as<int64_t>;
  return add(self, addition.indexing, addition.from, addition.offsets);
}

bool fast_index_put(KernelContext&, Tensor& self, OptionalTensorList indices, const Tensor& values,
                    bool accumulate) {
  Addition addition;
  return describe(self, indices, values, accumulate, &addition) && add(self, addition);
}

bool fast_index_put_out(KernelContext& context, const Tensor& self, OptionalTensorList indices,
                        const Tensor& values, bool accumulate, Tensor& out) {
  return accumulate && out.scalar_type() == self.scalar_type() &&
         portable::write_view(portable::view_of(self), out).ok() &&
         fast_index_put(context, out, indices, values, accumulate);
}

}  // namespace

extern const Kernel kIndexPut, kIndexPutOut;
const Kernel kIndexPut = overlay<fast_index_put, portable::kIndexPut>("aten::index_put_");
const Kernel kIndexPutOut =
    overlay<fast_index_put_out, portable::kIndexPutOut>("aten::index_put.out");

}  // namespace taper::optimized
