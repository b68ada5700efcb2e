// Runs a program with custom operators: it has the kernels of two of them here; the others come
// from the portable table.

#include <cmath>
#include <cstdio>

#include "kernels_portable/kernel_table.h"
#include "taper/module.h"

using namespace taper;

namespace {

// my::shrink.out: moves each element toward zero by `by`, but not beyond it.
Status shrink_out(KernelContext&, const Tensor& x, double by, Tensor& out) {
  TAPER_REQUIRE(x.scalar_type() == ScalarType::kFloat, Error::kInvalidType, "shrink: float32 only");
  TAPER_TRY(out.resize(x.sizes()));
  const float* from = x.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    to[i] = std::copysign(std::fmax(std::fabs(from[i]) - static_cast<float>(by), 0.0f), from[i]);
  }
  return {};
}

// my::accumulate_: adds x to a buffer of the model, in place.
Status accumulate(KernelContext&, Tensor& total, const Tensor& x) {
  TAPER_REQUIRE(total.scalar_type() == ScalarType::kFloat && x.scalar_type() == ScalarType::kFloat,
                Error::kInvalidType, "accumulate: float32 only");
  TAPER_REQUIRE(total.numel() == x.numel(), Error::kInvalidArgument, "accumulate: sizes differ");
  float* to = total.mutable_data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] += x.const_data_ptr<float>()[i];
  return {};
}

const Kernel kAccumulate = make_kernel<accumulate>("my::accumulate_");
const Kernel kShrinkOut = make_kernel<shrink_out>("my::shrink.out");
const Kernel* const kOwnKernels[] = {&kAccumulate, &kShrinkOut};  // Sorted by name.

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: custom_op MODEL.pte\n"), 2;
  // Searched in order: kernels that the first table lacks come from the portable one.
  const KernelTable tables[] = {kOwnKernels, portable::portable_kernels()};
  ModuleOptions options;
  options.kernels = tables;
  Module module(argv[1], options);
  OwnedTensor x(ScalarType::kFloat, {2, 3});
  for (int i = 0; i < 6; ++i) x.data_as<float>()[i] = static_cast<float>(i) / 2 - 1;
  for (int call = 0; call < 2; ++call) {  // The buffer keeps its value between calls.
    const auto outputs = module.forward({EValue(x.tensor())});
    if (!outputs.ok()) {
      return std::fprintf(stderr, "custom_op: %s\n", module.last_error_text().c_str()), 1;
    }
    const float* y = outputs.value()[0].to_tensor().const_data_ptr<float>();
    for (int i = 0; i < 6; ++i) std::printf("%g%c", static_cast<double>(y[i]), i < 5 ? ' ' : '\n');
  }
  return 0;
}
