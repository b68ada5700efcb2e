// Checks and arithmetic on dimensions; see dims.h.

#include "kernels_portable/engine/dims.h"

namespace taper::portable {

Status wrap_dim(int64_t dim, int64_t rank, int64_t* wrapped) {
  const int64_t range = rank == 0 ? 1 : rank;
  TAPER_REQUIRE(dim >= -range && dim < range, Error::kInvalidArgument, "dim is out of range");
  *wrapped = dim < 0 ? dim + range : dim;
  return {};
}

Status make_dim_mask(std::optional<IntList> dims, int64_t rank, DimMask* mask) {
  *mask = 0;
  if (!dims.has_value() || dims->empty()) {
    *mask = (DimMask{1} << rank) - 1;
    return {};
  }
  for (int64_t dim : *dims) {
    int64_t wrapped = 0;
    TAPER_TRY(wrap_dim(dim, rank, &wrapped));
    const DimMask bit = DimMask{1} << wrapped;
    TAPER_REQUIRE((*mask & bit) == 0, Error::kInvalidArgument, "a dim is listed twice");
    *mask |= bit;
  }
  return {};
}

Sizes reduced_sizes(const Tensor& self, DimMask mask, bool keepdim) {
  Sizes sizes;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if ((mask >> d & 1) == 0) {
      sizes.push(self.size(d));
    } else if (keepdim) {
      sizes.push(1);
    }
  }
  return sizes;
}

Status broadcast_sizes(Span<const int32_t> a, Span<const int32_t> b, Sizes* result) {
  const size_t rank = a.size() > b.size() ? a.size() : b.size();
  result->rank = rank;
  for (size_t i = 0; i < rank; ++i) {  // From the last dimension to the first.
    const int32_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int32_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    TAPER_REQUIRE(x == y || x == 1 || y == 1, Error::kInvalidArgument,
                  "the sizes of the operands do not broadcast");
    result->values[rank - 1 - i] = x == 1 ? y : x;
  }
  return {};
}

bool same_sizes(const Tensor& a, const Tensor& b) {
  if (a.dim() != b.dim()) return false;
  for (int64_t d = 0; d < a.dim(); ++d) {
    if (a.size(d) != b.size(d)) return false;
  }
  return true;
}

bool same_dim_order(const Tensor& a, const Tensor& b) {
  if (a.dim() != b.dim()) return false;
  for (size_t d = 0; d < a.dim_order().size(); ++d) {
    if (a.dim_order()[d] != b.dim_order()[d]) return false;
  }
  return true;
}

// Only dimensions of other sizes than 1 say where elements lie. Exporters derive the place of the
// others from strides, which leave a choice.
Status check_dim_order(const std::optional<IntList>& dim_order, const Tensor& out) {
  if (!dim_order.has_value()) return {};
  const Span<const int32_t> sizes = out.sizes();
  const auto own = out.dim_order();
  const size_t rank = own.size();
  size_t i = 0, j = 0;
  bool same = dim_order->size() == rank;
  while (same && (i < rank || j < rank)) {
    const auto dim = i < rank ? static_cast<uint64_t>((*dim_order)[i]) : rank;
    if (dim < rank && sizes[dim] == 1) {
      ++i;
    } else if (j < rank && sizes[own[j]] == 1) {
      ++j;
    } else {
      same = j < rank && own[j] == dim;
      ++i, ++j;
    }
  }
  TAPER_REQUIRE(same, Error::kInvalidArgument, "dim_order is not the dim order of out");
  return {};
}

int64_t product(Span<const int32_t> sizes, int64_t first, int64_t last) {
  int64_t result = 1;
  for (int64_t d = first; d < last; ++d) result *= sizes[static_cast<size_t>(d)];
  return result;
}

AroundDim around_dim(const Tensor& tensor, int64_t dim) {
  AroundDim around;
  if (tensor.dim() == 0) return around;
  around.outer = product(tensor.sizes(), 0, dim);
  around.size = tensor.size(dim);
  around.inner = product(tensor.sizes(), dim + 1, tensor.dim());
  return around;
}

}  // namespace taper::portable
