// map_file() over the runtime's mapping of files.

#include "exir/frontend/mapped_file.h"

#include <cerrno>
#include <cstring>

#include "exir/frontend/refuse.h"
#include "runtime/platform/mapped_file.h"

namespace taper::exir {

Blob map_file(const std::string& path) {
  const Result<Span<const uint8_t>> bytes = internal::map_file(path.c_str());
  if (!bytes.ok()) {
    if (errno == 0) refuse("unreadable-file", "is not a regular file");
    refuse("unreadable-file", std::string("cannot be read: ") + std::strerror(errno));
  }
  if (bytes->empty()) refuse("empty-file", "is empty");
  const Span<const uint8_t> mapped = *bytes;
  std::shared_ptr<const void> owner(mapped.data(),
                                    [mapped](const void*) { internal::unmap_file(mapped); });
  return {{mapped.data(), mapped.size()}, std::move(owner), 0};
}

}  // namespace taper::exir
