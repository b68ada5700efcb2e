// What tests hand to the C API: programs in memory, and tensors of floats.

#pragma once

#include <cstring>
#include <vector>

#include "taper/taper.h"
#include "test/support/program_builder.h"

namespace taper::test {

// A copy of a program, aligned as taper_open_memory() asks.
struct AlignedFile {
  explicit AlignedFile(const Bytes& file) : words(file.size() / 16 + 2), size(file.size()) {
    std::memcpy(words.data(), file.data(), file.size());
  }
  struct alignas(16) Word {
    uint8_t bytes[16];
  };
  std::vector<Word> words;
  size_t size;
};

// The tensor of one dimension that these numbers are. They must outlive it.
inline taper_value value_of(const std::vector<float>& data) {
  taper_value value = {};
  value.kind = TAPER_TENSOR;
  value.dtype = TAPER_FLOAT32;
  value.rank = 1;
  value.sizes[0] = static_cast<int32_t>(data.size());
  value.data = data.data();
  value.bytes = data.size() * sizeof(float);
  return value;
}

}  // namespace taper::test
