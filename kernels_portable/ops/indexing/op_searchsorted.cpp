// taper::searchsorted.out: how many elements of a sorted row lie before each number: where
// aten::searchsorted and aten::bucketize would insert it.
//
//   Sizes  `sorted` is one row for all numbers, or [..., n] with the leading sizes of self, one row for
//          each row of self.
//   Types  both of one dtype, any; the result is int64.
//   Order  NaN comes after all numbers. With `right`, equal elements lie before the number.

#include "kernels_portable/engine/lines.h"
#include "taper/dtypes.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

constexpr int64_t kBlock = 256;

// Whether PyTorch's search goes on behind `element`; NaN is not less than any element.
template <typename C>
bool is_before(C element, C number, bool right) {
  return right ? !(element > number) : !(element >= number);
}

template <typename C>
int64_t position(const Line& row, C number, bool right) {
  int64_t first = 0, end = row.size;
  while (first < end) {
    const int64_t middle = first + (end - first) / 2;
    C element;
    if (is_before(*row.read(middle, 1, &element), number, right)) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

template <typename C>
void search(const Tensor& sorted, const Tensor& self, bool right, Tensor& out) {
  const int64_t n = sorted.size(sorted.dim() - 1);
  const bool has_rows = sorted.dim() > 1;
  const int64_t width = self.dim() == 0 ? 1 : self.size(self.dim() - 1);
  Line row = {sorted.const_data(), sorted.scalar_type(), 1, n};
  Line numbers = {self.const_data(), self.scalar_type(), 1, self.numel()};
  const Line results = {out.const_data(), out.scalar_type(), 1, self.numel()};
  for_each_block(self.numel(), kBlock, [&](int64_t start, int64_t count) {
    C buffer[kBlock];
    int64_t places[kBlock];
    const C* values = numbers.read(start, count, buffer);
    int64_t* to = results.target(start, places);
    for (int64_t i = 0; i < count; ++i) {
      if (has_rows) row.data = element(sorted.const_data(), (start + i) / width * n, row.type);
      to[i] = position<C>(row, values[i], right);
    }
    results.write(start, count, to);
  });
}

// Whether the leading sizes are the same.
bool has_row_for_each(const Tensor& sorted, const Tensor& self) {
  if (sorted.dim() != self.dim()) return false;
  for (int64_t d = 0; d + 1 < sorted.dim(); ++d) {
    if (sorted.size(d) != self.size(d)) return false;
  }
  return true;
}

Status searchsorted_out(KernelContext&, const Tensor& self, const Tensor& sorted, bool right,
                        Tensor& out) {
  const ScalarType type = self.scalar_type();
  TAPER_REQUIRE(sorted.scalar_type() == type && out.scalar_type() == ScalarType::kLong,
                Error::kInvalidType, "searchsorted: a tensor has the wrong dtype");
  TAPER_REQUIRE(sorted.dim() == 1 || (sorted.dim() > 1 && has_row_for_each(sorted, self)),
                Error::kInvalidArgument, "searchsorted: the rows do not fit the numbers");
  TAPER_REQUIRE(sorted.is_contiguous() && self.is_contiguous() && out.is_contiguous(),
                Error::kNotSupported, "searchsorted: a tensor is not contiguous");
  TAPER_TRY(out.resize(self.sizes()));
  if (in_double(type)) {
    search<double>(sorted, self, right, out);
  } else if (in_float(type)) {
    search<float>(sorted, self, right, out);
  } else {
    search<int64_t>(sorted, self, right, out);
  }
  return {};
}

}  // namespace

extern const Kernel kSearchsortedOut;
const Kernel kSearchsortedOut = make_kernel<searchsorted_out>("taper::searchsorted.out");

}  // namespace taper::portable
