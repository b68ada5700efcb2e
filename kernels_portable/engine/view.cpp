// The strided copy behind every operator that moves elements.

#include "kernels_portable/engine/view.h"

#include <cstring>
#include <limits>
#include <utility>

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/cursor.h"
#include "kernels_portable/engine/strided.h"

namespace taper::portable {
namespace {

enum { kTo = 0, kFrom = 1 };

void swap_loops(LoopNest* nest, int a, int b) {
  std::swap(nest->sizes[a], nest->sizes[b]);
  for (int k = 0; k < nest->operands; ++k) std::swap(nest->strides[k][a], nest->strides[k][b]);
}

// The loops of a copy, ordered so that the destination is written in memory order.
LoopNest plan_copy(const View& to, const View& from) {
  LoopNest nest;
  nest.operands = 2;
  for (size_t d = 0; d < to.rank; ++d) {
    if (to.sizes[d] == 1) continue;
    const int64_t strides[] = {to.strides[d], from.strides[d]};
    nest.add_loop(to.sizes[d], strides);
  }
  for (int i = 1; i < nest.rank; ++i) {
    for (int j = i; j > 0 && nest.strides[kTo][j - 1] < nest.strides[kTo][j]; --j) {
      swap_loops(&nest, j - 1, j);
    }
  }
  nest.simplify();
  return nest;
}

// Whether the 2 or 4 elements that the innermost loop copies lie together on both sides, and all
// others at multiples of them.
bool can_join_elements(const LoopNest& nest, size_t element) {
  const int64_t count = nest.inner_size();
  const bool together = nest.inner_stride(kTo) == 1 && nest.inner_stride(kFrom) == 1;
  if (nest.rank < 3 || !together || (count != 2 && count != 4)) return false;
  if (static_cast<size_t>(count) * element > sizeof(TwoWords)) return false;
  for (int d = 0; d + 1 < nest.rank; ++d) {
    if (nest.strides[kTo][d] % count != 0 || nest.strides[kFrom][d] % count != 0) return false;
  }
  return true;
}

// The same copy with one element in their place. REQUIRES: can_join_elements().
LoopNest join_elements(LoopNest nest) {
  const int64_t count = nest.inner_size();
  --nest.rank;
  for (int d = 0; d < nest.rank; ++d) {
    nest.strides[kTo][d] /= count;
    nest.strides[kFrom][d] /= count;
  }
  return nest;
}

// If the loop that reads contiguously is not the innermost one, moves it next to the innermost: the
// two loops are then a matrix to transpose. False if there is no such loop.
bool arrange_transpose(LoopNest* nest) {
  const int inner = nest->rank - 1;
  if (nest->inner_stride(kTo) != 1 || nest->inner_stride(kFrom) == 1) return false;
  for (int d = 0; d < inner; ++d) {
    if (nest->strides[kFrom][d] != 1) continue;
    for (int i = d; i + 1 < inner; ++i) swap_loops(nest, i, i + 1);
    return true;
  }
  return false;
}

// Copies the matrices of the two innermost loops in tiles, so that both sides stay in the cache.
template <typename T>
void transpose(const LoopNest& nest, char* to, const char* from) {
  constexpr int64_t kTile = 16;
  constexpr int64_t kSize = sizeof(T);
  const int r = nest.rank - 2;
  const int64_t rows = nest.sizes[r];
  const int64_t columns = nest.inner_size();
  const int64_t to_row = nest.strides[kTo][r] * kSize;
  const int64_t from_column = nest.inner_stride(kFrom) * kSize;
  LoopNest planes = nest;
  planes.rank = r;
  const int64_t zeros[] = {0, 0};
  planes.add_loop(1, zeros);
  planes.for_each_run([&](const int64_t* offsets, int64_t) {
    char* to_plane = to + offsets[kTo] * kSize;
    const char* from_plane = from + offsets[kFrom] * kSize;
    for (int64_t first_row = 0; first_row < rows; first_row += kTile) {
      const int64_t last_row = first_row + kTile < rows ? first_row + kTile : rows;
      for (int64_t first = 0; first < columns; first += kTile) {
        const int64_t last = first + kTile < columns ? first + kTile : columns;
        for (int64_t row = first_row; row < last_row; ++row) {
          for (int64_t c = first; c < last; ++c) {
            std::memcpy(to_plane + row * to_row + c * kSize,
                        from_plane + row * kSize + c * from_column, kSize);
          }
        }
      }
    }
  });
}

void transpose(const LoopNest& nest, char* to, const char* from, size_t element) {
  switch (element) {
    case 1:
      return transpose<uint8_t>(nest, to, from);
    case 2:
      return transpose<uint16_t>(nest, to, from);
    case 4:
      return transpose<uint32_t>(nest, to, from);
    case 8:
      return transpose<uint64_t>(nest, to, from);
    default:
      return transpose<TwoWords>(nest, to, from);
  }
}

constexpr int64_t kChunk = 128;

// Converts run by run, of any strides, through a small buffer of C.
template <typename C>
void convert_runs(const LoopNest& nest, char* to, ScalarType to_type, const char* from,
                  ScalarType from_type) {
  const LoadFunction<C> load = loader<C>(from_type);
  const StoreFunction<C> store = storer<C>(to_type);
  const int64_t to_stride = nest.inner_stride(kTo);
  const int64_t from_stride = nest.inner_stride(kFrom);
  nest.for_each_run([&](const int64_t* offsets, int64_t count) {
    C buffer[kChunk];
    for (int64_t i = 0; i < count; i += kChunk) {
      const int64_t length = count - i < kChunk ? count - i : kChunk;
      load(element(from, offsets[kFrom] + i * from_stride, from_type), from_stride, length, buffer);
      store(buffer, length, element(to, offsets[kTo] + i * to_stride, to_type), to_stride);
    }
  });
}

}  // namespace

void View::insert_dim(size_t d, int64_t size, int64_t stride) {
  for (size_t i = rank; i > d; --i) {
    sizes[i] = sizes[i - 1];
    strides[i] = strides[i - 1];
  }
  sizes[d] = size;
  strides[d] = stride;
  ++rank;
}

void View::remove_dim(size_t d) {
  for (; d + 1 < rank; ++d) {
    sizes[d] = sizes[d + 1];
    strides[d] = strides[d + 1];
  }
  --rank;
}

void View::advance(size_t d, int64_t count, size_t element) {
  if (!is_empty()) data += count * strides[d] * static_cast<int64_t>(element);
}

bool View::is_empty() const {
  for (size_t d = 0; d < rank; ++d) {
    if (sizes[d] == 0) return true;
  }
  return false;
}

View view_of(const Tensor& tensor) {
  View view;
  view.data = static_cast<char*>(tensor.mutable_data());
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    view.add_dim(tensor.size(d), tensor.strides()[static_cast<size_t>(d)]);
  }
  return view;
}

View broadcast_view(const View& from, const View& to) {
  View view = to;
  view.data = from.data;
  const size_t missing = to.rank - from.rank;
  for (size_t d = 0; d < to.rank; ++d) {
    const bool steps = d >= missing && from.sizes[d - missing] != 1;
    view.strides[d] = steps ? from.strides[d - missing] : 0;
  }
  return view;
}

int64_t View::numel() const {
  int64_t count = is_empty() ? 0 : 1;
  for (size_t d = 0; d < rank; ++d) {
    if (!checked_mul(count, sizes[d], &count)) return std::numeric_limits<int64_t>::max();
  }
  return count;
}

SliceCopy::SliceCopy(const View& to, const View& from, size_t element)
    : nest_(plan_copy(to, from)), element_(element) {
  const bool dense =
      nest_.inner_size() == 1 || (nest_.inner_stride(kTo) == 1 && nest_.inner_stride(kFrom) == 1);
  bytes_ = dense && nest_.rank == 1 ? static_cast<size_t>(nest_.inner_size()) * element : 0;
}

void copy_view(const View& to, const View& from, size_t element) {
  if (to.is_empty()) return;
  LoopNest nest = plan_copy(to, from);
  if (arrange_transpose(&nest)) return transpose(nest, to.data, from.data, element);
  if (can_join_elements(nest, element)) {
    const size_t joined = static_cast<size_t>(nest.inner_size()) * element;
    LoopNest wide = join_elements(nest);
    if (arrange_transpose(&wide)) return transpose(wide, to.data, from.data, joined);
  }
  copy_strided(nest, to.data, from.data, element);
}

void convert_view(const View& to, ScalarType to_type, const View& from, ScalarType from_type) {
  if (to.is_empty()) return;
  if (to_type == from_type) return copy_view(to, from, element_size(to_type));
  const LoopNest nest = plan_copy(to, from);
  if (is_floating(from_type)) {
    convert_runs<double>(nest, to.data, to_type, from.data, from_type);
  } else {
    convert_runs<int64_t>(nest, to.data, to_type, from.data, from_type);
  }
}

void copy_reshaped(const View& to, const View& from, size_t element) {
  if (to.is_empty()) return;
  int64_t count = to.numel();
  const int64_t size = static_cast<int64_t>(element);
  Cursor write(to);
  Cursor read(from);
  while (count > 0) {
    const int64_t run = write.left() < read.left() ? write.left() : read.left();
    LoopNest nest;
    nest.operands = 2;
    const int64_t strides[] = {write.stride(), read.stride()};
    nest.add_loop(run, strides);
    copy_strided(nest, to.data + write.offset() * size, from.data + read.offset() * size, element);
    write.advance(run);
    read.advance(run);
    count -= run;
  }
}

void copy_row_major(const Tensor& self, Tensor& out) {
  const bool plain = self.is_contiguous() && out.is_contiguous();
  if (!plain) {
    return copy_reshaped(view_of(out), view_of(self), element_size(out.scalar_type()));
  }
  if (out.nbytes() > 0 && out.const_data() != self.const_data()) {
    std::memmove(out.mutable_data(), self.const_data(), out.nbytes());
  }
}

Status infer_sizes(Span<const int64_t> asked, int64_t numel, int64_t* sizes) {
  TAPER_REQUIRE(asked.size() <= kMaxRank, Error::kInvalidArgument, "a view has too many sizes");
  int64_t known = 1;
  size_t free_dim = kMaxRank;
  for (size_t d = 0; d < asked.size(); ++d) {
    sizes[d] = asked[d];
    if (asked[d] == -1 && free_dim == kMaxRank) {
      free_dim = d;
      continue;
    }
    TAPER_REQUIRE(asked[d] >= 0 && checked_mul(known, asked[d], &known), Error::kInvalidArgument,
                  "a size of a view is negative or too large");
  }
  if (free_dim != kMaxRank) {
    TAPER_REQUIRE(known > 0 && numel % known == 0, Error::kInvalidArgument,
                  "no size of a view fits for -1");
    sizes[free_dim] = numel / known;
    known = numel;
  }
  TAPER_REQUIRE(known == numel, Error::kInvalidArgument, "a view must keep the number of elements");
  return {};
}

Status resize_out(Tensor& out, const int64_t* sizes, size_t rank) {
  int32_t narrow[kMaxRank];
  TAPER_REQUIRE(rank <= kMaxRank, Error::kInvalidArgument, "a tensor has at most 16 dimensions");
  for (size_t d = 0; d < rank; ++d) {
    TAPER_REQUIRE(sizes[d] >= 0 && sizes[d] <= std::numeric_limits<int32_t>::max(),
                  Error::kInvalidArgument, "a size is negative or does not fit an int32");
    narrow[d] = static_cast<int32_t>(sizes[d]);
  }
  return out.resize({narrow, rank});
}

Status write_view(const View& from, Tensor& out) {
  TAPER_TRY(resize_out(out, from.sizes, from.rank));
  const View to = view_of(out);
  bool in_place = to.data == from.data;
  for (size_t d = 0; d < to.rank; ++d) {
    in_place = in_place && (to.sizes[d] <= 1 || to.strides[d] == from.strides[d]);
  }
  if (!in_place) copy_view(to, from, element_size(out.scalar_type()));
  return {};
}

}  // namespace taper::portable
