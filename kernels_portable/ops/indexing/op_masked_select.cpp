// aten::masked_select.out: the elements of self where mask is true, as a vector.
// aten::masked_scatter.out: self with those elements replaced by the first elements of source.
//
//   Sizes  self and mask broadcast to one shape; masked_scatter yields it.
//   Types  mask is bool; the others have one dtype.

#include <cstring>

#include "kernels_portable/cores/indexing.h"
#include "kernels_portable/engine/dims.h"

namespace taper::portable {
namespace {

// Calls visit(offset in self) for each true element of the broadcast mask, in row-major order,
// until it returns false.
template <typename Visit>
void for_each_masked(const View& self, const View& mask, Visit visit) {
  Cursor from(self);
  Cursor chosen(mask);
  for (int64_t left = self.numel(); left > 0; --left) {
    if (mask.data[chosen.offset()] != 0 && !visit(from.offset())) return;
    from.advance(1);
    chosen.advance(1);
  }
}

// Views of self and mask, both broadcast to their common shape.
Status broadcast_both(const Tensor& self, const Tensor& mask, View* from, View* chosen) {
  TAPER_REQUIRE(mask.scalar_type() == ScalarType::kBool, Error::kInvalidArgument,
                "masked_select: mask must be bool");
  Sizes sizes;
  TAPER_TRY(broadcast_sizes(self.sizes(), mask.sizes(), &sizes));
  View shape;
  for (size_t d = 0; d < sizes.rank; ++d) shape.add_dim(sizes.values[d], 0);
  *from = broadcast_view(view_of(self), shape);
  *chosen = broadcast_view(view_of(mask), shape);
  return {};
}

Status masked_select(KernelContext&, const Tensor& self, const Tensor& mask, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidType,
                "masked_select: out must have the dtype of self");
  View from;
  View chosen;
  TAPER_TRY(broadcast_both(self, mask, &from, &chosen));
  int64_t count = 0;
  for_each_masked(from, chosen, [&](int64_t) { return ++count > 0; });
  TAPER_TRY(resize_out(out, &count, 1));
  const size_t size = element_size(self.scalar_type());
  char* to = static_cast<char*>(out.mutable_data());
  for_each_masked(from, chosen, [&](int64_t offset) {
    if (count-- == 0) return false;
    std::memmove(to, from.data + offset * static_cast<int64_t>(size), size);
    to += size;
    return true;
  });
  return {};
}

Status masked_scatter(KernelContext&, const Tensor& self, const Tensor& mask, const Tensor& source,
                      Tensor& out) {
  TAPER_REQUIRE(
      out.scalar_type() == self.scalar_type() && source.scalar_type() == self.scalar_type(),
      Error::kInvalidType, "masked_scatter: out and source must have the dtype of self");
  View from;
  View chosen;
  TAPER_TRY(broadcast_both(self, mask, &from, &chosen));
  TAPER_TRY(write_view(from, out));
  const int64_t size = static_cast<int64_t>(element_size(self.scalar_type()));
  const View to = view_of(out);
  const char* values = static_cast<const char*>(source.const_data());
  Cursor next(view_of(source));
  int64_t left = source.numel();
  bool enough = true;
  for_each_masked(to, chosen, [&](int64_t offset) {
    enough = left-- > 0;
    if (!enough) return false;
    std::memmove(to.data + offset * size, values + next.offset() * size, static_cast<size_t>(size));
    next.advance(1);
    return true;
  });
  TAPER_REQUIRE(enough, Error::kInvalidArgument,
                "masked_scatter: source has fewer elements than mask has true ones");
  return {};
}

}  // namespace

extern const Kernel kMaskedSelectOut;
const Kernel kMaskedSelectOut = make_kernel<masked_select>("aten::masked_select.out");
extern const Kernel kMaskedScatterOut;
const Kernel kMaskedScatterOut = make_kernel<masked_scatter>("aten::masked_scatter.out");

}  // namespace taper::portable
