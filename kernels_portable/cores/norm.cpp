// The loops of the normalisations; see norm.h.

#include "kernels_portable/cores/norm.h"

#include <cmath>

#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/line_math.h"
#include "kernels_portable/engine/lines.h"
#include "kernels_portable/engine/strided.h"

namespace taper::portable {
namespace {

constexpr int64_t kBlock = 512;

Line row_of(const Tensor& tensor, int64_t first, int64_t width) {
  const ScalarType type = tensor.scalar_type();
  return {element(tensor.const_data(), first, type), type, 1, width};
}

// The weights or biases of elements [first, first + count) of a row; `otherwise` for each if there
// are none.
template <typename C>
const C* parameters(const Tensor* tensor, const Affine& affine, int64_t row, int64_t first,
                    int64_t count, C otherwise, C* buffer) {
  if (tensor == nullptr) {
    for (int64_t i = 0; i < count; ++i) buffer[i] = otherwise;
    return buffer;
  }
  const Line all = row_of(*tensor, 0, affine.count);
  const int64_t begin = row * affine.row_step % affine.count;
  if (affine.repeat == 1) return all.read(begin + first, count, buffer);
  for (int64_t i = 0; i < count;) {  // Fills the rest of the `repeat` elements that share an entry.
    const int64_t at = (first + i) / affine.repeat;
    const int64_t end = (at + 1) * affine.repeat - first;
    C value;
    value = *all.read(begin + at, 1, &value);
    for (; i < count && i < end; ++i) buffer[i] = value;
  }
  return buffer;
}

template <typename C>
void normalise_row(const Line& in, const Line& out, const Affine& affine, int64_t row, double eps,
                   C* mean_out, C* rstd_out) {
  C buffer[kBlock], weights[kBlock], biases[kBlock], result[kBlock];
  const double width = static_cast<double>(in.size);
  double sum = 0;
  for_each_block(in.size, kBlock, [&](int64_t first, int64_t count) {
    sum += static_cast<double>(sum_of_block(in.read(first, count, buffer), count));
  });
  const C mean = static_cast<C>(sum / width);
  double squares = 0;
  for_each_block(in.size, kBlock, [&](int64_t first, int64_t count) {
    squares += static_cast<double>(squares_of_block(in.read(first, count, buffer), count, mean));
  });
  const C rstd = static_cast<C>(1 / std::sqrt(squares / width + eps));
  for_each_block(in.size, kBlock, [&](int64_t first, int64_t count) {
    const C* x = in.read(first, count, buffer);
    const C* w = parameters(affine.weight, affine, row, first, count, C{1}, weights);
    const C* b = parameters(affine.bias, affine, row, first, count, C{0}, biases);
    for (int64_t i = 0; i < count; ++i) result[i] = (x[i] - mean) * rstd * w[i] + b[i];
    out.write(first, count, result);
  });
  *mean_out = mean;
  *rstd_out = rstd;
}

template <typename C>
void normalise_rows_as(const Tensor& input, int64_t rows, int64_t width, const Affine& affine,
                       double eps, Tensor& out, Tensor& mean, Tensor& rstd) {
  for (int64_t row = 0; row < rows; ++row) {
    C mean_value, rstd_value;
    normalise_row(row_of(input, row * width, width), row_of(out, row * width, width), affine, row,
                  eps, &mean_value, &rstd_value);
    row_of(mean, row, 1).write(0, 1, &mean_value);
    row_of(rstd, row, 1).write(0, 1, &rstd_value);
  }
}

bool fits(const Tensor* parameter, int64_t count) {
  return parameter == nullptr || (is_floating(parameter->scalar_type()) &&
                                  parameter->numel() == count && parameter->is_contiguous());
}

// The statistics and parameters of up to kBlock channels, as y = x * scale + shift.
template <typename C>
struct Channels {
  C scale[kBlock];
  C shift[kBlock];
  int64_t held_first = -1;
  int64_t held_count = 0;

  void set(const ChannelStatistics& statistics, const Tensor* weight, const Tensor* bias,
           int64_t first, int64_t count) {
    if (first == held_first && count == held_count) return;
    held_first = first;
    held_count = count;
    C mean_buffer[kBlock], buffer[kBlock];
    const C* mean = row_of(statistics.mean, 0, 0).read(first, count, mean_buffer);
    const C* spread = row_of(statistics.spread, 0, 0).read(first, count, buffer);
    const C eps = static_cast<C>(statistics.eps);
    for (int64_t i = 0; i < count; ++i) {
      scale[i] = statistics.spread_is_rstd ? spread[i] : C{1} / std::sqrt(spread[i] + eps);
    }
    if (weight != nullptr) {
      const C* w = row_of(*weight, 0, 0).read(first, count, buffer);
      for (int64_t i = 0; i < count; ++i) scale[i] *= w[i];
    }
    for (int64_t i = 0; i < count; ++i) shift[i] = -mean[i] * scale[i];
    if (bias != nullptr) {
      const C* b = row_of(*bias, 0, 0).read(first, count, buffer);
      for (int64_t i = 0; i < count; ++i) shift[i] += b[i];
    }
  }
};

template <typename C>
void normalise_channels_as(const LoopNest& nest, const Tensor& input, const Tensor* weight,
                           const Tensor* bias, const ChannelStatistics& statistics, Tensor& out) {
  const bool one_channel = nest.inner_stride(2) == 0;  // Each run lies within one channel.
  Channels<C> channels;
  C buffer[kBlock], result[kBlock];
  nest.for_each_run([&](const int64_t* offsets, int64_t n) {
    Line to = row_of(out, offsets[0], n);
    Line from = row_of(input, offsets[1], n);
    to.stride = nest.inner_stride(0);
    from.stride = nest.inner_stride(1);
    if (one_channel) channels.set(statistics, weight, bias, offsets[2], 1);
    for_each_block(n, kBlock, [&](int64_t first, int64_t count) {
      const C* x = from.read(first, count, buffer);
      if (one_channel) {
        const C scale = channels.scale[0];
        const C shift = channels.shift[0];
        for (int64_t i = 0; i < count; ++i) result[i] = x[i] * scale + shift;
      } else {
        channels.set(statistics, weight, bias, offsets[2] + first, count);
        for (int64_t i = 0; i < count; ++i) {
          result[i] = x[i] * channels.scale[i] + channels.shift[i];
        }
      }
      to.write(first, count, result);
    });
  });
}

}  // namespace

void normalise_rows(const Tensor& input, int64_t rows, int64_t width, const Affine& affine,
                    double eps, Tensor& out, Tensor& mean, Tensor& rstd) {
  if (in_double(input.scalar_type())) {
    normalise_rows_as<double>(input, rows, width, affine, eps, out, mean, rstd);
  } else {
    normalise_rows_as<float>(input, rows, width, affine, eps, out, mean, rstd);
  }
}

Status check_affine(const Tensor* weight, const Tensor* bias, int64_t count) {
  TAPER_REQUIRE(fits(weight, count) && fits(bias, count), Error::kInvalidArgument,
                "weight and bias must be contiguous floats, one for each normalised element");
  return {};
}

Status normalise_channels(const Tensor& input, const Tensor* weight, const Tensor* bias,
                          const ChannelStatistics& statistics, Tensor& out) {
  TAPER_REQUIRE(input.dim() >= 2, Error::kInvalidArgument, "batch norm: input has no channels");
  TAPER_REQUIRE(is_floating(input.scalar_type()) && is_floating(out.scalar_type()),
                Error::kInvalidType, "batch norm: input and out must be floats");
  const int64_t count = input.size(1);
  TAPER_TRY(check_affine(weight, bias, count));
  TAPER_TRY(check_affine(&statistics.mean, &statistics.spread, count));
  TAPER_TRY(out.resize(input.sizes()));
  LoopNest nest = LoopNest::over(out);
  nest.add_operand(out, input);
  for (int d = 0; d < nest.rank; ++d) {
    nest.strides[2][d] = out.dim_order()[static_cast<size_t>(d)] == 1 ? 1 : 0;
  }
  nest.operands = 3;
  nest.simplify();
  if (nest.inner_stride(2) > 1) {
    return Status(Error::kInternal, "batch norm: the stride of the channels is not 0 or 1");
  }
  if (in_double(input.scalar_type())) {
    normalise_channels_as<double>(nest, input, weight, bias, statistics, out);
  } else {
    normalise_channels_as<float>(nest, input, weight, bias, statistics, out);
  }
  return {};
}

}  // namespace taper::portable
