// Scans: each element along a dim becomes what `combine` makes of all up to it.

#pragma once

#include "kernels_portable/engine/lines.h"
#include "taper/dtypes.h"

namespace taper::portable {

inline constexpr int64_t kScanBlock = 256;

// Reads values and writes results as V; accumulates in A from `first` on.
template <typename V, typename A, typename Combine>
void scan_line(const Line& in, const Line& out, A first, const Combine& combine) {
  A all = first;
  for_each_block(in.size, kScanBlock, [&](int64_t start, int64_t count) {
    V buffer[kScanBlock], results[kScanBlock];
    const V* values = in.read(start, count, buffer);
    V* to = out.target(start, results);
    for (int64_t i = 0; i < count; ++i) {
      all = combine(all, static_cast<A>(values[i]));
      to[i] = static_cast<V>(all);
    }
    out.write(start, count, to);
  });
}

// Scans the lines of self along `dim` and writes them to out, which has self's sizes; computes in
// `type`, floats in double. `first` is what combine() leaves unchanged.
template <typename Combine>
static void scan(const Tensor& self, int64_t dim, ScalarType type, int first, Tensor& out) {
  const Combine combine = {};
  const bool is_narrow = !in_double(type) && !in_double(self.scalar_type());
  for_each_line(self, dim, out, [&](const Line& in, const Line& to) {
    if (!in_double(type) && !in_float(type)) {
      scan_line<int64_t>(in, to, int64_t{first}, combine);
    } else if (is_narrow && in_float(self.scalar_type())) {
      scan_line<float>(in, to, double(first), combine);
    } else {
      scan_line<double>(in, to, double(first), combine);
    }
  });
}

}  // namespace taper::portable
