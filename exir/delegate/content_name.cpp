#include "exir/delegate/content_name.h"

#include <cstdio>

#include "taper/content_hash.h"

namespace taper::exir {

std::string content_name(const TensorData& data) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(content_hash({data.data, data.bytes})));
  return text;
}

}  // namespace taper::exir
