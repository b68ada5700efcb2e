// Convolution of 16-bit floats by the algorithms for floats: the operands of some groups, or of
// some output channels of one group, are widened into temp memory, and the result is rounded once.

#include <algorithm>

#include "kernels_optimized/cores/conv_planes.h"
#include "kernels_optimized/cores/gemm.h"
#include "kernels_optimized/engine/scratch.h"
#include "kernels_portable/engine/convert.h"

namespace taper::optimized {
namespace {

using portable::Convolution;

constexpr int64_t kWidenedFloats = int64_t{96} << 10;  // The most that a block takes.

// What is computed at once: `groups` groups and, of each, `channels` output channels.
struct Block {
  int64_t groups;
  int64_t channels;

  // The floats of its input, weights and output.
  int64_t in(const Convolution& conv) const {
    return groups * conv.group_in() * conv.in.positions();
  }
  int64_t weight(const Convolution& conv) const {
    return groups * conv.group_in() * channels * conv.weight.taps();
  }
  int64_t out(const Convolution& conv) const { return groups * channels * conv.out.positions(); }
  int64_t all(const Convolution& conv) const { return in(conv) + weight(conv) + out(conv); }
};

// As many groups as fit, or as many channels of one. Zero channels if there is no room for one.
Block choose_block(const Convolution& conv) {
  const Block one = {1, 1}, group = {1, conv.group_out()};
  if (group.all(conv) <= kWidenedFloats) {
    return {std::min(conv.groups, kWidenedFloats / group.all(conv)), conv.group_out()};
  }
  const int64_t room = kWidenedFloats - one.in(conv);
  return {1, std::max<int64_t>(0, room / (one.weight(conv) + one.out(conv)))};
}

class Widened {
 public:
  Widened(const Convolution& conv, float* memory)
      : conv_(conv),
        memory_(memory),
        load_(portable::loader<float>(conv.in.type)),
        store_(portable::storer<float>(conv.in.type)) {}

  // The block of `image` that begins at that group and channel, without the bias.
  Convolution widen(const Block& block, int64_t image, int64_t group, int64_t channel) const {
    Convolution part = conv_;
    part.batch = 1;
    part.groups = block.groups;
    part.bias = nullptr;
    part.in.channels = block.groups * conv_.group_in();
    part.out.channels = block.groups * block.channels;
    float* const in = memory_;
    float* const weight = in + block.in(conv_);
    for (portable::ConvImage* each : {&part.in, &part.out}) each->type = ScalarType::kFloat;
    part.in.data = in;
    part.weight.data = weight;
    part.out.data = weight + block.weight(conv_);
    const int64_t first = group * conv_.group_in();
    load(conv_.in.data, image * conv_.in.batch_stride + first * conv_.in.channel_stride,
         block.in(conv_), in);
    const int64_t taps = conv_.weight.taps(), count = block.channels * taps;
    if (!conv_.transposed) {
      load(conv_.weight.data, (group * conv_.group_out() + channel) * conv_.weight.out_stride,
           block.weight(conv_), weight);
      return part;
    }
    part.weight.in_stride = count;
    for (int64_t i = 0; i < part.in.channels; ++i) {
      load(conv_.weight.data, (first + i) * conv_.weight.in_stride + channel * taps, count,
           weight + i * count);
    }
    return part;
  }

  // Adds the biases to the result of `part` and rounds it into the output.
  void narrow(const Convolution& part, int64_t image, int64_t channel) const {
    const int64_t count = conv_.out.positions();
    float* from = static_cast<float*>(part.out.data);
    for (int64_t o = 0; o < part.out.channels; ++o, from += count) {
      if (conv_.bias != nullptr) {
        float bias;
        load(conv_.bias->mutable_data(), channel + o, 1, &bias);
        for (int64_t i = 0; i < count; ++i) from[i] += bias;
      }
      const int64_t to = image * conv_.out.batch_stride + (channel + o) * conv_.out.channel_stride;
      store_(from, count, portable::element(conv_.out.data, to, conv_.in.type), 1);
    }
  }

 private:
  void load(void* from, int64_t first, int64_t count, float* to) const {
    load_(portable::element(from, first, conv_.in.type), 1, count, to);
  }

  const Convolution& conv_;
  float* memory_;
  portable::LoadFunction<float> load_;
  portable::StoreFunction<float> store_;
};

}  // namespace

bool convolve_widened(const Convolution& conv, KernelContext& context) {
  const Block block = choose_block(conv);
  if (!has_vectors() || block.channels == 0) return false;
  const Span<float> memory = scratch_floats(context, kWidenedFloats);
  if (memory.size() == 0) return false;
  const Span<float> products =
      conv.transposed ? scratch_floats(context, kSpreadScratchFloats) : Span<float>();
  if (conv.transposed && static_cast<int64_t>(products.size()) < conv.weight.taps()) return false;
  const Span<float> scratch =
      conv.transposed ? scratch_floats(context, kGemmScratchFloats) : Span<float>();
  const Widened widened(conv, memory.data());
  for (int64_t image = 0; image < conv.batch; ++image) {
    for (int64_t group = 0; group < conv.groups; group += block.groups) {
      for (int64_t o = 0; o < conv.group_out(); o += block.channels) {
        const Block here = {std::min(block.groups, conv.groups - group),
                            std::min(block.channels, conv.group_out() - o)};
        const Convolution part = widened.widen(here, image, group, o);
        const bool done = conv.transposed ? convolve_transposed(part, {products, scratch})
                                          : convolve_planes(part, {}, context.pool());
        if (!done) return false;
        widened.narrow(part, image, group * conv.group_out() + o);
      }
    }
  }
  return true;
}

}  // namespace taper::optimized
