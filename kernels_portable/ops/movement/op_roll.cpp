// aten::roll.out: dimensions shifted cyclically.
//
// Each rolled dimension is two pieces that swap places; every combination of pieces is one strided
// copy. Without dims the elements are rolled as if self were flattened.

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/cursor.h"
#include "kernels_portable/engine/dims.h"

namespace taper::portable {
namespace {

void roll_elements(const View& from, int64_t shift, const View& to, size_t element) {
  const int64_t bytes = static_cast<int64_t>(element);
  const int64_t count = from.numel();
  Cursor read(from);
  Cursor write(to);
  for (int64_t i = 0; i < shift; ++i) write.advance(1);
  View single;
  for (int64_t i = 0; i < count; ++i, read.advance(1), write.advance(1)) {
    View source = single;
    View target = single;
    source.data = from.data + read.offset() * bytes;
    target.data = to.data + write.offset() * bytes;
    copy_view(target, source, element);
  }
}

// Copies one combination of pieces: bit i of `choice` selects the piece of the i-th rolled
// dimension.
void copy_pieces(View from, View to, const int64_t* shifts, size_t choice, size_t element) {
  for (size_t d = 0; d < from.rank; ++d) {
    const int64_t shift = shifts[d];
    if (shift == 0) continue;
    const int64_t kept = from.sizes[d] - shift;
    const bool wraps = choice & 1;
    (wraps ? from : to).advance(d, wraps ? kept : shift, element);
    from.sizes[d] = to.sizes[d] = wraps ? shift : kept;
    choice >>= 1;
  }
  copy_view(to, from, element);
}

Status roll(KernelContext&, const Tensor& self, IntList shifts, IntList dims, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "roll: out must have the dtype of self");
  TAPER_REQUIRE(shifts.size() == (dims.empty() ? 1 : dims.size()), Error::kInvalidArgument,
                "roll: there must be one shift for each dim");
  TAPER_TRY(out.resize(self.sizes()));
  if (self.numel() == 0) return {};
  const size_t element = element_size(self.scalar_type());
  if (dims.empty()) {
    roll_elements(view_of(self), mod_floor(shifts[0], self.numel()), view_of(out), element);
    return {};
  }
  int64_t amounts[kMaxRank] = {};
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t d = 0;
    TAPER_TRY(wrap_dim(dims[i], self.dim(), &d));
    if (self.dim() == 0) continue;
    const int64_t size = self.size(d);
    amounts[d] = (amounts[d] + mod_floor(shifts[i], size)) % size;
  }
  size_t rolled = 0;
  for (int64_t amount : amounts) rolled += amount != 0;
  for (size_t choice = 0; choice < size_t{1} << rolled; ++choice) {
    copy_pieces(view_of(self), view_of(out), amounts, choice, element);
  }
  return {};
}

}  // namespace

extern const Kernel kRollOut;
const Kernel kRollOut = make_kernel<roll>("aten::roll.out");

}  // namespace taper::portable
