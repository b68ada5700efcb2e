// Advanced indexing without heap memory; see indexing.h.

#include "kernels_portable/cores/indexing.h"

#include <algorithm>
#include <cstring>

#include "kernels_portable/engine/convert.h"

namespace taper::portable {

bool is_nonzero(const void* bytes, ScalarType type) {
  if (is_complex(type)) {
    const ScalarType part = part_type(type);
    return is_nonzero(bytes, part) || is_nonzero(element(bytes, 1, part), part);
  }
  uint64_t bits = 0;
  const size_t size = std::min(element_size(type), sizeof bits);
  std::memcpy(&bits, bytes, size);
  if (is_floating(type)) bits &= ~(uint64_t{1} << (size * 8 - 1));  // -0.0 is zero.
  return bits != 0;
}

int64_t count_nonzero(const Tensor& tensor) {
  const ScalarType type = tensor.scalar_type();
  int64_t count = 0;
  for (int64_t i = 0; i < tensor.numel(); ++i) {  // The order of counting does not matter.
    count += is_nonzero(element(tensor.const_data(), i, type), type);
  }
  return count;
}

int64_t read_index(const void* bytes, ScalarType type) {
  if (type == ScalarType::kInt) {
    int32_t narrow;
    std::memcpy(&narrow, bytes, sizeof narrow);
    return narrow;
  }
  int64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// Broadcasts the batch with `shape`.
Status Indexing::add_to_batch(const View& shape) {
  while (batch_.rank < shape.rank) batch_.insert_dim(0, 1, 0);
  const size_t missing = batch_.rank - shape.rank;
  for (size_t d = 0; d < shape.rank; ++d) {
    int64_t& size = batch_.sizes[missing + d];
    TAPER_REQUIRE(shape.sizes[d] == size || shape.sizes[d] == 1 || size == 1,
                  Error::kInvalidArgument, "the indices do not broadcast to one shape");
    if (size == 1) size = shape.sizes[d];
  }
  return {};
}

// Adds the index for dimension *d of self and advances *d past the dimensions that it covers.
Status Indexing::add_index(const View& self, const Tensor& tensor, size_t* d) {
  Index& index = indices_[count_++];
  const ScalarType type = tensor.scalar_type();
  index.tensor = &tensor;
  index.is_mask = type == ScalarType::kBool || type == ScalarType::kByte;
  index.size = self.sizes[*d];
  index.stride = self.strides[*d];
  if (!index.is_mask) {
    TAPER_REQUIRE(is_index_type(type), Error::kInvalidArgument,
                  "an index must be int32, int64 or a mask");
    ++*d;
    return add_to_batch(view_of(tensor));
  }
  const View mask = view_of(tensor);
  TAPER_REQUIRE(mask.rank > 0 && mask.rank <= self.rank - *d, Error::kInvalidArgument,
                "a mask has too many or no dimensions");
  View target;
  for (size_t i = 0; i < mask.rank; ++i, ++*d) {
    TAPER_REQUIRE(mask.sizes[i] == self.sizes[*d], Error::kInvalidArgument,
                  "the sizes of a mask differ from those it indexes");
    target.add_dim(self.sizes[*d], self.strides[*d]);
  }
  index.cursor = Cursor(mask);
  index.target = Cursor(target);
  index.count = count_nonzero(tensor);
  View shape;
  shape.add_dim(index.count, 0);
  return add_to_batch(shape);
}

Status Indexing::init(const Tensor& self, OptionalTensorList indices, bool negative) {
  negative_ = negative;
  const View whole = view_of(self);
  bool neighbours = true;
  size_t end = 0;  // One past the last indexed dimension.
  size_t d = 0;
  for (const Tensor* tensor : indices) {
    TAPER_REQUIRE(d < whole.rank, Error::kInvalidArgument, "more indices than dimensions");
    if (tensor == nullptr) {
      slice_.add_dim(whole.sizes[d], whole.strides[d]);
      ++d;
      continue;
    }
    if (count_ == 0) position_ = d;
    if (count_ > 0 && d != end) neighbours = false;
    TAPER_TRY(add_index(whole, *tensor, &d));
    end = d;
  }
  for (; d < whole.rank; ++d) slice_.add_dim(whole.sizes[d], whole.strides[d]);
  if (!neighbours) position_ = 0;
  TAPER_REQUIRE(batch_.rank + slice_.rank <= kMaxRank, Error::kInvalidArgument,
                "the result has more than 16 dimensions");
  start();
  return {};
}

// Broadcasts each integer index to the batch, which is now known, and sets it to its first element.
void Indexing::start() {
  for (size_t i = 0; i < count_; ++i) {
    Index& index = indices_[i];
    if (!index.is_mask) index.cursor = Cursor(broadcast_view(view_of(*index.tensor), batch_));
  }
}

View Indexing::result() const {
  View view = slice_;
  for (size_t d = 0; d < batch_.rank; ++d) view.insert_dim(position_ + d, batch_.sizes[d], 0);
  return view;
}

View Indexing::batch_of(const View& result) const {
  View view;
  for (size_t d = 0; d < batch_.rank; ++d) {
    view.add_dim(result.sizes[position_ + d], result.strides[position_ + d]);
  }
  return view;
}

View Indexing::slice_of(const View& result) const {
  View view = result;
  for (size_t d = 0; d < batch_.rank; ++d) view.remove_dim(position_);
  return view;
}

// Advances a mask's cursors to its next true element, beginning with the current one. There was one
// when the mask was counted, but there may be none now if the output overlaps the mask.
Status Indexing::find_true(Index* index) {
  const ScalarType type = index->tensor->scalar_type();
  const void* data = index->tensor->const_data();
  for (int64_t left = index->tensor->numel(); left > 0; --left) {
    if (is_nonzero(element(data, index->cursor.offset(), type), type)) return {};
    index->cursor.advance(1);
    index->target.advance(1);
  }
  return Status(Error::kInvalidArgument, "a mask was overwritten while it was used");
}

// The cursors of a mask wrap around, so that a new row of the batch finds its first true element
// again.
Status Indexing::add_mask(Index* index, int64_t count, int64_t* offsets) {
  for (int64_t i = 0; i < count; ++i) {
    TAPER_TRY(find_true(index));
    offsets[i] += index->target.offset();
    if (index->count == 1) continue;
    index->cursor.advance(1);
    index->target.advance(1);
  }
  return {};
}

// Adds number * stride to each of `count` offsets. False if a number lies outside of [0, size), or
// of [-size, size) if `negative`: negative numbers then count from the end.
template <typename T>
static bool add_line(const char* numbers, int64_t step, int64_t size, int64_t stride, bool negative,
                     int64_t count, int64_t* offsets) {
  bool inside = true;
  for (int64_t i = 0; i < count; ++i) {
    T narrow;
    std::memcpy(&narrow, numbers + i * step * static_cast<int64_t>(sizeof(T)), sizeof(T));
    int64_t value = narrow;
    if (negative && value < 0) value += size;
    const bool fits = static_cast<uint64_t>(value) < static_cast<uint64_t>(size);
    inside &= fits;
    offsets[i] += fits ? value * stride : 0;
  }
  return inside;
}

Status Indexing::add_numbers(Index* index, bool negative, int64_t count, int64_t* offsets) {
  const ScalarType type = index->tensor->scalar_type();
  const auto add = type == ScalarType::kInt ? add_line<int32_t> : add_line<int64_t>;
  const auto* numbers =
      static_cast<const char*>(element(index->tensor->const_data(), index->cursor.offset(), type));
  TAPER_REQUIRE(
      add(numbers, index->cursor.stride(), index->size, index->stride, negative, count, offsets),
      Error::kInvalidArgument, "an index is outside of its dimension");
  index->cursor.advance(count);
  return {};
}

Status Indexing::next(int64_t count, int64_t* offsets) {
  std::fill(offsets, offsets + count, 0);
  for (size_t i = 0; i < count_; ++i) {
    Index& index = indices_[i];
    TAPER_TRY(index.is_mask ? add_mask(&index, count, offsets)
                            : add_numbers(&index, negative_, count, offsets));
  }
  return {};
}

}  // namespace taper::portable
