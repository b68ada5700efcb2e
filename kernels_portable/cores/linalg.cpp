// Checks, sizes and copies of batches of matrices; see linalg.h.

#include "kernels_portable/cores/linalg.h"

#include "kernels_portable/engine/view.h"

namespace taper::portable {

int64_t batches(const Tensor& tensor, size_t inner) {
  int64_t count = 1;
  for (size_t d = 0; d + inner < static_cast<size_t>(tensor.dim()); ++d) count *= tensor.sizes()[d];
  return count;
}

int64_t batch_offset(const Tensor& tensor, size_t inner, int64_t batch) {
  int64_t offset = 0;
  for (size_t d = static_cast<size_t>(tensor.dim()) - inner; d-- > 0;) {
    offset += batch % tensor.sizes()[d] * tensor.strides()[d];
    batch /= tensor.sizes()[d];
  }
  return offset;
}

Status check_matrices(const Tensor& matrices) {
  TAPER_REQUIRE(
      matrices.scalar_type() == ScalarType::kFloat || matrices.scalar_type() == ScalarType::kDouble,
      Error::kInvalidType, "matrices must be float or double");
  TAPER_REQUIRE(matrices.dim() >= 2, Error::kInvalidArgument, "matrices have two dimensions");
  return {};
}

Status check_square(const Tensor& matrices) {
  TAPER_TRY(check_matrices(matrices));
  const auto rank = static_cast<size_t>(matrices.dim());
  TAPER_REQUIRE(matrices.sizes()[rank - 2] == matrices.sizes()[rank - 1], Error::kInvalidArgument,
                "square matrices are needed");
  return {};
}

void copy_matrices(const Tensor& from, bool transposed, Tensor& to) {
  View source = view_of(from);
  if (transposed) {
    std::swap(source.strides[source.rank - 2], source.strides[source.rank - 1]);
    std::swap(source.sizes[source.rank - 2], source.sizes[source.rank - 1]);
  }
  copy_view(view_of(to), source, element_size(from.scalar_type()));
}

Status check_sides(const Tensor& a, const Tensor& b, bool left) {
  const auto rank = static_cast<size_t>(a.dim());
  bool match = b.scalar_type() == a.scalar_type() && static_cast<size_t>(b.dim()) == rank;
  for (size_t d = 0; match && d + 2 < rank; ++d) match = b.sizes()[d] == a.sizes()[d];
  TAPER_REQUIRE(match && b.sizes()[rank - (left ? 2 : 1)] == a.sizes()[rank - 1],
                Error::kInvalidArgument, "A and B must have the same dtype and matching sizes");
  return {};
}

Status resize_leading(Tensor& out, const Tensor& self, size_t dropped, ScalarType type) {
  TAPER_REQUIRE(out.scalar_type() == type, Error::kInvalidType, "an output has another dtype");
  const size_t rank = static_cast<size_t>(self.dim()) - dropped;
  TAPER_REQUIRE(static_cast<size_t>(out.dim()) == rank, Error::kInvalidArgument,
                "an output has another rank");
  return out.resize({self.sizes().data(), rank});
}

namespace {

// Resizes `out` to the sizes of `self` with the last two replaced by the `count` sizes in `inner`.
Status resize_inner(Tensor& out, const Tensor& self, const int64_t* inner, size_t count) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidType,
                "an output has another dtype");
  const size_t leading = static_cast<size_t>(self.dim()) - 2;
  TAPER_REQUIRE(static_cast<size_t>(out.dim()) == leading + count, Error::kInvalidArgument,
                "an output has another rank");
  int32_t sizes[kMaxRank];
  for (size_t d = 0; d < leading; ++d) sizes[d] = self.sizes()[d];
  for (size_t d = 0; d < count; ++d) sizes[leading + d] = static_cast<int32_t>(inner[d]);
  return out.resize({sizes, leading + count});
}

}  // namespace

Status resize_matrices(Tensor& out, const Tensor& self, int64_t rows, int64_t columns) {
  const int64_t inner[] = {rows, columns};
  return resize_inner(out, self, inner, 2);
}

Status resize_vectors(Tensor& out, const Tensor& self, int64_t length) {
  return resize_inner(out, self, &length, 1);
}

}  // namespace taper::portable
