// A decoder whose cache of keys and values is state: it takes one token and returns the scores of
// the next. The cache persists between calls; reset_state() begins a new text.

#include <cstdio>
#include <cstdlib>

#include "kernels_portable/kernel_table.h"
#include "taper/module.h"

using namespace taper;

namespace {

// The most likely token after `token` at `position`; -1 after an error.
int64_t next_token(Module& module, int64_t token, int64_t position) {
  OwnedTensor tokens(ScalarType::kLong, {1, 1});
  OwnedTensor positions(ScalarType::kLong, {1});
  *tokens.data_as<int64_t>() = token;
  *positions.data_as<int64_t>() = position;
  const auto outputs = module.forward({EValue(tokens.tensor()), EValue(positions.tensor())});
  if (!outputs.ok()) return -1;
  const Tensor& scores = outputs.value()[0].to_tensor();
  const float* data = scores.const_data_ptr<float>();
  int64_t best = 0;
  for (int64_t i = 1; i < scores.numel(); ++i) best = data[i] > data[best] ? i : best;
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: decoder MODEL.pte TOKEN...\n"), 2;
  const KernelTable tables[] = {portable::portable_kernels()};
  ModuleOptions options;
  options.kernels = tables;
  Module module(argv[1], options);
  for (int text = 0; text < 2;
       ++text) {  // Runs twice with the same results: the state is reset in between.
    for (int i = 2; i < argc; ++i) {
      const int64_t next = next_token(module, std::atoll(argv[i]), i - 2);
      if (next < 0) return std::fprintf(stderr, "%s\n", module.last_error_text().c_str()), 1;
      std::printf("%lld ", static_cast<long long>(next));
    }
    std::printf("\n");
    if (!module.reset_state().ok()) return 1;
  }
  return 0;
}
