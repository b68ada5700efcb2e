// Damages the payload of a delegate: changes numbers in its tables, whatever they mean.

#include <algorithm>
#include <cstring>

#include "backends/xnnpack/descriptor.h"
#include "test/fuzz/backend_hooks.h"
#include "test/fuzz/mutate.h"

namespace taper::xnnpack {
namespace {

using fuzz::Random;

constexpr size_t kMagicAt = 4;
constexpr size_t kGraphSizeAt = 14;
constexpr size_t kHeaderBytes = 32;

uint32_t number_at(const std::string& file, size_t at) {
  uint32_t value;
  std::memcpy(&value, &file[at], sizeof(value));
  return value;
}

void edit(std::string& file, size_t first, size_t bytes, Random& random) {
  const size_t width = size_t{1} << random.below(3);
  const size_t at = first + random.below(bytes / width) * width;
  uint64_t value = fuzz::awkward_integer(random);
  if (random.one_in(3)) value = number_at(file, at / 4 * 4) + (random.one_in(2) ? 1 : -1);
  // A small number may be the index of a value, a size or a flag.
  if (random.one_in(3)) value = random.below(64);
  std::memcpy(&file[at], &value, width);
}

bool mutate_payload(std::string& file, Random& random) {
  const size_t magic = file.find("XH00");
  if (magic == file.npos || magic < kMagicAt) return false;
  const size_t start = magic - kMagicAt;
  if (file.size() - start < kHeaderBytes + 16) return false;
  const size_t whole = std::min<size_t>(kHeaderBytes + number_at(file, start + kGraphSizeAt),
                                        file.size() - start - 8);
  const size_t edits = 1 + random.below(random.one_in(4) ? 8 : 2);
  for (size_t i = 0; i < edits; ++i) edit(file, start, whole, random);
  return true;
}

constexpr const char* kModels[] = {"vit_tiny",    "inception", "dynamic_encoder", "int8_convnet",
                                   "int8_layers", "int8_rows", "int8_filters"};
constexpr const char* kPrograms[] = {"xnnpack_dynamic_batch", "xnnpack_int8_static",
                                     "xnnpack_int8_dynamic", "xnnpack_int4_groups"};

}  // namespace

extern const fuzz::BackendHooks kFuzz;
const fuzz::BackendHooks kFuzz = {kIdentity.name, kModels, kPrograms, mutate_payload};

}  // namespace taper::xnnpack
