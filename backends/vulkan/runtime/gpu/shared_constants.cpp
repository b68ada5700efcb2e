#include "backends/vulkan/runtime/gpu/shared_constants.h"

#include <iterator>

namespace taper::vulkan {

std::shared_ptr<const ConstantHome> SharedConstants::find(const ConstantKey& key) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = homes_.find(key);
  return found == homes_.end() ? nullptr : found->second.lock();
}

void SharedConstants::add(const Homes& homes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto at = homes_.begin(); at != homes_.end();) {
    at = at->second.expired() ? homes_.erase(at) : std::next(at);
  }
  for (const auto& [key, home] : homes) homes_[key] = home;
}

}  // namespace taper::vulkan
