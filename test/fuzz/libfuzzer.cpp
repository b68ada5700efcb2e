// A libFuzzer target: libFuzzer keeps what reaches new code, and half of its mutants are made by
// the mutations that know the format. TAPER_FUZZ_KIND in the environment names the kind of file.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "test/fuzz/kinds.h"

namespace {

const taper::fuzz::Kind& kind() {
  static const taper::fuzz::Kind* const found = [] {
    const char* name = std::getenv("TAPER_FUZZ_KIND");
    const taper::fuzz::Kind* kind = taper::fuzz::find_kind(name == nullptr ? "" : name);
    if (kind != nullptr) return kind;
    std::fprintf(stderr, "TAPER_FUZZ_KIND must be %s\n", taper::fuzz::kind_names().c_str());
    std::exit(2);
  }();
  return *found;
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  taper::fuzz::Random random(seed);
  if (random.one_in(2)) return LLVMFuzzerMutate(data, size, max_size);
  const std::string file(reinterpret_cast<const char*>(data), size);
  const std::string mutant = kind().mutate(file, random);
  if (mutant.empty() || mutant.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, mutant.data(), mutant.size());
  return mutant.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kind().exercise({reinterpret_cast<const char*>(data), size});
  return 0;
}
