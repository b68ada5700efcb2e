// taper::cummax.out, cummin.out: the largest or smallest element so far along dim, and its index,
// as aten::cummax and aten::cummin compute them: of equal elements the last one, and NaN, the last
// of several, wins over all numbers.
//
//   Types  any, kept; indices are int64.

#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/scan.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

struct Greater {
  template <typename C>
  bool operator()(C x, C best) const {
    return x >= best || x != x;
  }
};
struct Less {
  template <typename C>
  bool operator()(C x, C best) const {
    return x <= best || x != x;
  }
};

// Keeps the best value of a line so far.
template <typename C, typename Better>
struct Best {
  C value = 0;
  int64_t at = -1;

  void see(C x, int64_t i) {
    if (at < 0 || Better{}(x, value)) value = x, at = i;
  }
  void write(C* to) const { *to = value; }
};
// The same, of which the index is written.
template <typename C, typename Better>
struct BestIndex : Best<C, Better> {
  void write(int64_t* to) const { *to = this->at; }
};

template <typename C, typename R, typename State>
void track(const Line& in, const Line& out) {
  State best;
  for_each_block(in.size, kScanBlock, [&](int64_t start, int64_t count) {
    C buffer[kScanBlock];
    R results[kScanBlock];
    const C* values = in.read(start, count, buffer);
    R* to = out.target(start, results);
    for (int64_t i = 0; i < count; ++i) {
      best.see(values[i], start + i);
      best.write(&to[i]);
    }
    out.write(start, count, to);
  });
}

template <typename C, typename Better>
void track_lines(const Tensor& self, int64_t dim, Tensor& values, Tensor& indices) {
  for_each_line(self, dim, indices, track<C, int64_t, BestIndex<C, Better>>);
  for_each_line(self, dim, values, track<C, C, Best<C, Better>>);
}

template <typename Better>
Status extreme_so_far(KernelContext&, const Tensor& self, int64_t dim, Tensor& values,
                      Tensor& indices) {
  const ScalarType type = self.scalar_type();
  TAPER_REQUIRE(values.scalar_type() == type && indices.scalar_type() == ScalarType::kLong,
                Error::kInvalidType, "cummax, cummin: a result has the wrong dtype");
  TAPER_TRY(wrap_dim(dim, self.dim(), &dim));
  TAPER_TRY(values.resize(self.sizes()));
  TAPER_TRY(indices.resize(self.sizes()));
  if (in_double(type)) {
    track_lines<double, Better>(self, dim, values, indices);
  } else if (in_float(type)) {
    track_lines<float, Better>(self, dim, values, indices);
  } else {
    track_lines<int64_t, Better>(self, dim, values, indices);
  }
  return {};
}

}  // namespace

extern const Kernel kCummaxOut;
const Kernel kCummaxOut = make_kernel<extreme_so_far<Greater>>("taper::cummax.out");
extern const Kernel kCumminOut;
const Kernel kCumminOut = make_kernel<extreme_so_far<Less>>("taper::cummin.out");

}  // namespace taper::portable
