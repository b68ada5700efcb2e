// Constants that several methods have lie once in the memory of the GPU: a method that finds some
// of its constants where another has put them reads them there.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "backends/vulkan/runtime/gpu/device.h"
#include "taper/scalar_type.h"

namespace taper::vulkan {

// Where a constant is. It lives as long as a method that reads it.
struct ConstantHome {
  std::shared_ptr<const Buffer> buffer;
  uint64_t offset = 0;
};

// What a constant is made from. Its bytes stay where they are while a method reads the constant, so
// their address tells it from all others.
struct ConstantKey {
  const uint8_t* data;
  uint64_t bytes;  // In the memory of the GPU.
  ScalarType dtype;
  bool has_bytes;  // See Place.

  bool operator<(const ConstantKey& other) const {
    return std::tie(data, bytes, dtype, has_bytes) <
           std::tie(other.data, other.bytes, other.dtype, other.has_bytes);
  }
};

// Threads: all functions may be called from several threads at once.
class SharedConstants {
 public:
  using Homes = std::map<ConstantKey, std::shared_ptr<const ConstantHome>>;

  // Null if no method that is loaded has it.
  std::shared_ptr<const ConstantHome> find(const ConstantKey& key) const;
  // For methods that are loaded from now on. The GPU must have written them. Forgets those that no
  // method reads any more.
  void add(const Homes& homes);

 private:
  mutable std::mutex mutex_;
  std::map<ConstantKey, std::weak_ptr<const ConstantHome>> homes_;
};

}  // namespace taper::vulkan
