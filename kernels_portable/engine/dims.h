// Checks and arithmetic on dimensions that most kernels share.

#pragma once

#include <cstdint>
#include <optional>

#include "taper/kernel.h"
#include "taper/status.h"
#include "taper/tensor.h"

namespace taper::portable {

// A set of dimensions, one bit each.
using DimMask = uint32_t;

// Sizes of a tensor under construction.
struct Sizes {
  int32_t values[kMaxRank];
  size_t rank = 0;

  void push(int64_t size) { values[rank++] = static_cast<int32_t>(size); }
  operator Span<const int32_t>() const { return {values, rank}; }
};

// Adds the rank to a negative dim and checks the range. A 0-d tensor takes 0 and -1.
Status wrap_dim(int64_t dim, int64_t rank, int64_t* wrapped);

// The set of `dims`; none or an empty list means all of them. Refuses a dim named twice.
Status make_dim_mask(std::optional<IntList> dims, int64_t rank, DimMask* mask);

// The sizes of `self` without the dims in `mask`, or with 1 in their place.
Sizes reduced_sizes(const Tensor& self, DimMask mask, bool keepdim);

// The sizes that the shapes of `a` and `b` broadcast to.
Status broadcast_sizes(Span<const int32_t> a, Span<const int32_t> b, Sizes* result);

bool same_sizes(const Tensor& a, const Tensor& b);

// True if both tensors have the same rank and dim order.
bool same_dim_order(const Tensor& a, const Tensor& b);

// Refuses a `dim_order` in which `out` would lie differently; dims of size 1 may stand anywhere.
Status check_dim_order(const std::optional<IntList>& dim_order, const Tensor& out);

// The product of sizes[first..last).
int64_t product(Span<const int32_t> sizes, int64_t first, int64_t last);

// A contiguous tensor seen as [outer, size, inner] around dimension `dim`; all 1 if it is 0-d.
struct AroundDim {
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;
};
AroundDim around_dim(const Tensor& tensor, int64_t dim);

}  // namespace taper::portable
