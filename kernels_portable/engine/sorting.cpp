// Partial sorting without scratch memory: the row of `indices` itself holds the indices of the best
// elements seen so far as a heap with the worst of them on top. Popping the worst repeatedly then
// leaves the row sorted. Each row costs n log k comparisons.

#include "kernels_portable/engine/sorting.h"

#include <cstring>

#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/cursor.h"
#include "kernels_portable/engine/dims.h"

namespace taper::portable {
namespace {

template <typename C>
class Row {
 public:
  Row(const void* data, int64_t stride, ScalarType type, bool descending)
      : data_(data),
        stride_(stride),
        type_(type),
        load_(loader<C>(type)),
        descending_(descending) {}

  // True if element a comes before element b.
  bool precedes(int64_t a, int64_t b) const {
    const C x = value(a);
    const C y = value(b);
    const C& low = descending_ ? y : x;
    const C& high = descending_ ? x : y;
    if (less(low, high)) return true;
    return !less(high, low) && a < b;
  }

 private:
  static bool less(C x, C y) { return x < y || (y != y && x == x); }  // NaN is the largest.

  C value(int64_t i) const {
    C result;
    load_(element(data_, i * stride_, type_), 1, 1, &result);
    return result;
  }

  const void* data_;
  int64_t stride_;
  ScalarType type_;
  LoadFunction<C> load_;
  bool descending_;
};

// A heap of element indices: the element of heap[0] comes after all others in the order.
struct Heap {
  int64_t* items;
  int64_t stride;
  int64_t& operator[](int64_t i) const { return items[i * stride]; }
};

template <typename C>
void sift_down(const Row<C>& row, const Heap& heap, int64_t size, int64_t at) {
  const int64_t moved = heap[at];
  for (;;) {
    int64_t child = 2 * at + 1;
    if (child >= size) break;
    if (child + 1 < size && row.precedes(heap[child], heap[child + 1])) ++child;
    if (!row.precedes(moved, heap[child])) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moved;
}

template <typename C>
void sort_row(const Row<C>& row, int64_t length, const Heap& heap, int64_t count) {
  for (int64_t i = 0; i < count; ++i) heap[i] = i;
  for (int64_t i = count / 2; i-- > 0;) sift_down(row, heap, count, i);
  for (int64_t i = count; i < length && count > 0; ++i) {
    if (!row.precedes(i, heap[0])) continue;
    heap[0] = i;
    sift_down(row, heap, count, 0);
  }
  for (int64_t last = count - 1; last > 0; --last) {
    const int64_t worst = heap[0];
    heap[0] = heap[last];
    heap[last] = worst;
    sift_down(row, heap, last, 0);
  }
}

struct Along {
  int64_t length, self_stride, values_stride, indices_stride;
};

template <typename C>
void sort_rows(const Tensor& self, const View& rows, const Along& along, const SortOrder& order,
               const View* value_rows, const View& index_rows) {
  const ScalarType type = self.scalar_type();
  const size_t size = element_size(type);
  Cursor from(rows);
  Cursor to_values(value_rows != nullptr ? *value_rows : index_rows);
  Cursor to_indices(index_rows);
  for (int64_t left = rows.numel(); left > 0; --left) {
    const void* data = element(rows.data, from.offset(), type);
    int64_t* indices = reinterpret_cast<int64_t*>(index_rows.data) + to_indices.offset();
    const Heap heap = {indices, along.indices_stride};
    sort_row(Row<C>(data, along.self_stride, type, order.descending), along.length, heap,
             order.count);
    for (int64_t i = 0; value_rows != nullptr && i < order.count; ++i) {
      void* to = element(value_rows->data, to_values.offset() + i * along.values_stride, type);
      std::memmove(to, element(data, heap[i] * along.self_stride, type), size);
    }
    from.advance(1);
    to_values.advance(1);
    to_indices.advance(1);
  }
}

// The view of `tensor` without dimension `d`, whose stride is returned.
View rows_of(const Tensor& tensor, size_t d, int64_t* stride) {
  View view = view_of(tensor);
  *stride = 1;
  if (view.rank == 0) return view;
  *stride = view.strides[d];
  view.remove_dim(d);
  return view;
}

}  // namespace

Status write_sorted(const Tensor& self, int64_t dim, const SortOrder& order, Tensor* values,
                    Tensor& indices) {
  int64_t wrapped = 0;
  TAPER_TRY(wrap_dim(dim, self.dim(), &wrapped));
  const size_t d = static_cast<size_t>(wrapped);
  Along along;
  along.length = self.dim() == 0 ? 1 : self.size(wrapped);
  TAPER_REQUIRE(indices.scalar_type() == ScalarType::kLong, Error::kInvalidArgument,
                "sort: indices must be int64");
  TAPER_REQUIRE(values == nullptr || values->scalar_type() == self.scalar_type(),
                Error::kInvalidArgument, "sort: values must have the dtype of self");
  TAPER_REQUIRE(order.count >= 0 && order.count <= along.length, Error::kInvalidArgument,
                "sort: k exceeds the dimension");
  View shape = view_of(self);
  if (shape.rank > 0) shape.sizes[d] = order.count;
  TAPER_TRY(resize_out(indices, shape.sizes, shape.rank));
  if (values != nullptr) TAPER_TRY(resize_out(*values, shape.sizes, shape.rank));
  if (indices.numel() == 0 || order.count == 0) return {};
  const View rows = rows_of(self, d, &along.self_stride);
  const View index_rows = rows_of(indices, d, &along.indices_stride);
  const View value_rows = rows_of(values != nullptr ? *values : indices, d, &along.values_stride);
  const View* to = values != nullptr ? &value_rows : nullptr;
  const ScalarType type = self.scalar_type();
  if (in_double(type)) {
    sort_rows<double>(self, rows, along, order, to, index_rows);
  } else if (in_float(type)) {
    sort_rows<float>(self, rows, along, order, to, index_rows);
  } else {
    sort_rows<int64_t>(self, rows, along, order, to, index_rows);
  }
  return {};
}

}  // namespace taper::portable
