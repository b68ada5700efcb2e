// A name is two 64-bit hashes of the contents with different seeds.

#include "exir/delegate/content_name.h"

#include <cstdio>

#include "taper/content_hash.h"

namespace taper::exir {

std::string content_name(const TensorData& data) {
  const Span<const uint8_t> bytes(data.data, data.bytes);
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx",
                static_cast<unsigned long long>(content_hash(bytes, 0)),
                static_cast<unsigned long long>(content_hash(bytes, 1)));
  return text;
}

}  // namespace taper::exir
