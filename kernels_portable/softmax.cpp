// Three passes over each line, in blocks: the maximum; the sum of e^(x - max); the results. The
// exponentials of the second pass are kept for the third where the line fits one block.

#include "kernels_portable/softmax.h"

#include <cmath>
#include <limits>

#include "kernels_portable/dims.h"
#include "kernels_portable/line_math.h"
#include "kernels_portable/lines.h"
#include "kernels_portable/vector_math.h"

namespace taper::portable {
namespace {

constexpr int64_t kBlock = 512;

template <typename C>
void exponentials(const C* values, int64_t count, C max, C* result) {
  for (int64_t i = 0; i < count; ++i) result[i] = exp_of(values[i] - max);
}

template <typename C>
void softmax_line(const Line& in, const Line& out, bool logarithm) {
  C buffer[kBlock];
  C result[kBlock];
  C max = -std::numeric_limits<C>::infinity();
  for_each_block(in.size, kBlock, [&](int64_t first, int64_t count) {
    max = max_of_block(max, in.read(first, count, buffer), count);
  });
  double sum = 0;
  for_each_block(in.size, kBlock, [&](int64_t first, int64_t count) {
    exponentials(in.read(first, count, buffer), count, max, result);
    sum += static_cast<double>(sum_of_block(result, count));
  });
  const C scale = static_cast<C>(1 / sum);
  const C shift = static_cast<C>(std::log(sum));
  const bool kept = in.size <= kBlock;  // `result` holds the whole line.
  for_each_block(in.size, kBlock, [&](int64_t first, int64_t count) {
    if (logarithm) {
      const C* values = in.read(first, count, buffer);
      for (int64_t i = 0; i < count; ++i) result[i] = values[i] - max - shift;
    } else {
      if (!kept) exponentials(in.read(first, count, buffer), count, max, result);
      for (int64_t i = 0; i < count; ++i) result[i] *= scale;
    }
    out.write(first, count, result);
  });
}

}  // namespace

Status softmax(const Tensor& self, int64_t dim, bool logarithm, Tensor& out) {
  TAPER_REQUIRE(is_floating(self.scalar_type()) && is_floating(out.scalar_type()),
                Error::kInvalidType, "softmax: self and out must be floats");
  TAPER_TRY(wrap_dim(dim, self.dim(), &dim));
  TAPER_TRY(out.resize(self.sizes()));
  if (self.scalar_type() == ScalarType::kDouble) {
    for_each_line(self, dim, out, [logarithm](const Line& from, const Line& to) {
      softmax_line<double>(from, to, logarithm);
    });
  } else {
    for_each_line(self, dim, out, [logarithm](const Line& from, const Line& to) {
      softmax_line<float>(from, to, logarithm);
    });
  }
  return {};
}

}  // namespace taper::portable
