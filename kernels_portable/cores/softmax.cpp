// Three passes over each line: the maximum; the sum of e^(x - max); the results.
//
// If the elements of a line are contiguous, one line is computed at a time, in blocks; the
// exponentials of the second pass are kept for the third if the line fits one block. If
// neighbouring lines are contiguous instead, many of them are computed at a time, row by row.

#include "kernels_portable/cores/softmax.h"

#include <cmath>
#include <limits>

#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/line_math.h"
#include "kernels_portable/engine/lines.h"
#include "kernels_portable/engine/strided.h"
#include "kernels_portable/engine/vector_math.h"

namespace taper::portable {
namespace {

constexpr int64_t kBlock = 512;

template <typename C>
void exponentials(const C* values, int64_t count, C max, C* result) {
  TAPER_INDEPENDENT_LOOP
  for (int64_t i = 0; i < count; ++i) result[i] = exp_of(values[i] - max);
}

template <typename C>
void subtract(const C* values, int64_t count, C max, C shift, C* result) {
  TAPER_INDEPENDENT_LOOP
  for (int64_t i = 0; i < count; ++i) result[i] = values[i] - max - shift;
}

template <typename C>
void softmax_line(const Line& in, const Line& out, bool logarithm) {
  C buffer[kBlock];
  C result[kBlock];
  C max = -std::numeric_limits<C>::infinity();
  for_each_block(in.size, kBlock, [&](int64_t first, int64_t count) {
    max = max_of_block(max, in.read(first, count, buffer), count);
  });
  const bool kept = in.size <= kBlock;  // The buffer holds the exponentials of the whole line.
  double sum = 0;
  for_each_block(in.size, kBlock, [&](int64_t first, int64_t count) {
    C* exps = kept ? out.target(first, result) : result;
    exponentials(in.read(first, count, buffer), count, max, exps);
    sum += static_cast<double>(sum_of_block(exps, count));
  });
  const C scale = static_cast<C>(1 / sum);
  const C shift = static_cast<C>(std::log(sum));
  for_each_block(in.size, kBlock, [&](int64_t first, int64_t count) {
    C* to = out.target(first, result);
    if (logarithm) {
      subtract(in.read(first, count, buffer), count, max, shift, to);
    } else {
      if (!kept) exponentials(in.read(first, count, buffer), count, max, to);
      for (int64_t i = 0; i < count; ++i) to[i] *= scale;
    }
    out.write(first, count, to);
  });
}

// The loops of the form that computes many neighbouring lines at a time.
struct Columns {
  LoopNest nest;  // Over the other dims; operand 0 is self, 1 is out.
  int64_t rows = 1;
  int64_t self_step = 1;
  int64_t out_step = 1;
};

Columns columns_of(const Tensor& self, int64_t dim, const Tensor& out) {
  Columns columns;
  columns.nest.operands = 2;
  for (uint8_t d : self.dim_order()) {
    const int64_t strides[] = {self.strides()[d], out.strides()[d]};
    if (d != dim) {
      columns.nest.add_loop(self.size(d), strides);
      continue;
    }
    columns.rows = self.size(d);
    columns.self_step = strides[0];
    columns.out_step = strides[1];
  }
  columns.nest.simplify();
  return columns;
}

// Computes `count` neighbouring lines, whose first elements are at `from` and `to`.
template <typename C>
void softmax_columns(const Columns& columns, Line from, Line to, int64_t count, bool logarithm) {
  C buffer[kBlock], max[kBlock], sum[kBlock];
  const char* const begin = static_cast<const char*>(from.data);
  const auto row = [&](int64_t r) {
    from.data = element(begin, r * columns.self_step, from.type);
    return from.read(0, count, buffer);
  };
  for (int64_t i = 0; i < count; ++i) max[i] = -std::numeric_limits<C>::infinity();
  for (int64_t i = 0; i < count; ++i) sum[i] = 0;
  for (int64_t r = 0; r < columns.rows; ++r) {
    const C* x = row(r);
    for (int64_t i = 0; i < count; ++i) max[i] = x[i] > max[i] ? x[i] : max[i];
  }
  for (int64_t r = 0; r < columns.rows; ++r) {
    const C* x = row(r);
    for (int64_t i = 0; i < count; ++i) sum[i] += exp_of(x[i] - max[i]);
  }
  for (int64_t i = 0; i < count; ++i) sum[i] = logarithm ? std::log(sum[i]) : C{1} / sum[i];
  const char* const out_begin = static_cast<const char*>(to.data);
  for (int64_t r = 0; r < columns.rows; ++r) {
    C result[kBlock];
    const C* x = row(r);
    if (logarithm) {
      for (int64_t i = 0; i < count; ++i) result[i] = x[i] - max[i] - sum[i];
    } else {
      for (int64_t i = 0; i < count; ++i) result[i] = exp_of(x[i] - max[i]) * sum[i];
    }
    to.data = element(out_begin, r * columns.out_step, to.type);
    to.write(0, count, result);
  }
}

template <typename C>
void softmax_as(const Tensor& self, int64_t dim, bool logarithm, Tensor& out) {
  const Columns columns = columns_of(self, dim, out);
  const int64_t stride = columns.nest.inner_stride(0);
  if (columns.nest.inner_size() == 1 || stride > columns.self_step) {
    for_each_line(self, dim, out, [logarithm](const Line& from, const Line& to) {
      softmax_line<C>(from, to, logarithm);
    });
    return;
  }
  const ScalarType type = self.scalar_type();
  const ScalarType out_type = out.scalar_type();
  const int64_t out_stride = columns.nest.inner_stride(1);
  columns.nest.for_each_run([&](const int64_t* offsets, int64_t n) {
    for_each_block(n, kBlock, [&](int64_t first, int64_t count) {
      const int64_t at = offsets[0] + first * stride;
      const int64_t out_at = offsets[1] + first * out_stride;
      const Line from = {element(self.const_data(), at, type), type, stride, count};
      const Line to = {element(out.const_data(), out_at, out_type), out_type, out_stride, count};
      softmax_columns<C>(columns, from, to, count, logarithm);
    });
  });
}

}  // namespace

Status softmax(const Tensor& self, int64_t dim, bool logarithm, Tensor& out) {
  TAPER_REQUIRE(is_floating(self.scalar_type()) && is_floating(out.scalar_type()),
                Error::kInvalidType, "softmax: self and out must be floats");
  TAPER_TRY(wrap_dim(dim, self.dim(), &dim));
  TAPER_TRY(out.resize(self.sizes()));
  if (in_double(self.scalar_type())) {
    softmax_as<double>(self, dim, logarithm, out);
  } else {
    softmax_as<float>(self, dim, logarithm, out);
  }
  return {};
}

}  // namespace taper::portable
