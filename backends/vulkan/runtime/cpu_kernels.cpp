#include "backends/vulkan/runtime/cpu_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace taper::vulkan {
namespace {

#define TAPER_FITS(condition, text) TAPER_REQUIRE(condition, Error::kInvalidArgument, text)

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr char kNotFloat[] = "its tensors are not float32";

bool are_floats(std::initializer_list<const Tensor*> tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [](const Tensor* tensor) {
    return tensor == nullptr || tensor->scalar_type() == ScalarType::kFloat;
  });
}

template <typename Function>
Status map(const Tensor& x, Tensor& out, const Function& function) {
  TAPER_REQUIRE(are_floats({&x, &out}), Error::kInvalidType, kNotFloat);
  TAPER_TRY(out.resize(x.sizes()));
  const float* from = x.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = function(from[i]);
  return {};
}

float softplus_of(float x, float beta, float threshold) {
  return x * beta > threshold ? x : std::log1p(std::exp(x * beta)) / beta;
}

Status relu6(KernelContext&, const Tensor& x, Tensor& out) {
  return map(x, out, [](float v) { return v != v ? v : std::min(std::max(v, 0.0F), 6.0F); });
}

Status mish(KernelContext&, const Tensor& x, Tensor& out) {
  return map(x, out, [](float v) { return v * std::tanh(softplus_of(v, 1, 20)); });
}

Status softplus(KernelContext&, const Tensor& x, double beta, double threshold, Tensor& out) {
  const auto b = static_cast<float>(beta), t = static_cast<float>(threshold);
  return map(x, out, [=](float v) { return softplus_of(v, b, t); });
}

Status hardshrink(KernelContext&, const Tensor& x, double lambda, Tensor& out) {
  const auto bound = static_cast<float>(lambda);
  return map(x, out, [=](float v) { return v >= -bound && v <= bound ? 0.0F : v; });
}

// In place: what conv_with_clamp does with the result of the convolution.
Status clamp(KernelContext&, std::optional<double> least, std::optional<double> most, Tensor& x) {
  const auto low = static_cast<float>(least.value_or(-kInfinity));
  const auto high = static_cast<float>(most.value_or(kInfinity));
  return map(x, x, [=](float v) { return v != v ? v : std::min(std::max(v, low), high); });
}

// To the nearest float16; a number beyond 65504 becomes that, as in halves.glsl.
float as_half(float x) {
  constexpr float kLargest = 65504;
  const float size = std::fabs(x);
  if (!(size < kInfinity)) return x;
  if (size > kLargest) return std::copysign(kLargest, x);
  // The float16 next to 0 are 2^-24 apart, as floats from 0.5 to 1 are.
  if (size < 0x1p-14F) return std::copysign(size + 0.5F - 0.5F, x);
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  bits = (bits + 0xfff + (bits >> 13 & 1)) & ~uint32_t{0x1fff};
  std::memcpy(&x, &bits, sizeof(bits));
  return x;
}

Status round_to_half(KernelContext&, const Tensor& x, Tensor& out) { return map(x, out, as_half); }

// The weight broadcasts to x.
Status prelu(KernelContext&, const Tensor& x, const Tensor& weight, Tensor& out) {
  const int64_t rank = x.dim(), skipped = rank - weight.dim();
  TAPER_REQUIRE(are_floats({&x, &weight, &out}), Error::kInvalidType, kNotFloat);
  TAPER_FITS(skipped >= 0, "the weight does not broadcast");
  for (int64_t d = skipped; d < rank; ++d) {
    const int64_t size = weight.size(d - skipped);
    TAPER_FITS(size == 1 || size == x.size(d), "the weight does not broadcast");
  }
  TAPER_TRY(out.resize(x.sizes()));
  const float* from = x.const_data_ptr<float>();
  const float* slopes = weight.const_data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    int64_t rest = i, at = 0;
    for (int64_t d = rank - 1; d >= skipped; --d) {
      const auto k = static_cast<size_t>(d - skipped);
      if (weight.size(d - skipped) != 1) at += rest % x.size(d) * weight.strides()[k];
      rest /= x.size(d);
    }
    out.mutable_data_ptr<float>()[i] = from[i] > 0 ? from[i] : from[i] * slopes[at];
  }
  return {};
}

Status normalise_rows(const Tensor& x, const Tensor* weight, int64_t size, double eps,
                      Tensor& out) {
  TAPER_REQUIRE(are_floats({&x, weight, &out}), Error::kInvalidType, kNotFloat);
  TAPER_FITS(weight == nullptr || weight->numel() == size, "the weight has another size");
  TAPER_TRY(out.resize(x.sizes()));
  const float* scale = weight == nullptr ? nullptr : weight->const_data_ptr<float>();
  for (int64_t first = 0; first < x.numel(); first += size) {
    const float* from = x.const_data_ptr<float>() + first;
    float* to = out.mutable_data_ptr<float>() + first;
    double sum = 0;
    for (int64_t i = 0; i < size; ++i) sum += static_cast<double>(from[i]) * from[i];
    const auto by = static_cast<float>(1 / std::sqrt(sum / static_cast<double>(size) + eps));
    for (int64_t i = 0; i < size; ++i) to[i] = from[i] * by * (scale == nullptr ? 1 : scale[i]);
  }
  return {};
}

Status rms_norm(KernelContext&, const Tensor& x, IntList shape, const Tensor* weight,
                std::optional<double> eps, Tensor& out) {
  const auto rank = static_cast<size_t>(x.dim());
  TAPER_FITS(shape.size() <= rank, "it normalises more dimensions than there are");
  int64_t size = 1;
  for (size_t d = rank - shape.size(); d < rank; ++d) size *= x.sizes()[d];
  return normalise_rows(x, weight, size, eps.value_or(1.1920928955078125e-07), out);
}

Status rms_norm_of_last(KernelContext&, const Tensor& x, const Tensor& weight, double eps,
                        Tensor& out) {
  TAPER_FITS(x.dim() > 0, "a scalar has no rows");
  return normalise_rows(x, &weight, x.size(x.dim() - 1), eps, out);
}

// The sizes of q, k, v or a mask, from the last: columns, rows, heads, batch.
struct Heads {
  explicit Heads(const Tensor& tensor) : data(tensor.const_data_ptr<float>()) {
    for (int64_t i = 0; i < std::min<int64_t>(tensor.dim(), 4); ++i) {
      size[i] = tensor.size(tensor.dim() - 1 - i);
    }
  }
  // Where a row begins, if there is one for it alone.
  int64_t row(int64_t batch, int64_t head, int64_t at) const {
    const int64_t b = size[3] == 1 ? 0 : batch, h = size[2] == 1 ? 0 : head;
    return ((b * size[2] + h) * size[1] + (size[1] == 1 ? 0 : at)) * size[0];
  }
  const float* data;
  int64_t size[4] = {1, 1, 1, 1};
};

struct Attention {
  Heads q, k, v;
  const Tensor* mask;
  bool is_causal;
  float scale;

  float score(int64_t batch, int64_t head, int64_t i, int64_t j) const {
    if (is_causal && j > i) return -kInfinity;
    float added = 0;
    if (mask != nullptr) {
      const Heads at(*mask);
      const int64_t place = at.row(batch, head, i) + (at.size[0] == 1 ? 0 : j);
      if (mask->scalar_type() == ScalarType::kFloat) {
        added = at.data[place];
      } else if (mask->const_data_ptr<uint8_t>()[place] == 0) {
        return -kInfinity;
      }
    }
    const float* query = q.data + q.row(batch, head, i);
    const float* key = k.data + k.row(batch, head * k.size[2] / q.size[2], j);
    float sum = 0;
    for (int64_t d = 0; d < q.size[0]; ++d) sum += query[d] * key[d];
    return sum * scale + added;
  }

  void row(int64_t batch, int64_t head, int64_t i, float* out) const {
    float most = -kInfinity;
    for (int64_t j = 0; j < k.size[1]; ++j) {
      const float each = score(batch, head, i, j);
      most = each > most || each != each ? each : most;
    }
    std::fill(out, out + v.size[0], 0.0F);
    if (most == -kInfinity) return;  // A query that no key counts for.
    float sum = 0;
    for (int64_t j = 0; j < k.size[1]; ++j) {
      const float weight = std::exp(score(batch, head, i, j) - most);
      const float* value = v.data + v.row(batch, head * v.size[2] / q.size[2], j);
      for (int64_t d = 0; d < v.size[0]; ++d) out[d] += weight * value[d];
      sum += weight;
    }
    for (int64_t d = 0; d < v.size[0]; ++d) out[d] /= sum;
  }
};

Status check_mask(const Attention& a) {
  if (a.mask == nullptr) return {};
  const ScalarType dtype = a.mask->scalar_type();
  TAPER_FITS((dtype == ScalarType::kFloat || dtype == ScalarType::kBool) && a.mask->dim() <= 4,
             "the mask is neither float32 nor bool");
  const Heads mask(*a.mask);
  const int64_t scores[] = {a.k.size[1], a.q.size[1], a.q.size[2], a.q.size[3]};
  for (size_t i = 0; i < 4; ++i) {
    TAPER_FITS(mask.size[i] == 1 || mask.size[i] == scores[i], "the mask does not broadcast");
  }
  return {};
}

Status attend(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor* mask, bool is_causal,
              std::optional<double> scale, Tensor& out) {
  TAPER_REQUIRE(are_floats({&q, &k, &v, &out}), Error::kInvalidType, kNotFloat);
  const int64_t rank = q.dim();
  TAPER_FITS(rank >= 2 && rank <= 4 && k.dim() == rank && v.dim() == rank,
             "its tensors have different ranks");
  const auto depth = static_cast<double>(std::max<int64_t>(q.size(rank - 1), 1));
  const Attention a = {Heads(q),  Heads(k),
                       Heads(v),  mask,
                       is_causal, static_cast<float>(scale.value_or(1 / std::sqrt(depth)))};
  const int64_t heads = a.q.size[2], shared = a.k.size[2];
  TAPER_FITS(a.k.size[0] == a.q.size[0] && a.v.size[1] == a.k.size[1] && a.v.size[2] == shared &&
                 a.k.size[3] == a.q.size[3] && a.v.size[3] == a.q.size[3] &&
                 (shared == heads || (shared > 0 && heads % shared == 0)),
             "its sizes do not fit together");
  TAPER_TRY(check_mask(a));
  int32_t sizes[4];
  std::copy(q.sizes().begin(), q.sizes().end(), sizes);
  sizes[rank - 1] = v.size(rank - 1);
  TAPER_TRY(out.resize({sizes, static_cast<size_t>(rank)}));
  float* to = out.mutable_data_ptr<float>();
  for (int64_t batch = 0; batch < a.q.size[3]; ++batch) {
    for (int64_t head = 0; head < heads; ++head) {
      for (int64_t i = 0; i < a.q.size[1]; ++i, to += a.v.size[0]) a.row(batch, head, i, to);
    }
  }
  return {};
}

Status attention(KernelContext&, const Tensor& q, const Tensor& k, const Tensor& v,
                 const Tensor* mask, double, bool is_causal, std::optional<double> scale, bool,
                 Tensor& out) {
  return attend(q, k, v, mask, is_causal, scale, out);
}

Status sdpa(KernelContext&, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor* mask,
            std::optional<double> scale, Tensor& out) {
  return attend(q, k, v, mask, false, scale, out);
}

// One dimension of a pooling window: its first place and how many there are, in steps.
struct Window {
  int64_t size = 1, stride = 1, pad = 0, dilation = 1, in = 0, out = 0;
};

Status read_window(IntList sizes, IntList strides, IntList pads, IntList dilations, bool ceil,
                   size_t d, Window& w) {
  const auto item = [d](IntList list, int64_t otherwise) {
    return list.size() == 0 ? otherwise : list[std::min(d, list.size() - 1)];
  };
  w.size = item(sizes, 0);
  w.stride = item(strides, w.size);
  w.pad = item(pads, 0);
  w.dilation = item(dilations, 1);
  constexpr int64_t kMost = 1 << 20;
  TAPER_FITS(w.size > 0 && w.size < kMost && w.stride > 0 && w.stride < kMost && w.pad >= 0 &&
                 w.pad * 2 <= w.size && w.dilation > 0 && w.dilation < kMost,
             "its windows are out of range");
  // Rounded up, the last window may reach beyond the image, and so may an only one.
  const int64_t room = w.in + 2 * w.pad - w.dilation * (w.size - 1) - 1 + (ceil ? w.stride - 1 : 0);
  TAPER_FITS(room >= 0, "its windows are larger than the image");
  w.out = room / w.stride + 1;
  if (ceil && (w.out - 1) * w.stride >= w.in + w.pad) --w.out;
  return {};
}

template <typename T>
void pool(const Tensor& x, const Window (&w)[2], Tensor& out) {
  const int64_t plane = w[0].in * w[1].in;
  const T* from = x.const_data_ptr<T>();
  T* to = out.mutable_data_ptr<T>();
  for (int64_t at = 0; at < out.numel(); ++at) {
    const int64_t column = at % w[1].out, row = at / w[1].out % w[0].out;
    const T* image = from + at / (w[0].out * w[1].out) * plane;
    bool is_first = true;
    T most = 0;
    for (int64_t i = 0; i < w[0].size * w[1].size; ++i) {
      const int64_t y = row * w[0].stride - w[0].pad + i / w[1].size * w[0].dilation;
      const int64_t z = column * w[1].stride - w[1].pad + i % w[1].size * w[1].dilation;
      if (y < 0 || y >= w[0].in || z < 0 || z >= w[1].in) continue;
      const T value = image[y * w[1].in + z];
      if (is_first || value > most || value != value) most = value;
      is_first = false;
    }
    to[at] = most;
  }
}

Status max_pool2d(KernelContext&, const Tensor& x, IntList sizes, IntList strides, IntList pads,
                  IntList dilations, bool ceil, Tensor& out) {
  const int64_t rank = x.dim();
  TAPER_FITS((rank == 3 || rank == 4) && x.scalar_type() == out.scalar_type(),
             "it pools no image, or to another dtype");
  Window w[2];
  int32_t result[4];
  std::copy(x.sizes().begin(), x.sizes().end(), result);
  for (size_t d = 0; d < 2; ++d) {
    const auto at = static_cast<size_t>(rank) - 2 + d;
    w[d].in = x.sizes()[at];
    TAPER_TRY(read_window(sizes, strides, pads, dilations, ceil, d, w[d]));
    TAPER_FITS(w[d].out <= INT32_MAX, "its windows are out of range");
    result[at] = static_cast<int32_t>(w[d].out);
  }
  TAPER_TRY(out.resize({result, static_cast<size_t>(rank)}));
  switch (x.scalar_type()) {
    case ScalarType::kFloat:
      pool<float>(x, w, out);
      return {};
    case ScalarType::kLong:
      pool<int64_t>(x, w, out);
      return {};
    case ScalarType::kInt:
      pool<int32_t>(x, w, out);
      return {};
    case ScalarType::kShort:
      pool<int16_t>(x, w, out);
      return {};
    case ScalarType::kChar:
      pool<int8_t>(x, w, out);
      return {};
    case ScalarType::kByte:
      pool<uint8_t>(x, w, out);
      return {};
    default:
      return Status(Error::kInvalidType, "it pools a dtype other than float32 or integers");
  }
}

constexpr Kernel kAttention = make_kernel<attention>("vulkan::attention");
constexpr Kernel kClamp = make_kernel<clamp>("vulkan::clamp");
constexpr Kernel kHardshrink = make_kernel<hardshrink>("vulkan::hardshrink");
constexpr Kernel kMaxPool2d = make_kernel<max_pool2d>("vulkan::max_pool2d");
constexpr Kernel kMish = make_kernel<mish>("vulkan::mish");
constexpr Kernel kPrelu = make_kernel<prelu>("vulkan::prelu");
constexpr Kernel kRelu6 = make_kernel<relu6>("vulkan::relu6");
constexpr Kernel kRmsNorm = make_kernel<rms_norm>("vulkan::rms_norm");
constexpr Kernel kRmsNormOfLast = make_kernel<rms_norm_of_last>("vulkan::rms_norm_of_last");
constexpr Kernel kRoundToHalf = make_kernel<round_to_half>("vulkan::round_to_half");
constexpr Kernel kSdpa = make_kernel<sdpa>("vulkan::sdpa");
constexpr Kernel kSoftplus = make_kernel<softplus>("vulkan::softplus");

constexpr const Kernel* kTable[] = {&kAttention,     &kClamp,       &kHardshrink, &kMaxPool2d,
                                    &kMish,          &kPrelu,       &kRelu6,      &kRmsNorm,
                                    &kRmsNormOfLast, &kRoundToHalf, &kSdpa,       &kSoftplus};

}  // namespace

const Kernel* find_cpu_kernel(std::string_view name) {
  for (const KernelTable table :
       {KernelTable(kTable), exporter_kernels(), cpu_quantised_kernels(), cpu_rotary_kernels(),
        cpu_window_kernels(), cpu_integer_kernels(), cpu_block_kernels()}) {
    if (const Kernel* found = find_kernel(table, name)) return found;
  }
  return nullptr;
}

}  // namespace taper::vulkan
