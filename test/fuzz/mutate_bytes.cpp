// Mutations that ignore the format: bits, bytes, edge-case integers, blocks.

#include <algorithm>
#include <cstring>

#include "test/fuzz/mutate.h"

namespace taper::fuzz {
namespace {

void write_integer(std::string& file, size_t at, size_t width, uint64_t value) {
  if (at + width > file.size()) return;
  std::memcpy(&file[at], &value, width);  // The host is little-endian, like the formats.
}

void mutate_once(std::string& file, Random& random) {
  const size_t at = random.below(file.size());
  const size_t length = 1 + random.below(std::min<size_t>(file.size() - at, 64));
  switch (random.below(8)) {
    case 0:
    case 1:
      file[at] = static_cast<char>(file[at] ^ (1 << random.below(8)));
      break;
    case 2:
      file[at] = static_cast<char>(random.next());
      break;
    case 3:
    case 4: {
      const size_t width = size_t{1} << random.below(4);
      write_integer(file, at / width * width, width, awkward_integer(random));
      break;
    }
    case 5:  // Copy one block over another.
      file.replace(random.below(file.size()), length, file.substr(at, length));
      break;
    case 6:
      file.erase(at, length);
      break;
    default:
      if (random.one_in(4)) file.resize(at);
      break;
  }
}

}  // namespace

uint64_t awkward_integer(Random& random) {
  const uint64_t power = uint64_t{1} << random.below(64);
  switch (random.below(6)) {
    case 0:
      return random.below(16);
    case 1:
      return ~uint64_t{0} - random.below(16);
    case 2:
      return power;
    case 3:
      return power - 1;
    case 4:
      return ~power + 1;
    default:
      return random.next();
  }
}

std::string mutate_bytes(std::string file, Random& random) {
  const size_t edits = 1 + random.below(random.one_in(4) ? 16 : 3);
  for (size_t i = 0; i < edits && !file.empty(); ++i) mutate_once(file, random);
  return file;
}

// Without its length, whatever is behind it would be refused unread.
std::string mutate_etdp(std::string file, Random& random) {
  file = mutate_bytes(std::move(file), random);
  if (file.size() >= 4 && !random.one_in(8)) {
    const auto length = static_cast<uint32_t>(file.size() - 4);
    std::memcpy(file.data(), &length, sizeof(length));
  }
  return file;
}

}  // namespace taper::fuzz
