// Damage inside the payload of a delegate: numbers of its tables, whatever they mean.

#include <algorithm>
#include <cstring>

#include "backends/vulkan/descriptor.h"
#include "test/fuzz/backend_hooks.h"
#include "test/fuzz/mutate.h"

namespace taper::vulkan {
namespace {

using fuzz::Random;

constexpr size_t kMagicAt = 4;
constexpr size_t kGraphBytesAt = 14;
constexpr size_t kGraphAt = 32;

uint32_t number_at(const std::string& file, size_t at) {
  uint32_t value;
  std::memcpy(&value, &file[at], sizeof(value));
  return value;
}

// One number of the tables becomes another: a neighbour, a value's or a call's number, a size.
void change_number(std::string& file, size_t first, size_t bytes, Random& random) {
  const size_t width = size_t{1} << random.below(4);
  const size_t at = first + random.below(bytes / width) * width;
  uint64_t value = fuzz::awkward_integer(random);
  if (random.one_in(3)) value = number_at(file, at / 4 * 4) + (random.one_in(2) ? 1 : -1);
  if (random.one_in(2)) value = random.below(64);
  std::memcpy(&file[at], &value, width);
}

// Two numbers change places, so that one operator gets what another was given.
void swap_numbers(std::string& file, size_t first, size_t bytes, Random& random) {
  const size_t a = first + random.below(bytes / 4) * 4, b = first + random.below(bytes / 4) * 4;
  for (size_t i = 0; i < 4; ++i) std::swap(file[a + i], file[b + i]);
}

bool mutate_payload(std::string& file, Random& random) {
  const size_t magic = file.find("VH00");
  if (magic == file.npos || magic < kMagicAt) return false;
  const size_t start = magic - kMagicAt;
  if (file.size() - start < kGraphAt + 16) return false;
  const size_t whole =
      std::min<size_t>(kGraphAt + number_at(file, start + kGraphBytesAt), file.size() - start - 8);
  const size_t edits = 1 + random.below(random.one_in(4) ? 8 : 2);
  for (size_t i = 0; i < edits; ++i) {
    if (random.one_in(4)) {
      swap_numbers(file, start, whole, random);
    } else {
      change_number(file, start, whole, random);
    }
  }
  return true;
}

constexpr const char* kModels[] = {"vit_tiny", "inception", "dynamic_encoder", "dynamic_rows",
                                   "dynamic_bert"};
constexpr const char* kPrograms[] = {
    "vulkan_convnet", "vulkan_encoder",   "vulkan_sizes",    "vulkan_image",
    "vulkan_binary",  "vulkan_positions", "vulkan_detector", "vulkan_shapes",
};

}  // namespace

extern const fuzz::BackendHooks kFuzz;
const fuzz::BackendHooks kFuzz = {kIdentity.name, kModels, kPrograms, mutate_payload, nullptr};

}  // namespace taper::vulkan
