// aten::rand.out and rand_like.out: uniformly distributed numbers in [0, 1). aten::randn.out and
// randn_like.out: normally distributed numbers.
//
// Kernels have no state, so every call yields the same numbers: element i is a hash of i. They are
// not PyTorch's. A model that needs fresh random numbers must take them as an input.

#include <cmath>

#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/view.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

// The finaliser of SplitMix64: neighbouring counters give unrelated bits.
uint64_t hash(uint64_t counter) {
  uint64_t z = (counter + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// A multiple of 2^-24 in [0, 1), which a float represents exactly; for the 16-bit floats only as
// many bits as they have.
double uniform(uint64_t counter, ScalarType type) {
  const int bits = type == ScalarType::kHalf ? 11 : (type == ScalarType::kBFloat16 ? 8 : 24);
  return std::ldexp(static_cast<double>(hash(counter) >> (64 - bits)), -bits);
}

// The Box-Muller transform of two uniform numbers.
double normal(uint64_t counter, ScalarType) {
  const double u = 1.0 - uniform(2 * counter, ScalarType::kFloat);  // In (0, 1].
  const double v = uniform(2 * counter + 1, ScalarType::kFloat);
  return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * v);
}

using Draw = double (*)(uint64_t counter, ScalarType type);

Status fill_random(Draw draw, Tensor& out) {
  const ScalarType type = out.scalar_type();
  TAPER_REQUIRE(is_floating(type), Error::kInvalidArgument, "rand: out must be a float");
  for (int64_t i = 0; i < out.numel(); ++i) {
    store_one(draw(static_cast<uint64_t>(i), type), element(out.mutable_data(), i, type), type);
  }
  return {};
}

Status rand(KernelContext&, IntList size, Tensor& out) {
  TAPER_TRY(resize_out(out, size.data(), size.size()));
  return fill_random(uniform, out);
}

Status randn(KernelContext&, IntList size, Tensor& out) {
  TAPER_TRY(resize_out(out, size.data(), size.size()));
  return fill_random(normal, out);
}

Status rand_like(KernelContext&, const Tensor& self, std::optional<int64_t>, Tensor& out) {
  TAPER_TRY(out.resize(self.sizes()));
  return fill_random(uniform, out);
}

Status randn_like(KernelContext&, const Tensor& self, std::optional<int64_t>, Tensor& out) {
  TAPER_TRY(out.resize(self.sizes()));
  return fill_random(normal, out);
}

}  // namespace

extern const Kernel kRandOut;
const Kernel kRandOut = make_kernel<rand>("aten::rand.out");
extern const Kernel kRandnOut;
const Kernel kRandnOut = make_kernel<randn>("aten::randn.out");
extern const Kernel kRandLikeOut;
const Kernel kRandLikeOut = make_kernel<rand_like>("aten::rand_like.out");
extern const Kernel kRandnLikeOut;
const Kernel kRandnLikeOut = make_kernel<randn_like>("aten::randn_like.out");

}  // namespace taper::portable
