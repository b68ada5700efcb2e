// A span of bytes and the owner that keeps it alive: a mapped file, or an inflated archive member.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace taper::exir {

using Bytes = std::span<const uint8_t>;

struct Blob {
  Bytes bytes;
  std::shared_ptr<const void> owner;
  size_t slack = 0;  // Bytes after the end that may be read too: simdjson reads ahead.

  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

}  // namespace taper::exir
