// Kernels of operators that ExecuTorch's exporter or its registry has and no application needs.
// Plain loops; semantics: executorch/backends/vulkan/custom_ops_lib.py.

#include <algorithm>
#include <cstring>
#include <limits>

#include "backends/vulkan/runtime/cpu_kernels.h"
#include "kernels_portable/cores/attention.h"

namespace taper::vulkan {
namespace {

#define TAPER_FITS(condition, text) TAPER_REQUIRE(condition, Error::kInvalidArgument, text)

bool is_float(const Tensor& tensor) { return tensor.scalar_type() == ScalarType::kFloat; }

// The number of elements of a tensor before and after dimension d.
int64_t product_of(Span<const int32_t> sizes, size_t first, size_t last) {
  int64_t product = 1;
  for (size_t i = first; i < last; ++i) product *= sizes[i];
  return product;
}

// (x, repeats, dim, output size)
Status repeat_interleave(KernelContext&, const Tensor& x, int64_t repeats,
                         std::optional<int64_t> dim, std::optional<int64_t> size, Tensor& out) {
  const auto rank = static_cast<size_t>(x.dim());
  int32_t sizes[kMaxRank] = {};
  for (size_t i = 0; i < rank; ++i) sizes[i] = x.sizes()[i];
  const bool is_flat = !dim.has_value() || rank == 0;
  const int64_t given = is_flat ? 0 : *dim + (*dim < 0 ? x.dim() : 0);
  TAPER_FITS(is_flat || (given >= 0 && given < x.dim()), "a dimension is out of range");
  const auto d = static_cast<size_t>(given);
  const int64_t n = is_flat ? x.numel() : x.size(given);
  const int64_t inner = is_flat ? 1 : product_of(x.sizes(), d + 1, rank);
  int64_t whole = 0;
  TAPER_FITS(repeats >= 0 && !__builtin_mul_overflow(n, repeats, &whole) && whole <= INT32_MAX,
             "it repeats too often");
  TAPER_FITS(!size.has_value() || *size == whole, "its output has another size");
  TAPER_FITS(out.scalar_type() == x.scalar_type(), "its result has another dtype");
  sizes[d] = static_cast<int32_t>(whole);
  TAPER_TRY(out.resize({sizes, is_flat ? 1 : rank}));
  const size_t bytes = static_cast<size_t>(inner) * element_size(x.scalar_type());
  const auto* from = static_cast<const uint8_t*>(x.const_data());
  auto* to = static_cast<uint8_t*>(out.mutable_data());
  const int64_t parts = inner == 0 ? 0 : x.numel() / inner;
  for (int64_t part = 0; part < parts; ++part, from += bytes) {
    for (int64_t k = 0; k < repeats; ++k, to += bytes) std::memcpy(to, from, bytes);
  }
  return {};
}

// (x, stride, offset)
Status grid_points(KernelContext&, const Tensor& x, int64_t stride, double offset, Tensor& out) {
  TAPER_FITS(x.dim() >= 2 && is_float(out), "it has no image of float32");
  const int64_t height = x.size(x.dim() - 2), width = x.size(x.dim() - 1);
  TAPER_FITS(height * width <= INT32_MAX, "its image is too large");
  const int32_t sizes[2] = {static_cast<int32_t>(height * width), 2};
  TAPER_TRY(out.resize({sizes, 2}));
  auto* to = out.mutable_data_ptr<float>();
  const auto by = static_cast<float>(stride);
  const auto first = static_cast<float>(offset);
  for (int64_t i = 0; i < height * width; ++i) {
    *to++ = (static_cast<float>(i % width) + first) * by;
    *to++ = (static_cast<float>(i / width) + first) * by;
  }
  return {};
}

// (d_out, x)
Status linear_dw(KernelContext&, const Tensor& slope, const Tensor& x, Tensor& out) {
  TAPER_FITS(x.dim() >= 1 && slope.dim() >= 1 && is_float(x) && is_float(slope) && is_float(out),
             "its tensors are not matrices of float32");
  const int64_t n = slope.size(slope.dim() - 1), k = x.size(x.dim() - 1);
  const int64_t rows = product_of(x.sizes(), 0, static_cast<size_t>(x.dim()) - 1);
  TAPER_FITS(rows == product_of(slope.sizes(), 0, static_cast<size_t>(slope.dim()) - 1),
             "its sizes do not fit together");
  const int32_t sizes[2] = {static_cast<int32_t>(n), static_cast<int32_t>(k)};
  TAPER_TRY(out.resize({sizes, 2}));
  const auto* a = slope.const_data_ptr<float>();
  const auto* b = x.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  std::fill(to, to + n * k, 0.0F);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < k; ++j) to[i * k + j] += a[row * n + i] * b[row * k + j];
    }
  }
  return {};
}

struct Line {  // A convolution of one dimension.
  int64_t in, out, window, stride, pad, dilation, channels, per_group;
};

float sum_at(const Line& line, const float* image, const float* weight, int64_t at) {
  float sum = 0;
  for (int64_t c = 0; c < line.per_group; ++c) {
    for (int64_t k = 0; k < line.window; ++k) {
      const int64_t from = at * line.stride - line.pad + k * line.dilation;
      if (from < 0 || from >= line.in) continue;
      sum += image[c * line.in + from] * weight[c * line.window + k];
    }
  }
  return sum;
}

int64_t first_of(IntList list, int64_t otherwise) { return list.size() == 0 ? otherwise : list[0]; }

// (x, weight, bias, stride, padding, dilation, groups, least, most)
Status conv1d(KernelContext&, const Tensor& x, const Tensor& weight, const Tensor* bias,
              IntList strides, IntList pads, IntList dilations, int64_t groups,
              std::optional<double> least, std::optional<double> most, Tensor& out) {
  constexpr int64_t kMost = 1024;
  TAPER_FITS((x.dim() == 2 || x.dim() == 3) && weight.dim() == 3 && is_float(x) &&
                 is_float(weight) && is_float(out) && (bias == nullptr || is_float(*bias)),
             "its tensors are not lines of float32");
  const int64_t channels = x.size(x.dim() - 2), made = weight.size(0);
  Line line = {
      x.size(x.dim() - 1),    0,    weight.size(2), first_of(strides, 1), first_of(pads, 0),
      first_of(dilations, 1), made, weight.size(1)};
  TAPER_FITS(line.stride > 0 && line.stride < kMost && line.pad >= 0 && line.pad < kMost &&
                 line.dilation > 0 && line.dilation < kMost && line.window > 0 &&
                 line.window < kMost && groups > 0 && groups <= made && made % groups == 0 &&
                 line.per_group * groups == channels && (bias == nullptr || bias->numel() == made),
             "its sizes do not fit together");
  const int64_t room = line.in + 2 * line.pad - line.dilation * (line.window - 1) - 1;
  TAPER_FITS(room >= 0, "its window is larger than the line");
  line.out = room / line.stride + 1;
  int32_t sizes[3];
  std::copy(x.sizes().begin(), x.sizes().end(), sizes);
  sizes[x.dim() - 2] = static_cast<int32_t>(made);
  sizes[x.dim() - 1] = static_cast<int32_t>(line.out);
  TAPER_TRY(out.resize({sizes, static_cast<size_t>(x.dim())}));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto low = static_cast<float>(least.value_or(-kInfinity));
  const auto high = static_cast<float>(most.value_or(kInfinity));
  const int64_t images = x.dim() == 3 ? x.size(0) : 1;
  auto* to = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < images * made * line.out; ++i) {
    const int64_t image = i / line.out / made, channel = i / line.out % made;
    const int64_t group = channel / (made / groups);
    const float* from =
        x.const_data_ptr<float>() + (image * channels + group * line.per_group) * line.in;
    const float* by = weight.const_data_ptr<float>() + channel * line.per_group * line.window;
    const float sum = sum_at(line, from, by, i % line.out) +
                      (bias == nullptr ? 0 : bias->const_data_ptr<float>()[channel]);
    to[i] = sum != sum ? sum : std::min(std::max(sum, low), high);
  }
  return {};
}

// (q, k, v, key cache, value cache, start, length, mask, dropout, is causal, scale). The exporter
// writes 1 for the length, whatever it is.
Status sdpa_with_kv_cache(KernelContext&, const Tensor& q, const Tensor& k, const Tensor& v,
                          Tensor& keys, Tensor& values, int64_t start, int64_t, const Tensor* mask,
                          double, bool is_causal, std::optional<double> scale, Tensor& out) {
  TAPER_TRY(portable::update_cache(k, start, keys));
  TAPER_TRY(portable::update_cache(v, start, values));
  return portable::attend({{q}, {keys}, {values}, start, mask, is_causal, scale}, out);
}

constexpr Kernel kConv1d = make_kernel<conv1d>("vulkan::conv1d");
constexpr Kernel kGridPoints = make_kernel<grid_points>("vulkan::grid_points");
constexpr Kernel kLinearDw = make_kernel<linear_dw>("vulkan::linear_dw");
constexpr Kernel kRepeatInterleave = make_kernel<repeat_interleave>("vulkan::repeat_interleave");

constexpr Kernel kSdpaWithKvCache = make_kernel<sdpa_with_kv_cache>("vulkan::sdpa_with_kv_cache");

constexpr const Kernel* kTable[] = {&kConv1d, &kGridPoints, &kLinearDw, &kRepeatInterleave,
                                    &kSdpaWithKvCache};

}  // namespace

KernelTable exporter_kernels() { return kTable; }

}  // namespace taper::vulkan
