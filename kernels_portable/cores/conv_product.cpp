// Convolution as a matrix product (gemm.h). The matrix of input patches is never stored as a whole:
// blocks of it are gathered on the stack while the product runs.
//
// Each image and group is one product, in one of two forms. If the positions of an output channel
// are contiguous:
//
//     out[o, y]  = sum over k of weight[o, k] * patch[k, y]        k = (input channel, tap)
//
// and if the channels of a position are contiguous (channels last), its transpose:
//
//     out[y, o]  = sum over k of patch[y, k] * weight[k, o]        k = (tap, input channel)

#include <algorithm>

#include "kernels_portable/cores/conv.h"
#include "kernels_portable/cores/gemm.h"
#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/divide.h"

namespace taper::portable {
namespace {

// A point of a three-dimensional box, walked in row-major order.
struct Point {
  int64_t at[kSpatial];

  static Point of(int64_t index, const int64_t (&size)[kSpatial]) {
    return {{index / (size[1] * size[2]), index / size[2] % size[1], index % size[2]}};
  }
  // Moves to the next point. Returns true if it wrapped around to the origin.
  bool next(const int64_t (&size)[kSpatial]) {
    for (int d = kSpatial - 1; d >= 0; --d) {
      if (++at[d] < size[d]) return false;
      at[d] = 0;
    }
    return true;
  }
};

// What index k of the product stands for: an input channel of the group and a tap.
struct WeightRow {
  int64_t channel;
  Point tap;

  int64_t offset(const ConvWeight& weight) const {
    return channel * weight.in_stride + weight.tap_offset(tap.at[0], tap.at[1], tap.at[2]);
  }
};

// Along dimension d: the input coordinate that tap `t` of output coordinate `y` reads, or -1 if it
// reads none.
int64_t meet(const Convolution& conv, int d, int64_t y, int64_t t) {
  int64_t x;
  if (conv.transposed) {
    const int64_t scaled = y + conv.padding[d] - t * conv.dilation[d];
    if (scaled < 0 || scaled % conv.stride[d] != 0) return -1;
    x = scaled / conv.stride[d];
  } else {
    x = y * conv.stride[d] - conv.padding[d] + t * conv.dilation[d];
  }
  return x >= 0 && x < conv.in.size[d] ? x : -1;
}

// The operands of one group of one image. Derived classes name this base before Product, so that no
// call lies between the construction of Product and their own: otherwise clang emits the vtable of
// the abstract class and links the C++ library's handler of pure virtual calls, 49 KB.
template <typename T>
class ConvOperands {
 protected:
  ConvOperands(const Convolution& conv, int64_t image, int64_t group)
      : conv_(conv), load_(loader<T>(conv.in.type)), store_(storer<T>(conv.in.type)) {
    const int64_t out_channel = group * conv.group_out();
    const int64_t weight_first = conv.transposed ? group * conv.group_in() * conv.weight.in_stride
                                                 : out_channel * conv.weight.out_stride;
    in_ = at(conv.in.data,
             image * conv.in.batch_stride + group * conv.group_in() * conv.in.channel_stride);
    out_ = at(conv.out.data, image * conv.out.batch_stride + out_channel * conv.out.channel_stride);
    weight_ = at(conv.weight.data, weight_first);
    if (conv.bias != nullptr) bias_ = at(conv.bias->mutable_data(), out_channel);
  }

  void* at(void* data, int64_t index) const { return element(data, index, conv_.in.type); }
  bool native() const { return conv_.in.type == native_type<T>(); }

  void load_bias(int64_t first, int64_t count, T* to) const {
    load_(at(bias_, first), 1, count, to);
  }

  int64_t meet(int d, int64_t y, int64_t t) const { return taper::portable::meet(conv_, d, y, t); }

  const Convolution& conv_;
  LoadFunction<T> load_;
  StoreFunction<T> store_;
  void* in_;
  void* out_;
  void* weight_;
  void* bias_ = nullptr;
};

// The product out[o, y], for outputs whose positions are evenly spaced.
template <typename T>
class PlanarProduct final : ConvOperands<T>, public Product<T> {
 public:
  PlanarProduct(const Convolution& conv, int64_t image, int64_t group)
      : ConvOperands<T>(conv, image, group),
        Product<T>(conv.group_out(), conv.out.positions(), conv.group_in() * conv.weight.taps()),
        step_(conv.out.position_stride()) {
    const ConvWeight& weight = conv.weight;
    tap_inner_ = true;
    int64_t expected = 1;
    for (int d = kSpatial - 1; d >= 0; --d) {  // The stride of a size of 1 does not count.
      tap_inner_ = tap_inner_ && (weight.size[d] == 1 || weight.stride[d] == expected);
      expected *= weight.size[d];
    }
    dense_ = tap_inner_ && weight.in_stride == weight.taps();
  }

  Block<const T> left(int64_t m, int64_t rows, int64_t k, int64_t depth, T* buffer) override {
    const ConvWeight& weight = this->conv_.weight;
    if (dense_ && this->native()) {
      return {static_cast<const T*>(this->weight_) + m * weight.out_stride + k, weight.out_stride};
    }
    if (dense_) {
      for (int64_t j = 0; j < rows; ++j) {
        this->load_(this->at(this->weight_, (m + j) * weight.out_stride + k), 1, depth,
                    buffer + j * depth);
      }
      return {buffer, depth};
    }
    WeightRow row = row_at(k);
    for (int64_t i = 0; i < depth; ++i, advance(row)) {
      T column[kStripRows];
      this->load_(this->at(this->weight_, m * weight.out_stride + row.offset(weight)),
                  weight.out_stride, rows, column);
      for (int64_t j = 0; j < rows; ++j) buffer[j * depth + i] = column[j];
    }
    return {buffer, depth};
  }

  Block<const T> right(int64_t k, int64_t depth, int64_t n, int64_t columns, T* buffer) override {
    const Point start = Point::of(n, this->conv_.out.size);
    WeightRow row = row_at(k);
    for (int64_t i = 0; i < depth; ++i, advance(row)) {
      gather(row, start, columns, buffer + i * kBlockColumns<T>);
    }
    return {buffer, kBlockColumns<T>};
  }

  Block<T> target(int64_t m, int64_t n) override {
    if (!this->native() || step_ != 1) return {nullptr, 0};
    const int64_t stride = this->conv_.out.channel_stride;
    return {static_cast<T*>(this->out_) + m * stride + n, stride};
  }

  void finish(int64_t m, int64_t n, int64_t columns, T* sums) override {
    if (this->bias_ != nullptr) {
      T bias;
      this->load_bias(m, 1, &bias);
      for (int64_t j = 0; j < columns; ++j) sums[j] = wrap_add(sums[j], bias);
    }
    if (this->native() && step_ == 1) return;
    this->store_(sums, columns,
                 this->at(this->out_, m * this->conv_.out.channel_stride + n * step_), step_);
  }

 private:
  // The rows, in the order of the weights in memory: taps within channels, or channels within taps.
  WeightRow row_at(int64_t k) const {
    const ConvWeight& weight = this->conv_.weight;
    const int64_t taps = weight.taps();
    const int64_t channels = this->conv_.group_in();
    if (tap_inner_) return {k / taps, Point::of(k % taps, weight.size)};
    return {k % channels, Point::of(k / channels, weight.size)};
  }
  void advance(WeightRow& row) const {
    if (tap_inner_) {
      if (row.tap.next(this->conv_.weight.size)) ++row.channel;
    } else if (++row.channel == this->conv_.group_in()) {
      row.channel = 0;
      row.tap.next(this->conv_.weight.size);
    }
  }

  // Gathers the values that `row` is multiplied by at `count` positions from `start` on: parts of
  // rows of the input, with zeros for the padding.
  void gather(const WeightRow& row, const Point& start, int64_t count, T* to) const {
    const Convolution& conv = this->conv_;
    int64_t a = start.at[0], b = start.at[1], c = start.at[2];
    while (count > 0) {
      const int64_t run = std::min(conv.out.size[2] - c, count);
      const int64_t x0 = this->meet(0, a, row.tap.at[0]);
      const int64_t x1 = this->meet(1, b, row.tap.at[1]);
      if (x0 < 0 || x1 < 0) {
        std::fill_n(to, run, T{});
      } else {
        const int64_t offset =
            row.channel * conv.in.channel_stride + x0 * conv.in.stride[0] + x1 * conv.in.stride[1];
        if (conv.transposed) {
          gather_spread(offset, row.tap.at[2], c, run, to);
        } else {
          gather_run(offset, row.tap.at[2], c, run, to);
        }
      }
      to += run;
      count -= run;
      c = 0;
      if (++b == conv.out.size[1]) b = 0, ++a;
    }
  }

  // Gathers a part of one row of the input, every stride-th element.
  void gather_run(int64_t offset, int64_t tap, int64_t first, int64_t count, T* to) const {
    const Convolution& conv = this->conv_;
    const int64_t stride = conv.stride[2];
    const int64_t shift = tap * conv.dilation[2] - conv.padding[2];  // x = y * stride + shift.
    const int64_t low = std::clamp(divide_up(-shift, stride) - first, int64_t{0}, count);
    const int64_t high = std::clamp(divide_up(conv.in.size[2] - shift, stride) - first, low, count);
    std::fill_n(to, low, T{});
    if (high > low) {
      const int64_t x = (first + low) * stride + shift;
      this->load_(this->at(this->in_, offset + x * conv.in.stride[2]), conv.in.stride[2] * stride,
                  high - low, to + low);
    }
    std::fill_n(to + high, count - high, T{});
  }

  // Gathers a part of one row of the input of a transposed convolution, with zeros between the
  // elements: y = x * stride + shift.
  void gather_spread(int64_t offset, int64_t tap, int64_t first, int64_t count, T* to) const {
    const Convolution& conv = this->conv_;
    const int64_t stride = conv.stride[2];
    const int64_t shift = tap * conv.dilation[2] - conv.padding[2] - first;
    const int64_t low = std::max(divide_up(-shift, stride), int64_t{0});
    const int64_t high = std::min(divide_down(count - 1 - shift, stride) + 1, conv.in.size[2]);
    std::fill_n(to, count, T{});
    T values[kBlockColumns<T>];
    if (high <= low) return;
    this->load_(this->at(this->in_, offset + low * conv.in.stride[2]), conv.in.stride[2],
                high - low, values);
    for (int64_t x = low; x < high; ++x) to[x * stride + shift] = values[x - low];
  }

  int64_t step_;
  bool tap_inner_;
  bool dense_;
};

// The product out[y, o], for outputs whose channels are contiguous.
template <typename T>
class PointProduct final : ConvOperands<T>, public Product<T> {
 public:
  PointProduct(const Convolution& conv, int64_t image, int64_t group)
      : ConvOperands<T>(conv, image, group),
        Product<T>(conv.out.positions(), conv.group_out(), conv.group_in() * conv.weight.taps()),
        step_(conv.out.position_stride()),
        in_place_(this->native() && conv.weight.taps() == 1 && !conv.transposed &&
                  conv.stride[2] == 1 && conv.padding[2] == 0 && conv.in.size[1] == 1 &&
                  conv.in.size[0] == 1 && conv.in.channel_stride == 1) {}

  Block<const T> left(int64_t m, int64_t rows, int64_t k, int64_t depth, T* buffer) override {
    const Convolution& conv = this->conv_;
    if (in_place_) {
      return {static_cast<const T*>(this->in_) + m * conv.in.stride[2] + k, conv.in.stride[2]};
    }
    Point y = Point::of(m, conv.out.size);
    for (int64_t i = 0; i < rows; ++i, y.next(conv.out.size)) {
      gather(y, k, depth, buffer + i * depth);
    }
    return {buffer, depth};
  }

  Block<const T> right(int64_t k, int64_t depth, int64_t n, int64_t columns, T* buffer) override {
    const ConvWeight& weight = this->conv_.weight;
    WeightRow row = row_at(k);
    for (int64_t i = 0; i < depth; ++i, advance(row)) {
      this->load_(this->at(this->weight_, n * weight.out_stride + row.offset(weight)),
                  weight.out_stride, columns, buffer + i * kBlockColumns<T>);
    }
    return {buffer, kBlockColumns<T>};
  }

  Block<T> target(int64_t m, int64_t n) override {
    if (!this->native()) return {nullptr, 0};
    return {static_cast<T*>(this->out_) + m * step_ + n, step_};
  }

  void finish(int64_t m, int64_t n, int64_t columns, T* sums) override {
    if (this->bias_ != nullptr) {
      T bias[kBlockColumns<T>];
      this->load_bias(n, columns, bias);
      for (int64_t j = 0; j < columns; ++j) sums[j] = wrap_add(sums[j], bias[j]);
    }
    if (!this->native()) {
      this->store_(sums, columns, this->at(this->out_, m * step_ + n), 1);
    }
  }

 private:
  WeightRow row_at(int64_t k) const {
    const int64_t channels = this->conv_.group_in();
    return {k % channels, Point::of(k / channels, this->conv_.weight.size)};
  }
  void advance(WeightRow& row) const {
    if (++row.channel < this->conv_.group_in()) return;
    row.channel = 0;
    row.tap.next(this->conv_.weight.size);
  }

  // Gathers elements [k, k + count) of the patch at `y`: runs of channels, one for each tap.
  void gather(const Point& y, int64_t k, int64_t count, T* to) const {
    const Convolution& conv = this->conv_;
    WeightRow row = row_at(k);
    while (count > 0) {
      const int64_t run = std::min(conv.group_in() - row.channel, count);
      int64_t offset = row.channel * conv.in.channel_stride;
      bool inside = true;
      for (int d = 0; d < kSpatial; ++d) {
        const int64_t x = this->meet(d, y.at[d], row.tap.at[d]);
        inside = inside && x >= 0;
        offset += x * conv.in.stride[d];
      }
      if (inside) {
        this->load_(this->at(this->in_, offset), conv.in.channel_stride, run, to);
      } else {
        std::fill_n(to, run, T{});
      }
      to += run;
      count -= run;
      row.channel = 0;
      row.tap.next(conv.weight.size);
    }
  }

  int64_t step_;
  bool in_place_;
};

// ---- weights that are not finite ----
//
// In a transposed convolution the products above multiply the zeros between the elements of the
// input too, and zero times infinity is NaN. With such weights each output is computed by the
// definition.

template <typename T>
bool has_infinite_weight(const Convolution& conv) {
  if (!is_floating(conv.in.type)) return false;
  const int64_t count = conv.in.channels * conv.group_out() * conv.weight.taps();
  for (int64_t i = 0; i < count; ++i) {  // The order does not matter, so that of memory is used.
    const T value = load_one<T>(element(conv.weight.data, i, conv.in.type), conv.in.type);
    if (value - value != T{}) return true;
  }
  return false;
}

// What one input channel contributes to the output at `y`.
template <typename T>
T sum_of_taps(const Convolution& conv, const Point& y, const void* in, const void* weight) {
  T sum{};
  Point tap = {};
  do {
    int64_t offset = 0;
    bool inside = true;
    for (int d = 0; d < kSpatial; ++d) {
      const int64_t x = meet(conv, d, y.at[d], tap.at[d]);
      inside = inside && x >= 0;
      offset += x * conv.in.stride[d];
    }
    if (!inside) continue;
    const int64_t at = conv.weight.tap_offset(tap.at[0], tap.at[1], tap.at[2]);
    const T value = load_one<T>(element(in, offset, conv.in.type), conv.in.type);
    sum = wrap_add(sum,
                   wrap_mul(value, load_one<T>(element(weight, at, conv.in.type), conv.in.type)));
  } while (!tap.next(conv.weight.size));
  return sum;
}

// Computes one output channel of one image by the definition.
template <typename T>
void convolve_channel(const Convolution& conv, int64_t image, int64_t channel) {
  const ScalarType type = conv.in.type;
  const int64_t group = channel / conv.group_out(), first = group * conv.group_in();
  Point y = {};
  do {
    T sum{};
    if (conv.bias != nullptr)
      sum = load_one<T>(element(conv.bias->const_data(), channel, type), type);
    for (int64_t c = first; c < first + conv.group_in(); ++c) {
      const int64_t in = image * conv.in.batch_stride + c * conv.in.channel_stride;
      const int64_t weight =
          c * conv.weight.in_stride + channel % conv.group_out() * conv.weight.out_stride;
      sum = wrap_add(sum, sum_of_taps<T>(conv, y, element(conv.in.data, in, type),
                                         element(conv.weight.data, weight, type)));
    }
    int64_t to = image * conv.out.batch_stride + channel * conv.out.channel_stride;
    for (int d = 0; d < kSpatial; ++d) to += y.at[d] * conv.out.stride[d];
    store_one(sum, element(conv.out.data, to, type), type);
  } while (!y.next(conv.out.size));
}

// If the convolution is pointwise (one tap, no stride, no padding), makes each image one row, so
// that the product runs over all positions at once.
void flatten_pointwise(Convolution& conv) {
  const int64_t in_step = conv.in.position_stride();
  bool pointwise = !conv.transposed && conv.weight.taps() == 1 && in_step != 0;
  for (int d = 0; d < kSpatial; ++d) {
    pointwise = pointwise && conv.stride[d] == 1 && conv.padding[d] == 0;
  }
  if (!pointwise) return;
  const int64_t out_step = conv.out.position_stride();
  for (ConvImage* image : {&conv.in, &conv.out}) {
    image->size[2] = image->positions();
    image->size[0] = image->size[1] = 1;
  }
  conv.in.stride[2] = in_step;
  conv.out.stride[2] = out_step;
}

}  // namespace

Status convolve(const Convolution& given, const Multipliers* by) {
  Convolution conv = given;
  const int64_t step = conv.out.position_stride();
  TAPER_REQUIRE(step != 0, Error::kNotSupported,
                "convolution: out must be row-major or channels last");
  if (conv.batch == 0 || conv.out.channels == 0 || conv.out.positions() == 0) return {};
  flatten_pointwise(conv);
  if (convolve_depthwise(conv)) return {};
  const bool channels_last = conv.out.channel_stride == 1 && step != 1;
  return with_compute_type(conv.in.type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const bool directly = conv.transposed && has_infinite_weight<T>(conv);
    for (int64_t image = 0; image < conv.batch; ++image) {
      if (directly) {
        for (int64_t o = 0; o < conv.out.channels; ++o) convolve_channel<T>(conv, image, o);
        continue;
      }
      for (int64_t group = 0; group < conv.groups; ++group) {
        if (channels_last) {
          PointProduct<T> product(conv, image, group);
          multiply(product, by);
        } else {
          PlanarProduct<T> product(conv, image, group);
          multiply(product, by);
        }
      }
    }
    return {};
  });
}

}  // namespace taper::portable
