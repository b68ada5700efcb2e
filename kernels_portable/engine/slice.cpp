// Slices, narrowings and selections of views.

#include "kernels_portable/engine/slice.h"

#include "kernels_portable/engine/dims.h"

namespace taper::portable {
namespace {

int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : (value > high ? high : value);
}

// The dimension that `dim` names. A 0-d view has none.
Status find_dim(const View& view, int64_t dim, size_t* found) {
  TAPER_REQUIRE(view.rank > 0, Error::kInvalidArgument, "a 0-d tensor cannot be sliced");
  int64_t wrapped = 0;
  TAPER_TRY(wrap_dim(dim, static_cast<int64_t>(view.rank), &wrapped));
  *found = static_cast<size_t>(wrapped);
  return {};
}

}  // namespace

Status slice_view(View* view, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                  int64_t step, size_t element) {
  size_t d = 0;
  TAPER_TRY(find_dim(*view, dim, &d));
  TAPER_REQUIRE(step > 0, Error::kInvalidArgument, "a slice needs a step of at least 1");
  const int64_t size = view->sizes[d];
  int64_t first = start.value_or(0);
  int64_t last = end.value_or(size);
  first = clamp(first < 0 ? first + size : first, 0, size);
  last = clamp(last < 0 ? last + size : last, first, size);
  view->advance(d, first, element);
  view->sizes[d] = last == first ? 0 : (last - first - 1) / step + 1;
  view->strides[d] = view->sizes[d] > 1 ? view->strides[d] * step : 1;
  return {};
}

Status narrow_view(View* view, int64_t dim, int64_t start, int64_t length, size_t element) {
  size_t d = 0;
  TAPER_TRY(find_dim(*view, dim, &d));
  const int64_t size = view->sizes[d];
  const int64_t first = start < 0 ? start + size : start;
  TAPER_REQUIRE(first >= 0 && first <= size && length >= 0 && length <= size - first,
                Error::kInvalidArgument, "start and length exceed the dimension");
  view->advance(d, first, element);
  view->sizes[d] = length;
  return {};
}

Status select_view(View* view, int64_t dim, int64_t index, size_t element) {
  size_t d = 0;
  TAPER_TRY(find_dim(*view, dim, &d));
  const int64_t size = view->sizes[d];
  TAPER_REQUIRE(index >= -size && index < size, Error::kInvalidArgument,
                "the index is outside of the dimension");
  view->advance(d, index < 0 ? index + size : index, element);
  view->remove_dim(d);
  return {};
}

Status diagonal_view(View* view, int64_t offset, int64_t dim1, int64_t dim2, size_t element) {
  size_t a = 0;
  size_t b = 0;
  TAPER_TRY(find_dim(*view, dim1, &a));
  TAPER_TRY(find_dim(*view, dim2, &b));
  TAPER_REQUIRE(a != b, Error::kInvalidArgument, "a diagonal needs two dimensions");
  const int64_t shift = clamp(offset, -view->sizes[a], view->sizes[b]);
  const int64_t down = shift < 0 ? -shift : 0;  // Where the diagonal starts in each dimension.
  const int64_t right = shift > 0 ? shift : 0;
  const int64_t rows = view->sizes[a] - down;
  const int64_t columns = view->sizes[b] - right;
  const int64_t stride = view->strides[a] + view->strides[b];
  if (rows > 0 && columns > 0) {
    view->advance(a, down, element);
    view->advance(b, right, element);
  }
  view->remove_dim(a > b ? a : b);
  view->remove_dim(a > b ? b : a);
  view->add_dim(rows < columns ? rows : columns, stride);
  return {};
}

}  // namespace taper::portable
