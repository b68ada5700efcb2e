// Narrowing a view to a part of itself: what slice, select, narrow, split, diagonal and their
// scatters share. Each function refuses a part that does not fit the dimension.

#pragma once

#include <optional>

#include "kernels_portable/engine/view.h"

namespace taper::portable {

// Every step-th index from start up to end (exclusive); both are clamped to the dimension.
Status slice_view(View* view, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                  int64_t step, size_t element);

// Exactly `length` indices from start on.
Status narrow_view(View* view, int64_t dim, int64_t start, int64_t length, size_t element);

// One index; the dimension is removed.
Status select_view(View* view, int64_t dim, int64_t index, size_t element);

// The elements (i, i + offset) of dimensions dim1 and dim2, which a new last dimension replaces.
Status diagonal_view(View* view, int64_t offset, int64_t dim1, int64_t dim2, size_t element);

}  // namespace taper::portable
