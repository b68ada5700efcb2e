// A run of bytes and whoever keeps it alive: a mapped file, or the result of inflating a member.

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
  size_t slack = 0;  // How many bytes after the end may be read too; simdjson wants some.

  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

}  // namespace taper::exir
