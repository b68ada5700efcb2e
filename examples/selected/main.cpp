// The same as hello, in a binary that contains only the kernels that its model needs.

#include <cstdio>

#include "taper/module.h"
#include "taper/selected_kernels.h"

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: selected MODEL.pte\n"), 2;
  const taper::KernelTable tables[] = {taper::selected_kernels()};
  taper::ModuleOptions options;
  options.kernels = tables;
  taper::Module module(argv[1], options);
  taper::OwnedTensor image(taper::ScalarType::kFloat, {1, 1, 8, 8});
  for (int i = 0; i < 64; ++i) image.data_as<float>()[i] = 1;
  const auto outputs = module.forward({taper::EValue(image.tensor())});
  if (!outputs.ok()) return std::fprintf(stderr, "%s\n", module.last_error_text().c_str()), 1;
  const float* logits = outputs.value()[0].to_tensor().const_data_ptr<float>();
  for (int i = 0; i < 10; ++i) std::printf("%.3f ", static_cast<double>(logits[i]));
  std::printf("\n%zu kernels\n", taper::selected_kernels().size());
  return 0;
}
